"""Reading texts that a person names: files in UTF-8 or with a byte order mark, standard input."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path

from api.cli_client import UsageError

TEXT_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".vtt": "text/vtt",
    ".srt": "application/x-subrip",
    ".json": "application/json",
    ".html": "text/html",
    ".csv": "text/csv",
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`; raises UsageError and says what to do."""
    where = "standard input" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{where} cannot be read: {error.strerror}") from error
    text = decode(data, where)
    if not text.strip():
        raise UsageError(f"{where} is empty")
    return text


def decode(data: bytes, where: str) -> str:
    """UTF-8, or what the byte order mark says; line ends become one kind."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        if data.startswith(_UTF32):
            raise ValueError("UTF-32")
        text = data.decode(encoding)
    except ValueError as error:
        at = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise UsageError(
            f"{where} is neither UTF-8 nor UTF-16 with a byte order mark{at}; "
            f"convert it first, for example: iconv -f GB18030 -t UTF-8 {where}"
        ) from error
    if "\x00" in text:
        raise UsageError(f"{where} holds NUL characters: it is no text file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def title_of(name: str, text: str) -> str:
    """The first heading, else the name of the file, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("#") and line.lstrip("#").strip():
            return line.lstrip("#").strip()[:200]
    stem = "" if name == "-" else Path(name).stem.replace("_", " ").strip()
    return (stem or lines[0])[:200]
