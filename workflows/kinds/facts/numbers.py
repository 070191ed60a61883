"""Numbers of a body that the sources do not have, or have with another value for the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.chinese import numeral
from workflows.kinds.facts.clock import clocks_of
from workflows.kinds.facts.context import (
    Facts,
    context_weights,
    facts_of,
    line_score,
    marked,
    near_score,
    read_numbers,
    stem,
    unique_quote,
)
from workflows.kinds.facts.days import date_spans
from workflows.kinds.facts.english import number_words
from workflows.kinds.facts.mentions import CURRENCIES, Mention, without_marks
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.kinds.passages import sentence_around
from workflows.vocabulary import Severity

_MASKED = re.compile(
    r"^[ \t]*+\d{1,3}[.)、](?!\d)|^\|?[ \t]*\**\d+(?:\.\d+)+\**[ \t]*\||^#{1,6}[ \t]+\d[\d.]*|"
    r"`[^`\n]*`|https?://\S+|\[?\bT\d+\b\]?|"
    r"^[ \t]*+(?:[-*]|#{1,6})?[ \t]*+\**(?:(?:meeting )?(?:date|time|duration)(?: ?/ ?time)?|"
    r"when|location|place|room|version|page|日期|时间|地点|会议时间|会议时长|时长)"
    r"\**[ \t]*[:：].*$|"
    r"\b\d{1,2}:\d{2}\b|\b\d{1,2}\.\d{2}[ \t]?[ap]\.?m\b",
    re.MULTILINE | re.IGNORECASE,
)
MOST_FINDINGS = 50
"""A body with more wrong numbers than this is about something else; more would help nobody."""
_WORD_BEFORE = re.compile(r"([A-Za-z]{4,20}|[\u4e00-\u9fff]{2})\s*$")
_WORD_AFTER = re.compile(r"\s*([A-Za-z]{4,20}|[\u4e00-\u9fff]{2})")
BESIDE = 1.5
"""What the same word right beside two numbers adds to their being of the same thing."""
SURELY = 2.0
"""How much more a line must speak of the same thing than the one that has the value itself."""
FAR_FROM = 30
"""A slip of the pen is a digit or a zero: what is this many times larger counts something else."""
_VERBS = frozenset(("are", "is", "were", "was", "will", "have", "has", "had", "can", "must"))
"""What follows a number and is no unit of it."""
_MONEY = frozenset(CURRENCIES.values())


@dataclass(frozen=True, kw_only=True)
class _Match:
    """A source line that has another value for the same thing."""

    mention: Mention
    line: int


def verify_numbers(material: Material, body: str) -> list[Finding]:
    """One finding for each number that is certainly not what the sources say."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    known = _known_values(material, facts)
    findings = []
    for mention in body_numbers(body):
        finding = _check(facts, known, body, mention)
        if finding is not None:
            findings.append(finding)
        if len(findings) == MOST_FINDINGS:
            break
    return findings


def body_numbers(body: str) -> list[Mention]:
    """Numbers that state something: not list markers, dates, times of day, code, links."""
    return [
        mention.shifted(at) for at, block in blocks(body) for mention in _numbers_of_block(block)
    ]


@lru_cache(maxsize=KEPT)
def _numbers_of_block(block: str) -> tuple[Mention, ...]:
    spans = [*(found.span() for found in _MASKED.finditer(block)), *date_spans(block)]
    spans += [(one.start, one.end) for one in clocks_of(block) if one.strong]
    masked = marked(block, spans)
    return tuple(
        mention for mention in read_numbers(block) if 1 not in masked[mention.start : mention.end]
    )


def _known_values(material: Material, facts: Facts) -> frozenset[float]:
    """Values in the sources, the title, the attributes, and how many people took part."""
    values = set(facts.values)
    for text in (material.title, *_texts(material.attributes.values())):
        values |= {value for mention in read_numbers(text) for value in mention.values}
    participants = material.attributes.get("participants") or []
    return frozenset(values | {float(len(facts.speakers)), float(len(participants))})


