"""What the reference data says: places, flights and roads, prices, repeats, how legs join."""

from __future__ import annotations

import math
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise

from workflows.kinds.kind import Finding
from workflows.vocabulary import Severity

from .costs import legs_of, prices, total, total_line
from .covered import uncovered
from .plan import Day, Entry, amount
from .reference import city_key, plain
from .sorts import ROADS, Sort
from .trip import Trip, issue

_TOLERANCE = 0.03
"""Of a price: what maps and their users round."""
_FASTEST = 120
"""Kilometres an hour between two places of a day."""
_NEAR = 3
"""Kilometres that need no look at the clock."""
_SLIP = 0.88
"""How much of a name is the same when it is only written wrong."""
_MOST_GUESSED = 10
"""Names a plan may have wrong before nobody looks any more for the one that was meant."""
_SHORTEST = 20
"""Minutes between two cities at least."""


def check_places(trip: Trip) -> Iterator[Finding]:
    """Sights, meals and stays are in the reference data, and where the traveller is that day."""
    sorts = {place.sort for place in trip.reference.places}
    here, unknown = "", 0
    for day in trip.days:
        around = {city_key(day.city), here, *(c for _, a, b in trip.legs(day) for c in (a, b))}
        here = city_key(day.city)
        for entry in day.of(Sort.SIGHT, Sort.MEAL, Sort.STAY):
            found = trip.reference.find(entry.name)
            if not found and entry.sort in sorts:
                unknown += 1
                yield issue(
                    "unknown_place",
                    entry.line,
                    f"The reference data has no {entry.name}.",
                    suggestion=_meant(trip, entry) if unknown < _MOST_GUESSED else None,
                )
            elif found and not any(city_key(place.city) in around for place in found):
                yield issue(
                    "wrong_city",
                    entry.line,
                    f"{entry.name} is in {found[0].city}; nobody is there on this day.",
                )


def _meant(trip: Trip, entry: Entry) -> str | None:
    """The line with the name that is nearest to it, if one is so near that a slip is likely."""
    head, _, _ = entry.name.rpartition(",")
    name = head or entry.name
    alike = (place.name for place in trip.reference.places if place.sort is entry.sort)
    names = {plain(name): name for name in alike}
    near = get_close_matches(plain(name), names, n=1, cutoff=_SLIP)
    return entry.line.replace(name, names[near[0]], 1) if near else None


def check_connections(trip: Trip) -> Iterator[Finding]:
    """Flights, trains and roads between cities are in the reference data, on that date; where it
    knows nothing of the trip's dates, a person was told, and no model can mend it."""
    if not trip.reference.legs and not trip.reference.connected:
        return
    blind = uncovered(trip.request, trip.reference) is not None
    for day in trip.days:
        for entry, start, end in trip.legs(day):
            if blind and entry.sort not in ROADS:
                continue
            if {start, end} <= trip.reference.known and not legs_of(trip.reference, entry, day):
                when = f" on {day.date.isoformat()}" if day.date else ""
                yield issue(
                    "unknown_connection",
                    entry.line,
                    f"The reference data has no such {entry.sort.value}{when}.",
                )


def check_prices(trip: Trip) -> Iterator[Finding]:
    """Costs are those of the reference data for the whole party."""
    for day, entry in trip.plan.entries():
        right = prices(trip.reference, entry, day, trip.request.party)
        if not right:
            continue
        price = amount(right[0], trip.request.currency or "")
        if entry.cost is None and right[0]:
            yield issue(
                "no_price",
                entry.line,
                f"The reference data has a price for this: {price}.",
                severity=Severity.MINOR,
                suggestion=f"{entry.line.removesuffix(' (–)')} ({price})",
            )
        elif not any(_is_near(entry.cost or 0, one) for one in right):
            head = entry.line.rpartition("(")[0] or entry.line.rpartition("（")[0]
            yield issue(
                "price",
                entry.line,
                f"By the reference data this costs {price} for the whole party.",
                suggestion=f"{head}({price})",
            )


def _is_near(cost: float, right: float) -> bool:
    return abs(cost - right) <= max(_TOLERANCE * right, 0.01)


