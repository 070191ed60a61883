"""The sections of a text in Markdown, and the items in them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from workflows.kinds.kept import kept_by_text

_HEADING = re.compile(
    r"^[ ]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]*)$"
    r"|^[ \t]*\*\*(?P<bold>[^*\n]{1,80})\*\*[:：]?[ \t]*\r?$",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ ]{0,3}(?:```|~~~)", re.MULTILINE)
_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+•]|\d{1,3}[.)、])[ \t]+(?:\[[ xX]?\][ \t]*)?(?P<text>\S[^\n]*)$",
    re.MULTILINE,
)
_ROW = re.compile(r"^[ \t]*(?P<text>\|[^\n]*\|)[ \t]*\r?$", re.MULTILINE)
_RULE = re.compile(r"^[ \t|:-]*$")
BOLD = 7
"""The level of a heading that is only a bold line: below all others."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading at [start, body_start) and its text up to [.., end), sections below left out."""

    title: str
    level: int
    start: int
    body_start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ListItem:
    """An item's own line at [start, end), without its mark; of a table row also its cells."""

    start: int
    end: int
    text: str
    cells: tuple[str, ...] = ()
    head: tuple[str, ...] = ()


@kept_by_text
def sections(body: str) -> tuple[Section, ...]:
    """In order; what stands before the first heading has none and is left out."""
    fences = [found.start() for found in _FENCE.finditer(body)]
    found = [one for one in _HEADING.finditer(body) if bisect(fences, one.start()) % 2 == 0]
    ends = [one.start() for one in found[1:]] + [len(body)] * bool(found)
    return tuple(
        Section(
            title=(one["title"].rstrip("# \t\r") if one["marks"] else one["bold"]).strip(),
            level=len(one["marks"]) if one["marks"] else BOLD,
            start=one.start(),
            body_start=one.end(),
            end=end,
        )
        for one, end in zip(found, ends, strict=True)
    )


def sections_below(body: str, at: int) -> tuple[Section, ...]:
    """Section `at` and what is nested in it."""
    all_ = sections(body)
    last = at + 1
    while last < len(all_) and all_[last].level > all_[at].level:
        last += 1
    return all_[at:last]


def items(body: str, section: Section) -> Iterator[ListItem]:
    """List items and table rows of a section's own text, in order; a table's head is none."""
    for found in _ITEM.finditer(body, section.body_start, section.end):
        text = found["text"].rstrip()
        start = found.start("text")
        yield ListItem(start=start, end=start + len(text), text=text)
    yield from _rows(body, section)


def _rows(body: str, section: Section) -> Iterator[ListItem]:
    before: re.Match[str] | None = None
    head: tuple[str, ...] = ()
    for found in _ROW.finditer(body, section.body_start, section.end):
        beside = before is not None and found.start() - before.end() <= 2
        if _RULE.match(found["text"]):
            head = _cells(before["text"]) if beside and before is not None else ()
        elif not beside:
            head = ()
        elif head:
            cells = _cells(found["text"])
            start, end = found.span("text")
            yield ListItem(start=start, end=end, text=found["text"], cells=cells, head=head)
        before = found


def _cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))
