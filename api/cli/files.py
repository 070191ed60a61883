"""Reading files that a person names, in all the forms that uploads are read in, and telling what
of them was not understood."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.client import UsageError
from api.cli.show import complain
from api.cli.words import one_line

if TYPE_CHECKING:
    from api.reading.parsed import Parsed

_MOST_SHOWN = 5
_LONGEST = 80


def read_text(name: str, encoding: str | None = None) -> str:
    """A text to be made right, as Markdown; raises UsageError and says what to do."""
    from api.reading.drafts import read_draft

    return _read(read_draft, name, encoding).text


def read_source(name: str, encoding: str | None = None) -> dict[str, Any]:
    """A source as the API takes it, a line for each thing said; raises UsageError."""
    from api.reading import sniff, sources

    parsed = _read(sources.read_source, name, encoding)
    return {
        "name": "stdin" if name == "-" else Path(name).name,
        "media_type": _CSV if name.lower().endswith(".csv") else sniff.media_type_of(name),
        "text": parsed.text,
    }


_CSV = "text/csv"


def _read(read: Callable[..., Parsed], name: str, encoding: str | None) -> Parsed:
    from api.reading.parsed import Unreadable

    where = "standard input" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{where} cannot be read: {error.strerror}") from error
    try:
        parsed = read(data, name="" if name == "-" else Path(name).name, encoding=encoding)
    except Unreadable as refused:
        raise UsageError(f"{where}: {refused.detail}") from refused
    _tell(where, parsed)
    return parsed


def _tell(where: str, parsed: Parsed) -> None:
    """On standard error, what a person should know of how the file was read."""
    told = [f"line {line.at} was not understood: {line.text}" for line in parsed.not_understood]
    told += [f"left out, {piece.what}: {piece.text}" for piece in parsed.left_out]
    told += [f"{name.replace('_', ' ')}: {count}" for name, count in parsed.repairs.items()]
    for fact in told[:_MOST_SHOWN]:
        complain(f"redraft: {where}: {one_line(fact, _LONGEST)}")
    if len(told) > _MOST_SHOWN:
        complain(f"redraft: {where}: … and {len(told) - _MOST_SHOWN} more of these")


def title_of(name: str, text: str) -> str:
    """The first heading, else the name of the file, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("#") and line.lstrip("#").strip():
            return line.lstrip("#").strip()[:200]
    stem = "" if name == "-" else Path(name).stem.replace("_", " ").strip()
    return (stem or lines[0])[:200]
