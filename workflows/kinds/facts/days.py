"""Dates and weekdays as they are written, in either language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT, blocks

_CHINESE_DAYS = "一二三四五六日"
_MONTH = "|".join(
    [*lexicon.MONTHS, *(f"{name[:3]}\\.?" for name in lexicon.MONTHS if name != "may"), "sept\\.?"]
)
_FIRST = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_ORDINALS = {
    **{word: at for at, word in enumerate(_FIRST, start=1)},
    **{f"twenty {word}": 20 + at for at, word in enumerate(_FIRST[:9], start=1)},
    "thirtieth": 30,
    "thirty first": 31,
}
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True)).replace(" ", "[ -]")
_YEAR = r"(?:19|20)\d\d"
_DATES = re.compile(
    rf"\b(?P<iso>{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}})\b"
    rf"|\b(?P<w1>{_ORDINAL}) of (?P<m4>{_MONTH})\b"
    rf"|\b(?P<m5>{_MONTH}) (?:the )?(?P<w2>{_ORDINAL})\b"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b(?:,? (?P<y1>{_YEAR}))?"
    rf"|\b(?P<m2>{_MONTH}) (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y2>{_YEAR}))?"
    r"|(?:(?P<y3>(?:19|20)\d\d) ?年 ?)?(?P<m3>\d{1,2}|十[一二]?|[一二三四五六七八九]) ?月 ?"
    r"(?P<d3>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九]) ?[日号]",
    re.IGNORECASE,
)
_DAYS = re.compile(
    rf"\b(?P<day>{'|'.join(lexicon.WEEKDAYS)})s?\b|(?:下|上|这|本)?(?:个)?(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?![年月次期届])",
    re.IGNORECASE,
)
MAY_HAVE_DAYS = re.compile(
    r"day|\d|月|周|星期|礼拜|" + "|".join(name[:3] for name in lexicon.MONTHS), re.I
)


@dataclass(frozen=True, kw_only=True)
class Day:
    """A date as written: what is unknown is 0. `weekday` 1 is Monday."""

    start: int
    end: int
    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0

    def agrees(self, other: Day) -> bool:
        """Whether both may mean the same day, as far as both say it."""
        if self.weekday or other.weekday:
            return self.weekday == other.weekday
        years = not (self.year and other.year) or self.year == other.year
        return (self.month, self.day) == (other.month, other.day) and years


def read_days(text: str) -> Iterator[Day]:
    """Dates, then weekdays, of each block of a text in either language."""
    for at, block in blocks(text):
        for day in _days_of_block(block):
            yield replace(day, start=day.start + at, end=day.end + at)


@lru_cache(maxsize=KEPT)
def _days_of_block(text: str) -> tuple[Day, ...]:
    return tuple(days_of(text)) if MAY_HAVE_DAYS.search(text) else ()


def days_of(text: str) -> Iterator[Day]:
    for found in _DATES.finditer(text):
        day = _day(found)
        if day is not None:
            yield day
    for found in _DAYS.finditer(text):
        if found["day"]:
            weekday = lexicon.WEEKDAYS.index(found["day"].lower()) + 1
        else:
            weekday = _CHINESE_DAYS.index(found["zh"].replace("天", "日")) + 1
        yield Day(start=found.start(), end=found.end(), weekday=weekday)


def date_spans(body: str) -> list[tuple[int, int]]:
    """Where dates stand: their digits are no numbers of their own."""
    return [(day.start, day.end) for day in read_days(body)]


def _day(found: re.Match[str]) -> Day | None:
    if found["iso"]:
        year, month, day = (int(piece) for piece in re.split(r"[-/.]", found["iso"]))
    elif found["w1"] or found["w2"]:
        year, month = 0, _month(found["m4"] or found["m5"])
        day = _ORDINALS[re.sub("[ -]", " ", (found["w1"] or found["w2"]).lower())]
    else:
        name = found["m1"] or found["m2"] or found["m3"]
        year = int(found["y1"] or found["y2"] or found["y3"] or 0)
        month = _month(name)
        day = _count(found["d1"] or found["d2"] or found["d3"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Day(start=found.start(), end=found.end(), year=year, month=month, day=day)


def _month(name: str) -> int:
    low = name.lower()[:3]
    for number, month in enumerate(lexicon.MONTHS, start=1):
        if month[:3] == low:
            return number
    return _count(name)


def _count(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, _, ones = text.rpartition("十")
    digits = "零一二三四五六七八九"
    if "十" not in text:
        return digits.index(text)
    return (digits.index(tens) if tens else 1) * 10 + (digits.index(ones) if ones else 0)


def written_like(written: str, day: date, *, year: bool) -> str:
    """A date in the way in which another one is written; `year`: whether that one has a year."""
    if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", written):
        return day.isoformat()
    if "月" in written:
        return (f"{day.year}年" if year else "") + f"{day.month}月{day.day}{written[-1]}"
    name = lexicon.MONTHS[day.month - 1].capitalize()
    if re.search(r"\b[A-Za-z]{3}\b", written):
        name = name[:3]
    if written[0].isdigit():
        return f"{day.day} {name}" + (f" {day.year}" if year else "")
    return f"{name} {day.day}" + (f", {day.year}" if year else "")
