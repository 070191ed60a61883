"""`kinds check`: what is said about a folder that wants to be a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflows.kinds.check import check

KINDS = Path(__file__).parent.parent.parent / "workflows" / "kinds"

GOOD = """
from pathlib import Path
from workflows.kinds.checked import CheckedText

KIND = CheckedText(name="memo", folder=Path(__file__).parent, languages=("en",), verifiers={})
"""


@pytest.mark.parametrize("name", ["minutes", "itinerary", "text"])
def test_the_built_in_kinds_have_no_problem(name: str) -> None:
    assert check(KINDS / name) == []


def folder(tmp_path: Path, code: str) -> Path:
    home = tmp_path / "memo"
    (home / "prompts").mkdir(parents=True)
    for name in ("review", "review_task", "refine", "refine_task"):
        (home / "prompts" / f"{name}.md").write_text(f"Do {name}.", encoding="utf-8")
    (home / "__init__.py").write_text(code, encoding="utf-8")
    return home


def test_a_folder_of_prompts_and_five_lines_is_a_kind(tmp_path: Path) -> None:
    assert check(folder(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise RuntimeError('no')", "cannot be imported"),
        ("x = 1", "cannot be imported"),
        (GOOD.replace('"memo"', '"Memo "'), "name:"),
        (GOOD.replace('("en",)', "()"), "languages:"),
        (
            GOOD.replace(
                "KIND = CheckedText",
                "class Odd(CheckedText):\n"
                "    def accept(self, *_):\n        return None\n\nKIND = Odd",
            ),
            "must be refused",
        ),
        (
            GOOD.replace(
                "KIND = CheckedText",
                "class Odd(CheckedText):\n"
                "    def parts(self, work):\n        return ()\n\nKIND = Odd",
            ),
            "at least one part",
        ),
    ],
)
def test_each_fault_is_named(tmp_path: Path, code: str, problem: str) -> None:
    assert any(problem in line for line in check(folder(tmp_path, code)))


def test_a_folder_without_a_module_is_no_kind(tmp_path: Path) -> None:
    assert check(tmp_path) == [f"{tmp_path.name}: there is no __init__.py."]


DRAFTING = GOOD.replace("checked import CheckedText", "drafting import SectionDraft").replace(
    "KIND = CheckedText", "KIND = SectionDraft"
)


@pytest.mark.parametrize(
    ("template", "prompts", "problem"),
    [
        ("## Points {#points}\n\nEach point.\n", ("draft", "draft_task"), ""),
        ("", ("draft", "draft_task"), "BadTemplate: short.md: A template needs sections"),
        ("## Points\n", ("draft",), "prompts: prompts/draft_task.md is not there."),
    ],
)
def test_a_kind_with_a_draft_needs_its_prompts_and_a_template(
    tmp_path: Path, template: str, prompts: tuple[str, ...], problem: str
) -> None:
    home = folder(tmp_path, DRAFTING)
    (home / "templates").mkdir()
    (home / "templates" / "short.md").write_text(template, encoding="utf-8")
    for name in prompts:
        (home / "prompts" / f"{name}.md").write_text("Write.", encoding="utf-8")
    found = check(home)
    assert any(problem in line for line in found) if problem else found == []
