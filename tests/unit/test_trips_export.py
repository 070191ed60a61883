"""A plan as a calendar and as data."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from icalendar import Calendar

from tests.unit.trips import ITINERARY, trip
from workflows.exporting import Exportable, NotExportable, exporters_of

MADE = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
EXPORTERS = exporters_of(ITINERARY)


def given(name: str = "00", **more: Any) -> Exportable:
    real = trip(name)
    plain = Exportable(
        document_id="d1",
        title="A trip, with marks; and\nlines",
        language="en",
        attributes=real.material.attributes,
        body=real.body,
        revision=1,
        made_at=MADE,
        facts={"author": "run"},
    )
    return replace(plain, **more)


def test_every_entry_is_an_event_of_its_day() -> None:
    made = EXPORTERS["ics"](given())
    assert made.media_type.startswith("text/calendar")
    events = Calendar.from_ical(made.content).walk("VEVENT")
    assert len(events) == 16
    flight = events[0]
    assert flight["SUMMARY"] == "flight: F3573659, St. Petersburg → Rockford"
    assert flight.decoded("DTSTART") == datetime(2022, 3, 16, 15, 40)  # noqa: DTZ001
    assert events[1].decoded("DTSTART") == date(2022, 3, 16)
    assert events[1]["LOCATION"] == "Rockford"
    assert str(events[1]["DESCRIPTION"]) == "72 USD"
    assert len({event["UID"] for event in events}) == len(events)
    assert EXPORTERS["ics"](given()).content == made.content
    said = EXPORTERS["ics"](given(attributes={})).content  # the line says the currency itself
    assert str(Calendar.from_ical(said).walk("VEVENT")[1]["DESCRIPTION"]) == "72 USD"


def test_dates_come_from_the_request_where_headings_have_none() -> None:
    body = "# Trip\n\n## Day 2 · Rome\n\n- 09:00–10:00 sight: Forum, Rome\n"
    made = EXPORTERS["ics"](given(body=body, attributes={"start_date": "2027-01-31"}))
    (event,) = Calendar.from_ical(made.content).walk("VEVENT")
    assert event.decoded("DTSTART") == datetime(2027, 2, 1, 9, 0)  # noqa: DTZ001


def test_on_a_day_between_two_cities_an_event_is_where_its_own_line_says() -> None:
    body = """# Trip

## Day 3 · 2027-03-24 · State College → Johnstown

- breakfast: Rolling Beans, State College
- sight: Inclined Plane, Johnstown
- dinner: Somewhere
"""
    events = Calendar.from_ical(EXPORTERS["ics"](given(body=body)).content).walk("VEVENT")
    assert [str(event.get("LOCATION")) for event in events] == [
        "State College",
        "Johnstown",
        "None",
    ]


def test_a_calendar_without_dates_says_what_it_needs() -> None:
    for body in ("# Trip\n\n## Day 1 · Rome\n\n- lunch: Bo's\n", "", "no plan"):
        with pytest.raises(NotExportable, match="start_date"):
            EXPORTERS["ics"](given(body=body, attributes={}))


def test_the_data_holds_what_every_export_says_and_the_days() -> None:
    value = json.loads(EXPORTERS["json"](given()).content)
    assert value["author"] == "run"
    assert value["plan"]["total"] == 1608
    assert [day["date"] for day in value["plan"]["days"]] == [
        "2022-03-16",
        "2022-03-17",
        "2022-03-18",
    ]
    assert value["plan"]["days"][0]["entries"][0] == {
        "start": "15:40",
        "end": "17:04",
        "kind": "flight",
        "sort": "flight",
        "name": "F3573659, St. Petersburg → Rockford",
        "cost": 474,
    }