def _texts(values: Iterable[object]) -> list[str]:
    texts = []
    for value in values:
        if isinstance(value, list):
            texts += [entry for entry in value if isinstance(entry, str)]
        elif value is not None:
            texts.append(str(value))
    return texts


def _check(facts: Facts, known: frozenset[float], body: str, mention: Mention) -> Finding | None:
    said = bool(mention.values & known or mention.seconds & facts.seconds)
    halves = mention.unit == "%" and {value / 100 for value in mention.values} & known
    if said or halves:
        match = _other_currency(facts, mention) or _other_count(facts, body, mention)
        if match is not None:
            return _finding(facts, body, mention, match)
        match = _other_value(facts, body, mention)
        # The value was said, so which of the two is right here is for a reader to decide.
        if match is None:
            return None
        return replace(_finding(facts, body, mention, match), suggestion=None)
    if mention.strong:
        return _finding(facts, body, mention, _best_match(facts, body, mention))
    match = _other_count(facts, body, mention)
    return None if match is None else _finding(facts, body, mention, match)


def _other_currency(facts: Facts, mention: Mention) -> _Match | None:
    """25 pounds where the sources have 25 only as euros."""
    if mention.unit not in _MONEY:
        return None
    same = [
        _Match(mention=other, line=at)
        for value in mention.values
        for at, other in facts.valued.get(value, ())
    ]
    units = {match.mention.unit for match in same}
    return same[0] if len(units) == 1 and units <= _MONEY - {mention.unit} else None


def _other_value(facts: Facts, body: str, mention: Mention) -> _Match | None:
    """Another amount where the same is spoken of, and this one only where something else is."""
    if not (mention.strong and (mention.unit in _MONEY or mention.unit == "%")):
        return None
    first, last = sentence_around(body, mention.start, mention.end)
    return _other_value_in(facts.sources, body[first:last], mention.shifted(-first))


@lru_cache(maxsize=KEPT)
def _other_value_in(
    sources: tuple[SourceText, ...], sentence: str, mention: Mention
) -> _Match | None:
    """Kept, because most sentences with amounts are right and stay through all rounds."""
    facts = facts_of(sources)
    # Its own value counts whatever word stands behind it: "36,000 and a used one at 21,500".
    said = [
        _Match(mention=other, line=at)
        for value in mention.values
        for at, other in facts.valued.get(value, ())
        if other.unit in ("", mention.unit)
    ]
    rated = _rated(facts, sentence, mention, [*_fitting(facts, mention), *said])
    own = [one for one in rated if one.match.mention.values & mention.values]
    others = [one for one in rated if one not in own]
    if not others or any(one.score * SURELY > others[0].score for one in own):
        return None
    return _clearest(others, least=6.0, lead=1.4)


def _other_count(facts: Facts, body: str, mention: Mention) -> _Match | None:
    """Another number right before the same noun, and this one nowhere near that noun."""
    nouns = set(mention.nouns)
    if not nouns or max(mention.values) < 2:
        return None
    others = [
        _Match(mention=other, line=at)
        for noun in mention.nouns
        for at, other in facts.counted.get(noun, ())
    ]
    if any(other.mention.values & mention.values for other in others):
        return None
    for value in mention.values if others else ():
        for at, _ in facts.valued.get(value, ()):
            if any(_has_noun(facts, nouns, near) for near in (at - 1, at, at + 1)):
                return None
    rated = _rated(facts, body, mention, others)
    return _clearest(rated, least=3.0, lead=1.0 if len(rated) == 1 else 1.4)


@dataclass(frozen=True, kw_only=True)
class _Rated:
    """A match with how much its line, and what stands right around it, speak of the same thing."""

    match: _Match
    line: float
    near: float

    @property
    def score(self) -> float:
        return self.line + self.near


