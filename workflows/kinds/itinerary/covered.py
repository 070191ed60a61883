"""Whether the dates of a trip are those that the reference data speaks of."""

from __future__ import annotations

from collections.abc import Collection

from .reference import Reference, city_key
from .request import TripRequest
from .sorts import ROADS
from .wishes import modes_of

_MOST_LISTED = 6


def uncovered(request: TripRequest, reference: Reference) -> str | None:
    """What a person should know of dates for which the data has no flight and no train; None where
    it has, or where nobody said when the trip is."""
    modes, home = modes_of(request.transport), city_key(request.start or "")
    known = [one for one in reference.days if modes.allows(one[0])]
    out = {day for _, start, _, day in known if start == home}
    back = {day for _, _, end, day in known if end == home}
    every = {day for *_, day in known}
    if not every or request.first is None or request.last is None:
        return _other_month(request, every)
    first, last = request.first.isoformat(), request.last.isoformat()
    if out and first not in out:
        return (
            f"The trip begins on {first}; the reference data has flights and trains from "
            f"{request.start} on {_listed(out)} only."
        )
    if back and last not in back:
        return (
            f"The trip ends on {last}; the reference data has flights and trains to "
            f"{request.start} on {_listed(back)} only."
        )
    if not (out or back) and not any(first <= day <= last for day in every):
        return (
            f"The trip is from {first} to {last}; the flights and trains of the reference data are "
            f"on {_listed(every)} only."
        )
    return None


def _other_month(request: TripRequest, every: Collection[str]) -> str | None:
    month = request.month
    if month is None or not every or any(int(day[5:7]) == month for day in every):
        return None
    return (
        f"The trip is asked for in month {month}; the flights and trains of the reference data are "
        f"on {_listed(every)} only."
    )


def _listed(days: Collection[str]) -> str:
    more = "" if len(days) <= _MOST_LISTED else ", …"
    return ", ".join(sorted(days)[:_MOST_LISTED]) + more


def goes_by_road(request: TripRequest, reference: Reference) -> bool:
    """Whether home can be left, and reached again, by a way that has no date."""
    modes, home = modes_of(request.transport), city_key(request.start or "")
    roads = [leg for leg in reference.legs if leg.sort in ROADS and modes.allows(leg.sort)]
    ends = [{city_key(leg.start) for leg in roads}, {city_key(leg.end) for leg in roads}]
    return bool(roads) and (not home or all(home in one for one in ends))
