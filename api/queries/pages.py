"""Reads that only the pages need: titles of runs; and moves of issues, out of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from api import wire
from api.queries.rows import Reader
from workflows.vocabulary import EventType

ISSUE_MOVES = [
    str(type_)
    for type_ in (
        EventType.ISSUE_RAISED,
        EventType.ISSUE_FIXED,
        EventType.ISSUE_REOPENED,
        EventType.ISSUE_WAIVED,
    )
]


@dataclass(frozen=True, kw_only=True)
class IssueMove:
    """An event about the issue `number`; `round` is None where a person waived or opened it."""

    type: str
    number: int
    round: int | None
    raised_by: str


async def run_titles(reader: Reader, run_ids: Sequence[str]) -> Mapping[str, str]:
    """The titles of these runs by id."""
    rows = await reader.fetch(
        """
        SELECT r.id, d.title FROM runs r JOIN documents d ON d.id = r.document_id
        WHERE r.id = ANY ($1::uuid[])
        """,
        list(run_ids),
    )
    return {row["id"]: row["title"] for row in rows}


def issue_moves(events: Iterable[wire.Event]) -> list[IssueMove]:
    """In the order in which they happened."""
    return [_issue_move(one) for one in events if one.type in ISSUE_MOVES]


def _issue_move(event: wire.Event) -> IssueMove:
    data = event.model_extra or {}
    return IssueMove(
        type=event.type,
        number=data["number"],
        round=data.get("round"),
        raised_by=data.get("raised_by") or "",
    )
