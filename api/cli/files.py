"""Files that a person names: a text that is sent as a text is read here as uploads are read; what
goes up as a file is read by the service, which tells what of it was not understood."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.client import UsageError
from api.cli.language import sentence, tell
from api.cli.show import complain
from api.cli.words import clean, one_line
from api.texts.codes import N_

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

    where = tell("standard input") if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        told = N_("{name} cannot be read: {why}")
        raise UsageError(tell(told, name=where, why=error.strerror)) from error
    try:
        parsed = read(data, name="" if name == "-" else Path(name).name, encoding=encoding)
    except Unreadable as refused:
        facts = {**refused.params, "detail": refused.detail}
        why = sentence("field", str(refused.why), facts) or refused.detail
        raise UsageError(f"{where}: {why}") from refused
    left_out = [{"what": piece.what, "text": piece.text} for piece in parsed.left_out]
    lines = [{"at": line.at, "text": line.text} for line in parsed.not_understood]
    facts = {"left_out": left_out, "not_understood": lines, "repairs": parsed.repairs}
    say_readings([{"name": where, **facts}])
    return parsed


def say_readings(readings: Sequence[Mapping[str, Any]]) -> None:
    """On standard error, what a person should know of how files were read."""
    for one in readings:
        told = [
            tell("line {at} was not understood: {text}", at=line["at"], text=line["text"])
            for line in one.get("not_understood", ())
        ]
        told += [
            tell("left out, {what}: {text}", what=_named("left_out", piece), text=piece["text"])
            for piece in one["left_out"]
        ]
        for name, count in one["repairs"].items():
            told.append(f"{sentence('repair', name) or name.replace('_', ' ')}: {count}")
        for fact in told[:_MOST_SHOWN]:
            complain(f"redraft: {clean(one['name'])}: {one_line(fact, _LONGEST)}")
        if more := told[_MOST_SHOWN:]:
            rest = tell("… and {count} more of these", count=len(more))
            complain(f"redraft: {clean(one['name'])}: {rest}")


def _named(family: str, piece: Mapping[str, Any]) -> str:
    return sentence(family, str(piece["what"])) or str(piece["what"])
