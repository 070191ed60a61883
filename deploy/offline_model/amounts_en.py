"""Amounts in English text: digits or number words with a unit behind or a currency before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deploy.offline_model.measures import CURRENCIES, DURATIONS, FAMILIES, PEOPLE, Value, value_of
from deploy.offline_model.numerals import SCALES, WORDS, read_english
from deploy.offline_model.words import STOP, stem

_TOKEN = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[A-Za-z]+|[^\sA-Za-z\d]")
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "bn": 10**9}


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    end: int


ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth"),
)
_ORDINAL = re.compile(rf"\b({'|'.join(ORDINALS)}|\d+(?:st|nd|rd|th))\s+([a-z]+)\b", re.I)


LATEST_YEAR = 2100
"""A whole number beyond all years, as 36,000, is an amount though nobody says of what."""


def ordinals(text: str) -> Iterable[Value]:
    """The third year; a "first" without a noun behind only orders the talk."""
    for match in _ORDINAL.finditer(text):
        name, noun = match[1].lower(), match[2].lower()
        if noun not in STOP:
            number = ORDINALS.index(name) + 1 if name in ORDINALS else int(name[:-2])
            yield value_of("ordinal", match.span(1), number, unit=stem(noun))


def amounts_en(text: str) -> Iterable[Value]:
    tokens = [_Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    at = 0
    while at < len(tokens):
        stop = _number_end(tokens, at)
        if stop > at:
            value = _amount(text, tokens, at, stop)
            if value is not None:
                yield value
        at = max(stop, at + 1)


def _number_end(tokens: Sequence[_Token], at: int) -> int:
    """Behind the last token of the number that begins at `at`; `at` when none begins there."""
    first = tokens[at].text.lower()
    if first[0].isdigit():
        following = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
        scaled = following in SCALES and following != "hundred"
        short = following in _SHORT_SCALES and tokens[at + 1].start == tokens[at].end
        return at + 2 if scaled or short else at + 1
    if first not in WORDS or first == "point":
        return at
    stop = at + 1
    while stop < len(tokens):
        word = tokens[stop].text.lower()
        joined = word in ("-", "and", "point") and stop + 1 < len(tokens)
        if joined and tokens[stop + 1].text.lower() in WORDS:
            stop += 2
        elif word in WORDS:
            stop += 1
        else:
            break
    return stop


def _amount(text: str, tokens: Sequence[_Token], at: int, stop: int) -> Value | None:
    first, last = tokens[at], tokens[stop - 1]
    numbers = _numbers(tokens[at:stop])
    if not numbers or _no_amount(text, tokens, at, stop):
        return None
    before = tokens[at - 1].text if at else ""
    if before in CURRENCIES:
        return value_of("money", (first.start, last.end), *numbers, unit=CURRENCIES[before])
    kind, units, factor = _unit(tokens, at, stop)
    if kind == "count" and _vague(first.text, numbers):
        return None
    if kind == "bare" and not _telling(numbers):
        return None
    cents = _spoken_cents(tokens, stop, kind, numbers)
    unit_end = tokens[stop].end if kind in ("money", "percent", *FAMILIES) else last.end
    return Value(
        kind=kind,
        units=units,
        numbers=cents or numbers,
        start=first.start,
        end=tokens[stop + 1].end if cents else last.end,
        phrase_end=tokens[stop + 1].end if cents else unit_end,
        factor=factor,
    )


def _telling(numbers: frozenset[float]) -> bool:
    """A number without unit is only kept when it is unlikely to be a figure of speech."""
    odd = any(number != int(number) or number > LATEST_YEAR for number in numbers)
    return len(numbers) > 1 or odd


def _numbers(tokens: Sequence[_Token]) -> frozenset[float]:
    first = tokens[0].text
    if not first[0].isdigit():
        words = [token.text.lower() for token in tokens if token.text != "-"]
        return read_english(words)
    value = float(first.replace(",", ""))
    if len(tokens) > 1:
        scale = tokens[1].text.lower()
        value *= SCALES.get(scale) or _SHORT_SCALES[scale]
    return frozenset({value})


def _no_amount(text: str, tokens: Sequence[_Token], at: int, stop: int) -> bool:
    """List numbers, identifiers (T12, EIP-1153, v1.2), clock times, ranges and fractions."""
    start, end = tokens[at].start, tokens[stop - 1].end
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    line = text.rfind("\n", 0, start) + 1
    if text[start].isdigit() and re.match(r"\s*(?:#+\s*)?$", text[line:start]) and after in ".)":
        return True
    if before and (before.isalnum() or before in "_#/:.@&=" or (before == "-" and start > 1)):
        return True
    if after and (after in "_/:@" or (after.isalpha() and after.isascii())):
        return True
    return _range(tokens, at, stop)


def _range(tokens: Sequence[_Token], at: int, stop: int) -> bool:
    """Three to five, 3-5, two or three."""

    def number(index: int) -> bool:
        inside = 0 <= index < len(tokens)
        return inside and (tokens[index].text[0].isdigit() or tokens[index].text.lower() in WORDS)

    links = ("to", "or", "-", "–", "~")
    follows = stop < len(tokens) and tokens[stop].text.lower() in links and number(stop + 1)
    leads = at > 0 and tokens[at - 1].text.lower() in links and number(at - 2)
    return follows or leads


def _vague(text: str, numbers: frozenset[float]) -> bool:
    """One is a pronoun, and "two things" a way of speaking."""
    return not text[0].isdigit() and max(numbers) <= 2


def _unit(tokens: Sequence[_Token], at: int, stop: int) -> tuple[str, frozenset[str], float]:
    """(kind, units, factor) by the next words, else by the one before: version 4, level 2."""
    following = [token.text.lower() for token in tokens[stop : stop + 3] if token.text != "-"]
    first = following[0] if following else ""
    if first == "%" or first in ("percent", "pct") or following[:2] == ["per", "cent"]:
        return "percent", frozenset(), 1
    if first in CURRENCIES:
        return "money", frozenset({CURRENCIES[first]}), 1
    if first in DURATIONS:
        family, factor = DURATIONS[first]
        return family, frozenset(), factor
    if first in PEOPLE:
        return "people", frozenset(), 1
    units = []
    for word in following[:2]:
        if not word.isalpha() or not word.isascii() or word in STOP or word in WORDS:
            break
        units.append(stem(word))
    if units:
        return "count", frozenset(units), 1
    before = tokens[at - 1].text.lower() if at else ""
    known = before in CURRENCIES or before in DURATIONS or before in WORDS
    if before.isalpha() and before.isascii() and before not in STOP and not known:
        return "label", frozenset({stem(before)}), 1
    return "bare", frozenset(), 1


def _spoken_cents(
    tokens: Sequence[_Token], stop: int, kind: str, numbers: frozenset[float]
) -> frozenset[float]:
    """Twelve Euros fifty."""
    cents = tokens[stop + 1].text.lower() if stop + 1 < len(tokens) else ""
    if kind != "money" or cents not in WORDS or cents in SCALES:
        return frozenset()
    value = max(read_english([cents]), default=0)
    return frozenset({next(iter(numbers)) + value / 100}) if value >= 10 else frozenset()
