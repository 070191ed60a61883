"""What a kind brings for the export of its documents: pure functions by the format's name.

Every document can be had as md, docx, html and json (`api.files.exports`). A kind that `Exports`
adds a format, or takes one over: {"ics": calendar_of}. What it does not name stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class Exportable:
    """One revision of a document, as an exporter is given it.

    `facts` is what the JSON export says of it (document, revision, author, issues, run): a kind's
    own json adds to it. `made_at` is when the revision was stored, so an export repeats itself byte
    for byte.
    """

    document_id: str
    title: str
    language: str | None
    attributes: Mapping[str, Any]
    body: str
    revision: int
    made_at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Exported:
    """The file: its bytes and their media type."""

    content: bytes
    media_type: str


class NotExportable(Exception):
    """This text has no such form; the message says why and what to do, in English."""


Exporter: TypeAlias = Callable[[Exportable], Exported]
"""Raises NotExportable."""


@runtime_checkable
class Exports(Protocol):
    """A kind that brings formats of its own."""

    @property
    def exporters(self) -> Mapping[str, Exporter]: ...


def exporters_of(kind: object) -> Mapping[str, Exporter]:
    """The formats this kind brings itself, by name; {} for one that brings none."""
    return kind.exporters if isinstance(kind, Exports) else {}
