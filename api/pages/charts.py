"""Column charts as numbers for `chart.html`, which draws them as SVG without script or style.

Pure: values in, places in a box of 100 by 10 a column out. Labels stand beside the drawing as
text, so that they keep their size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

HEIGHT, STEP, GAP = 100.0, 10.0, 2.0
_ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One kind of value: its word, its colour's class, one number a bucket."""

    word: str
    tone: str
    values: Sequence[float]
    total: str = ""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A rectangle of a column."""

    tone: str
    y: float
    height: float


@dataclass(frozen=True, kw_only=True)
class Column:
    x: float
    at: datetime
    until: datetime
    label: str
    pieces: tuple[Piece, ...]
    shown: tuple[str, ...]
    """The values in words, one a stack: for the table and the tip."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """`line` are the totals of the period before, as points of a polyline; '' for none."""

    key: str
    title: str
    unit: str
    now: str
    change: str
    stacks: tuple[Stack, ...]
    columns: tuple[Column, ...]
    ticks: tuple[str, ...]
    labels: tuple[str, ...]
    line: str
    runs: str
    csv: str

    @property
    def width(self) -> float:
        return len(self.columns) * STEP

    @property
    def is_empty(self) -> bool:
        return not any(any(stack.values) for stack in self.stacks)


def ceiling(value: float) -> float:
    """The next round number: 1, 2, 2.5, 5 with zeros."""
    if value <= 0:
        return 1.0
    scale = float(10 ** math.floor(math.log10(value)))
    return next(step * scale for step in _ROUND if value <= step * scale * (1 + 1e-9))


def columns(
    stacks: Sequence[Stack],
    spans: Sequence[tuple[datetime, datetime, str]],
    top: float,
    told: Callable[[float], str],
) -> tuple[Column, ...]:
    """One column a bucket, the first stack at its foot."""
    return tuple(
        Column(
            x=index * STEP + GAP / 2,
            at=at,
            until=until,
            label=label,
            pieces=_pieces(stacks, index, top),
            shown=tuple(told(stack.values[index]) for stack in stacks),
        )
        for index, (at, until, label) in enumerate(spans)
    )


def _pieces(stacks: Sequence[Stack], index: int, top: float) -> tuple[Piece, ...]:
    foot, found = HEIGHT, []
    for stack in stacks:
        height = round(stack.values[index] / top * HEIGHT, 2)
        if height > 0:
            foot = round(foot - height, 2)
            found.append(Piece(tone=stack.tone, y=foot, height=height))
    return tuple(found)


def line(values: Sequence[float], top: float) -> str:
    """The points of a polyline through the middle of each column."""
    places = (
        f"{index * STEP + STEP / 2:g},{HEIGHT - value / top * HEIGHT:.2f}"
        for index, value in enumerate(values)
    )
    return " ".join(places)


def total(stacks: Sequence[Stack]) -> list[float]:
    """The height of each column."""
    return [sum(values) for values in zip(*(stack.values for stack in stacks), strict=True)]