def check_sums(trip: Trip) -> Iterator[Finding]:
    """The last row of the table of costs adds up."""
    line = total_line(trip.body)
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    said = cells[-1].split(" ")[0].replace(",", "")
    right = amount(total(trip.plan))
    if line and said.replace(".", "", 1).isdigit() and amount(float(said)) != right:
        head, _, tail = line.rpartition(cells[-1])
        fixed = cells[-1].replace(cells[-1].split(" ")[0], right, 1)
        yield issue(
            "sum", line, f"The entries add up to {right}.", suggestion=f"{head}{fixed}{tail}"
        )


def check_repeats(trip: Trip) -> Iterator[Finding]:
    """No restaurant and no sight twice."""
    seen: dict[str, int] = {}
    told: set[str] = set()
    for day, entry in trip.plan.entries():
        if entry.sort not in (Sort.MEAL, Sort.SIGHT):
            continue
        place = trip.place(entry)
        if (place is None and entry.sort is Sort.MEAL) or (place and place.sort is Sort.STAY):
            continue  # a meal without a name; breakfast at the hotel
        key = plain(f"{place.name}, {place.city}" if place else entry.name)
        if key in seen and key not in told:
            told.add(key)
            yield issue(
                "repeat",
                entry.line,
                f"{entry.name} was on day {seen[key]} already.",
                severity=Severity.MAJOR if place else Severity.MINOR,
            )
        seen.setdefault(key, day.number)


def check_legs(trip: Trip) -> Iterator[Finding]:
    """Each leg begins where the traveller is, each day ends where its heading says, and the last
    one at home where a way home is known."""
    if not trip.travels and not trip.reference.connected:
        return
    here = trip.home
    for day in trip.days:
        for entry, start, end in trip.legs(day):
            if here and start != here:
                yield issue(
                    "leg", entry.line, "This leg does not begin where the one before it ended."
                )
            here = end
        at_home = bool(here) and here == trip.home and day.number >= trip.request.days
        if here and day.city and city_key(day.city) != here and not at_home:
            yield issue("leg", day.heading, f"Nothing in the plan leads to {day.city}.")
        here = here if at_home else city_key(day.city) or here
    last = trip.days[-1] if trip.days else None
    home = any(end == trip.home for _, end in trip.reference.connected)
    if last and home and last.number >= trip.request.days and here != trip.home:
        yield issue("leg", last.heading, f"The trip does not lead back to {trip.request.start}.")


def check_travel_time(trip: Trip) -> Iterator[Finding]:
    """Legs take as long as they take, and two places of a day can be reached one after another."""
    for day in trip.days:
        for entry, _, _ in trip.legs(day):
            yield from _leg_time(trip, entry, day)
        timed = [
            entry for entry in day.entries if entry.start is not None and entry.end is not None
        ]
        for one, other in pairwise(timed):
            if _too_far(trip, one, other):
                yield issue(
                    "travel_time",
                    other.line,
                    "This cannot be reached in time from the one above it.",
                )


def _leg_time(trip: Trip, entry: Entry, day: Day) -> Iterator[Finding]:
    if entry.start is None or entry.end is None:
        return
    took, known = entry.end - entry.start, legs_of(trip.reference, entry, day)
    fixed = [leg for leg in known if leg.departs is not None and leg.arrives is not None]
    times = {(leg.departs, leg.arrives) for leg in fixed}
    if entry.sort not in ROADS and entry.number and fixed:
        if (entry.start, entry.end % (24 * 60)) not in times:
            leg = fixed[0]
            span = f"{_clock(leg.departs or 0)}–{_clock(leg.arrives or 0)}"
            yield issue("travel_time", entry.line, f"By the reference data it goes {span}.")
        return
    least = min((leg.minutes for leg in known if leg.minutes), default=_SHORTEST)
    if took < least * 0.9:
        yield issue("travel_time", entry.line, f"This takes about {least} minutes.")


def _too_far(trip: Trip, one: Entry, other: Entry) -> bool:
    places = [trip.place(entry) for entry in (one, other)]
    spots = [place.position for place in places if place is not None and place.position]
    if len(spots) < 2 or other.start is None or one.end is None:
        return False
    distance = kilometres(spots[0], spots[1])
    return distance > _NEAR and other.start - one.end < distance / _FASTEST * 60 - 1


def kilometres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Between two positions in degrees, along the ground."""
    a, b, c, d = map(math.radians, (*one, *other))
    chord = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 12_742 * math.asin(math.sqrt(min(1.0, chord)))


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
