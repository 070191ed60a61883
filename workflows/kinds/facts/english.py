"""Numbers in English text: digits, and words as people say them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.mentions import (
    CURRENCIES,
    PERCENT,
    SPANS,
    Mention,
    singular,
    values_of,
)

SMALL = {word: number for number, word in enumerate(lexicon.ONES)} | {"oh": 0}
TENS = {word: 10 * number for number, word in enumerate(lexicon.TENS, start=2)} | {"fourty": 40}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
SHORT_SCALES = {"k": 1000, "m": 10**6, "mn": 10**6, "bn": 10**9}
ORDINALS = {
    "tenth": 10, "eleventh": 11, "twelfth": 12, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
_AFTER_TENS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9,
}  # fmt: skip
_TOKEN = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[A-Za-z]+(?:'[a-z]+)?|[€£$¥￥%％]|[^\sA-Za-z0-9]"
)
_IDENTIFIER_BEFORE = re.compile(r"(?:[A-Za-z_#][-–.]?|[-–.#_/]|\d[.:/-])$")
_IDENTIFIER_AFTER = re.compile(r"[A-Za-z_]|[:/]\d|[.-]\d")
_ANY = re.compile(
    r"\d|\b(?:half|dozen|" + "|".join([*SMALL, *TENS, *SCALES, *ORDINALS]) + r")\b", re.IGNORECASE
)
STRONG_FROM = 10
LONGEST_NUMBER = 20
"""Characters; what is longer counts nothing."""


@dataclass(frozen=True, kw_only=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower()


def may_have_numbers(text: str) -> bool:
    """A cheap look before the reading: most lines of a meeting have no number."""
    return _ANY.search(text) is not None


def english_numbers(text: str) -> list[Mention]:
    """All numbers of a text that has no marks of sounds any more."""
    tokens = [
        _Token(text=found.group(), start=found.start(), end=found.end())
        for found in _TOKEN.finditer(text)
    ]
    mentions: list[Mention] = []
    at = 0
    while at < len(tokens):
        mention, at = _mention(text, tokens, at)
        if mention is None:
            continue
        mentions.append(mention)
        while at < len(tokens) and tokens[at].start < mention.end:
            at += 1
    return mentions


def _mention(text: str, tokens: Sequence[_Token], at: int) -> tuple[Mention | None, int]:
    """A number that begins at token `at`, and the token to go on with."""
    token = tokens[at]
    if token.text[0].isdigit():
        return _digits(text, tokens, at)
    words, after = _word_run(tokens, at)
    if not words:
        return None, at + 1
    values, whole = spoken_values(words)
    if not values:
        return None, at + 1
    mention = _with_unit(tokens, at, after, values, style="words")
    return replace(mention, whole=mention.whole | values_of(whole)), after


def _digits(text: str, tokens: Sequence[_Token], at: int) -> tuple[Mention | None, int]:
    token = tokens[at]
    if len(token.text) > LONGEST_NUMBER:
        return None, at + 1
    ordinal = re.match(r"(?:st|nd|rd|th)\b", text[token.end :])
    scale = re.match(r"\s?(k|m|mn|bn)\b", text[token.end :], re.IGNORECASE)
    if _IDENTIFIER_BEFORE.search(text[max(0, token.start - 2) : token.start]):
        return None, at + 1
    glued = _IDENTIFIER_AFTER.match(text[token.end : token.end + 2])
    if glued and not ordinal and not (scale and not scale.group(0).startswith(" ")):
        return None, at + 1
    value, after = float(token.text.replace(",", "")), at + 1
    if ordinal:
        after += 1
    elif scale and (not scale.group(0).startswith(" ") or scale.group(1).lower() == "bn"):
        value, after = value * SHORT_SCALES[scale.group(1).lower()], at + 2
    elif after < len(tokens) and tokens[after].low in SCALES:
        value, after = value * SCALES[tokens[after].low], after + 1
    return _with_unit(tokens, at, after, {value}, style="digits"), after


def _word_run(tokens: Sequence[_Token], at: int) -> tuple[list[str], int]:
    """Number words from `at` on, hyphens and a fitting `and` inside left out."""
    words: list[str] = []
    after = at
    while after < len(tokens):
        low = tokens[after].low
        if low in SMALL or low in TENS or low in ORDINALS or low in ("half", "dozen"):
            if low == "oh" and not words:
                break
            words.append(low)
        elif (low in _AFTER_TENS and words and words[-1] in TENS) or (
            low in SCALES and (words or _follows_article(tokens, after))
        ):
            words.append(low)
        elif not (words and _joins(tokens, after, words)):
            break
        elif low in ("point", "dot", "and"):
            words.append("point" if low == "dot" else low)
        after += 1
    while words and words[-1] in ("point", "and", "oh"):
        words.pop()
        after -= 1
    return words, after


def _follows_article(tokens: Sequence[_Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].low in ("a", "an", "several")


def _joins(tokens: Sequence[_Token], at: int, words: Sequence[str]) -> bool:
    """`-` in twenty-five, `point` before a digit word, `and` after hundred or before a half."""
    if at + 1 >= len(tokens):
        return False
    low, following = tokens[at].low, tokens[at + 1].low
    known = following in SMALL or following in TENS
    if low == "-":
        below_ten = 0 < SMALL.get(following, 0) < 10 or following in _AFTER_TENS
        return words[-1] in TENS and below_ten
    if low in ("point", "dot"):
        return known and words[-1] not in ("point", "dot")
    if low == "and":
        halves = following == "a" and at + 2 < len(tokens) and tokens[at + 2].low == "half"
        return (known and words[-1] in SCALES) or halves
    return low == "a" and tokens[at - 1].low == "and"


def spoken_values(words: Sequence[str]) -> tuple[set[float], set[float]]:
    """All values a run of number words may mean, and those it means as a whole if it has parts."""
    groups = _groups(words)
    whole: set[float] = set()
    for first, second in pairwise(groups):
        if 10 <= second <= 99 and 1 <= first <= 999:
            whole.add(first + second / 100)
        if 1 <= first <= 99 and (10 if first < 10 else 1) <= second <= 99:
            whole.add(first * 100 + second)
    if len(groups) > 2 and all(0 <= group <= 9 for group in groups):
        whole.add(float("".join(str(int(group)) for group in groups)))
    if "half" in words:
        whole |= {value + 0.5 for value in groups if value >= 1} or {0.5}
    return set(groups) | whole, whole


def _groups(words: Sequence[str]) -> list[float]:
    """`nineteen ninety eight` -> [19, 98], `one hundred and two` -> [102], `twelve point three`."""
    groups: list[float] = []
    total, current, decimals, open_ = 0.0, 0.0, 0, ""
    for word in [*words, ""]:
        if word in SCALES:
            scale = SCALES[word]
            if scale == 100:
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * scale, 0.0
            decimals, open_ = 0, "scale"
        elif word == "dozen":
            current, open_ = (current or 1) * 12, "closed"
        elif word == "point":
            decimals, open_ = 1, "point"
        elif word == "and":
            continue
        elif open_ == "point" and (fraction := _fraction(word, decimals)) is not None:
            current, decimals = current + fraction, decimals + (2 if word in TENS else 1)
        else:
            size = _size(word)
            joins = open_ == "scale" or (open_ == "tens" and 0 < (size or 0) < 10)
            if open_ and not (joins and size is not None):
                groups.append(total + current)
                total, current = 0.0, 0.0
            if size is None:
                open_ = ""
                continue
            current += size
            open_ = "tens" if size >= 20 and size % 10 == 0 else "closed"
    return groups


def _fraction(word: str, decimals: int) -> float | None:
    """What a word after the point adds: a digit, or fifty right after it."""
    if decimals == 1 and word in TENS:
        return TENS[word] / 100
    return SMALL[word] / 10**decimals if SMALL.get(word, 10) <= 9 else None


def _size(word: str) -> float | None:
    for table in (SMALL, TENS, ORDINALS, _AFTER_TENS):
        if word in table:
            return float(table[word])
    return None


def _with_unit(
    tokens: Sequence[_Token], at: int, after: int, values: set[float], *, style: str
) -> Mention:
    """The mention with the currency before it, or the unit and the nouns after it."""
    start, end = tokens[at].start, tokens[after - 1].end
    number_end = end
    unit, seconds, nouns, whole = "", frozenset[float](), list[str](), set[float]()
    if at > 0 and tokens[at - 1].low in CURRENCIES:
        unit, start = CURRENCIES[tokens[at - 1].low], tokens[at - 1].start
    following = _following(tokens, after)
    if following and not unit:
        first = following[0]
        if first.low in CURRENCIES and first.low != tokens[at].low:
            cents = _cents(tokens, first)
            unit, end = CURRENCIES[first.low], (cents or first).end
            if cents:
                whole = {value + TENS[cents.low] / 100 for value in values}
                values = values | whole
        elif first.low in PERCENT or (first.low == "per" and _is(following, 1, "cent")):
            unit, end = "%", (following[1] if first.low == "per" else first).end
        elif first.low in SPANS:
            unit, end = "s", first.end
            seconds = values_of(value * SPANS[first.low] for value in values)
    if not unit or unit == "s":
        nouns = [
            singular(token.text) for token in following[:2] if token.low not in lexicon.NO_NOUNS
        ]
        if nouns and not unit:
            end = following[0].end
    large = max(values) >= STRONG_FROM or any(value != int(value) for value in values)
    return Mention(
        start=start,
        end=end,
        number_end=number_end,
        values=values_of(values),
        unit=unit,
        nouns=tuple(nouns),
        strong=large or unit in ("%", *CURRENCIES.values()),
        seconds=seconds,
        whole=values_of(whole),
        style=style,
    )


def _following(tokens: Sequence[_Token], after: int) -> list[_Token]:
    """Words right after a number: over a hyphen, up to three, none beyond punctuation."""
    found: list[_Token] = []
    for at in range(after, min(after + 5, len(tokens))):
        token = tokens[at]
        if token.text in "-–" or token.low in ("an", "a"):
            continue
        if not (token.text[0].isalpha() and token.text.isascii()) and token.text not in "€£$¥￥%％":
            break
        found.append(token)
        if len(found) == 3:
            break
    return found


def _is(tokens: Sequence[_Token], at: int, word: str) -> bool:
    return at < len(tokens) and tokens[at].low == word


def _cents(tokens: Sequence[_Token], currency: _Token) -> _Token | None:
    """The `fifty` of `twelve Euros fifty`, also of a stammered `twelve Euros and f fifty`."""
    at = tokens.index(currency) + 1
    while at < len(tokens) and (tokens[at].low == "and" or _is_stammer(tokens[at])):
        at += 1
    return tokens[at] if at < len(tokens) and tokens[at].low in TENS else None


def _is_stammer(token: _Token) -> bool:
    return token.text.isalpha() and len(token.text) == 1 and token.text.islower()


def number_words(value: int) -> str:
    """0..99 in words, as minutes write them."""
    if value < 20:
        return lexicon.ONES[value]
    tens, ones = divmod(value, 10)
    return lexicon.TENS[tens - 2] + (f"-{lexicon.ONES[ones]}" if ones else "")