def _rated(facts: Facts, body: str, mention: Mention, matches: Iterable[_Match]) -> list[_Rated]:
    """For each value the best match. A unit that was left out in speech costs a little."""
    weights = context_weights(body, mention.start, mention.end)
    weights |= {stem(noun): 1.0 for noun in mention.nouns}
    best: dict[float, _Rated] = {}
    lines: dict[int, float] = {}
    beside = _beside(body, mention)
    for match in matches:
        spoken = facts.lines[match.line].spoken
        share = 1.0 if match.mention.unit == mention.unit else 0.8
        value = _likeliest(mention, match.mention)
        if (value == int(value)) != (max(mention.values) == int(max(mention.values))):
            share *= 0.75
        if not 1 / FAR_FROM <= (value or 1) / (max(mention.values) or 1) <= FAR_FROM:
            share *= 0.4
        if match.line not in lines:
            lines[match.line] = line_score(facts, weights, match.line)
        rated = _Rated(
            match=match,
            line=share * lines[match.line],
            near=share
            * (
                near_score(facts, weights, match.line, match.mention)
                + BESIDE * len(beside & _beside(spoken, match.mention))
            ),
        )
        if value not in best or best[value].score < rated.score:
            best[value] = rated
    return sorted(best.values(), key=lambda rated: -rated.score)


def _beside(text: str, mention: Mention) -> frozenset[str]:
    """What stands right before and right after a number: a word, of Chinese two characters."""
    before = _WORD_BEFORE.search(text[max(0, mention.start - 20) : mention.start])
    after = _WORD_AFTER.match(text[mention.end : mention.end + 20])
    sides = {"<": before, ">": after}
    return frozenset(side + found.group(1).lower() for side, found in sides.items() if found)


def _clearest(rated: list[_Rated], *, least: float, lead: float) -> _Match | None:
    """The best match when it is clear; inside one line only what stands near decides."""
    if not rated or rated[0].score < least:
        return None
    if len(rated) == 1:
        return rated[0].match
    inside = [other for other in rated if other.match.line == rated[0].match.line]
    first = max(inside, key=lambda other: other.near)
    outside = [other for other in rated if other.match.line != first.match.line]
    if any(other.score * lead > first.score for other in outside):
        return None
    if any(other.near * lead > first.near for other in inside if other is not first):
        return None
    return first.match


def _has_noun(facts: Facts, nouns: set[str], at: int) -> bool:
    text = facts.low[at] if 0 <= at < len(facts.low) else ""
    return any(noun in text for noun in nouns)


def _best_match(facts: Facts, body: str, mention: Mention) -> _Match | None:
    """The one line that clearly speaks of the same thing, with a number of the same unit."""
    rated = _rated(facts, body, mention, _fitting(facts, mention))
    return _clearest(rated, least=2.5, lead=1.2)


def _fitting(facts: Facts, mention: Mention) -> list[_Match]:
    return [
        _Match(mention=other, line=at)
        for at, others in enumerate(facts.numbers)
        for other in others
        if _fits(mention, other)
    ]


def _fits(mention: Mention, other: Mention) -> bool:
    """Whether both may count the same thing: equal units, or one that is left out in speech."""
    if mention.unit in _MONEY:
        return other.unit in ("", mention.unit) and not other.nouns and max(other.values) >= 2
    if mention.unit == "%":
        return other.unit == "%" or (0.5 in other.values and not other.unit)
    if mention.unit == "s":
        if _is_year(mention) and not _is_year(other):
            return False
        return other.unit == "s" and bool(set(mention.nouns) & set(other.nouns))
    return not other.unit and bool(set(mention.nouns) & set(other.nouns) or not mention.nouns)


def _is_year(mention: Mention) -> bool:
    """1988年: a date rather than a span."""
    return "年" in mention.nouns and any(1900 <= value <= 2100 for value in mention.values)


