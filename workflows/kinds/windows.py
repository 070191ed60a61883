"""Long sources in pieces that fit a request: windows that together cover every line, and excerpts.

An excerpt says which characters of which lines are shown, under the numbers of the whole source. A
line longer than a tenth of the budget (a transcript without line breaks) is cut between sentences,
and its pieces keep its number. Nothing is left out of windows; where an excerpt leaves lines out,
plan and prompt say so.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workflows.kinds.kind import Payload
from workflows.kinds.lines import SourceLine
from workflows.kinds.sizes import WIDE

Count = Callable[[str], int]
"""Tokens of a text."""
Excerpt = Mapping[int, tuple[int, int]]
"""Line number -> the characters that are shown of it."""

OVERLAP = 6
"""Lines (or pieces of long ones) that two neighbours share, as far as a tenth of the budget goes:
what is said across the border is read whole by one of them."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\s+")
_WORD = re.compile(r"[^\W\d_]{3,}|\d+(?:[.,]\d+)*")


@dataclass(frozen=True, kw_only=True)
class Window:
    """From character `start` of line `first` to before character `end` of line `last`."""

    first: int
    start: int
    last: int
    end: int

    def spec(self) -> dict[str, int]:
        return {"first": self.first, "start": self.start, "last": self.last, "end": self.end}


@dataclass(frozen=True, kw_only=True)
class _Piece:
    number: int
    start: int
    end: int
    tokens: int


def size(lines: Sequence[SourceLine], count: Count) -> int:
    """Tokens of all lines as a prompt numbers them."""
    return sum(count(f"{line.name}: {line.text}\n") for line in lines)


