"""`redraft kinds check`: a copy of a built-in kind under its own name, whole and broken."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from api.cli.__main__ import main
from tests.services import ROOT
from workflows.kinds import from_folder


def copied(tmp_path: Path, **changes: str) -> Path:
    """The kind `text` in a folder of its own, as somebody who adds a kind would begin."""
    folder = tmp_path / "letters"
    shutil.copytree(ROOT / "workflows" / "kinds" / "text", folder)
    code = (folder / "__init__.py").read_text(encoding="utf-8")
    for before, after in changes.items():
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


@pytest.mark.parametrize("kind", ["minutes", "itinerary"])
def test_a_copied_folder_is_a_kind_of_its_own(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under its name, with its own modules: none of them asks the original's."""
    folder = tmp_path / "copied"
    shutil.copytree(ROOT / "workflows" / "kinds" / kind, folder)
    assert main(["kinds", "check", str(folder)]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.startswith("copied ")
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    assert not [text for text in texts if f"workflows.kinds.{kind}" in text]
    loaded = from_folder(folder)
    assert type(loaded).__module__.partition(".")[0] == "redraft_kind_copied"


def test_the_fields_of_a_kind_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinds", "show", "itinerary"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^  days +a whole number +1 to 30\.$", told, re.M)
    assert re.search(r"^  cuisine +several, with commas", told, re.M)
    assert main(["kinds", "show", "minutes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fields"]["meeting_date"] == "date"
    assert "general" in found["templates"]
    assert main(["kinds", "show", "poem"]) == 2
    assert "itinerary" in capsys.readouterr().err


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


def test_a_folder_without_code_is_wrong_usage_and_names_one_to_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kinds", "check", str(tmp_path)]) == 2
    told = capsys.readouterr().err.strip()
    example = Path(told.rpartition("begin with: ")[2])
    assert (example / "__init__.py").is_file()
