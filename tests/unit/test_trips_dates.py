"""A trip on dates of which the reference data has nothing is told to the person, once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from tests.unit.trips import ITINERARY, NAMES, body_of, trip
from workflows.kinds.itinerary.covered import uncovered
from workflows.kinds.itinerary.reference import reference_of
from workflows.kinds.itinerary.request import request_of
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

BY_FLIGHT = "00"


def moved(name: str, days: int, **fields: Any) -> Material:
    """The trip with its fields on other days; the data stays."""
    given = trip(name).material
    shifted = {
        key: (date.fromisoformat(given.attributes[key]) + timedelta(days=days)).isoformat()
        for key in ("start_date", "end_date")
    }
    return replace(given, attributes={**given.attributes, **shifted, **fields})


def without_roads(material: Material) -> Material:
    data = json.loads(material.sources[0].text)
    kept = {key: value for key, value in data.items() if not key.startswith(("Self", "Taxi"))}
    return replace(material, sources=(replace(material.sources[0], text=json.dumps(kept)),))


def told(material: Material, name: str = BY_FLIGHT) -> list[Finding]:
    """What is found beyond what the plan's own dates are."""
    body = body_of(material, trip(name).days)
    found = ITINERARY.verify(material, body)
    return [one for one in found if one.raised_by in ("verifier:request", "verifier:connections")]


@pytest.mark.parametrize("name", NAMES)
def test_the_dates_of_the_shared_trips_are_those_of_their_data(name: str) -> None:
    given = trip(name).material
    assert uncovered(request_of(given), reference_of(given)) is None


@pytest.mark.parametrize("days", [31, -365, 2, -1])
def test_a_trip_in_the_wrong_month_is_one_issue_and_no_flight_is_looked_for(days: int) -> None:
    material = without_roads(moved(BY_FLIGHT, days))
    (one,) = told(material)
    assert (one.category, one.severity) == ("contradiction", Severity.MAJOR)
    first = material.attributes["start_date"]
    assert one.problem.startswith(f"The trip begins on {first}; the reference data has flights")
    assert "2022-03-" in one.problem


@pytest.mark.parametrize(("name", "noted"), [("23", 1), ("32", 0)])
def test_where_roads_lead_there_on_any_day_it_is_only_said(name: str, noted: int) -> None:
    """Nothing at all where no flight was wanted."""
    found = [one for one in told(moved(name, 31), name) if one.raised_by == "verifier:request"]
    minor = [("unchecked", Severity.MINOR)] * noted
    assert [(one.category, one.severity) for one in found] == minor


def test_a_way_home_after_the_last_flight_is_said() -> None:
    given = trip(BY_FLIGHT).material
    fields = {name: given.attributes[name] for name in ("from", "to", "start_date")}
    longer = {**fields, "days": given.attributes["days"] + 3}
    found = told(without_roads(replace(given, attributes=longer)))
    assert [one.problem.split(" ")[:4] for one in found] == [["The", "trip", "ends", "on"]]


def test_a_month_that_is_not_that_of_the_data_is_said_in_the_language_of_the_trip() -> None:
    given = without_roads(trip(BY_FLIGHT).material)
    fields = {k: v for k, v in given.attributes.items() if k not in ("start_date", "end_date")}
    for title, language, said in (
        ("A trip in May", "en", "asked for in month 5"),
        ("5月去玩", "zh", "要求在 5 月出行"),
    ):
        material = replace(given, title=title, language=language, attributes=fields)
        assert any(said in one.problem for one in told(material)), told(material)
    right = replace(given, title="A trip in March", attributes=fields)
    assert [one for one in told(right) if one.category == "contradiction"] == []
