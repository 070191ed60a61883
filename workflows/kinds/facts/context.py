"""Which source line speaks of the same thing as a place of the body.

Words around the place are weighed by how rare they are in the sources and how near they stand.
"""

from __future__ import annotations

import bisect
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT
from workflows.kinds.facts.chinese import chinese_numbers
from workflows.kinds.facts.english import english_numbers, may_have_numbers
from workflows.kinds.facts.mentions import Mention, without_marks
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import SourceText
from workflows.kinds.lines import SourceLine, number_lines
from workflows.kinds.passages import sentence_around

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]+|[\u4e00-\u9fff]+")
_SUFFIX = re.compile(r"(?:ings?|ed|es|e|s|ly|ions?|er)$")
RAREST = 6.0
"""What a word weighs that stands in one line, however long the meeting is."""
FARTHEST = 12
"""Lines further away do not speak of the same thing."""
LONGEST_QUOTE = 200
"""A passage that is not unique by then stands in text that repeats itself."""
WIDEST = 80
"""Characters that a quote grows by at once: a line may have no spaces."""
NEAR, NEAR_CHINESE = 24, 10
"""Characters to either side of a number that are right around it."""
_CLAUSE_END = re.compile(r"[,，、:：(（)）]|\s[-–—]\s")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Lines with their numbers; for each word the lines that have it, and how rare that is."""

    sources: tuple[SourceText, ...]
    lines: tuple[SourceLine, ...]
    numbers: tuple[tuple[Mention, ...], ...]
    places: Mapping[str, Sequence[int]]
    rarity: Mapping[str, float]

    @cached_property
    def values(self) -> frozenset[float]:
        return frozenset(
            value for line in self.numbers for mention in line for value in mention.values
        )

    @cached_property
    def counted(self) -> Mapping[str, Sequence[tuple[int, Mention]]]:
        """For each noun the numbers that count it, with the index of their line."""
        return _index(self.numbers, lambda mention: mention.nouns)

    @cached_property
    def valued(self) -> Mapping[float, Sequence[tuple[int, Mention]]]:
        """For each value the numbers that may mean it, with the index of their line."""
        return _index(self.numbers, lambda mention: mention.values)

    @cached_property
    def low(self) -> tuple[str, ...]:
        return tuple(line.text.lower() for line in self.lines)

    @cached_property
    def speakers(self) -> frozenset[str]:
        return frozenset(line.speaker for line in self.lines if line.speaker)

    @cached_property
    def seconds(self) -> frozenset[float]:
        return frozenset(
            value for line in self.numbers for mention in line for value in mention.seconds
        )


@kept_by_text
def facts_of(sources: tuple[SourceText, ...]) -> Facts:
    lines = number_lines(sources)
    plain = [without_marks(line.spoken) for line in lines]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        for word in set(stems(line.text)):
            places[word].append(at)
    total = max(len(lines), 2)
    scale = RAREST / math.log(1 + total)
    return Facts(
        sources=sources,
        lines=lines,
        numbers=tuple(tuple(read_numbers(text)) for text in plain),
        places=places,
        rarity={word: scale * math.log(1 + total / len(at)) for word, at in places.items()},
    )


Key = TypeVar("Key", str, float)


def _index(
    numbers: Sequence[Sequence[Mention]], keys: Callable[[Mention], Iterable[Key]]
) -> Mapping[Key, Sequence[tuple[int, Mention]]]:
    index: defaultdict[Key, list[tuple[int, Mention]]] = defaultdict(list)
    for at, line in enumerate(numbers):
        for mention in line:
            for key in keys(mention):
                index[key].append((at, mention))
    return dict(index)


def marked(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """One byte a character, 1 inside the spans."""
    marks = bytearray(len(text))
    for start, end in spans:
        marks[start:end] = b"\x01" * (end - start)
    return marks


def read_numbers(text: str) -> list[Mention]:
    """Numbers of a text in either language; where both readers see one, the one with a unit."""
    chinese = chinese_numbers(text) if not text.isascii() and _HAN.search(text) else []
    taken = marked(text, [(mention.start, mention.end) for mention in chinese])
    english = [
        mention
        for mention in (english_numbers(text) if may_have_numbers(text) else ())
        if 1 not in taken[mention.start : mention.end]
    ]
    return sorted([*english, *chinese], key=lambda mention: mention.start)


def stems(text: str) -> list[str]:
    """Words that carry meaning, without endings; Chinese as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if not word[0].isascii():
            found += [word[at : at + 2] for at in range(len(word) - 1)]
        elif meaning := _meaning(word):
            found.append(meaning)
    return found


