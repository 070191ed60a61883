"""Reads of what belongs to one run: steps, items, calls, issues, events.

Each list is None when there is no such run (`known`: the caller has read it, so nobody asks); an
empty page means there is nothing yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api import wire
from api.http import cursors
from api.queries.rows import Reader, coded, counted, grouped, page_of
from deploy.database import Row


async def run_exists(reader: Reader, run_id: str) -> bool:
    return await event_seq(reader, run_id) is not None


async def event_seq(reader: Reader, run_id: str) -> int | None:
    """Seq of the run's newest event; None when there is no such run."""
    if not cursors.is_uuid(run_id):
        return None
    found: int | None = await reader.fetchval("SELECT event_seq FROM runs WHERE id = $1", run_id)
    return found


async def steps_page(
    reader: Reader,
    run_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
    *,
    known: bool = False,
) -> wire.Page[wire.Step] | None:
    """By seq: every execution, also those that were stopped."""
    if not (known or await run_exists(reader, run_id)):
        return None
    after = 0 if cursor is None else cursors.decode_seq("steps", cursor)
    rows = await reader.fetch(
        """
        SELECT s.id, s.seq, s.name, s.round, s.attempt, s.status, s.reason_code, s.reason_params,
            s.input_revision, s.output_revision, s.score, s.result, s.worker, s.queued_at,
            s.started_at, s.ended_at, p.done, p.total
        FROM steps s
        LEFT JOIN LATERAL (
            SELECT count(*) AS total,
                -- A plan outlives its executions: what came later is its successor's. A part that
                -- waited for a sibling's commit began before it, so success counts by itself.
                count(*) FILTER (WHERE s.status = 'SUCCEEDED'
                    OR q.done_at <= coalesce(s.ended_at, 'infinity')) AS done
            FROM step_parts q WHERE q.plan_id = s.plan_id
        ) p ON true
        WHERE s.run_id = $1 AND s.seq > $2
        ORDER BY s.seq LIMIT $3
        """,
        run_id,
        after,
        limit + 1,
    )
    page = page_of(rows, limit, _step, lambda row: cursors.encode("steps", (row["seq"],)))
    return counted(page, await _steps_by_status(reader, run_id)) if count else page


async def _steps_by_status(reader: Reader, run_id: str) -> dict[str, int]:
    return grouped(
        await reader.fetch(
            "SELECT status, count(*) AS number FROM steps WHERE run_id = $1 GROUP BY status",
            run_id,
        )
    )


async def items_page(
    reader: Reader,
    run_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
    *,
    known: bool = False,
) -> wire.Page[wire.Item] | None:
    """In the order of arrival; items of void plans too, for they were paid for."""
    if not (known or await run_exists(reader, run_id)):
        return None
    after = None if cursor is None else cursors.decode_moment("items", cursor)
    rows = await reader.fetch(
        """
        SELECT i.id, s.name AS step, s.round, i.part, i.key, i.position, i.payload, i.call_id,
            c.number AS call_number, i.created_at
        FROM (SELECT DISTINCT plan_id FROM steps WHERE run_id = $1) p
        JOIN step_items i ON i.plan_id = p.plan_id
        JOIN steps s ON s.id = i.step_id
        JOIN model_calls c ON c.id = i.call_id
        WHERE $2::timestamptz IS NULL OR (i.created_at, i.id) > ($2, $3::uuid)
        ORDER BY i.created_at, i.id LIMIT $4
        """,
        run_id,
        *(after or (None, None)),
        limit + 1,
    )
    page = page_of(
        rows,
        limit,
        _item,
        lambda row: cursors.encode_moment("items", row["created_at"], row["id"]),
    )
    return counted(page, {"": await _number_of_items(reader, run_id)}) if count else page


async def _number_of_items(reader: Reader, run_id: str) -> int:
    number: int = await reader.fetchval(
        """
        SELECT count(*) FROM (SELECT DISTINCT plan_id FROM steps WHERE run_id = $1) p
        JOIN step_items i ON i.plan_id = p.plan_id
        """,
        run_id,
    )
    return number


