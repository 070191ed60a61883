"""Days as models write them: which are kept, what a rewriting may change, how plans are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.kind_material import work
from tests.unit.trips import ITINERARY, material, trip
from workflows.kinds.itinerary.plan import parse_plan
from workflows.kinds.itinerary.sorts import Sort
from workflows.kinds.kind import Finding, Item, OpenIssue, Refused, Work
from workflows.vocabulary import Severity, StepName

STEP = work(StepName.DRAFT, "A 5-day trip to Ravenna")
(PART,) = ITINERARY.parts(STEP)
Day = dict[str, Any]


def day(number: int, place: str = "") -> Day:
    entry = {"start": "09:00", "end": "10:00", "kind": "sight", "cost": 5}
    return {"day": number, "city": "Ravenna", "entries": [{**entry, "name": f"Tomb {place}"}]}


def offered(*days: Day) -> tuple[list[str], list[str]]:
    """Keys that are kept, codes of what is dropped, of days that come one after another."""
    kept: list[Item] = []
    dropped: list[str] = []
    for one in days:
        accepted = ITINERARY.accept(STEP, PART, one, kept)
        if isinstance(accepted, Refused):
            dropped.append(accepted.code)
        else:
            kept.append(accepted)
    return [item.key for item in kept], dropped


@pytest.mark.parametrize(
    ("days", "keys", "codes"),
    [
        ([day(3), day(1), day(2)], ["3", "1", "2"], []),
        ([day(1), day(1)], ["1"], ["duplicate"]),
        ([day(1), day(1, "of Dante")], ["1"], ["changed_earlier"]),
        ([day(1), day(2), day(1, "b"), day(2, "b")], ["1", "2"], ["changed_earlier"] * 2),
        ([day(5), day(6), day(7)], ["5"], ["out_of_range"] * 2),
        ([day(1), {**day(2), "entries": []}, day(2)], ["1", "2"], ["empty"]),
        ([{**day(1), "entries": [{"name": "x"}]}, day(1)], ["1"], ["invalid"]),
        ([{**day(1), "city": "\x00"}, {**day(1), "city": "\ud800"}], [], ["invalid"] * 2),
    ],
    ids=["order", "twice", "changed", "renumbered", "beyond", "padded", "broken", "unstorable"],
)
def test_the_first_complete_valid_day_of_each_number_wins(
    days: list[Day], keys: list[str], codes: list[str]
) -> None:
    assert offered(*days) == (keys, codes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": "9 o'clock"},
        {"start": "25:00"},
        {"cost": -1},
        {"cost": float("nan")},
        {"cost": True},
        {"cost": "12"},
        {"name": " "},
        {"kind": ""},
        {"name": "x" * 301},
    ],
)
def test_an_entry_that_says_nothing_clear_makes_its_day_invalid(wrong: Day) -> None:
    broken = day(1)
    broken["entries"][0].update(wrong)
    assert offered(broken) == ([], ["invalid"])


def test_a_chinese_continuation_is_asked_for_in_chinese() -> None:
    step = Work(
        step=StepName.DRAFT,
        round=0,
        material=work(StepName.DRAFT, "我一个人去杭州玩三天，预算3000元").material,
    )
    step = Work(step=StepName.DRAFT, round=0, material=_in("zh", step))
    first = ITINERARY.accept(step, PART, day(1), [])
    assert isinstance(first, Item)
    prompt = ITINERARY.prompt(step, PART, [first])
    assert prompt.system.startswith("你逐日规划")
    assert prompt.user.endswith("只回答以下各天：2, 3。")
    assert '"budget":3000.0' in prompt.user


def _in(language: str, step: Work) -> Any:
    given = step.material
    return type(given)(
        title="旅行", language=language, attributes={"currency": "CNY"}, sources=given.sources
    )


def test_what_is_written_is_read_as_it_was() -> None:
    entries = [
        {"start": "23:10", "end": "01:05", "kind": "flight", "name": "X12, A → B", "cost": 1234.5},
        {"start": "", "end": "", "kind": "sight", "name": "Room (2)", "cost": None},
        {"start": "8:00", "end": "9:00", "kind": "lunch: late", "name": "At\nBo's", "cost": 0},
    ]
    item = ITINERARY.accept(STEP, PART, {"day": 1, "city": "B", "entries": entries}, [])
    assert isinstance(item, Item)
    (read,) = parse_plan(ITINERARY.draft(STEP, [item])).days
    flight, room, lunch = read.entries
    assert (flight.start, flight.end, flight.cost) == (23 * 60 + 10, 25 * 60 + 5, 1234.5)
    assert (flight.ends, flight.number, flight.sort) == (("A", "B"), "X12", Sort.FLIGHT)
    assert (room.name, room.cost, room.start) == ("Room (2)", None, None)
    assert (lunch.name, lunch.cost, lunch.start) == ("At Bo's", 0, 8 * 60)


@pytest.mark.parametrize(
    ("heading", "number", "city"),
    [
        ("## Day 3 · 2027-03-16 · Rockford", 3, "Rockford"),
        ("### Day 12: A → B", 12, "B"),
        ("## day 2 - Saint-Denis", 2, "Saint-Denis"),
        ("## 第十二天 · 苏州", 12, "苏州"),
        ("## 第二天：杭州", 2, "杭州"),
        ("## Day 4", 4, ""),
    ],
)
def test_headings_of_people_are_read(heading: str, number: int, city: str) -> None:
    (read,) = parse_plan(f"# Trip\n\n{heading}\n\n- lunch: Bo's\n").days
    assert (read.number, read.city) == (number, city)


BODY = trip("00").body
WRONG = BODY.replace("Dial A Cake", "Dial A Pie")


def refining(*problems: tuple[str, str], locks: tuple[str, ...] = ()) -> Work:
    issues = tuple(
        OpenIssue(
            number=number,
            finding=Finding(
                category="x",
                severity=Severity.MAJOR,
                quote=quote,
                problem="wrong",
                raised_by=raised_by,
            ),
        )
        for number, (quote, raised_by) in enumerate(problems, start=1)
    )
    return Work(
        step=StepName.REFINE,
        round=1,
        material=material("00"),
        body=WRONG,
        issues=issues,
        locks=locks,
    )


def edit(find: str, replace: str, *resolves: str) -> dict[str, Any]:
    return {"find": find, "replace": replace, "resolves": list(resolves)}


PIE = "- breakfast: Dial A Pie, Rockford (29 USD)"
CAKE = "- breakfast: Dial A Cake, Rockford (29 USD)"
LUNCH = "- lunch: Flying Mango, Rockford (20 USD)"
DINNER = "- dinner: Coco Bambu, Rockford (72 USD)"


def test_any_line_of_a_day_with_an_issue_may_be_rewritten_and_no_other() -> None:
    step = refining((PIE, "verifier:places"))
    (part,) = ITINERARY.parts(step)
    other_line = edit(LUNCH, "- lunch: Subway, Rockford (42 USD)", "I1")
    assert isinstance(ITINERARY.accept(step, part, other_line, []), Item)
    other_day = edit(DINNER, "- dinner: Subway, Rockford (42 USD)", "I1")
    assert ITINERARY.accept(step, part, other_day, []) == Refused(code="unasked")


def test_a_day_may_be_rewritten_whole_and_the_table_follows() -> None:
    step = refining((PIE, "verifier:places"))
    (part,) = ITINERARY.parts(step)
    item = ITINERARY.accept(step, part, edit(f"{PIE}\n", f"{CAKE}\n", "I1"), [])
    more = ITINERARY.accept(step, part, edit(LUNCH, LUNCH.replace("20", "30")), [])
    assert isinstance(item, Item)
    assert isinstance(more, Item)
    made = ITINERARY.refine(step, [item, more])
    assert made.resolved == (1,)
    assert "| 2 | – | 115 | 243 | 358 |" in made.body
    assert made.body.split("## Day 3")[0].split("## Day 2")[0] == WRONG.split("## Day 2")[0]


def test_an_issue_of_the_whole_plan_may_be_answered_in_any_day() -> None:
    step = refining(("# A trip", "verifier:budget"))
    (part,) = ITINERARY.parts(step)
    item = ITINERARY.accept(
        step, part, edit(DINNER, "- dinner: Subway, Rockford (42 USD)", "I1"), []
    )
    assert isinstance(item, Item)


def test_a_locked_table_and_locked_lines_stay() -> None:
    total = next(line for line in BODY.splitlines() if line.startswith("| Total"))
    step = refining((PIE, "verifier:places"), locks=(total, LUNCH))
    (part,) = ITINERARY.parts(step)
    assert ITINERARY.accept(step, part, edit(LUNCH, "x", "I1"), []) == Refused(code="locked")
    item = ITINERARY.accept(step, part, edit(PIE, CAKE.replace("29", "39"), "I1"), [])
    assert isinstance(item, Item)
    assert total in ITINERARY.refine(step, [item]).body


def test_what_only_a_person_can_answer_is_asked_of_no_model() -> None:
    step = refining(("# A trip", "verifier:request"), (PIE, "verifier:places"))
    (part,) = ITINERARY.parts(step)
    user = ITINERARY.prompt(step, part, []).user
    assert "I2 | major" in user
    assert "I1 | major" not in user
    wide = edit(DINNER, "- dinner: Subway, Rockford (42 USD)", "I1")
    assert ITINERARY.accept(step, part, wide, []) == Refused(code="unasked")


def test_a_missing_day_may_be_added_in_its_place() -> None:
    before, after = WRONG.index("## Day 2"), WRONG.index("## Day 3")
    body = WRONG[:before] + WRONG[after:]
    step = refining(("# A trip", "verifier:days"))
    step = Work(
        step=StepName.REFINE, round=1, material=step.material, body=body, issues=step.issues
    )
    (part,) = ITINERARY.parts(step)
    heading = "## Day 3 · 2022-03-18 · St. Petersburg"
    item = ITINERARY.accept(step, part, edit(heading, BODY[before:after] + heading, "I1"), [])
    assert isinstance(item, Item)
    assert ITINERARY.verify(step.material, ITINERARY.refine(step, [item]).body) == ()


def test_an_issue_whose_line_stands_on_two_days_may_be_answered_in_either() -> None:
    """A plan without reference data may say the same twice; all of it comes to one new body."""
    line = "- 09:00–11:00 sight: A walk"
    body = f"# A trip\n\n## Day 1 · Rome\n\n{line}\n\n## Day 2 · Rome\n\n{line}\n- lunch: Bo's\n"
    step = replace(refining((line, "verifier:repeats")), body=body)
    (part,) = ITINERARY.parts(step)
    other = f"{line.replace('A walk', 'The Forum')}\n- lunch"
    item = ITINERARY.accept(step, part, edit(f"{line}\n- lunch", other, "I1"), [])
    assert isinstance(item, Item)
    made = ITINERARY.refine(step, [item])
    assert made.resolved == (1,)
    assert made.body.startswith(body.partition("## Day 2")[0])


def test_only_the_days_concerned_are_rewritten_all_others_byte_for_byte() -> None:
    step = refining((PIE, "verifier:places"))
    (part,) = ITINERARY.parts(step)
    item = ITINERARY.accept(step, part, edit(PIE, CAKE, "I1"), [])
    assert isinstance(item, Item)
    made = ITINERARY.refine(step, [item]).body

    def days(body: str) -> dict[int, str]:
        return {day.number: body[slice(*day.span)] for day in parse_plan(body).days}

    before, after = days(WRONG), days(made)
    assert {number for number in before if before[number] != after[number]} == {2}
    rest = edit(BODY.split("## Day 3")[1][:40], "anything", "I1")
    assert isinstance(ITINERARY.accept(step, part, rest, []), Refused)


def test_a_rewriting_that_names_its_issues_strangely_is_still_made() -> None:
    step = refining((PIE, "verifier:places"))
    items = [
        Item(key=str(at), payload={"find": PIE, "replace": CAKE, "resolves": [name]})
        for at, name in enumerate(("issue one", "", "I1", "7"))
    ]
    for item in items:
        assert ITINERARY.refine(step, [item]).resolved == (1,)
