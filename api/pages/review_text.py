"""Two texts as a sheet to read: passages in order, each with what concerns it beside it. Pure.

Passages are the comparison's blocks. An open issue, a remark or a lock stands at the passage its
quote begins in; an issue that was fixed stands at the passage that was taken out. Long stretches
that nothing changed in and nothing is said of are folded.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from api import differences, wire
from api.http import requests
from workflows.vocabulary import IssueStatus

_BESIDE = 1
"""Unchanged passages shown on either side of what is looked at."""
_WORTH_FOLDING = 4
_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")
_SHAPES = (
    ("heading-1", re.compile(r" {0,3}#\s")),
    ("heading-2", re.compile(r" {0,3}##\s")),
    ("heading-3", re.compile(r" {0,3}#{3,6}\s")),
    ("item", re.compile(r" {0,1}(?:[-*+]|\d{1,9}[.)])\s")),
    ("item-2", re.compile(r"\s+(?:[-*+]|\d{1,9}[.)])\s")),
    ("row", re.compile(r"\s*\|")),
    ("quote", re.compile(r"\s*>")),
)
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
OPEN = frozenset({IssueStatus.OPEN, IssueStatus.REOPENED})

Op: TypeAlias = Literal["equal", "insert", "delete", "replace"]


@dataclass(frozen=True, kw_only=True)
class Bit:
    """A stretch of one line; `marked` where an open issue quotes it."""

    op: differences.Op
    text: str
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """`shape` says how Markdown would show it; the text is the source, sign by sign."""

    shape: str
    bits: tuple[Bit, ...]


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What is said of the texts. `remarks` and `locks` are the person's unsent ones, in their
    order, `pending` the words of a comment that was not added yet; `locked` are locks that hold
    already; `decided` says of a change whether it was accepted."""

    issues: Sequence[wire.Issue] = ()
    remarks: Sequence[requests.ReworkComment] = ()
    locks: Sequence[str] = ()
    pending: str = ""
    locked: Sequence[str] = ()
    decided: dict[int, bool] = field(default_factory=dict)


@dataclass(kw_only=True)
class Passage:
    """`hunk` numbers its change, None where nothing changed; `lines` are the unified text, `old`
    and `new` the two sides: a sheet has either these or those. `quote` is its new text, trimmed;
    `contents` tells its old and new text from any other. `remarks` and `locks` are places in the
    person's lists."""

    number: int
    op: Op
    hunk: int | None
    lines: tuple[Line, ...]
    old: tuple[Line, ...]
    new: tuple[Line, ...]
    quote: str
    contents: str
    issues: list[wire.Issue] = field(default_factory=list)
    fixed: list[wire.Issue] = field(default_factory=list)
    remarks: list[int] = field(default_factory=list)
    locks: list[int] = field(default_factory=list)
    locked: bool = False
    accepted: bool | None = None

    @property
    def is_quiet(self) -> bool:
        noted = self.issues or self.fixed or self.remarks or self.locks
        return self.op == "equal" and not noted


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Passages in a row; `folded` ones are shown on demand."""

    folded: bool
    passages: tuple[Passage, ...]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """`elsewhere` are open issues, `stray` the places of remarks, whose words stand nowhere in the
    new text; `pending` is the passage of the comment not added yet. `added` and `removed` count
    words, of Chinese characters."""

    level: differences.Level
    changed: bool
    places: int
    added: int
    removed: int
    fixed: int
    stretches: tuple[Stretch, ...]
    elsewhere: tuple[wire.Issue, ...]
    stray: tuple[int, ...]
    pending: int | None


def sheet(
    old: str, new: str, marks: Marks, *, unfolded: bool = False, split: bool = False
) -> Sheet:
    """The comparison of the texts with its marks. The same text twice is read, not compared."""
    found = differences.difference(old, new)
    passages, places = _passages(found, new, marks, split=split)
    texts = _Texts(passages, places, _Pair(old=old, new=new))
    elsewhere, stray = _put_issues(texts, marks.issues), _put_own(texts, marks)
    pieces = [piece for hunk in found.hunks for piece in hunk.pieces]
    changes = {passage.hunk for passage in passages if passage.hunk is not None}
    return Sheet(
        level=found.level,
        changed=bool(changes),
        places=len(changes),
        added=_words(piece.text for piece in pieces if piece.op == "insert"),
        removed=_words(piece.text for piece in pieces if piece.op == "delete"),
        fixed=sum(len(passage.fixed) for passage in passages),
        stretches=tuple(_stretches(passages, unfolded=unfolded or not changes)),
        elsewhere=elsewhere,
        stray=stray,
        pending=next((passage.number for passage in texts.of_new(marks.pending)), None),
    )


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a passage stands in both texts."""

    old: range
    new: range


