"""Dates, months, years and weekdays, in English and Chinese."""

import re
from collections.abc import Iterable

from deploy.offline_model.measures import DAYS, MONTHS, Value, value_of
from deploy.offline_model.numerals import NUMERAL_ZH, number_zh

_MONTH = "|".join(f"{month}|{month[:3]}" for month in MONTHS)
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*[:%])", re.I
)
_DAY_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\b", re.I
)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b")
_YEAR = re.compile(rf"\b(?:in|since|of|year|{_MONTH}|\d\d?(?:st|nd|rd|th)?),?\s+((?:19|20)\d\d)\b")
_LONE_MONTH = re.compile(
    rf"\b({'|'.join(m.title() for m in MONTHS if m not in ('may', 'march'))})\b"
)
_WEEKDAY = re.compile(rf"\b({'|'.join(DAYS)})(?:s?)\b", re.I)
_ZH_DATE = re.compile(
    rf"(?:(?P<year>\d{{2,4}}|[{NUMERAL_ZH}]{{2,4}})\s*年\s*)?"
    rf"(?P<month>\d{{1,2}}|[{NUMERAL_ZH}]{{1,2}})\s*月份?"
    rf"(?:\s*(?P<day>\d{{1,2}}|[{NUMERAL_ZH}]{{1,3}})\s*[日号])?"
)
_ZH_WEEKDAY = re.compile(
    r"(?:星期|礼拜|(?<![一二三四五六七八九十几两每本上下\d])周)([一二三四五六日天])"
)


def _month_number(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, 1) if month[:3] == name.lower()[:3])


def dates(text: str) -> Iterable[Value]:
    for pattern in (_MONTH_DAY, _DAY_MONTH):
        for match in pattern.finditer(text):
            month = _month_number(match["month"])
            yield value_of("monthday", match.span("day"), int(match["day"]), unit=str(month))
            yield value_of("month", match.span("month"), month)
    for match in _ISO.finditer(text):
        yield value_of("year", match.span("year"), int(match["year"]))
        yield value_of("month", match.span("month"), int(match["month"]))
        yield value_of(
            "monthday", match.span("day"), int(match["day"]), unit=str(int(match["month"]))
        )
    for match in _YEAR.finditer(text):
        yield value_of("year", match.span(1), int(match[1]))
    for match in _LONE_MONTH.finditer(text):
        yield value_of("month", match.span(1), _month_number(match[1]))
    yield from _chinese_dates(text)


def _chinese_dates(text: str) -> Iterable[Value]:
    for match in _ZH_DATE.finditer(text):
        month = number_zh(match["month"])
        day = number_zh(match["day"]) if match["day"] else None
        if month is None or not 1 <= month <= len(MONTHS) or _counted(match, text):
            continue
        yield value_of("month", match.span("month"), month)
        if day is not None:
            yield value_of("monthday", match.span("day"), day, unit=str(int(month)))
        if match["year"]:
            year = number_zh(match["year"])
            if year is not None:
                yield value_of("year", match.span("year"), *years(year))


def _counted(match: re.Match[str], text: str) -> bool:
    """一年三月 is a date only with a number like a year's; 三个月 never comes here."""
    before = text[max(0, match.start() - 1) : match.start()]
    return before in tuple(NUMERAL_ZH) or before.isdigit()


def years(year: float) -> tuple[float, ...]:
    """88 is 1988 and 19 is 2019 too."""
    if year >= 100:
        return (year,)
    return (year, year + (2000 if year < 50 else 1900))


def weekdays(text: str) -> Iterable[Value]:
    for match in _WEEKDAY.finditer(text):
        yield value_of("weekday", match.span(1), DAYS.index(match[1].lower()) + 1)
    for match in _ZH_WEEKDAY.finditer(text):
        day = "一二三四五六日".find("日" if match[1] == "天" else match[1]) + 1
        yield value_of("weekday", match.span(1), day)
