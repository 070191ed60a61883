"""Days of a text that are named from where the speaker stands, in either language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from workflows.kinds.facts.chinese_days import CHINESE
from workflows.kinds.facts.day_spans import Expression
from workflows.kinds.facts.english_days import ENGLISH

_ENGLISH = re.compile(r"day\b|days?\b|week|month|quarter|tomorrow|tonight|fortnight|end of", re.I)
_CHINESE = re.compile(r"[周天日月年]|星期|礼拜")


def read_relative(text: str, today: date) -> tuple[Expression, ...]:
    """Expressions of a text, in order, none inside another; `today` is the day it was said on."""
    found = sorted(_all(text, today), key=lambda one: (one.start, -one.end))
    kept: list[Expression] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def _all(text: str, today: date) -> Iterator[Expression]:
    for any_, readers in ((_ENGLISH, ENGLISH), (_CHINESE, CHINESE)):
        if not any_.search(text):
            continue
        for pattern, meaning in readers.items():
            for found in pattern.finditer(text):
                try:
                    expression = meaning(found, today)
                except (OverflowError, ValueError):
                    # The meeting is at the edge of the calendar: nothing is said of such days.
                    continue
                if expression is not None:
                    yield expression