def _passages(
    found: differences.Difference, new: str, marks: Marks, *, split: bool
) -> tuple[list[Passage], list[_Place]]:
    quoted = _Quoted(_quoted(new, marks.issues))
    passages: list[Passage] = []
    places: list[_Place] = []
    at_old = at_new = 0
    for number, hunk in enumerate(found.hunks):
        same = all(piece.op == "equal" for piece in hunk.pieces)
        for pieces in _blocks_of(hunk) if same else [hunk.pieces]:
            gone = "".join(piece.text for piece in pieces if piece.op != "insert")
            come = "".join(piece.text for piece in pieces if piece.op != "delete")
            bits = list(_bits(pieces, at_new, quoted))
            passages.append(
                Passage(
                    number=len(passages),
                    op=_op(pieces),
                    hunk=None if same else number,
                    lines=() if split else _lines(bits),
                    old=_lines(bit for bit in bits if bit.op != "insert") if split else (),
                    new=_lines(bit for bit in bits if bit.op != "delete") if split else (),
                    quote=come.strip(),
                    contents="" if same else _digest(gone, come),
                    accepted=None if same else marks.decided.get(number),
                )
            )
            places.append(
                _Place(old=range(at_old, at_old + len(gone)), new=range(at_new, at_new + len(come)))
            )
            at_old, at_new = at_old + len(gone), at_new + len(come)
    return passages, places


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _op(pieces: Sequence[differences.Piece]) -> Op:
    return pieces[0].op if len(pieces) == 1 else "replace"


def _blocks_of(hunk: differences.Hunk) -> Iterator[tuple[differences.Piece, ...]]:
    for block in differences.blocks("".join(piece.text for piece in hunk.pieces)):
        yield (differences.Piece(op="equal", text=block),)


def _quoted(new: str, issues: Sequence[wire.Issue]) -> list[range]:
    """Where open issues quote the new text, in order, without overlaps."""
    spans = []
    for issue in issues:
        start = new.find(issue.quote) if issue.quote and issue.status in OPEN else -1
        if start >= 0:
            spans.append(range(start, start + len(issue.quote)))
    found: list[range] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.stop)):
        if found and span.start < found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, span.stop))
        else:
            found.append(span)
    return found


class _Quoted:
    """Ranges in order, without overlaps: there may be thousands."""

    def __init__(self, spans: Sequence[range]) -> None:
        self.spans = spans
        self.starts, self.stops = [one.start for one in spans], [one.stop for one in spans]

    def near(self, start: int, stop: int) -> Sequence[range]:
        """Those that touch this stretch."""
        return self.spans[bisect_right(self.stops, start) : bisect_left(self.starts, stop)]


def _bits(pieces: Sequence[differences.Piece], at: int, quoted: _Quoted) -> Iterator[Bit]:
    """The pieces, cut where a quotation begins or ends."""
    for piece in pieces:
        if piece.op == "delete":
            yield Bit(op="delete", text=piece.text)
            continue
        end = at + len(piece.text)
        near = quoted.near(at, end)
        edges = {edge for span in near for edge in (span.start, span.stop) if at < edge < end}
        cuts = [at, *sorted(edges), end]
        for start, stop in pairwise(cuts):
            marked = any(start in span for span in near)
            yield Bit(op=piece.op, text=piece.text[start - at : stop - at], marked=marked)
        at = end


