"""The verifiers of a trip, by name. Each has a plan of a real trip that it must leave alone, and a
break of it that only it may raise."""

from __future__ import annotations

from collections.abc import Mapping

from workflows.kinds.checked import Verifier

from . import checks_days, checks_reference, checks_wishes
from .trip import on_trip

REQUEST = "request"
VERIFIERS: Mapping[str, Verifier] = {
    name: on_trip(check)
    for name, check in {
        "days": checks_days.check_days,
        "dates": checks_days.check_dates,
        "nights": checks_days.check_nights,
        "times": checks_days.check_times,
        "hours": checks_days.check_hours,
        "travel_time": checks_reference.check_travel_time,
        "legs": checks_reference.check_legs,
        "cities": checks_wishes.check_cities,
        "transport": checks_wishes.check_transport,
        "connections": checks_reference.check_connections,
        "places": checks_reference.check_places,
        "prices": checks_reference.check_prices,
        "sums": checks_reference.check_sums,
        "budget": checks_wishes.check_budget,
        "room_rule": checks_wishes.check_room_rule,
        "room_type": checks_wishes.check_room_type,
        "minimum_nights": checks_wishes.check_minimum_nights,
        "cuisine": checks_wishes.check_cuisine,
        "repeats": checks_reference.check_repeats,
        REQUEST: checks_wishes.check_request,
    }.items()
}
