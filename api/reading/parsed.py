"""What a file became: its lines in one normal form, and a full account of what it held.

Count in = count out: `given` pieces were found; each is one of `lines` (and so in the text, also
when it was not understood) or one of `left_out`, which names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from api.reading.times import clock

UNKNOWN = "unknown"
"""What a line's speaker is called when the file names none."""


class FileFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    VTT = "vtt"
    SRT = "srt"
    JSON = "json"
    DATA = "data"
    DOCX = "docx"
    HTML = "html"


class Why(StrEnum):
    """Why a file cannot be read; each has one sentence with the next act, in `Unreadable`."""

    EMPTY = "empty"
    NOTHING_SAID = "nothing_said"
    ENCODING_UNKNOWN = "encoding_unknown"
    ENCODING_MIXED = "encoding_mixed"
    ENCODING_WRONG = "encoding_wrong"
    NUL = "nul"
    TOO_LARGE = "too_large"
    ZIP_BOMB = "zip_bomb"
    DOCX_BROKEN = "docx_broken"
    DOCX_LOCKED = "docx_locked"
    XML_ENTITIES = "xml_entities"
    HTML_BROKEN = "html_broken"
    JSON_BROKEN = "json_broken"
    UNSUPPORTED = "unsupported"


class Unreadable(Exception):
    """This file is not taken; nothing of it was kept. `params` are the facts of the sentence."""

    def __init__(self, why: Why, detail: str, **params: Any) -> None:
        super().__init__(detail)
        self.why, self.detail, self.params = why, detail, params


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing said, or one line of a text. Times are milliseconds from the beginning.

    `at` is the line of the file (counted from 1) where it begins; a line that was not understood
    stands in the text as it stood in the file.
    """

    text: str
    at: int
    speaker: str = ""
    start: int | None = None
    end: int | None = None
    understood: bool = True

    def render(self) -> str:
        stamp = "" if self.start is None else f"[{clock(self.start)}] "
        who = f"{self.speaker}: " if self.speaker else ""
        return f"{stamp}{who}{self.text}".rstrip()


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A piece of the file that is not in the text: its place, what it was, and its beginning."""

    at: int
    what: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """A file as it was read. `text` is what is stored, `repairs` counts what was set right."""

    format: FileFormat
    text: str
    given: int
    encoding: str = ""
    vendor: str = ""
    lines: tuple[Line, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    repairs: Mapping[str, int] = field(default_factory=dict)

    @property
    def not_understood(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if not line.understood)

    @property
    def speakers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.speaker for line in self.lines if line.speaker))

    @property
    def headings(self) -> tuple[Line, ...]:
        """Lines of nobody where others have a speaker: titles, dates, who was there."""
        told = tuple(
            line
            for line in self.lines
            if line.understood and not line.speaker and line.start is None
        )
        return told if self.speakers else ()

    @property
    def changed(self) -> bool:
        """Whether the text is not the file's own: the original is then worth keeping."""
        return self.format not in (FileFormat.TEXT, FileFormat.MARKDOWN, FileFormat.DATA) or bool(
            self.vendor
        )


def spoken(
    file_format: FileFormat,
    lines: list[Line],
    left_out: list[LeftOut],
    repairs: Counter[str],
    *,
    vendor: str = "",
) -> Parsed:
    """A transcript in the normal form: a line of text for each line."""
    return Parsed(
        format=file_format,
        vendor=vendor,
        text="".join(f"{line.render()}\n" for line in lines),
        given=len(lines) + len(left_out),
        lines=tuple(lines),
        left_out=tuple(left_out),
        repairs={name: count for name, count in repairs.items() if count},
    )
