"""One day of a planned trip: the way, if there is one, and what fits before and behind it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from deploy.offline_model.planner_data import Way, clock, number

MIDNIGHT = 24 * 60
SLOTS: Sequence[tuple[int, int, str]] = (
    (8 * 60, 9 * 60, "breakfast"),
    (9 * 60 + 30, 11 * 60 + 30, "sight"),
    (12 * 60, 13 * 60, "lunch"),
    (14 * 60, 16 * 60 + 30, "sight"),
    (18 * 60 + 30, 20 * 60, "dinner"),
)
_GAP = 30
"""Minutes between a way and what comes before or behind it."""
_LATEST = 22 * 60
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"(\d{1,2}:\d{2})\s*(?:[-–—~至]|to)\s*(\d{1,2}:\d{2})")
Row = Mapping[str, Any]


class Choice(Protocol):
    """Who picks sights and meals."""

    def sight(self, city: str, opens: Callable[[Row], bool]) -> Row | None: ...

    def meal(self, city: str, opens: Callable[[Row], bool]) -> Row | None: ...

    def stay_price(self, stay: Row) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A day: `wakes` is empty at home. `outward` is the first way of a trip of one day."""

    day: int
    date: str
    wakes: str
    sleeps: str
    way: Way | None
    stay: Row | None
    outward: Way | None = None


def day_of(stop: Stop, choice: Choice, party: int) -> Mapping[str, Any]:
    """The item of the reply."""
    entries: list[Mapping[str, Any]] = []
    begins = 0
    if stop.outward is not None:
        early = stop.outward.departs if stop.outward.number else 5 * 60
        entries.append(_way(stop.outward, early, party))
        begins = early + stop.outward.minutes + _GAP
    if stop.way is not None:
        start = _departs(stop, stop.way)
        if stop.wakes:
            entries += _visits(stop, stop.wakes, (begins, start - _GAP), choice, party)
        entries.append(_way(stop.way, start, party))
        begins = start + stop.way.minutes + _GAP
    if stop.way is None or (stop.stay is not None and begins < MIDNIGHT):
        city = stop.sleeps if stop.way is not None or not stop.wakes else stop.wakes
        entries += _visits(stop, city, (begins, MIDNIGHT), choice, party)
    if stop.stay is not None:
        late = min(max(21 * 60, begins), MIDNIGHT - 1)
        name = f"{str(stop.stay['name']).strip()}, {stop.sleeps}"
        entries.append(_entry(late, MIDNIGHT - 1, "stay", name, choice.stay_price(stop.stay)))
    if not entries:
        entries.append(_entry(9 * 60, 17 * 60, "other", f"Free day in {stop.sleeps}", None))
    return {"day": stop.day, "city": stop.sleeps, "entries": entries}


def _departs(stop: Stop, way: Way) -> int:
    """When a way begins: as the data says, or so that it ends in time."""
    if way.number or way.departs:
        return way.departs
    wanted = 8 * 60 if stop.stay is not None and not stop.wakes else 9 * 60 + 30
    if stop.stay is None:
        wanted = 13 * 60 + 30
    return max(0, min(wanted, _LATEST - way.minutes))


def _visits(
    stop: Stop, city: str, span: tuple[int, int], choice: Choice, party: int
) -> Iterator[Mapping[str, Any]]:
    slots = [slot for slot in SLOTS if slot[2] != "dinner" or span[0] <= slot[0]]
    if len(slots) < len(SLOTS) and span[0] <= _LATEST - 60:  # who comes late eats late
        slots.append((span[0], span[0] + 60, "dinner"))
    for start, end, kind in slots:
        if start < span[0] or end > span[1]:
            continue

        def opens(row: Row, start: int = start, end: int = end) -> bool:
            return is_open(row.get("opening hours"), stop.date, start, end)

        row = choice.sight(city, opens) if kind == "sight" else choice.meal(city, opens)
        if row is None:
            continue
        price = number(row, "price", "average cost", "ticket") * party
        free = kind == "sight" and not price
        name = f"{str(row['name']).strip()}, {city}"
        yield _entry(start, end, kind, name, None if free else price)


def is_open(hours: object, day: str, start: int, end: int) -> bool:
    """Whether a place is open all that time; what nobody knows counts as open."""
    if isinstance(hours, dict):
        said = {str(key).strip().lower()[:10]: value for key, value in hours.items()}
        weekday = _WEEKDAYS[date.fromisoformat(day).weekday()] if day else ""
        named = [value for key, value in said.items() if weekday and key.startswith(weekday)]
        hours = said.get(day) or (named[0] if named else said.get("daily"))
    if not isinstance(hours, str):
        return True
    spans = [(clock(found[1]), clock(found[2])) for found in _SPAN.finditer(hours)]
    if not spans:
        return not re.search(r"closed|休|关闭", hours, re.IGNORECASE)
    return any(a is not None and b is not None and a <= start and end <= b for a, b in spans)


def _way(way: Way, start: int, party: int) -> Mapping[str, Any]:
    name = f"{way.start} → {way.end}"
    named = f"{way.number}, {name}" if way.number else name
    return _entry(start, start + way.minutes, way.kind, named, way.cost(party))


def _entry(start: int, end: int, kind: str, name: str, cost: float | None) -> Mapping[str, Any]:
    times = {"start": _clock(start), "end": _clock(end)}
    whole = int(cost) if cost is not None and cost == int(cost) else cost
    return {**times, "kind": kind, "name": name, "cost": whole}


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"
