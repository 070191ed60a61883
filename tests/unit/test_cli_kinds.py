"""`redraft kinds check`: a copy of a built-in kind under its own name, whole and broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from api.cli.__main__ import main
from tests.services import ROOT


def copied(tmp_path: Path, **changes: str) -> Path:
    """The kind `text` in a folder of its own, as somebody who adds a kind would begin."""
    folder = tmp_path / "letters"
    shutil.copytree(ROOT / "workflows" / "kinds" / "text", folder)
    code = (folder / "__init__.py").read_text(encoding="utf-8")
    for before, after in {'name="text"': 'name="letters"', **changes}.items():
        assert before in code
        code = code.replace(before, after)
    (folder / "__init__.py").write_text(code, encoding="utf-8")
    return folder


def test_a_usable_kind_is_named_with_the_variable_that_loads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(tmp_path)
    assert main(["kinds", "check", str(folder)]) == 0
    assert f"REDRAFT_KINDS_DIR to {tmp_path}" in capsys.readouterr().out


def test_each_fault_of_a_kind_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copied(tmp_path, **{'("en", "zh")': "()"})
    assert main(["kinds", "check", str(folder)]) == 3
    assert "languages" in capsys.readouterr().err


def test_a_built_in_kind_under_its_own_name_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["kinds", "check", str(ROOT / "workflows" / "kinds" / "text")]) == 3
    assert "built-in" in capsys.readouterr().err


def test_a_folder_that_cannot_be_loaded_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "__init__.py").write_text("KIND = undefined\n", encoding="utf-8")
    assert main(["kinds", "check", str(tmp_path)]) == 3
    assert "NameError" in capsys.readouterr().err


def test_a_folder_without_code_is_wrong_usage(tmp_path: Path) -> None:
    assert main(["kinds", "check", str(tmp_path)]) == 2
