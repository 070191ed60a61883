"""WebVTT and SRT, line by line, so that every line of the file is accounted for.

Shapes: the WebVTT standard (voice tags `<v Name>`, cue settings, NOTE, STYLE, REGION) and SubRip.
Teams writes VTT with a voice tag and ids like `uuid/12-0`; Zoom writes VTT with counted ids and
`Name: text`; 飞书 and 腾讯会议 write SRT. Cues may overlap, stand out of order or hold blank lines.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from api.reading.parsed import FileFormat, LeftOut, Line, Parsed, Unreadable, Why, spoken
from api.reading.times import milliseconds
from workflows.kinds.lines import split_speaker

_TIMING = re.compile(r"^\s*(\S+)\s+-->\s+(\S+)(?:\s+(\S.*))?$")
_ID = re.compile(r"^(?:\d{1,9}|[0-9a-fA-F-]{16,}(?:/\d+-\d+)?)$")
_VOICE = re.compile(r"<v(?:\.[^\s>.]{1,50}){0,9}[ \t]+([^<>\n]{0,200})>|</v>")
_TAG = re.compile(r"</?(?:[cibu]|ruby|rt|lang|font)(?:[.\s][^<>\n]{0,200})?>|<\d[\d:.]{3,14}>")
_OVERRIDE = re.compile(r"\{\\an?\d\}")
_BLOCKS = ("NOTE", "STYLE", "REGION")
_SHOWN = 200


@dataclass(kw_only=True)
class _Cue:
    """A cue being read: the rows of its text with their line numbers."""

    at: int
    start: int | None
    end: int | None
    rows: list[tuple[int, str]] = field(default_factory=list)


@dataclass(kw_only=True)
class _Reading:
    """One pass over the rows of a file."""

    rows: Sequence[str]
    lines: list[Line] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    cue: _Cue | None = None
    newest: int = 0

    def row(self, index: int) -> str:
        return self.rows[index].strip() if index < len(self.rows) else ""

    def read(self, index: int) -> int:
        """Takes what begins at this row; the index of the row after it."""
        row = self.row(index)
        if not row:
            return index + 1
        if "-->" in row:
            return self._timing(index)
        if "-->" in self.row(index + 1) and self._identifier(index):
            return index + 1
        if row.split(maxsplit=1)[0] in _BLOCKS and not self.row(index - 1):
            return self._block(index)
        if self.cue is None:
            self.lines.append(Line(text=row, at=index + 1, understood=False))
        else:
            if not self.row(index - 1):
                self.repairs["blank_line_in_cue"] += 1
            self.cue.rows.append((index + 1, row))
        return index + 1

    def _identifier(self, index: int) -> bool:
        """Whether the row before a timing is its identifier; one that holds words is listed."""
        row = self.row(index)
        if _ID.match(row):
            return True
        if index and self.row(index - 1):
            return False  # the blank line between two cues is missing
        self.left_out.append(LeftOut(at=index + 1, what="identifier", text=row[:_SHOWN]))
        return True

    def _timing(self, index: int) -> int:
        self.finish()
        found = _TIMING.match(self.row(index))
        start = milliseconds(found.group(1)) if found else None
        end = milliseconds(found.group(2)) if found else None
        if start is None or end is None:
            self.lines.append(Line(text=self.row(index), at=index + 1, understood=False))
            start = end = None
        elif end < start:
            self.repairs["ends_before_it_begins"] += 1
            end = None
        if start is not None:
            self.repairs["out_of_order"] += start < self.newest
            self.newest = max(self.newest, start)
        self.cue = _Cue(at=index + 1, start=start, end=end)
        return index + 1

    def _block(self, index: int) -> int:
        self.finish()
        last = index
        while self.row(last + 1) and "-->" not in self.row(last + 1):
            last += 1
        what = self.row(index).split(maxsplit=1)[0].lower()
        text = " ".join(self.row(at) for at in range(index, last + 1))
        self.left_out.append(LeftOut(at=index + 1, what=what, text=text[:_SHOWN]))
        return last + 1

    def finish(self) -> None:
        """The cue read so far becomes lines: one for each speaker in it."""
        cue, self.cue = self.cue, None
        if cue is None:
            return
        said = _said(cue.rows)
        if not said and cue.start is not None:
            self.repairs["empty_cue"] += 1
            said = [(cue.at, "", "")]
        self.lines += [
            Line(text=text, at=at, speaker=speaker, start=cue.start, end=cue.end)
            for at, speaker, text in said
        ]


def _said(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str, str]]:
    """(line number, speaker, text) for each stretch of one speaker."""
    found: list[tuple[int, str, str]] = []
    voice: str | None = None
    for at, row in rows:
        position = 0
        for tag in [*_VOICE.finditer(row), None]:
            text = _plain(row[position : tag.start() if tag else len(row)])
            if text:
                _add(found, at, voice, text)
            if tag is not None:
                voice = _plain(tag.group(1)) if tag.group(1) is not None else None
                position = tag.end()
    if not found and voice:
        found.append((rows[0][0], voice, ""))
    return found


def _add(found: list[tuple[int, str, str]], at: int, voice: str | None, text: str) -> None:
    speaker, said = (voice, text) if voice is not None else split_speaker(text)
    same = bool(found) and (found[-1][1] == speaker if voice is not None else not speaker)
    if same:
        first, who, before = found[-1]
        found[-1] = (first, who, f"{before} {said}".strip())
    else:
        found.append((at, speaker, said))


def _plain(text: str) -> str:
    """Without markup of captions, entities decoded, white space of one kind."""
    return " ".join(html.unescape(_OVERRIDE.sub("", _TAG.sub("", text))).split())


def is_vtt(text: str) -> bool:
    return re.match(r"WEBVTT(?:[ \t].*)?(?:\n|$)", text) is not None


def is_srt(text: str) -> bool:
    first = re.match(r"\s*(?:\d{1,9}[ \t]*\n)?\s*(\S+)[ \t]+-->[ \t]+(\S+)", text)
    return first is not None and milliseconds(first.group(1)) is not None


def read_captions(text: str, file_format: FileFormat) -> Parsed:
    """A transcript of `WEBVTT` or SubRip text with line ends `\\n`. Raises Unreadable."""
    rows = text.split("\n")
    reading = _Reading(rows=rows)
    index = 0
    if file_format is FileFormat.VTT:
        index = _header(reading)
    while index < len(rows):
        index = reading.read(index)
    reading.finish()
    if not any(line.understood for line in reading.lines):
        detail = "holds no cue: no line like 00:00:05.000 --> 00:00:08.000 with a text under it"
        raise Unreadable(Why.NOTHING_SAID, detail)
    return spoken(file_format, reading.lines, reading.left_out, reading.repairs)


def _header(reading: _Reading) -> int:
    """Words after `WEBVTT` and the lines up to the first blank one are about the file."""
    index, words = 1, reading.row(0).removeprefix("WEBVTT").strip()
    if words:
        reading.left_out.append(LeftOut(at=1, what="header", text=words[:_SHOWN]))
    while reading.row(index) and "-->" not in reading.row(index):
        if "-->" in reading.row(index + 1):
            break  # an identifier: the blank line after the header is missing
        text = reading.row(index)[:_SHOWN]
        reading.left_out.append(LeftOut(at=index + 1, what="header", text=text))
        index += 1
    return index
