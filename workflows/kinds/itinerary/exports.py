"""A plan as a calendar (ics) and as data (json)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from workflows.exporting import Exportable, Exported, Exporter, NotExportable

from .costs import total
from .plan import ARROW, Day, Entry, Plan, amount, line_of, parse_plan
from .sorts import Sort


def data_of(given: Exportable) -> Exported:
    """What every JSON export says, and under `plan` the days with their entries."""
    plan = parse_plan(given.body)
    days = [_day_data(day) for day in plan.days]
    content = {**given.facts, "plan": {"days": days, "total": total(plan)}}
    return Exported(
        content=json.dumps(content, ensure_ascii=False).encode(), media_type="application/json"
    )


def _day_data(day: Day) -> dict[str, Any]:
    return {
        "day": day.number,
        "date": day.date.isoformat() if day.date else None,
        "city": day.city,
        "entries": [
            {
                "start": _clock(entry.start),
                "end": _clock(entry.end),
                "kind": entry.word,
                "sort": entry.sort.value,
                "name": entry.name,
                "cost": entry.cost,
            }
            for entry in day.entries
        ],
    }


def _clock(minutes: int | None) -> str | None:
    return None if minutes is None else f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def calendar_of(given: Exportable) -> Exported:
    """One event an entry, in the local time of its place; entries without a time take the day.

    Raises NotExportable for a plan whose days have no dates.
    """
    from icalendar import Calendar, vText

    plan = parse_plan(given.body)
    if not any(day.date or _first(given, plan) for day in plan.days):
        raise NotExportable(
            "A calendar needs dates: give the document a start_date, or write the date of each day "
            "in its heading, as in `## Day 1 · 2027-03-16 · Rockford`."
        )
    calendar = Calendar()
    calendar.add("prodid", "-//redraft//itinerary//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", vText(line_of(given.title)))
    first = _first(given, plan)
    for day in plan.days:
        when = day.date or (first + timedelta(days=day.number - 1) if first else None)
        for event in _events(given, day, when):
            calendar.add_component(event)
    return Exported(content=calendar.to_ical(), media_type="text/calendar; charset=utf-8")


def _first(given: Exportable, plan: Plan) -> date | None:
    """The date of the first day: the field's, else counted from a heading."""
    said = given.attributes.get("start_date")
    if isinstance(said, str):
        return date.fromisoformat(said)
    dated = next((day for day in plan.days if day.date), None)
    return dated.date - timedelta(days=dated.number - 1) if dated and dated.date else None


def _events(given: Exportable, day: Day, when: date | None) -> Iterator[Any]:
    from icalendar import Event

    for at, entry in enumerate(day.entries if when else ()):
        assert when is not None
        event = Event()
        event.add("uid", f"{given.document_id}-{day.number}-{at}@redraft")
        event.add("dtstamp", given.made_at.astimezone(UTC))
        event.add("summary", f"{entry.word}: {entry.name}")
        start, end = _span(entry, when)
        event.add("dtstart", start)
        event.add("dtend", end)
        if entry.ends is None and (place := _place(day, entry)):
            event.add("location", place)
        if entry.cost is not None:
            currency = entry.currency or str(given.attributes.get("currency") or "")
            event.add("description", amount(entry.cost, currency))
        yield event


def _place(day: Day, entry: Entry) -> str:
    """Where it is: on a day between two cities only what the entry itself says."""
    if not ARROW.search(day.heading):
        return day.city
    cities = (re.split(r"[·|:：]", piece)[-1].strip() for piece in ARROW.split(day.heading))
    said = entry.name.rpartition(",")[2].strip()
    return said if said in cities else ""


def _span(entry: Entry, when: date) -> tuple[date | datetime, date | datetime]:
    if entry.start is None or entry.end is None:
        return when, when + timedelta(days=1)
    midnight = datetime.combine(when, time())
    start, end = (midnight + timedelta(minutes=minutes) for minutes in (entry.start, entry.end))
    if entry.sort is not Sort.STAY and end == start:
        end = start + timedelta(minutes=1)
    return start, end


EXPORTERS: Mapping[str, Exporter] = {"ics": calendar_of, "json": data_of}
