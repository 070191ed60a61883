"""Replies that say the same again, in whatever dress; and replies that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from activities.items import PartState
from activities.steps.parts import capped
from activities.steps.spinning import fingerprint, noted, repeats
from workflows.kinds.kind import Item, PartPlan
from workflows.vocabulary import Reason

Items = Sequence[Mapping[str, Any]]
ONE = {"quote": "E1x", "problem": "not what was said", "evidence": ["T1", "T4"]}
TWO = {"quote": "E2x", "problem": "nobody said that", "evidence": []}
DAYS = [
    {"day": 1, "city": "Rockford", "entries": [{"start": "09:00", "name": "Museum", "cost": 10}]},
    {"day": 2, "city": "Rockford", "entries": [{"start": "14:00", "name": "Park", "cost": 0}]},
]


def mark(items: Items, text: str = "") -> str:
    return fingerprint(text, items)


@pytest.mark.parametrize(
    "again",
    [
        [ONE, TWO],
        [{**ONE, "problem": " not  what\nwas said "}, TWO],
        [TWO, ONE],
        [{**ONE, "evidence": ["T4", "T1"]}, TWO],
        [{**ONE, "problem": "1. not what was said"}, {**TWO, "problem": "2) nobody said that"}],
        [
            {**ONE, "problem": "(a) not what was said"},
            {**TWO, "problem": "第2条：nobody said that"},
        ],
    ],
    ids=["same", "space", "order", "inner order", "numbers", "letters"],
)
def test_a_reply_said_again_in_another_dress_is_the_same_reply(again: Items) -> None:
    assert mark(again) == mark([ONE, TWO])


@pytest.mark.parametrize(
    "other",
    [
        [ONE],
        [ONE, {**TWO, "quote": "E3x"}],
        [ONE, {**TWO, "problem": "somebody said that"}],
        [ONE, {**TWO, "evidence": ["T2"]}],
        [ONE, TWO, TWO],
    ],
    ids=["fewer", "quote", "words", "evidence", "more"],
)
def test_a_reply_that_says_something_else_is_another(other: Items) -> None:
    assert mark(other) != mark([ONE, TWO])


def test_days_and_sections_under_other_numbers_are_the_same() -> None:
    assert mark([{**day, "day": day["day"] + 2} for day in DAYS]) == mark(DAYS)  # type: ignore[operator]
    section = {"key": "s1", "heading": "1. Decisions", "markdown": "1. Ship\n2. Paint"}
    renumbered = {"key": "s7", "heading": "7. Decisions", "markdown": "4. Ship\n5. Paint"}
    assert mark([section]) == mark([renumbered])
    assert mark([section]) != mark([{**section, "markdown": "1. Ship\n2. Burn"}])


def test_numbers_inside_a_text_are_no_numbering() -> None:
    assert mark([{"markdown": "We ship on 12 May"}]) != mark([{"markdown": "We ship on 13 May"}])
    assert mark([{"name": "Place 1"}]) != mark([{"name": "Place 2"}])


def test_a_text_without_items_counts_regardless_of_white_space() -> None:
    assert mark([], "I would\nrather") == mark([], " I would rather ")
    assert mark([], "I would rather") != mark([], "I would not")


def test_any_earlier_reply_counts_so_two_alternating_ones_are_seen() -> None:
    known = [mark([ONE]), mark([TWO])]
    assert repeats(known, mark([ONE]), 1, 0)
    assert repeats(known, mark([TWO]), 1, 0)
    assert not repeats(known, mark([ONE, TWO]), 2, 0)


def test_several_items_that_are_new_by_their_number_alone_are_a_repeated_reply() -> None:
    known = [mark(DAYS)]
    again = [{**day, "day": 7} for day in DAYS]
    assert repeats(known, mark(again), 2, fresh=2)
    assert not repeats([mark(DAYS[:1])], mark([{**DAYS[0], "day": 7}]), 1, fresh=1)


def test_one_item_a_call_under_ever_new_numbers_is_stopped_at_the_third() -> None:
    known: list[str] = []
    stopped = []
    for day in range(1, 4):
        said = mark([{**DAYS[0], "day": day}])
        stopped.append(repeats(known, said, 1, fresh=1))
        known.append(noted(known, said))
    assert stopped == [False, False, True]


def part(**values: Any) -> PartState:
    return PartState(plan=PartPlan(part="main", key="k", spec={}), kept=[], **values)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"calls": 19, "early_ends": 4, "barren": 2}, None),
        ({"calls": 20}, Reason.CALL_LIMIT),
        ({"early_ends": 5}, Reason.CALL_LIMIT),
        ({"barren": 3}, Reason.SPINNING),
        ({"stop": "refusal"}, Reason.REFUSAL),
        ({"stop": "spinning", "early_ends": 5}, Reason.SPINNING),
    ],
)
def test_a_part_that_a_guardrail_stopped_gets_no_further_call(
    values: Mapping[str, Any], reason: Reason | None
) -> None:
    end = capped(part(**values), None)
    assert (end and end.reason) == reason


def test_garbage_alone_is_an_unusable_reply_and_no_guardrail() -> None:
    end = capped(part(barren=3, early_ends=3), Reason.GARBLED)
    assert end is not None
    assert end.reason == Reason.INVALID_REPLY
    kept = part(barren=3)
    kept.kept.append(Item(key="a", payload={}))
    end = capped(kept, Reason.GARBLED)
    assert end is not None
    assert end.reason == Reason.SPINNING
