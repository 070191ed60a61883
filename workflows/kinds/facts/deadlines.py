"""Days of a body against what was said from where the speaker stood: "by next Friday", 月底.

The day of the meeting makes a date of such words; a date that the minutes have instead is wrong
when the line that speaks of the same thing can not mean it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    facts_of,
    line_score,
    stems,
)
from workflows.kinds.facts.day_spans import Expression
from workflows.kinds.facts.days import Day
from workflows.kinds.facts.relative import read_relative
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import SourceText

ANY_DAY = date(2025, 1, 8)
"""A Wednesday early in a month: what stands in when the meeting's day is not known."""
_TIME_WORDS = frozenset(
    stem
    for word in (*lexicon.WEEKDAYS, *lexicon.MONTHS, *lexicon.TIME_WORDS)
    for stem in stems(word)
)
"""Words that tell when and not what: `next` in two places makes them no talk of the same thing."""
_DAY_OF_MONTH = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)\b|(?<![\d月.])(\d{1,2}) ?[号日]", re.IGNORECASE
)
NEXT_OF_ITS_KIND = 45
"""Days ahead in which a bare "the 15th" lies."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """An expression and the index of the line it was said in."""

    line: int
    expression: Expression

    @property
    def key(self) -> tuple[object, ...]:
        return self.expression.spans


@kept_by_text
def said_relative(sources: tuple[SourceText, ...], today: date) -> tuple[Said, ...]:
    """All expressions of all lines, counted from this day."""
    return tuple(
        Said(line=at, expression=expression)
        for at, line in enumerate(facts_of(sources).lines)
        for expression in read_relative(line.spoken, today)
    )


@kept_by_text
def said_days_of_month(sources: tuple[SourceText, ...]) -> frozenset[int]:
    """15 for `the 15th` and 15号."""
    return frozenset(
        int(found.group(1) or found.group(2))
        for line in facts_of(sources).lines
        for found in _DAY_OF_MONTH.finditer(line.spoken)
    )


def body_relative(body: str, today: date) -> Iterator[Expression]:
    """Expressions of a body that look ahead; what stands for the past tells a story."""
    for at, block in blocks(body):
        for expression in _of_block(block, today):
            if max(last for _, last in expression.spans) > today:
                yield replace(expression, start=expression.start + at, end=expression.end + at)


@lru_cache(maxsize=KEPT)
def _of_block(block: str, today: date) -> tuple[Expression, ...]:
    return read_relative(block, today)


def possible_dates(day: Day, meeting: date) -> Iterator[date]:
    """The dates a written date may be: of its year, or of the years around the meeting."""
    for year in (day.year,) if day.year else (meeting.year - 1, meeting.year, meeting.year + 1):
        try:
            yield date(year, day.month, day.day)
        except ValueError:
            continue


def follows(day: Day, meeting: date, sources: tuple[SourceText, ...]) -> bool:
    """Whether a date is the meeting's, or one that something that was said may mean."""
    said = said_relative(sources, meeting)
    numbers = said_days_of_month(sources)
    for possible in possible_dates(day, meeting):
        ahead = (possible - meeting).days
        if ahead == 0 or (day.day in numbers and abs(ahead) <= NEXT_OF_ITS_KIND):
            return True
        if any(one.expression.may_mean(possible) for one in said):
            return True
    return False


def line_that_speaks_of(
    facts: Facts, weights: Mapping[str, float], said: Sequence[Said], *, least: float = 3.0
) -> Said | None:
    """The expression in the line that clearly speaks of the same thing as the weighed words."""
    if not said:
        return None
    weights = {word: weight for word, weight in weights.items() if word not in _TIME_WORDS}
    best: dict[tuple[object, ...], tuple[float, int]] = {}
    scores: dict[int, float] = {}
    for index, one in enumerate(said):
        if one.line not in scores:
            scores[one.line] = line_score(facts, weights, one.line)
        best[one.key] = max(best.get(one.key, (0.0, index)), (scores[one.line], index))
    winner = clear_winner(best.values(), least=least, lead=1.3)
    return None if winner is None else said[winner]


def nearest(day: Day, meeting: date) -> date | None:
    """The date nearest to the meeting that a written one may be."""
    dates = list(possible_dates(day, meeting))
    return min(dates, key=lambda one: abs(one - meeting), default=None)


def one_off(day: Day, meeting: date) -> bool:
    """Whether a date is the meeting's in another time zone."""
    return any(abs(one - meeting) == timedelta(days=1) for one in possible_dates(day, meeting))
