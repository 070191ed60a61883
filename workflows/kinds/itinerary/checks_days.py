"""Days and their hours: every day once and in order, dates, nights, times, opening hours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from workflows.kinds.kind import Finding
from workflows.vocabulary import Severity

from .plan import Day, Entry
from .reference import minutes_of
from .sorts import LEGS, Sort
from .trip import Trip, issue

MIDNIGHT = 24 * 60
_LONGEST = 16 * 60
"""Minutes that a sight or a meal takes at most; more means that its times are turned round."""
_WEEKDAYS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
)
_SPAN = re.compile(r"(\d{1,2}:\d{2})\s*(?:[-–—~至]|to)\s*(\d{1,2}:\d{2})")


def check_days(trip: Trip) -> Iterator[Finding]:
    """Every day once, in order, none beyond those asked for."""
    wanted, days = trip.request.days, trip.plan.days
    have = [day.number for day in days]
    missing = [number for number in range(1, wanted + 1) if number not in have]
    if missing:
        listed = ", ".join(map(str, missing))
        yield issue(
            "missing_day",
            trip.plan.title,
            f"Days missing from the plan: {listed}.",
            severity=Severity.BLOCKER,
        )
    for at, day in enumerate(days):
        if day.number in have[:at]:
            yield issue("day_twice", day.heading, f"Day {day.number} stands in the plan twice.")
        elif not 1 <= day.number <= wanted:
            yield issue("day_beyond", day.heading, f"The trip has {wanted} days; this is none.")
        elif at and day.number < max(have[:at]):
            yield issue(
                "day_order", day.heading, f"Day {day.number} stands behind a later day of the trip."
            )


def check_dates(trip: Trip) -> Iterator[Finding]:
    """The date of each heading is that of its day, counted from the first."""
    dated = [day for day in trip.days if day.date]
    first = trip.request.first
    if first is None and dated and dated[0].date:
        first = dated[0].date - timedelta(days=dated[0].number - 1)
    for day in dated:
        right = _nth(first, day.number)
        if right is not None and day.date and day.date != right:
            yield issue(
                "date",
                day.heading,
                f"Day {day.number} is {right.isoformat()}, not {day.date.isoformat()}.",
                suggestion=day.heading.replace(day.date.isoformat(), right.isoformat()),
            )


def _nth(first: date | None, number: int) -> date | None:
    try:
        return first + timedelta(days=number - 1) if first else None
    except OverflowError:
        return None


def check_nights(trip: Trip) -> Iterator[Finding]:
    """A stay for each night of the trip and for no other, where the plan speaks of stays."""
    speaks = any(day.of(Sort.STAY) for day in trip.days)
    if not speaks and not any(place.sort is Sort.STAY for place in trip.reference.places):
        return
    for day in trip.days:
        stays, last = day.of(Sort.STAY), day.number == trip.request.days
        if day.number < trip.request.days and not stays and not _through_the_night(day):
            yield issue(
                "night", day.heading, f"Day {day.number} ends without a stay for the night."
            )
        goes_home = bool(trip.home) and any(end == trip.home for _, _, end in trip.legs(day))
        if last and stays and goes_home:
            yield issue(
                "night",
                stays[0].line,
                "The trip ends on this day; no night follows that needs a stay.",
            )


def _through_the_night(day: Day) -> bool:
    return any(entry.end is not None and entry.end > MIDNIGHT for entry in day.of(*LEGS))


def check_times(trip: Trip) -> Iterator[Finding]:
    """Entries in the order of time, none while another lasts."""
    carried = 0
    for day in trip.days:
        last, until = -1, carried
        carried = 0
        for entry in day.entries:
            if entry.start is None or entry.end is None:
                continue
            if entry.sort not in (*LEGS, Sort.STAY) and entry.end - entry.start > _LONGEST:
                yield issue("times", entry.line, "This entry ends before it begins.")
                continue
            if entry.start < last:
                yield issue(
                    "order",
                    entry.line,
                    "This entry begins before the one above it.",
                    severity=Severity.MINOR,
                )
            elif entry.start < until:
                yield issue(
                    "overlap", entry.line, "This entry begins while the one above it lasts."
                )
            last = max(last, entry.start)
            if entry.sort is not Sort.STAY:
                until = max(until, entry.end)
            if entry.sort in LEGS:
                carried = max(carried, entry.end - MIDNIGHT)


def check_hours(trip: Trip) -> Iterator[Finding]:
    """Sights and meals are open while they are visited, as far as the reference data knows."""
    for day in trip.days:
        for entry in day.of(Sort.SIGHT, Sort.MEAL):
            place = trip.place(entry)
            spans = None if place is None else open_on(place.hours, day.date)
            if spans is not None and not _is_open(entry, spans):
                when = ", ".join(f"{_clock(a)}–{_clock(b)}" for a, b in spans) or "closed"
                yield issue(
                    "opening_hours", entry.line, f"On that day {entry.name} is open: {when}."
                )


def open_on(hours: Any, day: date | None) -> list[tuple[int, int]] | None:
    """Spans in minutes in which a place is open that day; [] when closed, None when unknown.

    Hours are a text for every day (`09:00-17:00`, `closed`) or an object of such texts by ISO date,
    weekday (`Monday`, `Mon`, 周一) or `daily`; the most exact wins.
    """
    if isinstance(hours, dict):
        said = {str(key).strip().lower(): value for key, value in hours.items()}
        names = ["daily"]
        if day is not None:
            weekday = _WEEKDAYS[day.weekday()]
            names = [day.isoformat(), weekday, weekday[:3], _WEEKDAYS[7 + day.weekday()], "daily"]
        hours = next((said[name] for name in names if name in said), None)
    if not isinstance(hours, str):
        return None
    found = [(minutes_of(one[1]), minutes_of(one[2])) for one in _SPAN.finditer(hours)]
    spans = [(a, b if b > a else b + MIDNIGHT) for a, b in found if a is not None and b is not None]
    if spans or re.search(r"closed|休|关闭", hours, re.IGNORECASE):
        return spans
    return None


def _is_open(entry: Entry, spans: list[tuple[int, int]]) -> bool:
    if entry.start is None or entry.end is None:
        return bool(spans)
    return any(start <= entry.start and entry.end <= end for start, end in spans)


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"
