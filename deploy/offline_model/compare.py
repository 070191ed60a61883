"""Compares a value of the document with those of the source, by the words that stand near them."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deploy.offline_model.amounts_en import ORDINALS
from deploy.offline_model.measures import DAYS, MONTHS, Value
from deploy.offline_model.numerals import write_chinese, write_like
from deploy.offline_model.quantities import values
from deploy.offline_model.sources import (
    Context,
    Said,
    Source,
    closeness,
    context,
    shared_flank,
)

USED = 0.75
"""Weight of a value that the document already gives in another sentence."""
SIZED = frozenset(("money", "count", "count-zh", "percent", "bare", "label"))
UNSAID = frozenset(("money", "percent"))
"""Units that speakers leave out."""
SLIP = 12
"""How many times larger or smaller a mistaken amount may be."""
REPEATED = 0.1
"""What each further place that says the same adds."""
SAME_UNIT = 0.35
"""What the same currency adds; other units count among the shared words."""
LEAST = 0.75
"""Score that the best place needs after all discounts."""
BARE = 0.7
"""Weight of a number said without its unit."""
UNIQUE = {"sum": 0.5}
"""Kinds so particular that less context will do."""
MOST = 300
"""Values of one kind that a document is held against itself for."""
ENOUGH = 1.0
"""Score that a place in the source needs to speak about the same thing."""
CLEAR = 1.25
"""How much the best value must lead the next other one."""
CONTRARY = 2.5
"""How much it must lead the place where the source says what the document says."""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """What the source says in place of a value, and how surely; `line` is where to read it."""

    said: Said
    score: float
    line: int = 0


def rival(source: Source, text: str, sentence: tuple[int, int], value: Value) -> Rival | None:
    """The value the source gives instead, or None when it agrees, is silent, or is not clear."""
    ctx = context(text, sentence, value.start, value.phrase_end)
    if value.kind in UNSAID and source.says_plainly(value.scaled, ctx.weights.keys()):
        return None  # "the new one at 900, the used one at 450"
    beside, elsewhere = _told(text, sentence, value)
    same, others = 0.0, dict[frozenset[float], list[Rival]]()
    for said in source.said:
        if not comparable(value, said.value) or said.value.scaled & beside:
            continue
        score = _score(source, ctx, said)
        if said.value.scaled & value.scaled:
            same = max(same, score, 0.01)
        elif score >= ENOUGH * UNIQUE.get(value.kind, 1) and _alike(value, said.value):
            score *= USED if said.value.scaled & elsewhere else 1
            score *= 1 if said.value.kind == value.kind else BARE
            others.setdefault(said.value.scaled, []).append(Rival(said=said, score=score))
    best = _clearest(list(others.values()), same)
    if best is None:
        return None
    return replace(best, line=_telling(source, ctx, best, others[best.said.value.scaled]))


def _telling(source: Source, ctx: Context, best: Rival, rivals: Sequence[Rival]) -> int:
    """Of the lines that say the same, the one that shares most words with the statement."""
    place, value = best.said.place, best.said.value
    scores = {one.said.place.order: one.score for one in rivals}
    spoken = place.line.text[value.start : value.end]
    if value.kind == "month" and spoken.isalpha() and spoken.isascii():
        # "the end of March": alone it may be a verb, so that no value is read from it.
        named = re.compile(rf"\b{spoken}\b")
        for order, line in enumerate(source.lines):
            if named.search(line.text):
                scores.setdefault(order, 0)

    def shared(order: int) -> tuple[int, float]:
        stems = {word.stem for word in source.line_words[order]}
        return len(stems & ctx.weights.keys()), scores[order]

    return source.lines[max(scores, key=shared)].number


def _clearest(others: list[list[Rival]], same: float) -> Rival | None:
    """The best supported other value, if it leads the rest and what the document says."""
    ranked = sorted(
        ((max(rivals, key=lambda one: one.score), len(rivals)) for rivals in others),
        key=lambda pair: -(pair[0].score + REPEATED * min(pair[1], 4)),
    )
    if not ranked:
        return None
    best, times = ranked[0]
    total = best.score + REPEATED * min(times, 4)
    next_other = max(
        (rival.score for rival, _ in ranked[1:] if not _same(rival.said, best.said)), default=0
    )
    least = LEAST * UNIQUE.get(best.said.value.kind, 1)
    sure = best.score >= max(least, CONTRARY * same) and total >= CLEAR * next_other
    return best if sure else None


def _same(one: Said, other: Said) -> bool:
    return bool(one.value.scaled & other.value.scaled)


@functools.lru_cache(maxsize=4)
def _all_values(document: str) -> Mapping[str, Sequence[Value]]:
    """The values of a whole document by kind; asked for once for each of them."""
    by_kind: dict[str, list[Value]] = {}
    for value in values(document):
        kind = by_kind.setdefault(value.kind, [])
        if len(kind) < MOST:
            kind.append(value)
    return by_kind


def _told(
    text: str, sentence: tuple[int, int], value: Value
) -> tuple[frozenset[float], frozenset[float]]:
    """What the document itself says of this kind in the same sentence, and in other ones.

    A value that stands beside this one is not what should stand in its place.
    """
    beside, elsewhere = set[float](), set[float]()
    for other in _all_values(text).get(value.kind, ()):
        if other.start != value.start:
            inside = sentence[0] <= other.start < sentence[1]
            (beside if inside else elsewhere).update(other.scaled)
    return frozenset(beside) - value.scaled, frozenset(elsewhere) - value.scaled


def comparable(mine: Value, other: Value) -> bool:
    """Whether two values measure the same kind of thing."""
    if mine.kind == other.kind:
        return not mine.units or not other.units or bool(mine.units & other.units)
    return other.kind == "bare" and mine.kind in ("money", "percent")


def _alike(value: Value, other: Value) -> bool:
    """Slips are of the same size: nobody takes 1.4 for 27."""
    if value.kind not in SIZED:
        return True
    mine = max(value.scaled) or 1
    return any(mine / SLIP <= number <= mine * SLIP for number in other.scaled)


def _score(source: Source, ctx: Context, said: Said) -> float:
    line = said.place.line.text
    score, shared = closeness(source, ctx, said.place)
    lead, tail = shared_flank(ctx, line[: said.value.start], line[said.value.phrase_end :])
    literal = min(lead, 8) + min(tail, 8)
    if shared < 2 and literal < 6:
        return 0
    unit = SAME_UNIT if said.value.kind == "money" and said.value.units else 0
    return score + unit + 0.1 * max(0, literal - 1)


def corrected(value: Value, mention: str, phrase: str, said: Said) -> tuple[int, str]:
    """(length of the document's text that goes, what comes instead).

    `mention` is the value in the document, `phrase` the value with its unit.
    """
    line, other = said.place.line.text, said.value
    spoken = line[other.start : other.phrase_end].strip()
    number = _plausible(value, other) * other.factor / value.factor
    uneven = number != int(number)
    if value.kind == "money" and " " in mention and value.end == value.phrase_end:
        # Twelve Euros fifty: the unit stands inside the number.
        return len(phrase), spoken if " " in spoken else f"{spoken} {mention.split()[-2]}"
    if uneven and other.factor != value.factor:
        return len(phrase), spoken
    if value.kind == "sum" or (value.kind == "zh-year" and uneven):
        return len(mention), line[other.start : other.end]
    return len(mention), _written(value.kind, number, mention)


def _written(kind: str, number: float, mention: str) -> str:
    """A number of this kind the way the document writes it."""
    if kind == "weekday":
        return _named(mention, number, DAYS, "一二三四五六日")
    if kind == "month" and not mention[0].isdigit():
        return _named(mention, number, MONTHS, "")
    if kind == "ordinal":
        return _ordinal(int(number), mention)
    if kind == "grade":
        return write_chinese(number)
    return _scaled_like(number, mention)


def _plausible(value: Value, other: Value) -> float:
    """Of several readings ("twelve fifty") the one nearest in size to the document's."""
    mine = max(value.numbers)
    return min(other.numbers, key=lambda number: abs(number - mine))


def _scaled_like(number: float, mention: str) -> str:
    """50000000 written like "15 million" is "50 million"; like "5000万" it is "5000万"."""
    scales = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}
    for name, scale in scales.items():
        found = re.fullmatch(rf"(.*?)(\s*-?)({name})", mention, re.I)
        if found and number >= scale and number % (scale / 100) == 0:
            return write_like(number / scale, found[1]) + found[2] + found[3]
    return write_like(number, mention)


def _ordinal(number: int, mention: str) -> str:
    if mention[0].isdigit() or number > len(ORDINALS):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending if number not in (11, 12, 13) else 'th'}"
    name = ORDINALS[number - 1]
    return name.title() if mention[0].isupper() else name


def _named(mention: str, number: float, names: Sequence[str], chinese: str) -> str:
    """A weekday or month written as the document writes them."""
    at = int(number) - 1
    if not mention.isascii():
        return chinese[at] if chinese else write_like(number, mention)
    name = names[at]
    if len(mention) <= len("sept") and mention.lower() not in names:
        name = name[:3]
    return name.title() if mention[0].isupper() else name
