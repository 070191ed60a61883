"""Who sums the past: whichever API process gets the lock, beside its requests and never in one.
Counts of runs are added up here too, without one.

Killed at any moment it leaves whole pieces or nothing; the next pass of any process goes on.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

import asyncpg

from api.queries.sums import BUCKET, CALL_SUMS, CALLS, LASTED, ORIGIN, STEPS, Past
from deploy.database import AWAY, Connection, Pool, transaction

log = logging.getLogger("redraft.api.sums")
EVERY_SECONDS = 60.0
SETTLED = timedelta(minutes=10)
"""A transaction that is under way may still date its row back so far."""
_PAUSE = 0.2
"""Between pieces of a long past: others wait for the database too."""
_FIRST_AFTER = 10.0
"""Seconds after the start: what must be quick then is quick first."""
_MANY = 1000
"""Rows of counts beyond one a key that a look may have to add up."""


async def keep_summed(pool: Pool) -> None:
    """Sums what is over, now and later; ends by being cancelled."""
    delay = _FIRST_AFTER
    while True:
        await asyncio.sleep(delay)
        delay = EVERY_SECONDS
        try:
            if await sum_next(pool):
                delay = _PAUSE
            else:
                await add_up_counts(pool)
        except (*AWAY, asyncpg.PostgresError) as error:
            log.warning("past not summed", extra={"error": type(error).__name__})


async def sum_next(pool: Pool) -> bool:
    """The newest piece that nobody summed yet, in one transaction; False when there is none, or
    somebody else is at it."""

    async def piece(connection: Connection) -> bool:
        if not await _lock(connection):
            return False
        for past, add in ((CALLS, _add_calls), (STEPS, _add_steps)):
            times = await _unmarked(connection, past)
            for at in times:
                await add(connection, at, at + past.every)
                await _mark(connection, past, at)
            if times:
                return True
        return False

    return await transaction(pool, piece)


async def add_up_counts(pool: Pool, many: int = _MANY) -> None:
    """Makes of counts with the same key one, when there are `many` too many. Of two that do it at
    once each takes other rows: which have been taken is gone for the second."""
    await pool.execute(
        """
        WITH taken AS (
            DELETE FROM run_counts
            WHERE (SELECT count(*) - count(DISTINCT (kind, actor, status)) FROM run_counts) >= $1
            RETURNING kind, actor, status, number
        )
        INSERT INTO run_counts (kind, actor, status, number)
        SELECT kind, actor, status, sum(number) FROM taken GROUP BY kind, actor, status
        HAVING sum(number) <> 0
        """,
        many,
    )


async def _lock(connection: Connection) -> bool:
    """False while somebody else sums, or changes what is over (the triggers share it)."""
    return bool(
        await connection.fetchval("SELECT pg_try_advisory_xact_lock(hashtext('redraft sums'))")
    )


async def _unmarked(connection: Connection, past: Past) -> list[datetime]:
    """The newest that are over and have no mark, as many as fit one transaction."""
    rows = await connection.fetch(
        f"""
        SELECT h.at FROM generate_series(
            (SELECT date_bin($2, min(e.ended_at), $3) FROM {past.rows} e
                WHERE e.ended_at IS NOT NULL),
            now() - $4::interval - $2::interval,
            make_interval(secs => extract(epoch FROM $2::interval)::float8)) AS h (at)
        WHERE NOT EXISTS (SELECT FROM summed m WHERE m.what = $1 AND m.at = h.at)
        ORDER BY h.at DESC LIMIT $5
        """,  # noqa: S608
        past.what,
        past.every,
        ORIGIN,
        SETTLED,
        past.piece,
    )
    return [row["at"] for row in rows]


async def _mark(connection: Connection, past: Past, at: datetime) -> None:
    await connection.execute("INSERT INTO summed (what, at) VALUES ($1, $2)", past.what, at)


async def _add_calls(connection: Connection, from_: datetime, to: datetime) -> None:
    await connection.execute("DELETE FROM calls_by_hour WHERE at = $1", from_)
    await connection.execute(
        f"""
        INSERT INTO calls_by_hour (at, kind, profile, model, currency, fate, calls, input, output,
            cached, reasoning, cost, unpriced)
        SELECT {CALL_SUMS} FROM model_calls c JOIN runs r ON r.id = c.run_id
        WHERE c.ended_at >= $1 AND c.ended_at < $2
        GROUP BY 1, 2, 3, 4, 5, 6
        """,  # noqa: S608
        from_,
        to,
        CALLS.every,
        ORIGIN,
    )


async def _add_steps(connection: Connection, from_: datetime, to: datetime) -> None:
    await connection.execute("DELETE FROM steps_by_quarter WHERE at = $1", from_)
    await connection.execute(
        f"""
        INSERT INTO steps_by_quarter (at, kind, profile, name, measure, bucket, steps)
        SELECT $1, r.kind, r.profile, s.name, m.measure, {BUCKET}, count(*)
        FROM steps s JOIN runs r ON r.id = s.run_id {LASTED}
        WHERE s.ended_at >= $1 AND s.ended_at < $2 AND s.status = 'SUCCEEDED'
        GROUP BY GROUPING SETS ((2, 3, 4, 5, 6), (4, 5, 6))
        """,  # noqa: S608
        from_,
        to,
    )
