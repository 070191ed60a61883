"""Dates and weekdays of a body that neither the sources nor the meeting's own date know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    context_weights,
    facts_of,
    line_score,
    unique_quote,
)
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

_CHINESE_DAYS = "一二三四五六日"
_MONTH = "|".join(
    [*lexicon.MONTHS, *(f"{name[:3]}\\.?" for name in lexicon.MONTHS if name != "may"), "sept\\.?"]
)
_DATES = re.compile(
    rf"\b(?P<iso>(?:19|20)\d\d-\d{{1,2}}-\d{{1,2}})\b"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b(?:,? (?P<y1>(?:19|20)\d\d))?"
    rf"|\b(?P<m2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y2>(?:19|20)\d\d))?"
    r"|(?:(?P<y3>(?:19|20)\d\d)年)?(?P<m3>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
    r"(?P<d3>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]",
    re.IGNORECASE,
)
_DAYS = re.compile(
    rf"\b(?P<day>{'|'.join(lexicon.WEEKDAYS)})s?\b|(?:下|上|这|本)?(?:个)?(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?![年月次期届])",
    re.IGNORECASE,
)
MOST_FINDINGS = 100
_ANY = re.compile(r"day|\d|月|周|星期|礼拜|" + "|".join(name[:3] for name in lexicon.MONTHS), re.I)
_HEADER = re.compile(
    r"^[ \t]*[-*#]*[ \t]*\**(?:date|when|meeting date|日期|会议日期|会议时间|时间)\**\s*[:：]", re.I
)
_RELATIVE = re.compile(
    r"\b(?:today|tomorrow|yesterday|next week|this week|end of the week|in (?:a|two|\w+) weeks?|"
    r"next month)\b|今天|明天|后天|昨天|下周|下个月|本周|月底|周末",
    re.IGNORECASE,
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
    return tuple(_days(text)) if _ANY.search(text) else ()


def _days(text: str) -> Iterator[Day]:
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
        year, month, day = (int(piece) for piece in found["iso"].split("-"))
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


def verify_dates(material: Material, body: str) -> list[Finding]:
    """Days that are neither said, nor the meeting's, nor what a relative word may mean."""
    facts = facts_of(material.sources)
    said = _said_days(material.sources)
    meeting = _meeting_date(material)
    text = "\n".join(line.text for line in facts.lines)
    findings = []
    for day in read_days(body):
        if any(day.agrees(other) for _, other in said) or day_in_texts(material, day):
            continue
        header = _HEADER.match(body[body.rfind("\n", 0, day.start) + 1 : day.start])
        if meeting is not None and _reachable(day, meeting, said, text, header=bool(header)):
            continue
        if header and meeting is None:
            continue
        finding = _finding(facts, body, day, said, meeting if header else None)
        if finding is not None:
            findings.append(finding)
        if len(findings) == MOST_FINDINGS:
            break
    return findings


@lru_cache(maxsize=8)
def _said_days(sources: tuple[SourceText, ...]) -> tuple[tuple[int, Day], ...]:
    """Each day that is said, with the index of its line."""
    return tuple(
        (at, day)
        for at, line in enumerate(facts_of(sources).lines)
        if _ANY.search(line.spoken)
        for day in _days(line.spoken)
    )


def day_in_texts(material: Material, day: Day) -> bool:
    texts = [material.title]
    for value in material.attributes.values():
        texts += [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    texts += [source.name for source in material.sources]
    return any(day.agrees(other) for text in texts for other in read_days(text))


def _meeting_date(material: Material) -> date | None:
    try:
        return date.fromisoformat(str(material.attributes.get("meeting_date")))
    except ValueError:
        return None


def _reachable(
    day: Day, meeting: date, said: Sequence[tuple[int, Day]], text: str, *, header: bool
) -> bool:
    """Whether the day follows from the meeting's date and what was said in it."""
    if day.weekday:
        return header and day.weekday == meeting.isoweekday()
    if (day.month, day.day) == (meeting.month, meeting.day):
        return not day.year or day.year == meeting.year
    if header:
        return False
    weekdays = {other.weekday for _, other in said if other.weekday}
    relative = _RELATIVE.search(text) is not None
    for ahead in range(-14, 46):
        other = meeting + timedelta(days=ahead)
        if (other.month, other.day) == (day.month, day.day):
            return relative or other.isoweekday() in weekdays
    return False


def _finding(
    facts: Facts, body: str, day: Day, said: Sequence[tuple[int, Day]], meeting: date | None
) -> Finding | None:
    quote = unique_quote(body, day.start, day.end, least=4)
    written = body[day.start : day.end]
    match = _match(facts, body, day, said)
    if meeting is not None:
        return Finding(
            category="date",
            severity=Severity.MAJOR,
            quote=quote,
            problem=f"The meeting was on {meeting.isoformat()}, not on {written}.",
            suggestion=_meeting_text(quote, written, day, meeting),
        )
    if match is None:
        return Finding(
            category="date",
            severity=Severity.MAJOR,
            quote=quote,
            problem=f"“{written}” is said nowhere in the sources.",
        )
    at, other = match
    line = facts.lines[at]
    right = line.spoken[other.start : other.end]
    return Finding(
        category="date",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"{line.name} says “{right}”, not “{written}”.",
        suggestion=quote.replace(written, right, 1),
        evidence=(line.name,),
    )


def _match(
    facts: Facts, body: str, day: Day, said: Sequence[tuple[int, Day]]
) -> tuple[int, Day] | None:
    """The day of the same sort in the line that clearly speaks of the same thing."""
    same = [(at, other) for at, other in said if bool(other.weekday) == bool(day.weekday)]
    if not same:
        return None
    days = {(other.month, other.day, other.weekday) for _, other in same}
    weights = context_weights(body, day.start, day.end)
    best: dict[tuple[int, int, int], tuple[float, int]] = {}
    for index, (at, other) in enumerate(same):
        key = (other.month, other.day, other.weekday)
        best[key] = max(best.get(key, (0.0, index)), (line_score(facts, weights, at), index))
    winner = clear_winner(best.values(), least=1.0 if len(days) == 1 else 2.5, lead=1.25)
    return None if winner is None else same[winner]


def _meeting_text(quote: str, written: str, day: Day, meeting: date) -> str | None:
    if day.weekday:
        return None
    if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", written):
        return quote.replace(written, meeting.isoformat(), 1)
    if "月" in written:
        year = f"{meeting.year}年" if day.year else ""
        return quote.replace(written, f"{year}{meeting.month}月{meeting.day}日", 1)
    name = lexicon.MONTHS[meeting.month - 1].capitalize()
    year = f" {meeting.year}" if day.year else ""
    if written[0].isdigit():
        return quote.replace(written, f"{meeting.day} {name}{year}", 1)
    return quote.replace(written, f"{name} {meeting.day}{',' if year else ''}{year}", 1)
