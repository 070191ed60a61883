"""The source as an index: which words and values stand near each other, and who said them."""

import bisect
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from deploy.offline_model.measures import Value
from deploy.offline_model.prompt import SourceLine
from deploy.offline_model.quantities import values
from deploy.offline_model.words import STOP, Word, words

REACH = 40
"""How many content words away a shared word still counts as near."""

WIDE = 400
"""Characters of a sentence looked at on each side of a mention."""
EARLIER = 0.3
"""Weight of the words before the sentence, and how many characters of them are looked at."""
BACK = 120
_PLAIN = re.compile(r"(?<![\d.,A-Za-z])\d[\d,]*(?:\.\d+)?(?![\d%A-Za-z])")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where something stands in the source: its line and the count of words before it."""

    line: SourceLine
    order: int
    at: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Said:
    """A value with its place."""

    value: Value
    place: Place


@dataclass(kw_only=True)
class Source:
    """All numbered lines, indexed once per request."""

    lines: Sequence[SourceLine]
    said: list[Said] = field(default_factory=list)
    postings: Mapping[str, list[int]] = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)
    line_words: list[Sequence[Word]] = field(default_factory=list)
    line_starts: list[int] = field(default_factory=list)
    plain: Mapping[float, list[int]] = field(default_factory=dict)
    """Numbers in digits that say of nothing how much, with the lines that have them."""

    @classmethod
    def of(cls, lines: Sequence[SourceLine]) -> "Source":
        source = cls(lines=lines)
        postings: dict[str, list[int]] = defaultdict(list)
        seen_in: Counter[str] = Counter()
        plain: dict[float, list[int]] = defaultdict(list)
        count = 0
        for order, line in enumerate(lines):
            found = words(line.text)
            source.line_words.append(found)
            source.line_starts.append(count)
            starts = [word.start for word in found]
            for at, word in enumerate(found):
                postings[word.stem].append(count + at)
            seen_in.update({word.stem for word in found})
            told = values(line.text)
            for number in _without_unit(line.text, told):
                plain[number].append(order)
            for value in told:
                at = count + bisect.bisect_left(starts, value.start)
                source.said.append(
                    Said(
                        value=value,
                        place=Place(
                            line=line, order=order, at=at, start=value.start, end=value.end
                        ),
                    )
                )
            count += len(found)
        source.postings, source.plain = postings, plain
        total = len(lines) + 1
        source.rarity = {
            name: math.log(1 + total / (1 + times)) / math.log(1 + total)
            for name, times in seen_in.items()
        }
        return source

    @property
    def speakers(self) -> Sequence[str]:
        return list(dict.fromkeys(line.speaker for line in self.lines if line.speaker))

    def says_plainly(self, numbers: frozenset[float], stems: Set[str]) -> bool:
        """Whether one of them stands without a unit in a line that has one of these words."""
        return any(
            not stems.isdisjoint(word.stem for word in self.line_words[order])
            for number in numbers
            for order in self.plain.get(number, ())
        )

    def near(self, name: str, at: int) -> float:
        """1 for a word beside the place, falling with distance, 0 beyond reach."""
        places = self.postings.get(name)
        if not places:
            return 0
        index = bisect.bisect_left(places, at)
        around = places[max(0, index - 1) : index + 1]
        distance = min(abs(place - at) for place in around)
        return 0 if distance > REACH else 1 / (1 + distance / 12)


def _without_unit(text: str, told: Sequence[Value]) -> Iterable[float]:
    spans = [(value.start, value.end) for value in told]
    for found in _PLAIN.finditer(text):
        if not any(found.start() < end and start < found.end() for start, end in spans):
            yield float(found.group().replace(",", ""))


def place_in(source: Source, order: int, start: int, end: int) -> Place:
    """The place of `start:end` within the line at `order`."""
    at = bisect.bisect_left([word.start for word in source.line_words[order]], start)
    return Place(
        line=source.lines[order],
        order=order,
        at=source.line_starts[order] + at,
        start=start,
        end=end,
    )


@dataclass(frozen=True, kw_only=True)
class Context:
    """What stands around a mention in the document: stems with weights, and its flanks."""

    weights: Mapping[str, float]
    before: str
    after: str


def context(text: str, sentence: tuple[int, int], start: int, end: int) -> Context:
    """The words of the sentence, near ones heavier; those of the mention itself left out.

    What stands before the sentence in its paragraph counts a little: "That is about 17 pounds".
    """
    # A "sentence" of a hundred thousand characters is none; far words weigh nothing anyway.
    offset = max(sentence[0], start - WIDE)
    found = words(text[offset : min(sentence[1], end + WIDE)])
    inside = bisect.bisect_left([word.start for word in found], start - offset)
    paragraph = text.rfind("\n", 0, sentence[0]) + 1
    earlier = words(text[max(paragraph, sentence[0] - BACK) : sentence[0]])
    weights = {word.stem: EARLIER for word in earlier}
    for at, word in enumerate(found):
        if word.start + offset < end and start < word.end + offset:
            continue
        weight = 1 / (1 + abs(at - inside) / 8)
        weights[word.stem] = max(weight, weights.get(word.stem, 0))
    return Context(
        weights=weights,
        before=flank(text[max(sentence[0], start - 40) : start]),
        after=flank(text[end : min(sentence[1], end + 40)]),
    )


def flank(text: str) -> str:
    """Text beside a mention, without blanks, marks and small words, for literal comparing."""
    kept = [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP]
    return "".join(kept)


def shared_flank(ctx: Context, before: str, after: str) -> tuple[int, int]:
    """How many characters agree directly before and directly after."""
    lead = _agreeing(flank(before[-60:])[::-1], ctx.before[::-1])
    return lead, _agreeing(flank(after[:60]), ctx.after)


def _agreeing(one: str, other: str) -> int:
    """How many characters agree from the start on; a Han character says as much as two letters."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1 if a.isascii() else 2
    return count


def closeness(source: Source, ctx: Context, place: Place) -> tuple[float, int]:
    """(score, number of shared words): how much of the context stands near a place."""
    score, shared = 0.0, 0
    for name, weight in ctx.weights.items():
        near = source.near(name, place.at)
        if near:
            score += weight * near * source.rarity[name]
            shared += 1
    return score, shared
