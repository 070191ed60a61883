"""A transcript on a page: its lines with the second at which each is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(
    r"\[((?:(\d{1,3}):)?(\d{1,3}):(\d{2})(?:[.,]\d{1,3})?)\] ?(?:\[(invented|loop)\] )?(.*)", re.S
)


@dataclass(frozen=True, kw_only=True)
class SpokenLine:
    """`seconds` is None for a line without a time; `mark` says why one is no evidence."""

    text: str
    stamp: str = ""
    seconds: int | None = None
    mark: str = ""


def spoken(text: str) -> Iterator[SpokenLine]:
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            yield SpokenLine(text=line)
            continue
        stamp, hours, minutes, seconds, mark, said = found.groups()
        at = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
        yield SpokenLine(text=said, stamp=stamp, seconds=at, mark=mark or "")
