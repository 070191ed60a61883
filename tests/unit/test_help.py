"""`./redraft COMMAND --help` says what the command is, in any folder and without a setting."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

from deploy.local.options import ROOT

LAUNCHER = (ROOT / "redraft").read_text(encoding="utf-8")
OURS = re.compile(r"(REDRAFT_|OPENAI_|TEMPORAL_)")


def commands() -> dict[str, tuple[str, bool]]:
    """Of each word that the launcher knows: its module, and whether the word is passed on."""
    found = {}
    text = LAUNCHER.replace("\\\n", " ")
    for words, module, rest in re.findall(
        r"^ +([a-z |]+)\) (?:cd \"\$root\"; )?run ([\w.]+) (\"\$@\") ;;", text, re.MULTILINE
    ):
        for word in words.replace(" ", "").split("|"):
            is_passed = module in ("deploy.local", "api.cli")
            found[word] = (module, is_passed and rest == '"$@"')
    return found


def test_every_command_of_the_launcher_is_looked_at() -> None:
    assert len(commands()) > 30
    assert {"up", "worker", "profiles", "format"} <= commands().keys()


@pytest.mark.filterwarnings("ignore:.*found in sys.modules")
@pytest.mark.parametrize("word", sorted(commands()))
def test_help_needs_no_setting_and_no_folder(
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in filter(OURS.match, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    module, is_passed = commands()[word]
    monkeypatch.setattr(sys, "argv", [module, *([word] if is_passed else []), "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module(module, run_name="__main__", alter_sys=False)
    printed = capsys.readouterr()
    assert left.value.code == 0, printed.err
    assert printed.out.startswith("usage: ")
    assert printed.err == ""
    assert list(tmp_path.iterdir()) == []
