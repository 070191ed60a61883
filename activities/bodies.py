"""What was said in a call: the recipe of its prompt when it opens, the reply when it closes.

The prompt itself is not kept: the recipe names its pieces (sources, revision, issues, kept items,
kind version), and the call's hash tells whether what is made of them is the same. The retention of
bodies is their own (`REDRAFT_BODY_RETENTION_DAYS`, 0 keeps none); they go with their document.
Reasoning that a provider shows beside the content is counted and not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deploy.database import Connection, Pool, clean

BATCH = 2_000
"""Rows deleted at once."""
MOST_BATCHES = 50
"""In one sweep: the next one goes on."""


async def keep_recipe(
    connection: Connection, call_id: str, recipe: Mapping[str, Any], days: float
) -> None:
    """In the transaction that opens the call."""
    await connection.execute(
        """
        INSERT INTO model_call_bodies (call_id, recipe, expires_at)
        VALUES ($1, $2, now() + make_interval(secs => $3))
        ON CONFLICT (call_id) DO NOTHING
        """,
        call_id,
        dict(recipe),
        days * 86_400.0,
    )


async def keep_reply(connection: Connection, call_id: str, text: str, form: str | None) -> None:
    """In the transaction that closes the call, also one that was lost. `form` is how it was asked.

    Writes nothing where no recipe was kept.
    """
    await connection.execute(
        """
        UPDATE model_call_bodies SET reply = $2, recipe = CASE
            WHEN $3::text IS NULL THEN recipe ELSE recipe || jsonb_build_object('form', $3) END
        WHERE call_id = $1
        """,
        call_id,
        clean(text),
        form,
    )


async def forget_bodies(pool: Pool, days: float) -> int:
    """Deletes what is older than the retention that holds now; how many."""
    forgotten = 0
    for _ in range(MOST_BATCHES):
        count = await _forget_some(pool, days)
        forgotten += count
        if count < BATCH:
            break
    return forgotten


async def _forget_some(pool: Pool, days: float) -> int:
    """Ids are made of their time, so the primary key finds the old ones."""
    count: int = await pool.fetchval(
        """
        WITH old AS (
            SELECT call_id FROM model_call_bodies
            WHERE call_id < rpad(lpad(to_hex((extract(
                epoch FROM now() - make_interval(secs => $1)) * 1000)::bigint), 12, '0'),
                32, '0')::uuid
            ORDER BY call_id LIMIT $2
        ), gone AS (
            DELETE FROM model_call_bodies b USING old WHERE b.call_id = old.call_id
            RETURNING b.call_id
        )
        SELECT count(*) FROM gone
        """,
        days * 86_400.0,
        BATCH,
    )
    return count
