"""The kind itinerary: days are kept one by one and put in order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.kind_material import work
from workflows.kinds import load_kinds
from workflows.kinds.kind import Item, Refused, Work
from workflows.vocabulary import Severity, StepName

ITINERARY = load_kinds()["itinerary"]
TEXT = load_kinds()["text"]


def day(number: int, *starts: str) -> dict[str, Any]:
    entries = [
        {
            "start": start,
            "end": "23:00",
            "kind": "sight",
            "name": f"Place {number} {start}",
            "cost": 12.5,
        }
        for start in starts or ("09:00",)
    ]
    return {"day": number, "city": f"City {number}", "entries": entries}


def draft(source: str = "A 5-day trip to Ravenna", **rest: Any) -> Work:
    return work(StepName.DRAFT, source, **rest)


def kept(step: Work, *numbers: int) -> list[Item]:
    items: list[Item] = []
    for number in numbers:
        item = ITINERARY.accept(step, ITINERARY.parts(step)[0], day(number), items)
        assert isinstance(item, Item)
        items.append(item)
    return items


def test_a_draft_expects_every_day_that_the_request_names() -> None:
    (part,) = ITINERARY.parts(draft())
    assert ITINERARY.drafts_without_body()
    assert ITINERARY.expected(draft(), part) == ("1", "2", "3", "4", "5")
    assert ITINERARY.expected(draft("杭州三日游，共4天"), part) == ("1", "2", "3", "4")
    assert ITINERARY.expected(draft("Somewhere warm"), part) == ("1", "2", "3")
    assert ITINERARY.expected(work(StepName.REVIEW, "x", "y"), part) is None


def test_a_continuation_asks_for_the_missing_days_alone() -> None:
    step = draft()
    prompt = ITINERARY.prompt(step, ITINERARY.parts(step)[0], kept(step, 1, 2, 3))
    assert prompt.schema_name == "redraft_itinerary"
    assert prompt.user.splitlines()[-1].endswith("only with the days 4, 5.")
    assert '"days":5' in prompt.user


def test_a_day_beyond_the_trip_or_given_twice_is_refused() -> None:
    step = draft()
    (part,) = ITINERARY.parts(step)
    assert ITINERARY.accept(step, part, day(6), []) == Refused(code="out_of_range")
    assert ITINERARY.accept(step, part, day(0), []) == Refused(code="out_of_range")
    assert ITINERARY.accept(step, part, day(1), kept(step, 1)) == Refused(code="duplicate")
    for broken in ({"day": "1"}, {"day": True}, {**day(1), "entries": [{}]}, {**day(1), "city": 3}):
        assert ITINERARY.accept(step, part, broken, []) == Refused(code="invalid")


def test_days_stand_in_their_order_whatever_order_they_came_in() -> None:
    step = draft()
    body = ITINERARY.draft(step, kept(step, 2, 5, 1, 4, 3))
    assert [body.index(f"## Day {number} ") for number in range(1, 6)] == sorted(
        body.index(f"## Day {number} ") for number in range(1, 6)
    )
    assert "- 09:00–23:00 sight: Place 1 09:00 (12.5)" in body
    assert ITINERARY.verify(step.material, body) == ()


def test_missing_days_block_and_a_wrong_order_of_times_is_minor() -> None:
    step = draft()
    (part,) = ITINERARY.parts(step)
    item = ITINERARY.accept(step, part, day(1, "10:00", "08:30"), [])
    assert isinstance(item, Item)
    findings = ITINERARY.verify(step.material, ITINERARY.draft(step, [item]))
    assert [finding.severity for finding in findings] == [Severity.BLOCKER, Severity.MINOR]
    assert "2, 3, 4, 5" in findings[0].problem
    assert "08:30" in findings[1].quote


@pytest.mark.parametrize(
    ("name", "value"),
    [("days", 0), ("days", True), ("budget", -1), ("currency", "eur"), ("start_date", "x")],
)
def test_nonsense_in_an_attribute_is_a_problem_at_its_pointer(name: str, value: object) -> None:
    ((pointer, _),) = ITINERARY.check_attributes({name: value})
    assert pointer == f"/{name}"


def test_a_review_of_any_text_is_checked_for_numbers_dates_and_names() -> None:
    step = work(
        StepName.REVIEW, "The tower is 57 metres high.", "The tower, says Zorba, is 75 metres high."
    )
    assert [finding.raised_by for finding in TEXT.verify(step.material, step.body)] == [
        "verifier:numbers",
        "verifier:names",
    ]
    assert TEXT.parts(step)[0].part == "main"
