"""Single wrong facts planted into true statements: numbers, names, terms, owners.

What is planted is read here by rules of its own, so that a verifier that overlooks a sort of number
is found out. Only what can be told from the source is planted: another speaker's name instead of
the right one is a reviewer's to find.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tests.evaluate.truths import Truths
from workflows.kinds.kind import Material, SourceText

STRANGERS = ("Karen Whitfield", "Tomasz Novak", "Priya Raghavan", "Derek Mbeki", "Ingrid Solheim")
STRANGERS_ZH = ("钱老师", "孟校长", "崔经理", "江教授")
_ENGLISH_WORDS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty "
    "forty fifty sixty seventy eighty ninety"
)
_WORDS = _ENGLISH_WORDS.split()
_VALUES = (*range(10, 21), *range(30, 100, 10))
_DIGITS = re.compile(r"(?<![\w.,/:#-])\d{1,4}(?:\.\d+)?(?![\w:/]|[.,]\d|-\w)")
_DIGITS_ZH = re.compile(r"(?<![\w.-])\d{1,4}(?:\.\d+)?(?=\s?[%个年月天届本块元万点分家项次倍岁人])")
_NUMERALS_ZH = re.compile(
    r"(?<![第初高周期一-龥])?[二三四五六七八九]十[一二三四五六七八九]?(?=[\u4e00-\u9fff])"
)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b(?!-)", re.IGNORECASE)
_PERSON_ZH = re.compile(
    r"[赵王李张刘陈杨黄吴周徐孙马朱胡郭何高林罗](?:老师|校长|总|经理|教授|同学)"
)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A body with one wrong fact, `what` stands there and `right` should."""

    fact: str
    name: str
    material: Material
    body: str
    what: str
    right: str
    tuned: bool


def corrupted(truths: Truths, seed: int = 1) -> Iterator[Wrong]:
    """One wrong fact at a time, in each statement that has one to change."""
    for statement in truths.statements:
        dice = random.Random(f"{seed}{statement}")
        changes = [*_numbers(truths, statement, dice), *_names(truths, statement, dice)]
        for fact, (start, end), what in changes:
            yield Wrong(
                fact=fact,
                name=truths.name,
                material=truths.material,
                body=statement[:start] + what + statement[end:],
                what=what,
                right=statement[start:end],
                tuned=truths.tuned,
            )


Change = tuple[str, tuple[int, int], str]


def _numbers(truths: Truths, statement: str, dice: random.Random) -> Iterator[Change]:
    chinese = re.search(r"[\u4e00-\u9fff]", statement) is not None
    for found in (_DIGITS_ZH if chinese else _DIGITS).finditer(statement):
        if float(found.group()) >= 10 and not _in_link(statement, found.start()):
            what = other_number(found.group(), dice)
            yield fact_of(truths, what), found.span(), what
    if chinese:
        for found in _NUMERALS_ZH.finditer(statement):
            first = dice.choice([digit for digit in "二三四六七八" if digit != found.group()[0]])
            what = first + found.group()[1:]
            yield fact_of(truths, what), found.span(), what
    for found in _NUMBER_WORD.finditer(statement):
        other = dice.choice([word for word in _WORDS if word != found.group().lower()])
        yield fact_of(truths, other), found.span(), other


def _in_link(statement: str, at: int) -> bool:
    return re.search(r"https?:\S*$|^\|[\d.]*$", statement[:at]) is not None


def other_number(written: str, dice: random.Random) -> str:
    """Another number of the same length that differs in its first digit."""
    first = dice.choice([digit for digit in "346789" if digit != written[0]])
    return first + written[1:]


def fact_of(truths: Truths, what: str) -> str:
    """What was said of something else is another sort of error, and harder to see."""
    words = [what]
    if what in _WORDS:
        words.append(str(_VALUES[_WORDS.index(what)]))
    elif what in map(str, _VALUES):
        words.append(_WORDS[_VALUES.index(int(what))])
    elif what.isdigit() and what[:-1] and int(what) < 100:
        words.append(_chinese(int(what)))
    text = _text_of(truths.material.sources)
    said = any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.]\w)", text) for word in words)
    return "number said elsewhere" if said else "number"


@lru_cache(maxsize=4)
def _text_of(sources: tuple[SourceText, ...]) -> str:
    return "\n".join(source.text.lower() for source in sources)


def _chinese(value: int) -> str:
    ones = "零一二三四五六七八九"
    tens, rest = divmod(value, 10)
    return ("" if tens == 1 else ones[tens]) + "十" + (ones[rest] if rest else "")


def _names(truths: Truths, statement: str, dice: random.Random) -> Iterator[Change]:
    """Each person that takes part or is named, as somebody whom nobody knows."""
    for found in _PERSON_ZH.finditer(statement):
        yield "name", found.span(), dice.choice(STRANGERS_ZH)
    if not truths.cased:
        return
    speakers = {
        found.group(1).strip("* ")
        for source in truths.material.sources
        for found in re.finditer(r"^([^:：\n]{3,30})[:：]", source.text, re.MULTILINE)
    }
    people = sorted((name for name in speakers if name[:1].isupper()), key=len, reverse=True)
    if not people:
        return
    anybody = re.compile(rf"\b(?:{'|'.join(map(re.escape, people))})\b(?!['’]s [a-z]+ of)")
    for found in anybody.finditer(statement):
        yield "name", found.span(), dice.choice(STRANGERS)
