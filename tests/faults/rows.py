"""What is left in any table of things that should be gone."""

from __future__ import annotations

from tests.stack import Stack

OUTLIVE = {"audit_events", "outbox", "workers", "idempotency_keys"}
"""Tables that may name what was deleted: codes and ids only; answers of keys are emptied."""


async def left_of(stack: Stack, ids: list[str]) -> list[str]:
    """Tables of which a row still holds one of these ids, in whatever column or document."""
    tables = await stack.sql(
        """
        SELECT table_name FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name
        """
    )
    found = []
    for [table] in tables:
        if table in OUTLIVE:
            continue
        query = f'SELECT count(*) FROM "{table}" t WHERE t::text ~ $1'  # noqa: S608
        [row] = await stack.sql(query, "|".join(ids))
        if row["count"]:
            found.append(table)
    return found


async def children_of(stack: Stack, run_ids: list[str]) -> list[str]:
    """Ids of plans, steps and calls of these runs, whose rows hang on rows that hang on a run."""
    rows = await stack.sql(
        """
        SELECT id FROM step_plans WHERE run_id = ANY ($1::uuid[])
        UNION ALL SELECT id FROM steps WHERE run_id = ANY ($1::uuid[])
        UNION ALL SELECT id FROM model_calls WHERE run_id = ANY ($1::uuid[])
        """,
        run_ids,
    )
    return [row["id"] for row in rows]