def _lines(bits: Iterable[Bit]) -> tuple[Line, ...]:
    """The bits line by line; blank lines only divide, unless nothing else is there."""
    rows: list[list[Bit]] = [[]]
    for bit in bits:
        for place, text in enumerate(re.split(r"\r\n|\n|\r", bit.text)):
            if place:
                rows.append([])
            if text:
                rows[-1].append(Bit(op=bit.op, text=text, marked=bit.marked))
    kept = [row for row in rows if any(bit.text.strip() for bit in row)]
    found: list[Line] = []
    fenced = False
    for row in kept:
        text = "".join(bit.text for bit in row)
        is_fence = _FENCE.match(text) is not None
        shape = "code" if fenced or is_fence else _shape(text)
        fenced = fenced != is_fence
        found.append(Line(shape=shape, bits=tuple(row)))
    return tuple(found)


def _shape(text: str) -> str:
    return next((name for name, begins in _SHAPES if begins.match(text)), "plain")


@dataclass(frozen=True, kw_only=True)
class _Pair:
    old: str
    new: str


def _put_issues(texts: _Texts, issues: Sequence[wire.Issue]) -> tuple[wire.Issue, ...]:
    """Each at its passage; the open ones that have none are given back."""
    elsewhere = []
    for issue in issues:
        if issue.status in OPEN:
            here = texts.of_new(issue.quote)
            if here:
                here[0].issues.append(issue)
            else:
                elsewhere.append(issue)
        elif issue.status == IssueStatus.FIXED and (gone := texts.taken_out(issue.quote)):
            gone.fixed.append(issue)
    return tuple(elsewhere)


def _put_own(texts: _Texts, marks: Marks) -> tuple[int, ...]:
    """Remarks and locks; places of the remarks that have no passage are given back."""
    stray = []
    for at, remark in enumerate(marks.remarks):
        here = texts.of_new(remark.quote or "")
        if here:
            here[0].remarks.append(at)
        else:
            stray.append(at)
    for at, quote in enumerate(marks.locks):
        for passage in texts.of_new(quote):
            passage.locks.append(at)
    for quote in marks.locked:
        for passage in texts.of_new(quote):
            passage.locked = True
    return tuple(stray)


class _Texts:
    """Finds the passages that a quotation touches."""

    def __init__(self, passages: list[Passage], places: Sequence[_Place], texts: _Pair) -> None:
        self.passages, self.texts = passages, texts
        self.starts = [place.new.start for place in places]
        self.stops = [place.new.stop for place in places]
        self.old_stops = [place.old.stop for place in places]

    def of_new(self, quote: str) -> list[Passage]:
        start = self.texts.new.find(quote) if quote else -1
        if start < 0:
            return []
        first = bisect_right(self.stops, start)
        return self.passages[first : bisect_left(self.starts, start + len(quote))]

    def taken_out(self, quote: str) -> Passage | None:
        """The changed passage in whose older text it began."""
        start = self.texts.old.find(quote) if quote else -1
        found = bisect_right(self.old_stops, start)
        if start < 0 or found == len(self.passages) or self.passages[found].hunk is None:
            return None
        return self.passages[found]


def _stretches(passages: Sequence[Passage], *, unfolded: bool) -> Iterator[Stretch]:
    near = {
        passage.number + step
        for passage in passages
        if not passage.is_quiet
        for step in range(-_BESIDE, _BESIDE + 1)
    }
    for shown, group in groupby(passages, lambda p: unfolded or p.number in near):
        run = tuple(group)
        yield Stretch(folded=not shown and len(run) >= _WORTH_FOLDING, passages=run)


def _words(texts: Iterable[str]) -> int:
    return sum(len(_WORD.findall(text)) for text in texts)
