"""Numbering of source lines: T1.. over all sources of a document, in order.

Every line counts, also an empty one, so that T12 is `text.splitlines()[11]` of a single source.
What a recogniser made up counts as an empty line: nobody is shown it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import SourceText

_EVIDENCE = re.compile(r"^[Tt]?(\d{1,7})(?:\s*[-–—]\s*[Tt]?(\d{1,7}))?$")
# A colon between digits is that of a clock: `3 May, 5:51`.
_SPEAKER = re.compile(
    r"^(?:\*\*)?([^:：\n*.!?。！？，,；;]{1,40})(?:\*\*)?"
    r"[:：](?!(?<=\d[:：])\d\d(?!\d))(?:\*\*)?(?!//)\s*(.*)$",
    re.S,
)
_NO_EVIDENCE = re.compile(r"\s*\[\d{1,3}:\d{2}:\d{2}\] \[(?:invented|loop)\] ")
"""How `workflows.spoken` writes what a recogniser made up."""
_STAMP = re.compile(r"^\s*\[\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?\]\s*")
_MARKS = re.compile(r"#{1,6}\s")
_LONGEST_RANGE = 40


@dataclass(frozen=True, kw_only=True)
class SourceLine:
    """One line of a source. `speaker` is '' when the line names none."""

    number: int
    source: str
    text: str
    speaker: str = ""
    said: str = ""

    @property
    def name(self) -> str:
        return f"T{self.number}"

    @property
    def spoken(self) -> str:
        """The line without its speaker."""
        return self.said or self.text


@kept_by_text
def number_lines(sources: tuple[SourceText, ...]) -> tuple[SourceLine, ...]:
    """All lines of all sources under their numbers."""
    lines: list[SourceLine] = []
    for source in sources:
        for said_at in source.text.splitlines():
            text = "" if _NO_EVIDENCE.match(said_at) else said_at
            speaker, said = _split(text)
            lines.append(
                SourceLine(
                    number=len(lines) + 1,
                    source=source.name,
                    text=text,
                    speaker="" if _MARKS.match(speaker) else speaker,
                    said=said,
                )
            )
    return tuple(lines)


def split_speaker(text: str) -> tuple[str, str]:
    """`Ana: we ship` -> ("Ana", "we ship"); a line without a speaker, as a heading with a colon
    (`### Next meeting on: Friday`), -> ("", line)."""
    named, said = _split(text)
    return ("", text.strip()) if _MARKS.match(named) else (named, said)


def _split(text: str) -> tuple[str, str]:
    """What stands before the colon and behind it, be it a speaker or a heading.

    A time before them (`[00:05] Ana: we ship`) is what the transcript's writer put there: nobody
    said it.
    """
    text = _STAMP.sub("", text, count=1)
    found = _SPEAKER.match(text.strip())
    if found is None or (re.fullmatch(r"[\d\s]*\d", found.group(1)) and len(found.group(1)) > 3):
        return "", text.strip()
    return found.group(1).strip(), found.group(2).strip()


def evidence_lines(named: Sequence[str], count: int) -> tuple[str, ...] | None:
    """Line names as T12, ranges spelled out; None when one of them does not exist."""
    numbers: list[int] = []
    for name in named:
        found = _EVIDENCE.match(name.strip())
        if found is None:
            return None
        first = int(found.group(1))
        last = int(found.group(2) or first)
        if not 1 <= first <= last <= count or last - first > _LONGEST_RANGE:
            return None
        numbers += range(first, last + 1)
    return tuple(f"T{number}" for number in dict.fromkeys(numbers))
