"""README says what is so: its commands can be parsed, its settings are all of them."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from api.cli.__main__ import parser
from tests.architecture import settings_table
from tests.architecture.sources import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line.strip()]
CLIENT = [
    "submit",
    "runs",
    "show",
    "watch",
    "interrupt",
    "resume",
    "confirm",
    "reject",
    "cancel",
    "fork",
    "export",
    "delete",
    "waive",
    "bulk",
    "calls",
    "profiles",
    "drain",
]


def words_of(line: str) -> list[str]:
    """What follows `./redraft` in a line, without the variables before it."""
    words = shlex.split(line)
    return words[words.index("./redraft") + 1 :]


def test_readme_is_short_and_begins_with_the_two_commands() -> None:
    assert len(README.splitlines()) < 175
    assert COMMANDS[:2] == ["./redraft up", "./redraft test"]


def test_readme_documents_every_setting_and_no_other() -> None:
    assert settings_table.current() == README


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_is_one_that_the_launcher_lists(line: str) -> None:
    listed = subprocess.run(
        [str(ROOT / "redraft")], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(rf"\b{words_of(line)[0]}\b", listed), line


@pytest.mark.parametrize("line", [line for line in COMMANDS if words_of(line)[0] in CLIENT])
def test_a_client_command_of_the_readme_can_be_parsed(line: str) -> None:
    assert parser().parse_args(words_of(line)).command in CLIENT


def test_every_client_command_is_listed_by_the_launcher() -> None:
    listed = (ROOT / "redraft").read_text(encoding="utf-8")
    for name in CLIENT:
        assert re.search(rf"^  .*\b{name}\b", listed, re.MULTILINE), name


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
def test_the_documents_for_people_are_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 200


def test_files_that_documents_name_exist() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:[a-z_.]+/)+[a-z_]+(?:\.[a-z]+)?|[A-Z]+\.md)`", text):
            assert (ROOT / path).exists(), f"{name} names {path}"
