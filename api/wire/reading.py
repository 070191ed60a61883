"""Answers that tell how a file was read: what it held, what was kept, what was not understood."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from api import wire
from api.reading.parsed import UNKNOWN, Line, Parsed
from api.wire.types import Wire

MOST_LISTED = 200
FIRST = 20
_LONGEST = 500


class ReadLine(Wire):
    """One line of the stored text. `at` is its line (in JSON: its entry) in the file, from 1; times
    are seconds; `speaker` is `unknown` when the file names none."""

    at: int
    speaker: str
    start: float | None
    end: float | None
    text: str


class LeftOutPiece(Wire):
    """A piece of the file that is not in the text: a comment, a picture, a script, a field."""

    at: int
    what: str
    text: str


class Reading(Wire):
    """`given` pieces were found in the file; `kept` of them are in the text and the others in
    `left_out`. `repairs` counts what was set right, by code. Lists hold at most 200."""

    CONTENT: ClassVar[frozenset[str]] = frozenset(
        {"name", "speakers", "not_understood", "left_out"}
    )

    name: str
    format: str
    vendor: str | None
    encoding: str | None
    given: int
    kept: int
    speakers: list[str]
    not_understood: list[ReadLine]
    left_out: list[LeftOutPiece]
    repairs: dict[str, int]


class Preview(Reading):
    """Nothing of it is stored. `first_lines` are those of the text as it would be."""

    CONTENT: ClassVar[frozenset[str]] = Reading.CONTENT | {"first_lines", "lines"}

    role: Literal["source", "draft"]
    characters: int
    first_lines: list[str]
    lines: list[ReadLine]


class DocumentRead(wire.Document):
    """A new document; `reading` tells of each file that it was made from."""

    CONTENT: ClassVar[frozenset[str]] = wire.Document.CONTENT | {"reading"}

    reading: list[Reading] = Field(default_factory=list)


class RunRead(wire.Run):
    """A new run; `reading` tells of each file that its document was made from."""

    CONTENT: ClassVar[frozenset[str]] = wire.Run.CONTENT | {"reading"}

    reading: list[Reading] = Field(default_factory=list)


class SourceAdded(wire.Source):
    """A new source; `reading` tells of its file, null when it came as text."""

    CONTENT: ClassVar[frozenset[str]] = wire.Source.CONTENT | {"reading"}

    reading: Reading | None = None


def read_line(line: Line) -> ReadLine:
    return ReadLine(
        at=line.at,
        speaker=line.speaker or UNKNOWN,
        start=None if line.start is None else line.start / 1000,
        end=None if line.end is None else line.end / 1000,
        text=line.text[:_LONGEST],
    )


def reading(name: str, parsed: Parsed) -> Reading:
    return Reading(
        name=name,
        format=parsed.format,
        vendor=parsed.vendor or None,
        encoding=parsed.encoding or None,
        given=parsed.given,
        kept=parsed.given - len(parsed.left_out),
        speakers=list(parsed.speakers[:MOST_LISTED]),
        not_understood=[read_line(line) for line in parsed.not_understood[:MOST_LISTED]],
        left_out=[
            LeftOutPiece(at=piece.at, what=piece.what, text=piece.text)
            for piece in parsed.left_out[:MOST_LISTED]
        ],
        repairs=dict(parsed.repairs),
    )


def preview(name: str, parsed: Parsed, role: Literal["source", "draft"]) -> Preview:
    rows = [row[:_LONGEST] for row in parsed.text.split("\n", FIRST)[:FIRST] if row.strip()]
    return Preview(
        **dict(reading(name, parsed)),
        role=role,
        characters=len(parsed.text),
        first_lines=rows,
        lines=[read_line(line) for line in parsed.lines[:FIRST]],
    )