def _finding(facts: Facts, body: str, found: Mention, match: _Match | None) -> Finding:
    verb = body[found.number_end : found.end].strip().lower() in _VERBS
    mention = replace(found, end=found.number_end) if verb else found
    least = 2 if mention.unit or mention.nouns else 8
    quote = unique_quote(body, mention.start, mention.end, least=least)
    number = body[mention.start : mention.end]
    if match is None:
        return Finding(
            category="number",
            severity=Severity.MAJOR,
            quote=quote,
            problem=f"“{number}” is said nowhere in the sources.",
        )
    line = facts.lines[match.line]
    said = without_marks(line.spoken)[match.mention.start : match.mention.end]
    right = _rewritten(body, mention, match.mention, said)
    suggestion = None if right is None else quote.replace(number, right, 1)
    return Finding(
        category="number",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"{line.name} has another value than “{number}”.",
        suggestion=suggestion if suggestion != quote else None,
        evidence=(line.name,),
    )


def _rewritten(body: str, mention: Mention, other: Mention, said: str) -> str | None:
    """The mention with the other's value, in the style of the body; `said` is how it was said."""
    whole = mention.style == "words" and any(value != int(value) for value in other.values)
    if whole and mention.unit == other.unit == "s":
        return said
    written = body[mention.start : mention.number_end]
    rest = body[mention.number_end : mention.end]
    value = _likeliest(mention, other)
    if mention.values & other.values:
        return _with_currency(written, rest, mention, other)
    head = re.match(r"[€£$¥￥]\s?|[A-Z]{3}\s|百分之", written)
    prefix = head.group() if head else ""
    return prefix + _formatted(value, written[len(prefix) :], mention.style) + rest


def _with_currency(written: str, rest: str, mention: Mention, other: Mention) -> str | None:
    """The same amount in the currency that was said."""
    signs = {"EUR": "€", "GBP": "£", "USD": "$", "CNY": "¥"}
    if written[:1] in CURRENCIES:
        return signs[other.unit] + written[1:]
    names = [name for name, unit in CURRENCIES.items() if unit == other.unit]
    chinese = any("\u4e00" <= character <= "\u9fff" for character in rest)
    fitting = [name for name in names if (not name.isascii()) == chinese and len(name) > 1]
    plural = [name for name in fitting if name.endswith("s")] or fitting
    if not plural:
        return None
    space = rest[: len(rest) - len(rest.lstrip(" -"))]
    name = plural[0].capitalize() if rest.strip(" -")[:1].isupper() else plural[0]
    return f"{written}{space}{name}"


def _likeliest(mention: Mention, other: Mention) -> float:
    """Of the values the other may mean, the one closest in size to what was written."""
    mine = max(mention.values)
    pool = [value for value in other.whole or other.values if value > 0] or [0.0]
    whole = [value for value in pool if value >= 1000 or value * 100 == int(value * 100)]
    return min(whole or pool, key=lambda value: abs(value - mine) / max(value, mine, 1.0))


def _formatted(value: float, written: str, style: str) -> str:
    for name, scale in (("million", 10**6), ("billion", 10**9), ("thousand", 10**3)):
        if written.lower().endswith(name) and value >= scale:
            return f"{_plain(value / scale)} {name}"
    for name, scale in (("亿", 10**8), ("万", 10**4)):
        if written.endswith(name) and value >= scale:
            return f"{_plain(value / scale)}{name}"
    if style == "words" and value == int(value) and value <= 99:
        words = number_words(int(value))
        return words.capitalize() if written[:1].isupper() else words
    if style == "numerals" and value == int(value) and 1 <= value <= 99:
        return numeral(int(value))
    if "," in written and value == int(value):
        return f"{int(value):,}"
    decimals = len(written.partition(".")[2])
    padded = f"{value:.{decimals}f}"
    return padded if decimals and float(padded) == value else _plain(value)


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.10g}"
