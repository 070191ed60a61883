"""What was asked for: budget, rooms, food, transport, cities; and what contradicts itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from workflows.kinds.kind import Finding
from workflows.vocabulary import Severity

from . import saying
from .costs import total, total_line
from .covered import goes_by_road, uncovered
from .plan import amount
from .reference import city_key
from .sorts import Sort
from .trip import Trip, issue
from .wishes import impossible, is_room_type, keeps_rule, modes_of

CONTRADICTION = "contradiction"


def check_request(trip: Trip) -> Iterator[Finding]:
    """Wishes that contradict each other or that no plan can meet, and dates of which the data has
    nothing: a person decides, no model."""
    told = [*trip.request.conflicts, *impossible(trip.request, trip.reference).values()]
    undated = uncovered(trip.request, trip.reference)
    if undated is not None and not goes_by_road(trip.request, trip.reference):
        told.append(undated)
    elif undated is not None:
        yield issue("unchecked", trip.plan.title, undated, severity=Severity.MINOR)
    for problem in dict.fromkeys(told):
        yield issue(CONTRADICTION, trip.plan.title, problem)
    if not told and not trip.reference and (names := ", ".join(_unseen(trip))):
        yield issue(
            "unchecked",
            trip.plan.title,
            f"Asked for, and not to be seen in the plan: {names}.",
            severity=Severity.MINOR,
        )


def _unseen(trip: Trip) -> Iterator[str]:
    """Wishes that were read and of which a plan without reference data shows nothing. A minor
    issue keeps no round going: it is for the person who decides."""
    wished, shown = trip.request, saying.read(trip.body)
    chinese = re.search("[\u3400-\u9fff]", trip.plan.title) is not None
    if wished.people is not None and shown.people != wished.people:
        yield f"{wished.people} 人" if chinese else f"people: {wished.people}"
    if wished.budget is not None and not total(trip.plan):
        budget = amount(wished.budget, wished.currency or "")
        yield f"预算 {budget}" if chinese else f"a budget of {budget}"
    yield from (name for name in wished.others if name not in trip.body)
    if wished.first is not None and not any(day.date for day in trip.plan.days):
        yield f"{wished.first} 出发" if chinese else f"a start on {wished.first}"
    months = {day.date.month for day in trip.plan.days if day.date}
    if wished.month is not None and wished.month not in months:
        yield f"{wished.month} 月" if chinese else f"{date(2000, wished.month, 1):%B}"


def _can(trip: Trip, name: str) -> bool:
    return name not in impossible(trip.request, trip.reference)


def check_budget(trip: Trip) -> Iterator[Finding]:
    """All costs together stay within the budget."""
    budget, spent = trip.request.budget, total(trip.plan)
    if budget is not None and spent > budget + 0.005 and _can(trip, "budget"):
        currency = trip.request.currency or ""
        yield issue(
            "budget",
            total_line(trip.body) or trip.plan.title,
            f"The plan costs {amount(spent, currency)}, the budget is {amount(budget, currency)}.",
        )


def check_room_rule(trip: Trip) -> Iterator[Finding]:
    """House rules of each stay allow what was asked for."""
    rule = trip.request.room_rule
    if not rule or not _can(trip, "room_rule"):
        return
    for entry, place, _ in trip.stays():
        if not keeps_rule(place, rule):
            yield issue(
                "room_rule",
                entry.line,
                f"Asked for: {rule}. The house says: {place.house_rules or 'nothing'}.",
            )


def check_room_type(trip: Trip) -> Iterator[Finding]:
    """Each stay is of the type that was asked for."""
    wanted = trip.request.room_type
    if not wanted or not _can(trip, "room_type"):
        return
    for entry, place, _ in trip.stays():
        if not is_room_type(place, wanted):
            yield issue(
                "room_type", entry.line, f"Asked for: {wanted}. This is: {place.room_type}."
            )


def check_minimum_nights(trip: Trip) -> Iterator[Finding]:
    """A stay is taken for at least the nights that it asks for, or that the traveller does."""
    if not _can(trip, "minimum_nights"):
        return
    wished = trip.request.minimum_nights or 1
    for entry, place, nights in trip.stays():
        least = max(place.minimum_nights, min(wished, trip.request.days - 1))
        if nights < least:
            yield issue(
                "minimum_nights", entry.line, f"At least {least} nights, the plan has {nights}."
            )


def check_cuisine(trip: Trip) -> Iterator[Finding]:
    """Every cuisine that was asked for is eaten once, as far as the reference data knows them."""
    if not any(place.cuisines for place in trip.reference.places):
        return
    eaten = {
        name.casefold()
        for _, entry in trip.plan.entries()
        if entry.sort is Sort.MEAL
        for place in trip.reference.find(entry.name)
        for name in place.cuisines
    }
    lacking = [name for name in trip.request.cuisine if name.casefold() not in eaten]
    if lacking and _can(trip, "cuisine"):
        yield issue("cuisine", trip.plan.title, f"No meal of the plan is {', '.join(lacking)}.")


def check_transport(trip: Trip) -> Iterator[Finding]:
    """From city to city only as was asked for."""
    modes = modes_of(trip.request.transport)
    if not _can(trip, "transport"):
        return
    for day in trip.days:
        for entry, _, _ in trip.legs(day):
            if entry.sort is not Sort.TRANSPORT and not modes.allows(entry.sort):
                yield issue(
                    "transport", entry.line, f"Asked for: {trip.request.transport}. This is not."
                )


def check_cities(trip: Trip) -> Iterator[Finding]:
    """As many cities as asked for, and the one that was named among them."""
    slept = {city_key(day.city) for day in trip.days[: trip.request.days - 1] if day.city}
    slept -= {trip.home}
    if trip.request.cities is not None and trip.days and len(slept) != trip.request.cities:
        yield issue(
            "cities",
            trip.plan.title,
            f"{trip.request.cities} cities were asked for, the plan stays in {len(slept)}.",
        )
    wanted = city_key(trip.request.to or "")
    been = {city_key(day.city) for day in trip.days}
    been |= {end for day in trip.days for _, _, end in trip.legs(day)}
    if trip.days and wanted in trip.reference.known and wanted not in been:
        yield issue("cities", trip.plan.title, f"The plan does not go to {trip.request.to}.")
