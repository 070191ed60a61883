"""What kind of file this is: its content says so before its name does."""

from __future__ import annotations

from pathlib import PurePosixPath

from api.reading.parsed import FileFormat, Unreadable, Why

_TAKEN = "take DOCX, HTML, Markdown, plain text, VTT, SRT or JSON"
_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "a PDF", f"export the text instead; {_TAKEN}"),
    (b"\xd0\xcf\x11\xe0", "an old Word file or one with a password", "save it as DOCX without one"),
    (b"{\\rtf", "an RTF file", "save it as DOCX"),
    (b"PK\x03\x04", "a ZIP or another Office file", f"unpack or export it; {_TAKEN}"),
    (b"PK\x05\x06", "an empty ZIP", _TAKEN),
    (b"\x89PNG", "a picture", _TAKEN),
    (b"\xff\xd8\xff", "a picture", _TAKEN),
    (b"GIF8", "a picture", _TAKEN),
    (b"RIFF", "a recording", "send it as `audio`, or send its transcript"),
    (b"ID3", "a recording", "send it as `audio`, or send its transcript"),
    (b"OggS", "a recording", "send it as `audio`, or send its transcript"),
    (b"fLaC", "a recording", "send it as `audio`, or send its transcript"),
    (b"\x1aE\xdf\xa3", "a recording", "send it as `audio`, or send its transcript"),
    (b"\x1f\x8b", "a compressed file", f"unpack it; {_TAKEN}"),
    (b"7z\xbc\xaf", "a compressed file", f"unpack it; {_TAKEN}"),
    (b"Rar!", "a compressed file", f"unpack it; {_TAKEN}"),
    (b"SQLite format", "a database", _TAKEN),
)
_ENDINGS = {
    "md": FileFormat.MARKDOWN,
    "markdown": FileFormat.MARKDOWN,
    "vtt": FileFormat.VTT,
    "srt": FileFormat.SRT,
    "json": FileFormat.JSON,
    "html": FileFormat.HTML,
    "htm": FileFormat.HTML,
    "docx": FileFormat.DOCX,
}
_TYPES = {
    "text/markdown": FileFormat.MARKDOWN,
    "text/vtt": FileFormat.VTT,
    "application/x-subrip": FileFormat.SRT,
    "application/json": FileFormat.JSON,
    "text/html": FileFormat.HTML,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": FileFormat.DOCX,
}
MEDIA_TYPES = {found: name for name, found in _TYPES.items()} | {
    FileFormat.TEXT: "text/plain",
    FileFormat.DATA: "application/json",
}


def refuse_foreign(data: bytes) -> None:
    """Raises Unreadable for files that hold no text, with what to do instead."""
    for mark, what, act in _FOREIGN:
        if data.startswith(mark):
            raise Unreadable(Why.UNSUPPORTED, f"is {what}, which is not read here: {act}")
    if data[4:8] == b"ftyp":
        act = "send it as `audio`, or send its transcript"
        raise Unreadable(Why.UNSUPPORTED, f"is a recording, which is not read here: {act}")


def named_format(name: str, media_type: str) -> FileFormat:
    """What the file's name, else its media type, says it is; plain text when neither does."""
    ending = PurePosixPath(name.replace("\\", "/")).suffix.lower().lstrip(".")
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if ending == "txt":
        return FileFormat.TEXT
    return _TYPES.get(media_type.partition(";")[0].strip().lower(), FileFormat.TEXT)


def media_type_of(name: str) -> str:
    """The media type that a file's name stands for."""
    return MEDIA_TYPES[named_format(name, "")]


def looks_like_html(text: str) -> bool:
    head = text[:1000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html", "<?xml")) and "<html" in head
