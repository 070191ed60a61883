"""Reads that only the pages need: titles of runs, why the rounds changed, moves of issues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.queries.rows import Reader
from workflows.vocabulary import EventType

_ISSUE_MOVES = [
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


async def rounds_change(reader: Reader, run_id: str) -> Mapping[str, Any] | None:
    """The newest event that set another limit of rounds: its type, and its data."""
    row = await reader.fetchrow(
        """
        SELECT type, data FROM run_events
        WHERE run_id = $1 AND (type = $2 OR (type = $3 AND data ? 'max_rounds'))
        ORDER BY seq DESC LIMIT 1
        """,
        run_id,
        EventType.RUN_REWORK,
        EventType.LIMITS_RAISED,
    )
    return None if row is None else {"type": row["type"], **row["data"]}


async def issue_moves(reader: Reader, run_id: str) -> Sequence[IssueMove]:
    """In the order in which they happened."""
    rows = await reader.fetch(
        """
        SELECT type, (data ->> 'number')::int AS number, (data ->> 'round')::int AS round,
            coalesce(data ->> 'raised_by', '') AS raised_by
        FROM run_events
        WHERE run_id = $1 AND type = ANY ($2::text[]) ORDER BY seq
        """,
        run_id,
        _ISSUE_MOVES,
    )
    return [IssueMove(**dict(row)) for row in rows]