async def issues_page(
    reader: Reader,
    run_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
    *,
    known: bool = False,
) -> wire.Page[wire.Issue] | None:
    """By number, the order in which they were raised."""
    if not (known or await run_exists(reader, run_id)):
        return None
    after = 0 if cursor is None else cursors.decode_seq("issues", cursor)
    rows = await reader.fetch(
        """
        SELECT id, number, category, severity, status, quote, problem, suggestion, evidence,
            raised_by, raised_round, seen_round, fixed_round, revision, waived_by, waived_reason,
            created_at, updated_at
        FROM issues WHERE run_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """,
        run_id,
        after,
        limit + 1,
    )
    page = page_of(
        rows,
        limit,
        lambda row: wire.Issue(**dict(row)),
        lambda row: cursors.encode("issues", (row["number"],)),
    )
    return counted(page, await _issues_by_status(reader, run_id)) if count else page


async def _issues_by_status(reader: Reader, run_id: str) -> dict[str, int]:
    return grouped(
        await reader.fetch(
            "SELECT status, count(*) AS number FROM issues WHERE run_id = $1 GROUP BY status",
            run_id,
        )
    )


async def issue(reader: Reader, run_id: str, issue_id: str) -> wire.Issue | None:
    if not (cursors.is_uuid(run_id) and cursors.is_uuid(issue_id)):
        return None
    row = await reader.fetchrow(
        """
        SELECT id, number, category, severity, status, quote, problem, suggestion, evidence,
            raised_by, raised_round, seen_round, fixed_round, revision, waived_by, waived_reason,
            created_at, updated_at
        FROM issues WHERE run_id = $1 AND id = $2
        """,
        run_id,
        issue_id,
    )
    return None if row is None else wire.Issue(**dict(row))


async def events_page(
    reader: Reader,
    run_id: str,
    after: int = 0,
    limit: int = 50,
    *,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[wire.Event] | None:
    """By seq, behind `after` or the cursor, whichever is further on."""
    newest = await event_seq(reader, run_id)
    if newest is None:
        return None
    if cursor is not None:
        after = max(after, cursors.decode_seq("events", cursor))
    rows = await reader.fetch(
        """
        SELECT e.seq, e.type, e.at, e.actor, e.request_id, e.data,
            (SELECT c.text FROM comments c
                WHERE c.id = (e.data->>'comment_id')::uuid) AS comment
        FROM run_events e WHERE e.run_id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3
        """,
        run_id,
        after,
        limit + 1,
    )
    page = page_of(rows, limit, event, lambda row: cursors.encode("events", (row["seq"],)))
    return counted(page, {"": newest}) if count else page


def event(row: Mapping[str, Any] | Row) -> wire.Event:
    """The facts beside the fixed fields, which win where names meet."""
    names = ("seq", "type", "at", "actor", "request_id", "comment")
    fixed = {name: row[name] for name in names}
    return wire.Event(**{**row["data"], **fixed})


def _step(row: Row) -> wire.Step:
    return wire.Step(
        id=row["id"],
        seq=row["seq"],
        name=row["name"],
        round=row["round"],
        attempt=row["attempt"],
        status=row["status"],
        reason=coded(row["reason_code"], row["reason_params"]),
        parts=wire.Parts(done=row["done"], total=row["total"]),
        input_revision=row["input_revision"],
        output_revision=row["output_revision"],
        score=row["score"],
        result=_result(row["result"]),
        worker=row["worker"],
        queued_at=row["queued_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def _result(kept: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without the fingerprints by which reviews are compared: their number."""
    if kept is None or "found" not in kept:
        return kept
    return {**kept, "found": len(kept["found"])}


def _item(row: Row) -> wire.Item:
    values = dict(row)
    del values["id"]
    return wire.Item(**values)
