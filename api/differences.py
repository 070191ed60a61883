"""What changed between two texts: blocks, inside them sentences, inside those words. Pure.

Blocks are Markdown's own (an item of a list, a row of a table, a paragraph), so a change never
crosses into a neighbour. Chinese is compared word by word too. Work is capped by size, and the
result's `level` says how far it went.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from rapidfuzz.distance import Indel

ALGORITHM = "blocks-sentences-words/2"
"""Raised whenever hunks may be numbered otherwise: a decision about one names it. /2: changed
blocks in a row are one hunk each."""
MOST_CELLS = 200_000_000
"""Pairs of tokens that one comparison may look at: about 0.1 s and 25 MB."""
_ALIKE = 0.5
"""Below this share of common text two stretches are one deleted and one inserted, not a mosaic;
except where one piece of this share of the shorter one stayed whole."""

_MOST_APART = 40
"""Of more changed blocks in a row nobody decides one by one."""
_SAME_BLOCK = 0.6
"""From this share of common signs on a block is the other one changed."""

Op: TypeAlias = Literal["equal", "insert", "delete"]
Level: TypeAlias = Literal["words", "sentences", "blocks"]

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_BLOCK_START = re.compile(r"\s*(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|\||>|[-*_]{3,}\s*$)")
_SENTENCE_END = re.compile(r"""[。！？；…]+[”’」』）"]*\s*|[.!?;]+["'”’)\]]*\s+|\n\s*""")
_TOKENS = re.compile(
    rf"[{_HAN}]+|\d+(?:[.,:/]\d+)*|[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)*|\s+|.", re.DOTALL
)
_FIRST_HAN = re.compile(f"[{_HAN}]")


@dataclass(frozen=True, kw_only=True)
class Piece:
    op: Op
    text: str


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """One stretch in reading order: `pieces` of one op, or a mixture where a block changed.

    `old` and `new` are its first line in each text, counted from 1.
    """

    old: int
    new: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Pieces that are not `insert` spell the old text, those that are not `delete` the new one."""

    level: Level
    hunks: tuple[Hunk, ...]


@lru_cache(maxsize=32)
def difference(old: str, new: str) -> Difference:
    """The comparison; kept for the pairs that were asked for last."""
    work = _Work()
    before, after = blocks(old), blocks(new)
    hunks: list[Hunk] = []
    line_old = line_new = 1
    found = work.stretches(before, after, "blocks")
    whole = work.level == "blocks"
    for stretch in (part for one in found for part in ([one] if whole else _apart(one))):
        removed, added = "".join(stretch.old), "".join(stretch.new)
        pieces = _plain(stretch) or work.sentences(removed, added)
        hunks.append(Hunk(old=line_old, new=line_new, pieces=tuple(_merged(pieces))))
        line_old += len(_LINES.findall(removed))
        line_new += len(_LINES.findall(added))
    return Difference(level=work.level, hunks=tuple(hunks))


@dataclass(frozen=True)
class _Stretch:
    old: Sequence[str]
    new: Sequence[str]
    same: bool


class _Work:
    """The comparison's budget, and the level it came down to."""

    def __init__(self) -> None:
        self.cells = MOST_CELLS
        self.level: Level = "words"

    def stretches(self, old: list[str], new: list[str], level: Level) -> list[_Stretch]:
        """Same and changed stretches in turn; without budget the middle is one change, and the
        result stays one level above `level`."""
        head, tail = _common_ends(old, new)
        middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
        found = [_Stretch(old[:head], new[:head], True)] if head else []
        cells = len(middle_old) * len(middle_new)
        if cells > self.cells:
            self._settle_above(level)
            found.append(_Stretch(middle_old, middle_new, False))
        else:
            self.cells -= cells
            found += _aligned(middle_old, middle_new)
        if tail:
            found.append(_Stretch(old[len(old) - tail :], new[len(new) - tail :], True))
        return found

    def _settle_above(self, level: Level) -> None:
        if level == "words":
            self.level = "sentences" if self.level == "words" else self.level
        else:
            self.level = "blocks"

    def sentences(self, old: str, new: str) -> list[Piece]:
        pieces: list[Piece] = []
        for stretch in self.stretches(_sentences(old), _sentences(new), "sentences"):
            removed, added = "".join(stretch.old), "".join(stretch.new)
            pieces += _plain(stretch) or self.words(removed, added)
        return pieces

    def words(self, old: str, new: str) -> list[Piece]:
        if self.level == "blocks":
            return _replaced(old, new)
        found = _without_crumbs(self.stretches(_words(old), _words(new), "words"))
        stayed = [len("".join(stretch.old)) for stretch in found if stretch.same]
        scattered = sum(stayed) < _ALIKE * max(len(old), len(new))
        if scattered and max(stayed, default=0) < _ALIKE * min(len(old), len(new)):
            return _replaced(old, new)
        return [
            piece
            for stretch in found
            for piece in _plain(stretch) or _replaced("".join(stretch.old), "".join(stretch.new))
        ]


def _apart(stretch: _Stretch) -> Iterator[_Stretch]:
    """Changed blocks one by one, so that each can be decided by itself: as many for as many, else
    those that are alike from both ends, and the rest together."""
    old, new = list(stretch.old), list(stretch.new)
    if stretch.same or not old or not new or max(len(old), len(new)) > _MOST_APART:
        yield stretch
        return
    even = len(old) == len(new)
    tail: list[_Stretch] = []
    while old and new and (even or _alike(old[0], new[0])):
        yield _Stretch([old.pop(0)], [new.pop(0)], False)
    while old and new and _alike(old[-1], new[-1]):
        tail.append(_Stretch([old.pop()], [new.pop()], False))
    if old or new:
        yield _Stretch(old, new, False)
    yield from reversed(tail)


def _alike(old: str, new: str) -> bool:
    return Indel.normalized_similarity(old, new) >= _SAME_BLOCK


def _plain(stretch: _Stretch) -> list[Piece]:
    """One piece where nothing has to be compared, else none."""
    if stretch.same:
        return [Piece(op="equal", text="".join(stretch.old))]
    if not stretch.new:
        return [Piece(op="delete", text="".join(stretch.old))]
    if not stretch.old:
        return [Piece(op="insert", text="".join(stretch.new))]
    return []


def _replaced(old: str, new: str) -> list[Piece]:
    return [Piece(op="delete", text=old), Piece(op="insert", text=new)]


def _common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _aligned(old: list[str], new: list[str]) -> list[_Stretch]:
    found: list[_Stretch] = []
    for op in Indel.opcodes(old, new):
        stretch = _Stretch(
            old[op.src_start : op.src_end], new[op.dest_start : op.dest_end], op.tag == "equal"
        )
        if found and not stretch.same and not found[-1].same:
            stretch = _joined(found.pop(), stretch)
        found.append(stretch)
    return found


def _joined(*parts: _Stretch) -> _Stretch:
    old = [token for part in parts for token in part.old]
    new = [token for part in parts for token in part.new]
    return _Stretch(old, new, False)


def _without_crumbs(stretches: list[_Stretch]) -> list[_Stretch]:
    """A space or comma that stayed between two changed words belongs to the change."""
    found: list[_Stretch] = []
    for stretch in stretches:
        if not stretch.same and len(found) > 1 and _crumb(found[-1]) and not found[-2].same:
            crumb, before = found.pop(), found.pop()
            found.append(_joined(before, crumb, stretch))
        else:
            found.append(stretch)
    return found


def _crumb(stretch: _Stretch) -> bool:
    return stretch.same and not any(c.isalnum() for token in stretch.old for c in token)


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbours of one op as one piece; inside a change the deleted text comes first."""
    found: list[Piece] = []
    removed = added = ""
    for piece in (*pieces, Piece(op="equal", text="")):
        if piece.op == "delete":
            removed += piece.text
        elif piece.op == "insert":
            added += piece.text
        else:
            found += [p for p in _replaced(removed, added) if p.text]
            removed = added = ""
            if found and found[-1].op == "equal":
                found[-1] = Piece(op="equal", text=found[-1].text + piece.text)
            elif piece.text:
                found.append(piece)
    return found


def blocks(text: str) -> list[str]:
    """The text cut where a Markdown block begins; blank lines stay with the block above.

    Told by how lines begin: a whole parse of 60,000 characters takes longer than all the rest.
    """
    cut: list[list[str]] = []
    fence, fresh = "", True
    for line in _LINES.findall(text):
        mark = _FENCE.match(line)
        if fresh or not cut or (not fence and (mark or _BLOCK_START.match(line))):
            cut.append([])
        cut[-1].append(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence)
            fence, fresh = ("", True) if closes else (fence, False)
        elif mark:
            fence, fresh = mark[1], False
        else:
            fresh = not line.strip() or _HEADING.match(line) is not None
    return ["".join(block) for block in _with_blank_lines_above(cut)]


def _with_blank_lines_above(blocks: list[list[str]]) -> Iterator[list[str]]:
    """Blocks that are only blank lines join the one above."""
    above: list[str] | None = None
    for block in blocks:
        if above is not None and not any(line.strip() for line in block):
            above += block
            continue
        if above is not None:
            yield above
        above = list(block)
    if above is not None:
        yield above


def _sentences(text: str) -> list[str]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    cuts = [0, *ends, *([len(text)] if not ends or ends[-1] < len(text) else [])]
    return [text[start:end] for start, end in pairwise(cuts) if end > start]


def _words(text: str) -> list[str]:
    found: list[str] = []
    for token in _TOKENS.findall(text):
        if len(token) > 1 and _FIRST_HAN.match(token):
            import rjieba  # reads its dictionary, a tenth of what the API's start would take

            found += rjieba.cut(token, False)
        else:
            found.append(token)
    return found
