"""The word of a supervisor that reaped a worker: its runs need not wait for a proof of death."""

from __future__ import annotations


async def say_goodbye_for(database_url: str, pid: int, started: float) -> None:
    """Marks the worker as gone; `started`, as `start_of` says it, tells it from a reused pid."""
    import asyncpg

    connection = await asyncpg.connect(database_url, timeout=1.0)
    try:
        await connection.execute(
            "UPDATE workers SET goodbye_at = now()"
            " WHERE pid = $1 AND abs(started - $2) < 1 AND goodbye_at IS NULL",
            pid,
            started,
        )
    finally:
        await connection.close(timeout=1.0)
