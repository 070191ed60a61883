"""The whole loop on real meetings with planted errors, in two languages, without its engine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from activities.model import tokens
from deploy.offline_model.prompt import read_prompt
from deploy.offline_model.refine import refine as refine_by_rule
from deploy.offline_model.review import review as review_by_rule
from tests.fake_llm.players import refine_items, review_items
from tests.fake_llm.recording import Request, rough_tokens
from tests.loop import Answer, Loop
from tests.unit.kind_material import DATA, SAMPLE, document, material, meetings, planted
from workflows.kinds import load_kinds
from workflows.kinds.kind import Material, Prompt
from workflows.vocabulary import IssueStatus, Reason

MINUTES = load_kinds()["minutes"]
WRITTEN = ("TS3004d", "education_17", "208")
NAMES = ("ES2004a", "meeting_146", *WRITTEN)


def given(name: str) -> tuple[Material, str]:
    if name in WRITTEN:
        found = next(meeting for meeting in meetings() if meeting.name == name)
        return found.material, (DATA / "planted" / f"{name}.md").read_text(encoding="utf-8")
    return document(SAMPLE if name == "ES2004a" else DATA / "planted" / f"{name}.document.json")


def repaired(name: str, body: str) -> str:
    for error in planted(name):
        body = body.replace(error["wrong"], error["right"])
    return body


def request_of(prompt: Prompt) -> Request:
    messages = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    return Request(
        number=1,
        at=0,
        headers={},
        body={},
        prompt=read_prompt(messages),
        count_tokens=rough_tokens,
    )


def by_rule(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
    answer = review_by_rule if prompt.schema_name == "redraft_review" else refine_by_rule
    items: Sequence[Mapping[str, Any]] = answer(request_of(prompt).prompt)["items"]
    return items


def knowing(name: str, *, per_call: int | None = None) -> Answer:
    """Knows every planted error of the meeting and reports so many at a time."""
    errors = [(error["wrong"], error["right"]) for error in planted(name)]

    def answer(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        request = request_of(prompt)
        if prompt.schema_name == "redraft_review":
            return review_items(request, errors, severity="major", category="fact")[:per_call]
        asked = {issue.quote for issue in request.issues}
        known = [
            (wrong, right)
            for wrong, right in errors
            if any(wrong in quote or quote in wrong for quote in asked)
        ]
        return refine_items(request, known)

    return answer


@pytest.mark.parametrize("name", NAMES)
def test_by_rule_every_error_that_rules_see_is_fixed_and_nothing_true_is_changed(name: str) -> None:
    about, body = given(name)
    offered, _ = Loop(kind=MINUTES, material=about, answer=by_rule, max_rounds=2).run(body)
    left = [error["wrong"] for error in planted(name) if error["rule_visible"]]
    assert [wrong for wrong in left if wrong in offered] == []
    assert repaired(name, offered) == repaired(name, body)


@pytest.mark.parametrize("name", NAMES)
def test_a_good_model_gets_every_error_out_and_changes_nothing_true(name: str) -> None:
    about, body = given(name)
    loop = Loop(kind=MINUTES, material=about, answer=knowing(name, per_call=3))
    offered, _ = loop.run(body)
    assert offered == repaired(name, body)


def test_a_model_that_changes_what_is_true_gets_none_of_it_into_the_text() -> None:
    about, body = given("ES2004a")
    good = knowing("ES2004a")
    true = "selling price"
    assert body.count(true) == 1

    def answer(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        items = list(good(prompt))
        if prompt.schema_name == "redraft_refine":
            items.append({"find": true, "replace": "buying price", "resolves": ["I1"]})
        return items

    offered, _ = Loop(kind=MINUTES, material=about, answer=answer).run(body)
    assert offered == repaired("ES2004a", body)


TRUE = "Ana: the price is 25 Euros.\nBo: we ship on Friday.\n"
TEXT = "# Minutes\n\n- The lamp is chaep.\n- We ship on Friday.\n"


def small(answer: Answer, **more: Any) -> tuple[Loop, str, Reason]:
    loop = Loop(kind=MINUTES, material=material(TRUE), answer=answer, **more)
    offered, reason = loop.run(TEXT)
    return loop, offered, reason


def issue_of(quote: str, severity: str = "major", **more: Any) -> dict[str, Any]:
    return {
        "category": "claim",
        "severity": severity,
        "quote": quote,
        "problem": "p",
        "suggestion": None,
        "evidence": [],
        **more,
    }


def alternating(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
    """Says of each of two words that it should be the other one."""
    words = ("chaep", "cheap")
    text = request_of(prompt).document
    wrong, right = words if words[0] in text else words[::-1]
    if prompt.schema_name == "redraft_review":
        return [issue_of(wrong, suggestion=right)]
    return [{"find": wrong, "replace": right, "resolves": []}]


def test_edits_that_go_back_and_forth_end_the_loop() -> None:
    loop, _, reason = small(alternating)
    assert reason == Reason.NO_PROGRESS
    assert len(loop.bodies) == 2


def test_an_issue_that_no_edit_touches_ends_the_loop() -> None:
    def stubborn(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        return [issue_of("chaep")] if prompt.schema_name == "redraft_review" else []

    loop, offered, reason = small(stubborn)
    assert (offered, reason) == (TEXT, Reason.NO_PROGRESS)
    assert len(loop.asked) == 2


def test_two_fresh_minor_issues_each_time_end_the_loop() -> None:
    count = 0

    def fussy(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        nonlocal count
        if prompt.schema_name == "redraft_refine":
            count += 1
            return [{"find": "The lamp", "replace": f"The lamp {count}", "resolves": ["I1"]}]
        return [issue_of("The lamp", "minor"), issue_of("on Friday", "minor")]

    _, _, reason = small(fussy, pass_score=100)
    assert reason == Reason.NO_PROGRESS


def test_a_reviewer_that_alternates_between_two_issues_ends_the_loop() -> None:
    """The one comes back as soon as the other is answered; it never gives a score."""
    asked = {"redraft_review": 0, "redraft_refine": 0}

    def wavering(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        asked[prompt.schema_name] += 1
        turn = (asked[prompt.schema_name] - 1) % 2
        quote = ("The lamp", "on Friday")[turn]
        if prompt.schema_name == "redraft_review":
            return [issue_of(quote, "major")]
        number = asked["redraft_refine"]
        return [{"find": quote, "replace": f"{quote} {number}", "resolves": [f"I{turn + 1}"]}]

    _, _, reason = small(wavering)
    assert reason == Reason.NO_PROGRESS
    assert asked["redraft_review"] <= 4


def test_a_text_that_verifies_worse_is_left_and_the_next_round_goes_on_from_the_best() -> None:
    tries = 0

    def clumsy(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        nonlocal tries
        if prompt.schema_name == "redraft_review":
            return [issue_of("chaep", suggestion="cheap")] if "chaep" in prompt.user else []
        tries += 1
        wrong = "at 99 Euros and 77 Euros for the the" if tries == 1 else "cheap"
        return [{"find": "chaep", "replace": wrong, "resolves": ["I1"]}]

    loop, offered, reason = small(clumsy)
    assert reason == Reason.PASSED
    assert offered == TEXT.replace("chaep", "cheap")
    second = [prompt for round_, step, prompt in loop.asked if (round_, step) == (2, "review")]
    assert "chaep" in request_of(second[0]).document
    assert 'quote: "chaep"' in second[0].user


def test_an_issue_whose_passage_stays_is_done_when_an_edit_resolved_it_and_nobody_sees_it() -> None:
    def gap(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        if prompt.schema_name == "redraft_refine":
            new = "# Minutes\n\n- The price is 25 Euros.\n"
            return [{"find": "# Minutes\n\n", "replace": new, "resolves": ["I1"]}]
        there = "25 Euros" in request_of(prompt).document
        return [] if there else [issue_of("# Minutes", category="missing")]

    loop, offered, reason = small(gap)
    assert (reason, "25 Euros" in offered) == (Reason.PASSED, True)
    assert [one.status for one in loop.known] == [IssueStatus.FIXED]


def test_a_refused_edit_is_answered_to_the_model_once_and_its_answer_counts() -> None:
    asked: list[str] = []

    def near(prompt: Prompt) -> Sequence[Mapping[str, Any]]:
        if prompt.schema_name == "redraft_review":
            return [issue_of("chaep")] if "chaep" in request_of(prompt).document else []
        asked.append(prompt.user)
        told = "REFUSED" in prompt.user
        find = "" if told else "The lamp was chaep"
        new = TEXT.replace("chaep", "cheap") if told else "The lamp is cheap"
        return [{"find": find, "replace": new, "resolves": ["I1"]}]

    _, offered, reason = small(near)
    assert (offered, reason) == (TEXT.replace("chaep", "cheap"), Reason.PASSED)
    assert len(asked) == 2
    assert '"code":"not_found"' in asked[1]


def test_from_the_second_round_on_most_of_what_is_sent_was_sent_before() -> None:
    about, body = given("TS3004d")
    loop = Loop(kind=MINUTES, material=about, answer=knowing("TS3004d", per_call=2))
    loop.run(body)
    sent: list[str] = []
    total = shared = 0
    for round_, _, prompt in loop.asked:
        text = prompt.system + prompt.user
        if round_ > 1:
            total += tokens.count(text)
            shared += max(tokens.count(_common(text, other)) for other in sent)
        sent.append(text)
    assert total > 0
    assert shared >= 0.8 * total


def _common(one: str, other: str) -> str:
    at = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return one[:at]


def test_the_loop_here_asks_like_the_engine() -> None:
    """What is decided here twice: both go by the same functions."""
    source = (DATA.parent / "loop.py").read_text(encoding="utf-8")
    for name in ("after_review", "after_refine", "loop_end", "merged"):
        assert re.search(rf"\b{name}\(", source)
