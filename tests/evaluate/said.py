"""Wrong numbers and weekdays in what was said: pieces of transcripts as bodies.

There are far more numbers in what people say than in what summaries keep of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from tests.evaluate.corruptions import Wrong, fact_of, other_number
from tests.evaluate.truths import Truths

AROUND = 150
MOST = 40
"""Of one meeting, so that the longest does not decide alone."""
_DIGITS = re.compile(r"(?<![\w.,/:#-])[1-9]\d{1,3}(?![\w:/.,%-])")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPOKEN = re.compile(
    rf"(?<!hundred )(?<!and )\b(?:{'|'.join(_TENS)}) "
    r"(?:percent|per cent|euros?|minutes|hours|thousand|people|schools|million)\b",
    re.I,
)
_DIGITS_ZH = re.compile(
    r"(?<![\w.第-])[1-9]\d{1,3}(?=\s?(?:%|个|年|天|届|块|元|万|分|家|项|次|岁|人))"
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})\b")


def misquoted(truths: Truths, seed: int = 1) -> Iterator[Wrong]:
    """Pieces around a number or a weekday, with another one in its place."""
    dice = random.Random(f"{seed}{truths.name}")
    lines = [line for source in truths.material.sources for line in source.text.splitlines()]
    places = [place for line in lines for place in _places(line, dice)]
    dice.shuffle(places)
    for text, span, what in places[:MOST]:
        fact = "date" if what in _WEEKDAYS else fact_of(truths, what)
        yield _wrong(truths, text, span, what, fact)


def _places(line: str, dice: random.Random) -> Iterator[tuple[str, tuple[int, int], str]]:
    text = re.sub(r"\{[^{}]*\}", "", line.partition("：" if "：" in line[:8] else ":")[2])
    chinese = re.search(r"[\u4e00-\u9fff]", text) is not None
    for found in (_DIGITS_ZH if chinese else _DIGITS).finditer(text):
        yield text, found.span(), other_number(found.group(), dice)
    for found in _SPOKEN.finditer(text):
        first, _, _ = found.group().partition(" ")
        other = dice.choice([word for word in _TENS if word != first.lower()])
        yield text, (found.start(), found.start() + len(first)), other
    for found in _WEEKDAY.finditer(text):
        day = dice.choice([day for day in _WEEKDAYS if day != found.group()])
        yield text, found.span(), day


def _wrong(truths: Truths, text: str, span: tuple[int, int], what: str, fact: str) -> Wrong:
    start, end = span
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return Wrong(
        fact=fact,
        name=truths.name,
        material=truths.material,
        body=before.lstrip() + what + after,
        what=what,
        right=text[start:end],
        tuned=truths.tuned,
    )