def cut(lines: Sequence[SourceLine], budget: int, count: Count) -> tuple[Window, ...]:
    """Windows of about equal size, none above `budget` tokens, in order; one when all fits."""
    if not lines:
        return ()
    if _count_all(lines, count) <= budget // 2:  # most sources: no need to count line by line
        end = len(lines[-1].text)
        return (Window(first=lines[0].number, start=0, last=lines[-1].number, end=end),)
    pieces = [piece for line in lines for piece in _pieces(line, max(1, budget // 10), count)]
    total = sum(piece.tokens for piece in pieces)
    if total <= budget:
        return (_window(pieces),)
    wanted = math.ceil(total / (budget * 0.85))
    windows: list[Window] = []
    begin, done = 0, 0
    for at, piece in enumerate(pieces):
        done += piece.tokens
        last = at == len(pieces) - 1
        if last or done + pieces[at + 1].tokens / 2 >= total * (len(windows) + 1) / wanted:
            windows.append(_window(pieces[_back(pieces, begin, budget // 10) : at + 1]))
            begin = at + 1
    return tuple(windows)


def _count_all(lines: Sequence[SourceLine], count: Count) -> int:
    """At once; line by line differs from it by some percent in a source of several scripts."""
    return count("".join(f"{line.name}: {line.text}\n" for line in lines))


def cut_again(
    lines: Sequence[SourceLine], before: Window | None, budget: int, count: Count
) -> tuple[Window, ...]:
    """What a window shows (None: everything) in windows of at most `budget` tokens."""
    if before is None:
        return cut(lines, budget, count)
    shown = [
        replace(line, text=line.text[: before.end] if line.number == before.last else line.text)
        for line in lines[before.first - 1 : before.last]
    ]
    shown[0] = replace(shown[0], text=shown[0].text[before.start :])
    return tuple(
        replace(
            window,
            start=window.start + (before.start if window.first == before.first else 0),
            end=window.end + (before.start if window.last == before.first else 0),
        )
        for window in cut(shown, budget, count)
    )


def excerpt_of(spec: Payload, lines: Sequence[SourceLine]) -> Excerpt | None:
    """What a part shows of the sources; None: all of it."""
    if "ranges" in spec:
        return {
            number: (0, len(lines[number - 1].text))
            for first, last in spec["ranges"]
            for number in range(first, last + 1)
        }
    if "window" not in spec:
        return None
    window = Window(**spec["window"])
    shown = {line.number: (0, len(line.text)) for line in lines[window.first - 1 : window.last]}
    shown[window.first] = (window.start, shown[window.first][1])
    shown[window.last] = (shown[window.last][0], window.end)
    return shown


def around(numbers: Iterable[int], count: int, *, before: int, after: int) -> set[int]:
    """The lines named and their neighbours, of `count` lines."""
    return {
        near
        for number in numbers
        for near in range(max(1, number - before), min(count, number + after) + 1)
    }


def within(
    lines: Sequence[SourceLine], ranked: Iterable[Iterable[int]], budget: int, count: Count
) -> list[list[int]]:
    """The groups of lines that come first, as far as the budget goes, as ranges in order."""
    chosen: set[int] = set()
    used = 0
    for group in ranked:
        fresh = set(group) - chosen
        cost = size([lines[number - 1] for number in sorted(fresh)], count)
        if used > budget * 0.95:
            break
        if used + cost > budget and chosen:
            continue
        chosen |= fresh
        used += cost
    ranges: list[list[int]] = []
    for number in sorted(chosen):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def nearest(lines: Sequence[SourceLine], passages: Sequence[str]) -> Iterator[int]:
    """Lines by how many rare words they share with a passage: the best of each passage first, then
    the second best of each, and so on. Worked out as they are asked for: a budget is soon used."""
    terms = [frozenset(_terms(line.text)) for line in lines]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, words in enumerate(terms):
        for word in words:
            holders[word].append(at)
    ranked: list[list[int]] = []
    seen = set[int]()
    for passage in passages:
        ranked.append(_best(set(_terms(passage)), terms, holders))
        yield from _fresh(ranked[-1][:1], seen)
    for place in range(1, max(map(len, ranked), default=0)):
        for best in ranked:
            yield from _fresh(best[place : place + 1], seen)


def _fresh(found: Iterable[int], seen: set[int]) -> Iterator[int]:
    for at in found:
        if at not in seen:
            seen.add(at)
            yield at + 1


_BEST = 24
_LOOKED_AT = 3_000
"""Places of a passage's words in the sources, the rarest words first: a word of every line tells
nothing, and of a long text against a long source there would be billions."""


def _best(
    words: set[str], terms: Sequence[frozenset[str]], holders: Mapping[str, Sequence[int]]
) -> list[int]:
    scores: Counter[int] = Counter()
    left = _LOOKED_AT
    for word in sorted(words & holders.keys(), key=lambda one: (len(holders[one]), one)):
        weight = round(1000 * math.log((len(terms) + 1) / len(holders[word])))
        for at in holders[word][: max(0, left)]:
            scores[at] += weight
        left -= len(holders[word])
    weighed = {at: (-score / (len(terms[at]) + 8) ** 0.5, at) for at, score in scores.items()}
    return heapq.nsmallest(_BEST, weighed, key=weighed.__getitem__)


def _terms(text: str) -> list[str]:
    """Words of three letters and more, numbers, and pairs of neighbouring Chinese characters."""
    plain = text.casefold()
    pairs = [run[at : at + 2] for run in WIDE.findall(plain) for at in range(len(run) - 1)]
    return _WORD.findall(WIDE.sub(" ", plain)) + pairs


def _pieces(line: SourceLine, limit: int, count: Count) -> list[_Piece]:
    """The line whole, or cut into about equal pieces between sentences, words or anywhere."""
    tokens = count(f"{line.name}: {line.text}\n")
    if tokens <= limit:
        return [_Piece(number=line.number, start=0, end=len(line.text), tokens=tokens)]
    length = max(1, len(line.text) * limit // (tokens + 8) * 9 // 10)
    pieces, at = [], 0
    while at < len(line.text):
        end = at + length
        if end < len(line.text):
            ends = [
                found.end() for found in _SENTENCE_END.finditer(line.text, at + length // 2, end)
            ]
            end = ends[-1] if ends else end
        end = min(end, len(line.text))
        text = f"{line.name}: {line.text[at:end]}\n"
        pieces.append(_Piece(number=line.number, start=at, end=end, tokens=count(text)))
        at = end
    return pieces


def _back(pieces: Sequence[_Piece], begin: int, most: int) -> int:
    """Where a window that begins at `begin` really begins: some lines earlier."""
    used, at = 0, begin
    while at > 0 and begin - at < OVERLAP and used + pieces[at - 1].tokens <= most:
        at -= 1
        used += pieces[at].tokens
    return at


def _window(pieces: Sequence[_Piece]) -> Window:
    first, last = pieces[0], pieces[-1]
    return Window(first=first.number, start=first.start, last=last.number, end=last.end)
