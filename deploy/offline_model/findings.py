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


def unique_span(
    document: str, start: int, end: int, *, whole_words: bool = True
) -> tuple[int, int]:
    """Widen a span until its text occurs exactly once, on its line first; then anywhere."""
    floor = document.rfind("\n", 0, start) + 1
    ceiling = document.find("\n", end)
    ceiling = len(document) if ceiling < 0 else ceiling
    low, high = start, end
    while document.count(document[low:high]) > 1:
        if low <= floor and high >= ceiling:
            floor, ceiling = 0, len(document)
            if low <= 0 and high >= ceiling:
                break
        low = _back(document, low, floor, whole_words=whole_words)
        if document.count(document[low:high]) > 1:
            high = _on(document, high, ceiling, whole_words=whole_words)
    return low, high


def _back(text: str, at: int, floor: int, *, whole_words: bool) -> int:
    """One word to the left."""
    if at <= floor:
        return floor
    at -= 1
    while whole_words and at > floor and _inside_word(text, at):
        at -= 1
    return at


def _on(text: str, at: int, ceiling: int, *, whole_words: bool) -> int:
    """One word to the right."""
    if at >= ceiling:
        return ceiling
    at += 1
    while whole_words and at < ceiling and _inside_word(text, at):
        at += 1
    return at


def _inside_word(text: str, at: int) -> bool:
    """Whether a cut at this place would split a word of letters or a number."""
    left, right = text[at - 1], text[at]
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()
