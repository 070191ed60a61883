"""Reading what a document is checked against: transcripts in all their forms, notes, data.

A transcript becomes one line for each thing said: `[00:00:05] Ana Ruiz: We ship.` Plain text and
Markdown without such turns stay as they are, line for line, so that T12 is their twelfth line.
"""

from __future__ import annotations

from dataclasses import replace

from api.reading import captions, markup, segments, sniff, turns, word
from api.reading.encodings import decode
from api.reading.parsed import FileFormat, LeftOut, Line, Parsed, Unreadable, Why
from workflows.kinds.lines import split_speaker

LARGEST = 5_000_000
"""Bytes of one file."""


def read_source(
    data: bytes, *, name: str = "", media_type: str = "", encoding: str | None = None
) -> Parsed:
    """The file as lines. `encoding` is what a person named. Raises Unreadable."""
    check_size(data)
    named = sniff.named_format(name, media_type)
    if word.is_docx(data):
        return _renamed(_word(data), named)
    word.refuse_broken(data, named=named is FileFormat.DOCX)
    sniff.refuse_foreign(data)
    decoded = decode(data, encoding)
    parsed = _read_text(unify_line_ends(decoded.text), named)
    return _renamed(replace(parsed, encoding=decoded.encoding), named)


def check_size(data: bytes) -> None:
    if len(data) > LARGEST:
        detail = f"has {len(data)} bytes, at most {LARGEST} are read; cut it into several sources"
        raise Unreadable(Why.TOO_LARGE, detail, limit=LARGEST)


def unify_line_ends(text: str) -> str:
    """Line ends of all systems become one kind; those that only some programs know stay text."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_text(text: str, named: FileFormat) -> Parsed:
    if captions.is_vtt(text):
        return captions.read_captions(text, FileFormat.VTT)
    if captions.is_srt(text):
        return captions.read_captions(text, FileFormat.SRT)
    if named is FileFormat.HTML or sniff.looks_like_html(text):
        return _html(text)
    if named is FileFormat.JSON and text.lstrip().startswith(("{", "[")):
        return segments.read_json(text)
    plain = FileFormat.MARKDOWN if named is FileFormat.MARKDOWN else FileFormat.TEXT
    return turns.read_turns(text, plain) or _as_it_stands(text, plain)


def _as_it_stands(text: str, file_format: FileFormat) -> Parsed:
    lines = []
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            speaker, said = split_speaker(row)
            lines.append(Line(text=said, at=number, speaker=speaker))
    return Parsed(format=file_format, text=text, given=len(lines), lines=tuple(lines))


def _word(data: bytes) -> Parsed:
    html, left_out = word.to_html(data)
    return _blocks(html, FileFormat.DOCX, left_out)


def _html(text: str) -> Parsed:
    return _blocks(text, FileFormat.HTML, [])


def _blocks(html: str, file_format: FileFormat, left_out: list[LeftOut]) -> Parsed:
    """A transcript that was laid out: its blocks are its lines."""
    safe, dropped, unsafe = markup.clean(html)
    text = "".join(f"{row.strip()}\n" for row in markup.to_lines(safe))
    if not text.strip():
        raise Unreadable(Why.NOTHING_SAID, "holds no text; look whether it is the right file")
    parsed = turns.read_turns(text, file_format) or _as_it_stands(text, file_format)
    gone = (*parsed.left_out, *left_out, *dropped)
    repairs = {**parsed.repairs, **({"unsafe_attribute": unsafe} if unsafe else {})}
    return replace(parsed, left_out=gone, given=len(parsed.lines) + len(gone), repairs=repairs)


def _renamed(parsed: Parsed, named: FileFormat) -> Parsed:
    """Says so when the name promised another format than the content has."""
    actual = FileFormat.JSON if parsed.format is FileFormat.DATA else parsed.format
    alike = {FileFormat.TEXT, FileFormat.MARKDOWN}
    if named is actual or {named, actual} <= alike or named is FileFormat.TEXT:
        return parsed
    return replace(parsed, repairs={**parsed.repairs, "other_format_than_named": 1})
