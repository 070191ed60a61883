"""The rows of one run, read past every relay; and what is left of a deleted one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.faults.kit.place import Place

Row: TypeAlias = Any
Call: TypeAlias = Any
OUTLIVE = ("audit_events", "outbox", "workers", "idempotency_keys", "blob_deletions")
"""Tables that may name what was deleted, by codes and ids."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    run: Row
    steps: Sequence[Row]
    calls: Sequence[Call]
    items: Sequence[Row]
    parts: Sequence[Row]
    events: Sequence[Row]
    revisions: Sequence[Row]


async def rows_of(place: Place, run_id: str) -> Rows | None:
    """None when the run is gone."""
    found = await place.sql("SELECT * FROM runs WHERE id = $1", run_id)
    if not found:
        return None
    return Rows(
        run=found[0],
        steps=await place.sql("SELECT * FROM steps WHERE run_id = $1 ORDER BY seq", run_id),
        calls=await place.sql(
            """
            SELECT c.*, s.worker, s.reason_code FROM model_calls c JOIN steps s ON s.id = c.step_id
            WHERE c.run_id = $1 ORDER BY c.started_at
            """,
            run_id,
        ),
        items=await place.sql(
            """
            SELECT i.plan_id, i.part, i.key, i.payload, i.created_at FROM step_items i
            JOIN step_plans p ON p.id = i.plan_id WHERE p.run_id = $1
            """,
            run_id,
        ),
        parts=await place.sql(
            """
            SELECT a.plan_id, a.part, a.done_at FROM step_parts a
            JOIN step_plans p ON p.id = a.plan_id WHERE p.run_id = $1
            """,
            run_id,
        ),
        events=await place.sql(
            "SELECT seq, type, data, at FROM run_events WHERE run_id = $1 ORDER BY seq", run_id
        ),
        revisions=await place.sql(
            """
            SELECT number, step_id, run_id FROM revisions WHERE document_id = $1 ORDER BY number
            """,
            found[0]["document_id"],
        ),
    )


async def still_open(place: Place, run_id: str) -> bool:
    """Whether a step is RUNNING, a call STARTED or a signal due."""
    [row] = await place.sql(
        """
        SELECT EXISTS (SELECT FROM steps WHERE run_id = $1 AND status = 'RUNNING')
            OR EXISTS (SELECT FROM model_calls WHERE run_id = $1 AND status = 'STARTED')
            OR EXISTS (SELECT FROM runs WHERE id = $1 AND move_seq > signalled_seq) AS open
        """,
        run_id,
    )
    return bool(row["open"])


async def left_of(place: Place, ids: Sequence[str]) -> list[str]:
    """`table.column` of every id column that still holds one of these."""
    columns = await place.sql(
        """
        SELECT c.table_name, c.column_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type = 'uuid'
        """
    )
    found = []
    for table, column in columns:
        if table in OUTLIVE:
            continue
        query = f'SELECT count(*) AS n FROM "{table}" WHERE "{column}" = ANY ($1::uuid[])'  # noqa: S608
        [row] = await place.sql(query, list(ids))
        if row["n"]:
            found.append(f"{table}.{column}: {row['n']}")
    return found


async def running_elsewhere(place: Place) -> Sequence[Row]:
    """(id, status, event_seq) of every run."""
    return await place.sql("SELECT id, status, event_seq FROM runs WHERE status = 'RUNNING'")
