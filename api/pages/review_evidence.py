"""The lines of the sources that an issue rests on, with their neighbours and their sound. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from api import wire
from api.pages.spoken import SpokenLine, spoken

_AROUND = 1
_LONGEST = 400
_NAME = re.compile(r"T[1-9]\d{0,6}")


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A line of a source; `meant` is the one that was named."""

    name: str
    line: SpokenLine
    meant: bool


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """`sound` is the address of the source's recording, '' without one."""

    source: str
    source_id: str
    sound: str
    lines: tuple[Heard, ...]

    @property
    def meant(self) -> SpokenLine:
        return next(heard.line for heard in self.lines if heard.meant)


def excerpts(sources: Sequence[wire.Source], issues: Iterable[wire.Issue]) -> Mapping[str, Excerpt]:
    """By the line's name (T12 is the twelfth through all sources, as prompts number them)."""
    wanted = {name for issue in issues for name in issue.evidence if _NAME.fullmatch(name)}
    if not wanted:
        return {}
    found: dict[str, Excerpt] = {}
    before = 0
    for source in sources:
        lines = source.text.splitlines()
        for name in wanted:
            at = int(name[1:]) - before - 1
            if 0 <= at < len(lines):
                found[name] = _excerpt(source, lines, at, before)
        before += len(lines)
    return found


def _excerpt(source: wire.Source, lines: Sequence[str], at: int, before: int) -> Excerpt:
    sound = f"/api/documents/{source.document_id}/sources/{source.id}/audio"
    near = range(max(0, at - _AROUND), min(len(lines), at + _AROUND + 1))
    return Excerpt(
        source=source.name,
        source_id=source.id,
        sound=sound if source.has_audio else "",
        lines=tuple(
            Heard(name=f"T{before + place + 1}", line=_line(lines[place]), meant=place == at)
            for place in near
            if place == at or lines[place].strip()
        ),
    )


def _line(text: str) -> SpokenLine:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    return next(spoken(shown), SpokenLine(text=""))
