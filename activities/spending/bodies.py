"""What was said in a call, and for how long it is kept.

The recipe of the prompt is written with the call's row, the reply when that closes, also of a call
that was lost (`activities.projection`). The prompt itself is not kept: the recipe names its pieces
(sources, revision, issues, kept items), the call's hash and kind version tell whether what is made
of them is the same. Reasoning beside the content is counted and not kept.
"""

from __future__ import annotations

from deploy.database import Pool

BATCH = 2_000
"""Rows deleted at once."""
MOST_BATCHES = 50
"""In one sweep: the next one goes on."""


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
