"""The test command: which folders run, and what is missing skips here and fails in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.__main__ import FAST, TIERS, lanes, missing_parts, tiers_and_options
from tests.promised import Part, require
from tests.services import ROOT


@pytest.mark.parametrize(
    ("words", "fast", "expected"),
    [
        ([], False, (list(TIERS), [])),
        ([], True, (list(FAST), [])),
        (["database", "-k", "items"], False, (["database"], ["-k", "items"])),
        (["tests/unit/test_cli.py::test_x"], False, ([], ["tests/unit/test_cli.py::test_x"])),
        (["-x"], True, (list(FAST), ["-x"])),
    ],
)
def test_tiers_are_told_from_options(
    words: list[str], fast: bool, expected: tuple[list[str], list[str]]
) -> None:
    assert tiers_and_options(words, fast=fast) == expected


def test_the_fast_tiers_need_nothing() -> None:
    assert missing_parts(FAST) == []


def test_a_missing_part_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("REDRAFT_TEST_BROWSER", raising=False)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="missing: chromium"):
        require(Part.CHROMIUM)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="missing: chromium"):
        require(Part.CHROMIUM)


def test_in_ci_a_skip_for_a_missing_part_fails_the_whole_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\ndef test_it():\n    pytest.skip('missing: a thing')\n", encoding="utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "tests",
        str(tmp_path / "test_it.py"),
        "-p",
        "no:cacheprovider",
    ]
    for value, code in (("true", 1), ("", 0)):
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "CI": value}, capture_output=True, check=False
        )
        assert done.returncode == code, done.stdout


def test_what_mostly_waits_runs_beside_the_other_tiers_and_alone_when_asked_for_alone() -> None:
    assert lanes(["unit", "faults", "pages"]) == [["unit"], ["faults"], ["pages"]]
    assert lanes(["api", "pages", "acceptance"]) == [["api"], ["acceptance", "pages"]]
    assert lanes(["faults"]) == [["faults"]]
    assert lanes(["unit", "api"]) == [["unit", "api"]]
    assert lanes([]) == [[]]
