"""Which source line speaks of the same thing as a place of the body.

Words around the place are weighed by how rare they are in the sources and how near they stand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.chinese import chinese_numbers
from workflows.kinds.facts.english import english_numbers
from workflows.kinds.facts.mentions import Mention, without_marks
from workflows.kinds.kind import SourceText
from workflows.kinds.lines import SourceLine, number_lines

_WORD = re.compile(r"[A-Za-z][A-Za-z'’]+|[\u4e00-\u9fff]+")
_SUFFIX = re.compile(r"(?:ings?|ed|es|e|s|ly|ions?|er)$")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？；\n]")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Lines with their numbers and words, and how rare each word is."""

    lines: tuple[SourceLine, ...]
    numbers: tuple[tuple[Mention, ...], ...]
    words: tuple[frozenset[str], ...]
    rarity: Mapping[str, float]

    @property
    def values(self) -> frozenset[float]:
        return frozenset(
            value for line in self.numbers for mention in line for value in mention.values
        )

    @property
    def seconds(self) -> frozenset[float]:
        return frozenset(
            value for line in self.numbers for mention in line for value in mention.seconds
        )


@lru_cache(maxsize=8)
def facts_of(sources: tuple[SourceText, ...]) -> Facts:
    lines = number_lines(sources)
    plain = [without_marks(line.spoken) for line in lines]
    words = tuple(frozenset(stems(line.text)) for line in lines)
    count = Counter(word for line in words for word in line)
    total = max(len(lines), 2)
    return Facts(
        lines=lines,
        numbers=tuple(tuple(read_numbers(text)) for text in plain),
        words=words,
        rarity={word: math.log(1 + total / n) for word, n in count.items()},
    )


def read_numbers(text: str) -> list[Mention]:
    """Numbers of a text in either language; where both readers see one, the one with a unit."""
    chinese = chinese_numbers(text) if re.search(r"[\u4e00-\u9fff]", text) else []
    taken = [(mention.start, mention.end) for mention in chinese]
    english = [
        mention
        for mention in english_numbers(text)
        if not any(start < mention.end and mention.start < end for start, end in taken)
    ]
    return sorted([*english, *chinese], key=lambda mention: mention.start)


def stems(text: str) -> list[str]:
    """Words that carry meaning, without endings; Chinese as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if word[0].isascii():
            low = word.lower()
            if len(low) > 2 and low not in lexicon.NO_CONTEXT:
                found.append(stem(low))
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return found


def stem(word: str) -> str:
    short = _SUFFIX.sub("", word)
    return short if len(short) >= 3 else word


def sentence_around(body: str, start: int, end: int) -> tuple[int, int]:
    """The sentence (or line) that holds [start, end)."""
    first = 0
    for found in _SENTENCE_END.finditer(body, 0, start):
        first = found.end()
    following = _SENTENCE_END.search(body, end)
    return first, following.start() if following else len(body)


def context_weights(body: str, start: int, end: int) -> dict[str, float]:
    """Words of the sentence around [start, end), near ones heavier."""
    first, last = sentence_around(body, start, end)
    weights: dict[str, float] = {}
    for side in (stems(body[first:start])[::-1], stems(body[end:last])):
        for distance, word in enumerate(side):
            weights[word] = max(weights.get(word, 0.0), 1 / (1 + distance / 3))
    return weights


def line_score(facts: Facts, weights: Mapping[str, float], at: int) -> float:
    """How much line `at` and its neighbours speak of the same thing."""
    score = 0.0
    for word, weight in weights.items():
        rare = facts.rarity.get(word)
        if rare is None:
            continue
        for distance, share in ((0, 1.0), (1, 0.6), (2, 0.3)):
            if _in_lines(facts.words, word, at, distance):
                score += weight * rare * share
                break
    return score


def _in_lines(words: Sequence[frozenset[str]], word: str, at: int, distance: int) -> bool:
    return any(
        0 <= place < len(words) and word in words[place] for place in {at - distance, at + distance}
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
        if grown == (start, end):
            break
        start, end = grown
    return body[start:end]


def _grow(body: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """One word (or Chinese character) more to the left, else to the right."""
    left = re.search(r"(?:[^\s\u4e00-\u9fff]+|[\u4e00-\u9fff])\s*$", body[first:start])
    if left is not None and not re.fullmatch(r"[-*+#>|]+\s*|\d+[.)]\s*", left.group()):
        return first + left.start(), end
    right = re.match(r"\s*(?:[^\s\u4e00-\u9fff]+|[\u4e00-\u9fff])", body[end:last])
    return (start, end + right.end()) if right is not None else (start, end)
