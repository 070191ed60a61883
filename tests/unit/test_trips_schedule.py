"""A plan as pages show it: day by day, nothing left out, costs counted from its own entries."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from tests.unit.trips import ITINERARY, asked_zh, material, trip
from workflows.kinds import load_kinds
from workflows.kinds.itinerary.costs import table
from workflows.kinds.itinerary.plan import parse_plan
from workflows.kinds.kind import Material
from workflows.showing import Line, Schedule, Section, Table, schedule_of


def shown(body: str, given: Material | None = None) -> Schedule:
    found = schedule_of(ITINERARY, given or material("00"), body)
    assert found is not None
    return found


def sections(schedule: Schedule) -> list[Section]:
    return [piece for piece in schedule.pieces if isinstance(piece, Section)]


def costs(schedule: Schedule) -> Table:
    (found,) = (piece for piece in schedule.pieces if isinstance(piece, Table))
    return found


def notes(schedule: Schedule) -> list[str]:
    return [piece for piece in schedule.pieces if isinstance(piece, str)]


def test_a_plan_is_its_days_and_its_costs() -> None:
    found = shown(trip("00").body)
    days = sections(found)
    assert [(day.title, *day.facts) for day in days] == [
        ("Day 1", "2022-03-16 Wed", "Rockford"),
        ("Day 2", "2022-03-17 Thu", "Rockford"),
        ("Day 3", "2022-03-18 Fri", "St. Petersburg"),
    ]
    first = days[0].pieces[0]
    assert first == Line(
        times="15:40–17:04",
        word="flight",
        name="F3573659, St. Petersburg → Rockford",
        cost="474 USD",
        sort="flight",
        text="- 15:40–17:04 flight: F3573659, St. Petersburg → Rockford (474 USD)",
    )
    made = costs(found)
    assert made.head == ("Day", "Transport", "Meals", "Stay", "Total")
    assert made.foot[-1] == "1608 USD"
    assert made.notes == ("Budget 1700 USD, 92 USD left",)
    assert notes(found) == []
    assert sum(isinstance(piece, Line) for day in days for piece in day.pieces) == 16


def test_what_is_no_entry_is_shown_where_it_stands() -> None:
    body = (
        "# Other title\n\nTake a coat.\n\n## Day 1 · Rome\n\nMeet at noon.\n"
        "- lunch: Bo's (12)\n- call the hotel\n\n## Packing\n\n- a hat\n\n## Day 2 · Rome\n"
        "- sight: Forum\n\n## Costs\n\n| Day | Meals | Total |\n| --- | --- | --- |\n"
        "| 1 | 12 | 12 |\n| Total | 12 | 99 |\n\nBudget: 1700 USD\n\nBon voyage.\n"
    )
    found = shown(body, replace(material("00"), title="A trip"))
    kinds = [type(piece).__name__ for piece in found.pieces]
    assert kinds == ["str", "Section", "str", "Section", "Table", "str"]
    assert notes(found) == ["# Other title\n\nTake a coat.", "## Packing\n\n- a hat", "Bon voyage."]
    first = sections(found)[0].pieces
    assert (first[0], first[2]) == ("Meet at noon.", "- call the hotel")
    assert costs(found).foot == ("Total", "12", "12 USD")  # counted, not believed


def test_a_table_that_a_person_made_stays_and_the_counted_one_follows() -> None:
    theirs = "## Costs\n\n| Who | Pays |\n|---|---|\n| Bo | 1 |"
    found = shown(f"## Day 1 · Rome\n\n- lunch: Bo's (12)\n\n{theirs}\n")
    assert notes(found) == [theirs]
    assert isinstance(found.pieces[-1], Table)


def test_a_chinese_plan_is_shown_in_chinese_and_says_what_it_is_over() -> None:
    body = (
        "# 苏州\n\n## 第1天 · 2027-05-03 · 苏州\n\n- 08:00–08:25 火车: G7002, 上海 → 苏州 (1500)\n"
    )
    found = shown(body, asked_zh("上海出发去苏州玩一天，预算1300元"))
    (day,) = sections(found)
    assert (day.title, day.facts) == ("第1天", ("2027-05-03 周一", "苏州"))
    assert costs(found).head == ("日", "交通", "合计")
    assert costs(found).notes == ("预算 1300 CNY，超出 200 CNY",)


def test_a_text_without_days_and_kinds_without_schedules_are_shown_as_text() -> None:
    assert schedule_of(ITINERARY, material("00"), "# Trip\n\nNothing yet.\n") is None
    assert schedule_of(load_kinds()["minutes"], material("00"), trip("00").body) is None


def test_a_body_of_windows_lines_and_no_costs_is_shown() -> None:
    found = shown("## Day 1\r\n\r\n- lunch: Bo's\r\n- lunch: Bo's\r\n")
    (day,) = found.pieces
    assert isinstance(day, Section)
    assert [piece.name for piece in day.pieces if isinstance(piece, Line)] == ["Bo's", "Bo's"]
    assert table(parse_plan("## Day 1\n\n- lunch: Bo's\n"), chinese=False) == ""


@pytest.mark.parametrize("filling", [" " * 20_000, "a b " * 5_000, "x" * 20_000])
def test_no_line_of_a_plan_keeps_the_process(filling: str) -> None:
    before = time.process_time()
    plan = parse_plan(f"# Trip\n\n## Day 1 · Paris\n\n- 10:00–11:00 Train: a{filling}b (12 EUR)\n")
    [(_, entry)] = plan.entries()
    assert (entry.cost, entry.ends) == (12.0, None)
    assert time.process_time() - before < 5


def test_a_number_that_is_no_price_is_none() -> None:
    plan = parse_plan(f"# Trip\n\n## Day 1\n\n- Dinner: Bo's ({'9' * 400} EUR)\n")
    assert [entry.cost for _, entry in plan.entries()] == [None]
    assert "inf" not in table(plan, chinese=False)