@lru_cache(maxsize=KEPT)
def _meaning(word: str) -> str:
    """The stem of an English word, '' of one that says nothing of what a sentence is about."""
    low = word.lower()
    return stem(low) if len(low) > 2 and low not in lexicon.NO_CONTEXT else ""


@lru_cache(maxsize=KEPT)
def stem(word: str) -> str:
    short = _SUFFIX.sub("", word)
    return short if len(short) >= 3 else word


def context_weights(body: str, start: int, end: int) -> dict[str, float]:
    """Words of the sentence around [start, end): near ones heavier, other clauses lighter."""
    first, last = sentence_around(body, start, end)
    before = [stems(clause)[::-1] for clause in _CLAUSE_END.split(body[first:start])][::-1]
    after = [stems(clause) for clause in _CLAUSE_END.split(body[end:last])]
    own = bool(before[0] or after[0])
    weights: dict[str, float] = {}
    for clauses in (before, after):
        distance = 0
        other = 0
        for at, clause in enumerate(clauses):
            other += int(at > 0 and bool(clause) and (own or other > 0))
            for word in clause:
                weight = 1 / (1 + distance / 3) / (1 + other)
                weights[word] = max(weights.get(word, 0.0), weight)
                distance += 1
    return weights


def line_score(facts: Facts, weights: Mapping[str, float], at: int) -> float:
    """How much line `at` and the lines around it speak of the same thing."""
    score = 0.0
    for word, weight in weights.items():
        places = facts.places.get(word)
        if not places:
            continue
        after = bisect.bisect_left(places, at)
        distance = places[after] - at if after < len(places) else FARTHEST + 1
        if after and at - places[after - 1] < distance:
            distance = at - places[after - 1]
        if distance <= FARTHEST:
            score += weight * facts.rarity[word] / (1 + 0.7 * distance)
    return score


def near_score(facts: Facts, weights: Mapping[str, float], at: int, mention: Mention) -> float:
    """The same for the words right around a number: a turn may be long."""
    spoken = facts.lines[at].spoken
    near = NEAR_CHINESE if re.search(r"[\u4e00-\u9fff]", spoken) else NEAR
    around = spoken[max(0, mention.start - near) : mention.end + near]
    return sum(
        weights[word] * facts.rarity.get(word, 0.0) for word in set(stems(around)) & weights.keys()
    )


def clear_winner(scored: Iterable[tuple[float, int]], *, least: float, lead: float) -> int | None:
    """The index with the highest score, when that is high and well before every other."""
    best = sorted(scored, reverse=True)
    if not best or best[0][0] < least:
        return None
    if len(best) > 1 and best[1][0] * lead > best[0][0]:
        return None
    return best[0][1]


def unique_quote(body: str, start: int, end: int, *, least: int = 8) -> str:
    """A short passage around [start, end) that stands once in the body; at most its line."""
    first = body.rfind("\n", 0, start) + 1
    last = body.find("\n", end)
    last = len(body) if last < 0 else last
    while last > first and body[last - 1] == "\r":
        last -= 1
    while (body.count(body[start:end]) > 1 or end - start < least) and (
        start > first or end < last
    ):
        grown = _grow(body, start, end, first, last)
        if grown == (start, end) or grown[1] - grown[0] > LONGEST_QUOTE:
            break
        start, end = grown
    return body[start:end]


def _grow(body: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """One word (or Chinese character) more to the left, else to the right."""
    first, last = max(first, start - WIDEST), min(last, end + WIDEST)
    left = re.search(r"(?:[^\s\u4e00-\u9fff]+|[\u4e00-\u9fff])\s*$", body[first:start])
    if left is not None and not re.fullmatch(r"[-*+#>|]+\s*|\d+[.)]\s*", left.group()):
        return first + left.start(), end
    right = re.match(r"\s*(?:[^\s\u4e00-\u9fff]+|[\u4e00-\u9fff])", body[end:last])
    return (start, end + right.end()) if right is not None else (start, end)
