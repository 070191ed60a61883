"""Files that a person names: a text that is sent as a text is read here as uploads are read; what
goes up as a file is read by the service, which tells what of it was not understood."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.client import UsageError
from api.cli.show import complain
from api.cli.words import clean, one_line

if TYPE_CHECKING:
    from api.reading.parsed import Parsed

_MOST_SHOWN = 5
_LONGEST = 80


def read_text(name: str, encoding: str | None = None) -> str:
    """A text to be made right, as Markdown; raises UsageError and says what to do."""
    from api.reading.drafts import read_draft

    return _read(read_draft, name, encoding).text


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
    left_out = [{"what": piece.what, "text": piece.text} for piece in parsed.left_out]
    lines = [{"at": line.at, "text": line.text} for line in parsed.not_understood]
    facts = {"left_out": left_out, "not_understood": lines, "repairs": parsed.repairs}
    tell([{"name": where, **facts}])
    return parsed


def tell(readings: Sequence[Mapping[str, Any]]) -> None:
    """On standard error, what a person should know of how files were read."""
    for one in readings:
        told = [
            f"line {line['at']} was not understood: {line['text']}"
            for line in one.get("not_understood", ())
        ]
        told += [f"left out, {piece['what']}: {piece['text']}" for piece in one["left_out"]]
        told += [f"{name.replace('_', ' ')}: {count}" for name, count in one["repairs"].items()]
        for fact in told[:_MOST_SHOWN]:
            complain(f"redraft: {clean(one['name'])}: {one_line(fact, _LONGEST)}")
        if len(told) > _MOST_SHOWN:
            complain(
                f"redraft: {clean(one['name'])}: … and {len(told) - _MOST_SHOWN} more of these"
            )
