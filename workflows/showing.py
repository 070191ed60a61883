"""What a kind brings to show a revision as more than its text: a trip day by day, with its costs.

A kind has it by an attribute `schedule`: a pure function of the material and a body. Pages render
what it returns; a kind without one, or a body that is no schedule, is shown as the text it is.
Nothing of the body is left out: what the kind cannot place comes back as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

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


Shown: TypeAlias = Callable[[Material, str], Schedule | None]


def schedule_of(kind: object, material: Material, body: str) -> Schedule | None:
    """The body as a schedule; None for kinds without one and for bodies that are none."""
    show: Shown | None = getattr(kind, "schedule", None)
    return None if show is None else show(material, body)
