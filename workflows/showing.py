"""What a kind brings to show a revision as more than its text: a trip day by day, with its costs.

A kind has it by being `Shows`. Pages render what it returns; a kind that is not, or a body that is
no schedule, is shown as the text it is. Nothing of the body is left out: what the kind cannot place
comes back as Markdown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from workflows.kinds.kind import Material


@dataclass(frozen=True, kw_only=True)
class Line:
    """One entry of a section; '' where it says nothing. `sort` names what it is, for its looks;
    `text` is the line as it stands in the body, by which issues quote it."""

    times: str
    word: str
    name: str
    cost: str
    sort: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A day: its name, further facts (date, place), and what stands in it in its order. A piece
    that is a text is Markdown; `text` is the heading as it stands in the body."""

    title: str
    facts: tuple[str, ...]
    pieces: tuple[Line | str, ...]
    cost: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells as texts; the first of a row names it. `notes` stand below."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The whole body in its order; a piece that is a text is Markdown."""

    pieces: tuple[Section | Table | str, ...]


@runtime_checkable
class Shows(Protocol):
    """A kind that shows its documents as more than text."""

    def schedule(self, material: Material, body: str) -> Schedule | None:
        """Pure. None for a body that is no schedule."""
        ...


def schedule_of(kind: object, material: Material, body: str) -> Schedule | None:
    """The body as a schedule; None for kinds without one and for bodies that are none."""
    return kind.schedule(material, body) if isinstance(kind, Shows) else None
