"""What a plan costs: the price of each entry by the reference data, the sums, and their table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .plan import Day, Entry, Plan, amount, parse_plan
from .reference import Leg, Place, Reference, city_key
from .sorts import LEGS, ROADS, Sort

SEATS = {Sort.DRIVE: 5, Sort.TAXI: 4}
"""People that one car takes."""
_COLUMNS: Sequence[tuple[str, str, frozenset[Sort]]] = (
    ("Transport", "交通", LEGS),
    ("Meals", "餐饮", frozenset({Sort.MEAL})),
    ("Sights", "景点", frozenset({Sort.SIGHT})),
    ("Stay", "住宿", frozenset({Sort.STAY})),
    ("Other", "其他", frozenset({Sort.OTHER})),
)

_NAMES = "|".join(name for column in _COLUMNS for name in column[:2])
TABLE = re.compile(
    rf"^\| (?P<day>Day|日)(?: \| (?:{_NAMES}))* \| (?:Total|合计) \|[ \t]*\r?\n"
    r"(?:\|[^\r\n]*(?:\r?\n|\Z))+",
    re.MULTILINE,
)


def price_of_place(place: Place, party: int) -> float | None:
    """For the whole party; of a stay for one night, in as many rooms as they need."""
    if place.price is None:
        return None
    units = math.ceil(party / place.occupancy) if place.sort is Sort.STAY else party
    return place.price * units


def price_of_leg(leg: Leg, party: int) -> float:
    """For the whole party: by seat, or by car."""
    return leg.price * (math.ceil(party / SEATS[leg.sort]) if leg.sort in ROADS else party)


def legs_of(reference: Reference, entry: Entry, day: Day) -> tuple[Leg, ...]:
    """What the data has for a leg: its number, else the way between its ends, on its date."""
    if entry.sort in (Sort.FLIGHT, Sort.TRAIN) and entry.number:
        found = [leg for leg in reference.legs if leg.number == entry.number]
    else:
        sorts = LEGS if entry.sort is Sort.TRANSPORT else {entry.sort}
        found = [leg for leg in reference.legs if leg.sort in sorts]
    if entry.ends is not None:
        ends = city_key(entry.ends[0]), city_key(entry.ends[1])
        found = [leg for leg in found if (city_key(leg.start), city_key(leg.end)) == ends]
    when = day.date.isoformat() if day.date else ""
    return tuple(leg for leg in found if not leg.date or not when or leg.date == when)


def prices(reference: Reference, entry: Entry, day: Day, party: int) -> list[float]:
    """What the entry may cost by the reference data; [] where that says nothing.

    Cars are priced alike in conversation: for a road either price of the data is one of it.
    """
    if entry.sort not in LEGS:
        places = [place for place in reference.find(entry.name) if place.sort is entry.sort]
        found = [price_of_place(place, party) for place in places]
        return [price for price in found if price is not None]
    legs = legs_of(reference, entry, day)
    if entry.sort in ROADS and legs:
        pairs = {(leg.start, leg.end) for leg in legs}
        roads = [leg for leg in reference.legs if leg.sort in ROADS]
        cars = [leg for leg in roads if (leg.start, leg.end) in pairs]
        return [
            leg.price * math.ceil(party / SEATS[entry.sort])
            for leg in sorted(cars, key=lambda leg: leg.sort is not entry.sort)
        ]
    return [price_of_leg(leg, party) for leg in legs]


def total(plan: Plan) -> float:
    """All costs that are known."""
    return sum(entry.cost for _, entry in plan.entries() if entry.cost is not None)


Rows = tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]


def rows_of(plan: Plan, *, chinese: bool, currency: str = "") -> Rows | None:
    """Head, a row for each day and the sums, as cells; None when no entry has a cost."""
    if not any(entry.cost is not None for _, entry in plan.entries()):
        return None
    used = [
        column for column in _COLUMNS if any(_sum(day, column[2]) is not None for day in plan.days)
    ]
    heads = [column[1] if chinese else column[0] for column in used]
    first, last = ("日", "合计") if chinese else ("Day", "Total")
    every = frozenset(Sort)
    rows = tuple(
        (
            str(day.number),
            *(_shown(_sum(day, column[2])) for column in used),
            _shown(_sum(day, every)),
        )
        for day in sorted(plan.days, key=lambda day: day.number)
    )
    sums = [_shown(_over(plan, column[2])) for column in used]
    whole = _shown(_over(plan, every))
    return (first, *heads, last), rows, (last, *sums, f"{whole} {currency}".strip())


def table(plan: Plan, *, chinese: bool, currency: str = "", budget: float | None = None) -> str:
    """The section of costs; empty when no entry has any."""
    made = rows_of(plan, chinese=chinese, currency=currency)
    if made is None:
        return ""
    head, rows, foot = made
    lines = [
        "## 费用" if chinese else "## Costs",
        "",
        _line(head),
        _line(["---"] * len(head)),
        *map(_line, rows),
        _line(foot),
    ]
    if budget is not None:
        word = "预算" if chinese else "Budget"
        lines += ["", f"{word}: {amount(budget, currency)}"]
    return "\n".join(lines) + "\n"


def total_line(body: str) -> str:
    """The last row of the table of costs as it stands in a body; empty without one."""
    found = TABLE.search(body)
    return found.group(0).rstrip().splitlines()[-1].rstrip() if found else ""


def with_costs(body: str, currency: str) -> str:
    """The body with the rows of its table counted anew. A table of other columns, as a person may
    have written it, stays as it is."""
    found = TABLE.search(body)
    if found is None:
        return body
    fresh = table(parse_plan(body), chinese=found["day"] == "日", currency=currency)
    rows = [line for line in fresh.splitlines() if line.startswith("|")]
    mark = "\r\n" if "\r\n" in found.group(0) else "\n"
    return body[: found.start()] + mark.join(rows) + mark + body[found.end() :] if rows else body


def _sum(day: Day, sorts: frozenset[Sort]) -> float | None:
    costs = [entry.cost for entry in day.of(*sorts) if entry.cost is not None]
    return sum(costs) if costs else None


def _over(plan: Plan, sorts: frozenset[Sort]) -> float | None:
    sums = [one for day in plan.days if (one := _sum(day, sorts)) is not None]
    return sum(sums) if sums else None


def _shown(value: float | None) -> str:
    return "–" if value is None else amount(value)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
