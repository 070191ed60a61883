"""Days that words may mean, counted from the day of a meeting.

How people count differs ("next Friday" is this week's for some), so an expression may mean several
days; only what can mean nothing else is certain.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

UNITS = {"day": 1, "week": 7, "fortnight": 14, "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7}
SLACK = {"day": 0, "天": 0, "日": 0, "month": 8, "个月": 8, "月": 8}
"""Days that an expression in this unit may be off; 3 for weeks."""


@dataclass(frozen=True, kw_only=True)
class Expression:
    """Words at [start, end) of a text and the days they may mean.

    `spans`: first and last day, several when people differ. `certain`: the one day it means, or
    None. `weekday`: 1 is Monday, 0 when none is named.
    """

    start: int
    end: int
    spans: tuple[tuple[date, date], ...]
    certain: date | None = None
    weekday: int = 0

    def may_mean(self, day: date) -> bool:
        return any(first <= day <= last for first, last in self.spans)

    def disagrees(self, other: Expression) -> bool:
        """Whether no day is one of both."""
        return not any(
            first <= other_last and other_first <= last
            for first, last in self.spans
            for other_first, other_last in other.spans
        )

    @property
    def names_a_day(self) -> bool:
        """Whether it names single days, not weeks or months."""
        return all(first == last for first, last in self.spans)


def one_of(found: re.Match[str], days: Sequence[date], weekday: int = 0) -> Expression:
    """One of these days; certain when they are the same."""
    distinct = tuple(dict.fromkeys(days))
    return Expression(
        start=found.start(),
        end=found.end(),
        spans=tuple((day, day) for day in distinct),
        certain=distinct[0] if len(distinct) == 1 else None,
        weekday=weekday,
    )


def between(
    found: re.Match[str], first: date, last: date, *, certain: date | None = None
) -> Expression:
    return Expression(start=found.start(), end=found.end(), spans=((first, last),), certain=certain)


def about(found: re.Match[str], day: date, unit: str) -> Expression:
    """That day, or near it when weeks or months were counted."""
    slack = timedelta(days=SLACK.get(unit, 3))
    return between(found, day - slack, day + slack, certain=day)


def monday(today: date, weeks: int = 0) -> date:
    """Of the week that many weeks from here; weeks begin on Monday."""
    return today + timedelta(days=7 * weeks - today.weekday())


def week(found: re.Match[str], today: date, weeks: int) -> Expression:
    first = monday(today, weeks)
    return between(found, first, first + timedelta(days=6))


def month(today: date, months: int = 0) -> tuple[date, date]:
    """First and last day of the month that many months from here."""
    year, index = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, index + 1, 1), date(year, index + 1, calendar.monthrange(year, index + 1)[1])


def month_end(found: re.Match[str], last: date) -> Expression:
    """The last day is meant, or one of the last working days before it."""
    return between(found, last - timedelta(days=3), last, certain=last)


def later(today: date, count: float, unit: str) -> date:
    """The day that many days, weeks or months on."""
    if unit in UNITS:
        return today + timedelta(days=round(count * UNITS[unit]))
    first, last = month(today, int(count))
    day = first.replace(day=min(today.day, last.day))
    return day + timedelta(days=15 if count != int(count) else 0)
