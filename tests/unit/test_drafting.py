"""First drafts by sections: cut, prompts, what is kept of a reply, the body; by rules and by a good
model nothing that was decided once is lost.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from deploy.offline_model.extract import draft as by_rules
from deploy.offline_model.prompt import read_prompt
from tests.unit.kind_material import meetings, work
from workflows.kinds import load_kinds
from workflows.kinds.kind import FOLLOWS, Item, PartPlan, Prompt, Refused, RefusedItem, Work
from workflows.vocabulary import StepName

MINUTES = load_kinds()["minutes"]
SHORT = "Ana: we decided to ship the blue box on Friday.\nBo: I will write the note.\nAna: Why?"
LONG = {meeting.name: meeting for meeting in meetings() if meeting.name in ("Bmr006", "208")}


def drafting(text: str, **rest: Any) -> Work:
    return replace(work(StepName.DRAFT, text), round=0, **rest)


def section(key: str = "decisions", **changes: Any) -> dict[str, Any]:
    told = {"key": key, "heading": key.title(), "markdown": "- We ship.", "evidence": ["T1"]}
    return {**told, **changes}


def accepted(payload: dict[str, Any], step: Work | None = None, *kept: Item) -> Item | Refused:
    step = step or drafting(SHORT)
    return MINUTES.accept(step, MINUTES.parts(step)[-1], payload, kept)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    system = {"role": "system", "content": prompt.system}
    return [system, {"role": "user", "content": prompt.user}]


def whole(step: Work, answer: Any = by_rules) -> tuple[str, list[Prompt]]:
    """The body of a draft whose every part is answered once."""
    asked: list[Prompt] = []
    gathered: list[tuple[PartPlan, tuple[Item, ...]]] = []
    for part in MINUTES.parts(step):
        if part.spec.get(FOLLOWS):
            noted = tuple(one for one in gathered if not one[0].spec.get(FOLLOWS))
            step = replace(step, gathered=noted)
        prompt = MINUTES.prompt(step, part, [])
        kept: list[Item] = []
        for payload in answer(read_prompt(messages(prompt)))["items"]:
            item = MINUTES.accept(step, part, payload, kept)
            assert isinstance(item, Item), item
            kept.append(item)
        assert {item.key for item in kept} == set(MINUTES.expected(step, part) or ())
        asked.append(prompt)
        gathered.append((part, tuple(kept)))
    last = [kept for part, kept in gathered if part.spec.get(FOLLOWS)] or [gathered[0][1]]
    return MINUTES.draft(step, [item for kept in last for item in kept]), asked


def test_a_short_source_is_drafted_at_once_by_the_sections_of_its_template() -> None:
    step = drafting(SHORT)
    [part] = MINUTES.parts(step)
    assert MINUTES.expected(step, part) == (
        *("summary", "topics", "decisions", "actions", "questions"),
    )
    read = read_prompt(messages(MINUTES.prompt(step, part, [])))
    assert [line.number for line in read.lines] == [1, 2, 3]
    assert [one["heading"] for one in read.wanted][-1] == "Open questions"


def test_a_continuation_asks_only_for_the_missing_sections() -> None:
    step = drafting(SHORT)
    [part] = MINUTES.parts(step)
    kept = [item for item in (accepted(section(key)) for key in ("summary", "decisions"))]
    assert all(isinstance(item, Item) for item in kept)
    prompt = MINUTES.prompt(step, part, [item for item in kept if isinstance(item, Item)])
    assert "Answer only with the sections topics, actions, questions." in prompt.user
    assert [one["key"] for one in read_prompt(messages(prompt)).already] == ["summary", "decisions"]
    asked = by_rules(read_prompt(messages(prompt)))["items"]
    assert [one["key"] for one in asked] == ["topics", "actions", "questions"]


@pytest.mark.parametrize("name", LONG)
def test_what_was_decided_once_is_in_what_the_model_receives_and_in_the_draft(name: str) -> None:
    lines = LONG[name].material.sources[0].text.splitlines()
    said = [f"Zoe: so it is decided, number {n} gets the green light." for n in (1, 2, 3)]
    lines.insert(len(lines) // 4, said[0])
    lines.insert(len(lines) // 2, said[1])
    lines.append(said[2])
    body, asked = whole(drafting("\n".join(lines), prompts={"window_tokens": 8000}))
    received = {line.number for prompt in asked for line in read_prompt(messages(prompt)).lines}
    assert received == set(range(1, len(lines) + 1))
    assert len(asked) > 3
    for sentence in said:
        assert any(sentence in prompt.user for prompt in asked[:-1])
        assert sentence in body
    assert "no model wrote this" in body or "不是模型写的" in body


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"markdown": 5}, "invalid"),
        ({"heading": None}, "invalid"),
        ({"evidence": "T1"}, "invalid"),
        ({"evidence": [1]}, "invalid"),
        ({"markdown": "a\x00"}, "invalid"),
        ({"key": "", "heading": ""}, "invalid"),
        ({"key": "more", "heading": "More", "markdown": " "}, "invalid"),
        ({"evidence": ["T4"]}, "evidence_not_found"),
        ({"evidence": ["line 1"]}, "evidence_not_found"),
        ({"markdown": "- We ship [T99]."}, "evidence_not_found"),
    ],
)
def test_a_section_that_does_not_stand_on_the_source_is_dropped(
    changes: dict[str, Any], code: str
) -> None:
    refused = accepted(section(**changes))
    assert isinstance(refused, Refused)
    assert refused.code == code


def test_what_a_recogniser_made_up_is_no_evidence() -> None:
    step = drafting("[00:00:01] Ana: We ship.\n[00:00:09] [invented] Thank you for watching.")
    refused = accepted(section(evidence=["T2"]), step)
    assert isinstance(refused, Refused)
    assert refused.code == "evidence_not_found"
    assert "watching" not in MINUTES.prompt(step, MINUTES.parts(step)[0], []).user
    assert "watching" not in whole(step)[0]


def test_a_model_told_of_lines_that_do_not_exist_keeps_the_others_and_they_are_counted() -> None:
    wrong = section(evidence=["T2", "T77"])
    told = drafting(SHORT, refused=(RefusedItem(payload=wrong, code="evidence_not_found"),))
    assert MINUTES.ask_again(told, MINUTES.parts(told)[0], [])
    item = accepted(wrong, told)
    assert isinstance(item, Item)
    assert (item.payload["evidence"], item.payload["unfounded"]) == (["T2"], 1)


def test_a_section_is_known_by_its_heading_too_and_kept_once() -> None:
    item = accepted(section("s3", heading="3. decisions:"))
    assert isinstance(item, Item)
    assert (item.key, item.payload["heading"]) == ("decisions", "Decisions")
    again = accepted(section(), None, item)
    assert isinstance(again, Refused)
    assert again.code == "duplicate"


def test_a_reply_without_evidence_is_a_draft_too_and_citations_in_the_text_become_evidence() -> (
    None
):
    plain = {
        "key": "decisions",
        "heading": "D",
        "markdown": "## Decisions\n\n# Big\n- We ship (T1).",
    }
    item = accepted(plain)
    assert isinstance(item, Item)
    assert item.payload["markdown"] == "### Big\n- We ship."
    assert item.payload["evidence"] == ["T1"]


def made(*payloads: dict[str, Any]) -> list[Item]:
    items = [accepted(payload) for payload in payloads]
    return [item for item in items if isinstance(item, Item)]


def test_the_body_is_in_the_order_of_the_template_and_says_where_nothing_was() -> None:
    items = made(
        section("more", heading="More"), section("actions", markdown=""), section("summary")
    )
    body = MINUTES.draft(drafting(SHORT), items)
    headings = [line[3:] for line in body.splitlines() if line.startswith("## ")]
    assert headings == ["Summary", "Topics", "Decisions", "Actions", "Open questions", "More"]
    assert "## Actions\n\nNothing noted.\n" in body
    assert body.startswith("# A meeting\n")


@pytest.mark.parametrize(
    ("keys", "added", "settled"),
    [
        (("summary",), 1, False),
        (("summary",), 0, True),
        (("own", "other"), 2, True),
        ((), 0, False),
    ],
)
def test_missing_sections_are_asked_for_until_the_model_has_nothing_to_say_of_them(
    keys: Sequence[str], added: int, settled: bool
) -> None:
    step = drafting(SHORT)
    items = made(*(section(key, heading=key) for key in keys))
    assert MINUTES.settles(step, MINUTES.parts(step)[0], items, added) is settled


def test_a_part_that_did_not_fit_becomes_windows_and_one_that_composes() -> None:
    text = LONG["208"].material.sources[0].text
    small = drafting(text, prompts={"window_tokens": 5000})
    [main] = MINUTES.parts(drafting(text, prompts={"window_tokens": 90_000}))
    first, *notes = MINUTES.recut(small, main)
    assert (first.part, first.spec[FOLLOWS]) == ("main", True)
    assert [one.part for one in notes][:2] == ["notes:1", "notes:2"]
    smaller = drafting(text, prompts={"window_tokens": 2000})
    pieces = MINUTES.recut(smaller, notes[0])
    assert [one.part for one in pieces][:2] == ["notes:1", "notes:1.2"]
    assert pieces[-1].spec["window"]["last"] == notes[0].spec["window"]["last"]
    halves = MINUTES.recut(small, first)
    assert [one.part for one in halves] == ["main", "main.2"]
    keys = [key for one in halves for key in MINUTES.expected(small, one) or ()]
    assert keys == list(MINUTES.expected(small, first) or ())


def test_notes_of_many_windows_are_composed_by_several_parts_each_for_some_sections() -> None:
    said = [f"Zoe: so it is decided, box {n} gets the green light." for n in range(300)]
    step = drafting("\n".join(said), prompts={"window_tokens": 500})
    parts = MINUTES.parts(step)
    assert [one.part for one in parts if one.spec.get(FOLLOWS)] == ["main", "main:2"]
    body, asked = whole(step)
    assert all(sentence in body for sentence in said)
    headings = [line[3:] for line in body.splitlines() if line.startswith("## ")]
    assert headings == ["Summary", "Topics", "Decisions", "Actions", "Open questions"]
    noted = {item["key"] for items in read_prompt(messages(asked[-1])).notes for item in items}
    assert noted == {"decisions", "actions", "questions"}


def test_a_chinese_meeting_is_asked_for_in_chinese() -> None:
    step = drafting("安娜：我们决定周五发货。\n博：我负责写说明。")
    step = replace(step, material=replace(step.material, title="周会", language=None))
    prompt = MINUTES.prompt(step, MINUTES.parts(step)[0], [])
    assert "根据 SOURCE 撰写" in prompt.user
    body, _ = whole(step)
    assert "## 决定\n\n- 安娜: 我们决定周五发货。" in body
    assert "规则摘录" in body


@pytest.mark.parametrize("template", ["general", "project-meeting", "decision-log"])
def test_a_draft_by_rules_raises_nothing_of_the_verifiers(template: str) -> None:
    step = drafting(SHORT)
    step = replace(step, material=replace(step.material, attributes={"template": template}))
    body, _ = whole(step)
    assert MINUTES.verify(step.material, body) == ()


def test_no_section_keeps_the_process() -> None:
    """Spaces without end are what a model falls into; each pattern looks at them once."""
    spaces = " " * 25_000
    before = time.process_time()
    got = accepted(section(markdown=f"### a{spaces}x\n\n- We ship{spaces}x."))
    assert isinstance(got, Item)
    assert time.process_time() - before < 5
