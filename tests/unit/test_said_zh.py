"""What the stack's commands and the doctor say is said in Chinese where that is the language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy import terminal
from deploy.local.__main__ import main
from deploy.said_zh import SAID
from tests.architecture.sources import ROOT

HAN = re.compile("[\u4e00-\u9fff]")
_PLACE = re.compile(r"\{\d\}")
_SAYERS = {"say", "_warn", "Refused", "UsageError"}


@pytest.fixture(autouse=True)
def language() -> Iterator[None]:
    yield
    terminal.speak([], {})


def skeletons(node: ast.expr) -> Iterator[str]:
    """The sentences of an argument, with a word in each place."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(one.value) if isinstance(one, ast.Constant) else "7" for one in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from skeletons(node.body)
        yield from skeletons(node.orelse)


def said_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Yield) and node.value is not None:
            yield from skeletons(node.value)
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name in _SAYERS:
            for argument in node.args:
                yield from skeletons(argument)


@pytest.mark.parametrize("name", ["up", "control", "backup"])
def test_every_sentence_of_the_stack_s_commands_has_its_chinese(name: str) -> None:
    """The one who adds a sentence adds its Chinese."""
    terminal.speak(["--lang", "zh"], {})
    said = [text for text in said_by(ROOT / "deploy" / "local" / f"{name}.py") if text.strip()]
    assert said
    bare = [text for text in said if not HAN.search(terminal.told(text))]
    names = ("Temporal      ", "  Temporal Web  ", "Temporal Web  ")
    assert [text for text in bare if not text.startswith(names)] == []


def test_every_translation_has_the_places_of_its_english() -> None:
    for english, chinese in SAID:
        assert set(_PLACE.findall(english)) == set(_PLACE.findall(chinese)), english


def test_a_sentence_is_translated_with_its_places_and_blanks() -> None:
    terminal.speak([], {"LANG": "zh_CN.UTF-8"})
    assert terminal.told("  Data          /d (logs in logs/)\n").startswith("  数据          /d")
    assert terminal.told("nobody translated this") == "nobody translated this"
    terminal.speak(["--lang", "en"], {"LANG": "zh_CN.UTF-8"})
    assert terminal.told("Stopped.") == "Stopped."


def test_down_and_status_answer_in_chinese(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--data-dir", str(tmp_path), "--lang", "zh"]
    assert main(["down", *folder]) == 0
    assert "上没有服务在运行" in capsys.readouterr().out
    assert main(["status", *folder]) == 5
    assert "上没有服务在运行" in capsys.readouterr().out
    assert main(["backup", str(tmp_path / "b.tar"), *folder]) == 3
    assert "没有 Redraft 的数据；没有可备份的内容。" in capsys.readouterr().err
