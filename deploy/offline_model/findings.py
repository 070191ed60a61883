"""A finding: one wrong place of the document, what should stand there, and where that was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Category(StrEnum):
    WRONG_NUMBER = "wrong_number"
    WRONG_DATE = "wrong_date"
    WRONG_NAME = "wrong_name"
    WRONG_OWNER = "wrong_owner"
    CONTRADICTION = "contradiction"
    DOUBLED_WORD = "doubled_word"
    PLACEHOLDER = "placeholder"


SEVERITY = {
    Category.WRONG_NUMBER: "major",
    Category.WRONG_DATE: "major",
    Category.WRONG_NAME: "major",
    Category.WRONG_OWNER: "major",
    Category.CONTRADICTION: "major",
    Category.DOUBLED_WORD: "minor",
    Category.PLACEHOLDER: "minor",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`start:end` of the document is wrong; `right` should replace it (None: not known)."""

    category: Category
    start: int
    end: int
    right: str | None
    evidence: Sequence[int] = ()
    score: float = 1

    @property
    def severity(self) -> str:
        return SEVERITY[self.category]


WIDEST = 600
"""Characters beyond which a span is not widened: nobody could tell what an edit is about."""


def unique_span(document: str, start: int, end: int) -> tuple[int, int] | None:
    """Widen a span by words until its text occurs exactly once: on its line, then anywhere.

    None where the text repeats itself so much that a short span cannot be unique.
    """
    floor = document.rfind("\n", 0, start) + 1
    ceiling = document.find("\n", end)
    ceiling = len(document) if ceiling < 0 else ceiling
    low, high = start, end
    while _again(document, low, high):
        if high - low > WIDEST + end - start or (low == 0 and high == len(document)):
            return None
        if low <= floor and high >= ceiling:
            floor, ceiling = 0, len(document)
        low = _back(document, low, floor)
        if _again(document, low, high):
            high = _on(document, high, ceiling)
    return low, high


def _again(document: str, low: int, high: int) -> bool:
    """Whether this text stands at another place too, or is no text."""
    text = document[low:high]
    first = document.find(text)
    return not text or first != low or document.find(text, first + 1) >= 0


def _back(text: str, at: int, floor: int) -> int:
    """One word to the left."""
    while at > floor and text[at - 1].isspace():
        at -= 1
    at = max(floor, at - 1)
    while at > floor and _inside_word(text, at):
        at -= 1
    return at


def _on(text: str, at: int, ceiling: int) -> int:
    """One word to the right."""
    while at < ceiling and text[at].isspace():
        at += 1
    at = min(ceiling, at + 1)
    while at < ceiling and _inside_word(text, at):
        at += 1
    return at


def _inside_word(text: str, at: int) -> bool:
    """Whether a cut at this place would split a word of letters or a number."""
    left, right = text[at - 1], text[at]
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()
