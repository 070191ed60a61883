"""Where a long recording is cut: at its quietest places, in parts short enough to be lost alone.

Levels are loudest samples of consecutive stretches of `STEP` seconds, 0 to 255. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STEP = 0.05
LONGEST = 300.0
SHORTEST = 0.6
"""A part ends at the quietest place between the longest and this share of it."""
QUIET_SECONDS = 0.5
"""Length of the stretch whose middle is cut."""
SILENT_LEVEL = 2
"""Under a hundredth of full scale."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """One part of the recording, from `start` up to `end`."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def key(self) -> str:
        """What it covers, in milliseconds: the part's key in a plan."""
        return f"{round(self.start * 1000)}-{round(self.end * 1000)}"


def cut(levels: Sequence[int], *, longest: float = LONGEST) -> list[Span]:
    """Spans that follow each other without gap from 0 to the end, none longer than `longest`."""
    total = len(levels) * STEP
    quiet = max(1, round(QUIET_SECONDS / STEP))
    spans, start = [], 0.0
    while total - start > longest:
        first, last = round((start + SHORTEST * longest) / STEP), round((start + longest) / STEP)
        middle = _quietest(levels, first, last, quiet)
        spans.append(Span(start=start, end=round(middle * STEP, 3)))
        start = spans[-1].end
    if total > start:
        spans.append(Span(start=start, end=round(total, 3)))
    return spans


def _quietest(levels: Sequence[int], first: int, last: int, width: int) -> int:
    """Middle of the quietest stretch of `width` levels that lies within [first, last); of equal
    ones the middle of the longest row, so a word's edge is far."""
    current = sum(levels[first : first + width])
    best, row_start, best_row = current, first, (first, first)
    previous = current
    for at in range(first + 1, last - width + 1):
        current += levels[at + width - 1] - levels[at - 1]
        if current != previous:
            row_start = at
        if current < best or (current == best and at - row_start > best_row[1] - best_row[0]):
            best, best_row = current, (row_start, at)
        previous = current
    return (best_row[0] + best_row[1] + width) // 2


def silent(levels: Sequence[int], start: float, end: float) -> bool:
    """Whether nothing is heard between two times."""
    heard = levels[int(start / STEP) : max(int(start / STEP) + 1, int(end / STEP))]
    return bool(heard) and max(heard) <= SILENT_LEVEL
