"""Templates of drafts: those that come with a kind, own ones as files, and what is no template."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workflows.kinds import load_kinds
from workflows.kinds.drafting import SectionDraft
from workflows.kinds.kind import Material
from workflows.kinds.templates import BadTemplate, find, names, parse, read_folder

_loaded = load_kinds()["minutes"]
assert isinstance(_loaded, SectionDraft)
MINUTES: SectionDraft = _loaded
BUILT_IN = MINUTES.templates


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["general", "project-meeting", "decision-log"])
def test_each_template_has_the_same_sections_in_both_languages(name: str, language: str) -> None:
    template = find(BUILT_IN, name, language)
    other = find(BUILT_IN, name, "zh" if language == "en" else "en")
    assert (template.name, template.language) == (name, language)
    assert [section.key for section in template.sections] == [one.key for one in other.sections]
    assert "decisions" in [section.key for section in template.sections]
    assert all(section.about for section in template.sections)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("Project meeting", "project-meeting"),
        ("project_meeting", "project-meeting"),
        ("决策记录", "decision-log"),
        ("general", "general"),
    ],
)
def test_a_template_is_named_by_its_file_or_its_title(wanted: str, name: str) -> None:
    assert find(BUILT_IN, wanted, "en").name == name


def test_a_template_may_stand_in_the_attribute_itself() -> None:
    template = find(
        BUILT_IN, "# Ours\n\n## 1. Votes\n\nEach vote.\n\n### Detail\n\n## 结论\n", "en"
    )
    assert [(one.key, one.heading) for one in template.sections] == [
        ("1-votes", "1. Votes"),
        ("s2", "结论"),
    ]
    assert template.sections[0].about == "Each vote.\n\n### Detail"


def test_own_templates_stand_beside_the_built_in_ones_and_change_the_version(
    tmp_path: Path,
) -> None:
    (tmp_path / "weekly.md").write_text("## Wins {#wins}\n\nWhat went well.\n", encoding="utf-8")
    (tmp_path / "general.zh.md").write_text("# 通用\n\n## 要点\n", encoding="utf-8-sig")
    kind = load_kinds("", str(tmp_path))["minutes"]
    assert isinstance(kind, SectionDraft)
    assert set(names(kind.templates)) == {"weekly", "general", "project-meeting", "decision-log"}
    assert find(kind.templates, "general", "zh").sections[0].heading == "要点"
    assert kind.version != MINUTES.version


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.md", b"just words", "needs sections"),
        ("a.md", b"\xff\xfe\x00", "not UTF-8"),
        ("a.md", b"## A {#x}\n\n## B {#x}\n", "the key 'x'"),
        ("a.md", b"## A {#Not ok}\n", "Section 1: a key"),
        ("a.md", b"## ---\n", "Section 1 has no heading"),
        ("a.md", b"## A\x00\n", "no text"),
        ("a.md", b"## A\n" + b"x" * 2001, "at most 2000"),
        ("a.md", b"## " + b"A" * 121, "at most 120"),
        ("a.md", b"x" * 300_000, "at most 50000"),
        ("a.md", b"".join(b"## S%d\n" % n for n in range(31)), "at most 30"),
        ("A b.md", b"## A\n", "call it NAME.md"),
    ],
)
def test_what_is_no_template_is_named_with_its_file(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadTemplate, match=problem) as raised:
        read_folder(tmp_path)
    assert str(raised.value).startswith(name)


def test_an_unknown_template_and_a_missing_folder_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(BadTemplate, match="decision-log, general, project-meeting"):
        find(BUILT_IN, "haiku", "en")
    with pytest.raises(BadTemplate, match="no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(BadTemplate, match="needs sections"):
        parse("")


@pytest.mark.parametrize(
    "line",
    ["# a" + " " * 40_000 + "x", "# a" + " #" * 20_000 + "x", "# a" + " " * 40_000 + "{#"],
    ids=["spaces", "marks", "key"],
)
def test_no_heading_keeps_the_process(line: str) -> None:
    """One such line in a request would have kept the API for days."""
    before = time.process_time()
    with pytest.raises(BadTemplate):
        parse(line)
    assert time.process_time() - before < 5


def test_marks_that_close_a_heading_are_no_part_of_it() -> None:
    template = parse("# Weekly #\n\n## Decisions {#d} ##  \nAll.\n##   Open points\t#\n## C#\n")
    assert template.title == "Weekly"
    assert [(one.key, one.heading) for one in template.sections] == [
        ("d", "Decisions"),
        ("open-points", "Open points"),
        ("c", "C"),
    ]


def test_a_run_keeps_its_template_in_all_languages_whatever_becomes_of_the_files() -> None:
    kept = [one.kept() for one in MINUTES.templates_for({"template": "Decision log"})]
    assert [(one["name"], one["language"]) for one in kept] == [
        ("decision-log", "en"),
        ("decision-log", "zh"),
    ]
    for wanted in ({"template": "council"}, {}):
        there = [{**one, "name": "council"} for one in kept]
        told = Material(
            title="周会", language=None, attributes=wanted, sources=(), templates=tuple(there)
        )
        template = MINUTES.template_of(told)
        assert (template.name, template.language) == ("council", "zh")
        assert template.sections == find(BUILT_IN, "decision-log", "zh").sections
    assert MINUTES.templates_for({"template": "# Ours\n\n## Votes\n"}) == ()
    assert [one.name for one in MINUTES.templates_for({})] == ["general"] * 2
    with pytest.raises(BadTemplate, match="no template 'council'"):
        MINUTES.templates_for({"template": "council"})


def test_a_broken_file_is_left_out_where_somebody_is_told_and_the_others_serve(
    tmp_path: Path,
) -> None:
    (tmp_path / "broken.md").write_text("no section", encoding="utf-8")
    (tmp_path / "weekly.md").write_text("## Wins\n", encoding="utf-8")
    told: list[str] = []
    kinds = load_kinds("", str(tmp_path), lambda problem: told.append(str(problem)))
    kind = kinds["minutes"]
    assert isinstance(kind, SectionDraft)
    assert "weekly" in names(kind.templates)
    assert "broken" not in names(kind.templates)
    assert set(told) == {"broken.md: A template needs sections: lines like `## Decisions`."}
    with pytest.raises(BadTemplate, match=r"broken\.md"):
        load_kinds("", str(tmp_path))
