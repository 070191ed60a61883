"""English days named from where the speaker stands: `by next Friday`, `end of the month`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.day_spans import (
    Expression,
    about,
    between,
    later,
    monday,
    month,
    month_end,
    one_of,
    week,
)

_NUMBERS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
_N = rf"(?P<n>\d{{1,2}}|an?|{'|'.join(_NUMBERS)})"
_UNIT = r"(?P<unit>day|week|fortnight|month)s?"
_MONTHS = "|".join(lexicon.MONTHS)


def _offset(found: re.Match[str], today: date) -> Expression:
    word = found.group().lower()
    days = {"tonight": 0, "today": 0, "tomorrow": 1, "yesterday": -1}.get(word, 2)
    return one_of(found, [today + timedelta(days=days)])


def _weekday(found: re.Match[str], today: date) -> Expression:
    """`Friday`, `this Friday`, `next Friday`, `last Friday`, `Friday next week`."""
    weekday = lexicon.WEEKDAYS.index(found["day"].lower()) + 1
    word = " ".join((found["which"] or "").lower().split())
    coming = today + timedelta(days=(weekday - today.isoweekday()) % 7 or 7)
    this, following = (monday(today, weeks) + timedelta(days=weekday - 1) for weeks in (0, 1))
    if found["after"] or word.startswith("next week"):
        return one_of(found, [following], weekday)
    if word in ("last", "past"):
        return one_of(found, [coming - timedelta(days=7), this - timedelta(days=7)], weekday)
    if word == "next":
        return one_of(found, [following, coming], weekday)
    if word in ("this", "coming", "this coming", "upcoming"):
        return one_of(found, [coming, this], weekday)
    if today.isoweekday() == weekday:
        return one_of(found, [today, coming], weekday)
    before = found.string[max(0, found.start() - 12) : found.start()]
    if re.search(r"\b(?:by|until|till|before|due)\s*$", before, re.IGNORECASE):
        return one_of(found, [coming], weekday)
    return one_of(found, [coming, coming - timedelta(days=7)], weekday)


def _in_some(found: re.Match[str], today: date) -> Expression:
    """`in two weeks`, `within a month`, `three days from now`."""
    day = later(today, _count(found["n"]), found["unit"].lower())
    if found.group().lower().startswith("within"):
        return between(found, today, day)
    return about(found, day, found["unit"].lower())


def _count(word: str) -> float:
    if word.isdigit():
        return float(word)
    low = word.lower()
    return 1.0 if low in ("a", "an") else float(_NUMBERS.index(low) + 1)


def _few(found: re.Match[str], today: date) -> Expression:
    """`a couple of weeks`, `a few days`: from one to five of them."""
    unit = found["unit"].lower()
    return between(found, later(today, 1, unit), later(today, 5, unit))


def _whole(found: re.Match[str], today: date) -> Expression:
    """`next week`, `this month`."""
    ahead = {"next": 1, "coming": 1, "last": -1}.get(found["which"].lower(), 0)
    if found["unit"].lower() == "week":
        return week(found, today, ahead)
    return between(found, *month(today, ahead))


def _end(found: re.Match[str], today: date) -> Expression:
    """`end of the week`, `end of next month`, `end of the quarter`, `end of the year`."""
    ahead = int(bool(found["which"]))
    unit = found["unit"].lower()
    if unit == "week":
        first = monday(today, ahead)
        return between(found, first + timedelta(days=3), first + timedelta(days=6))
    if unit == "month":
        return month_end(found, month(today, ahead)[1])
    if unit == "quarter":
        return month_end(found, month(today, 3 * ahead + 2 - (today.month - 1) % 3)[1])
    return between(found, date(today.year + ahead, 12, 1), date(today.year + ahead, 12, 31))


def _month_end(found: re.Match[str], today: date) -> Expression:
    """`the end of October`: of this year, or of the next one when it is over."""
    number = lexicon.MONTHS.index(found["month"].lower()) + 1
    year = today.year + int(number < today.month)
    return month_end(found, date(year, number, calendar.monthrange(year, number)[1]))


def _weekend(found: re.Match[str], today: date) -> Expression:
    friday = monday(today) + timedelta(days=4)
    ahead = {"this": (0, 2), "next": (7, 9)}.get((found["which"] or "").lower(), (0, 9))
    return between(found, *(friday + timedelta(days=days) for days in ahead))


ENGLISH: Mapping[re.Pattern[str], Callable[[re.Match[str], date], Expression]] = {
    re.compile(pattern, re.IGNORECASE): meaning
    for pattern, meaning in {
        r"\b(?:(?:the )?day after tomorrow|tomorrow|tonight|today|yesterday)\b": _offset,
        r"\b(?:(?P<which>next week(?: on)?|this coming|this|next|last|past|coming|upcoming) )?"
        rf"(?P<day>{'|'.join(lexicon.WEEKDAYS)})\b(?P<after> (?:of )?next week\b)?": _weekday,
        rf"\b(?:with)?in {_N} {_UNIT}\b": _in_some,
        rf"\b{_N} {_UNIT} (?:from (?:now|today)|later)\b": _in_some,
        r"\b(?:a few|a couple(?: of)?|several) (?P<unit>day|week|month)s\b": _few,
        r"\b(?P<which>this|next|coming|last) (?P<unit>week|month)\b": _whole,
        r"\bend of (?:the |this )?(?P<which>next )?(?P<unit>week|month|quarter|year)\b": _end,
        rf"\bend of (?P<month>{_MONTHS})\b": _month_end,
        r"\b(?:(?P<which>this|next|the) )?weekend\b": _weekend,
    }.items()
}
