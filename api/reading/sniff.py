"""What kind of file this is: its content says so before its name does."""

from __future__ import annotations

from pathlib import PurePosixPath

from api.reading.parsed import FileFormat, Unreadable, Why

_TAKEN = "take DOCX, HTML, Markdown, plain text, VTT, SRT or JSON"
_HEARD = "send it as `audio`, or send its transcript"
_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "pdf"),
    (b"\xd0\xcf\x11\xe0", "old_word"),
    (b"{\\rtf", "rtf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "empty_zip"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"RIFF", "recording"),
    (b"ID3", "recording"),
    (b"OggS", "recording"),
    (b"fLaC", "recording"),
    (b"\x1aE\xdf\xa3", "recording"),
    (b"\x1f\x8b", "compressed"),
    (b"7z\xbc\xaf", "compressed"),
    (b"Rar!", "compressed"),
    (b"SQLite format", "database"),
)
_WORDS: dict[str, tuple[str, str]] = {
    "pdf": ("a PDF", f"export the text instead; {_TAKEN}"),
    "old_word": ("an old Word file or one with a password", "save it as DOCX without one"),
    "rtf": ("an RTF file", "save it as DOCX"),
    "zip": ("a ZIP or another Office file", f"unpack or export it; {_TAKEN}"),
    "empty_zip": ("an empty ZIP", _TAKEN),
    "picture": ("a picture", _TAKEN),
    "recording": ("a recording", _HEARD),
    "compressed": ("a compressed file", f"unpack it; {_TAKEN}"),
    "database": ("a database", _TAKEN),
}
"""What such a file is, and what to do instead. Pages have their own words by the code."""
_STILL = (b"heic", b"heix", b"mif1", b"avif")
"""Pictures in the frame of a film, as telephones make them."""
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
    found = next((code for mark, code in _FOREIGN if data.startswith(mark)), None)
    if data[8:12] == b"WEBP" and found:  # a RIFF file too
        found = "picture"
    if data[4:8] == b"ftyp":
        found = "picture" if data[8:12] in _STILL else "recording"
    if found is not None:
        what, act = _WORDS[found]
        told = f"is {what}, which is not read here: {act}"
        raise Unreadable(Why.UNSUPPORTED, told, found=found)


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
