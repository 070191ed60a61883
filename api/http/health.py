"""Whether this process can take commands: its database is there, writable and of this schema."""

from __future__ import annotations

import asyncio

import asyncpg

from api.http.state import State
from deploy.database import AWAY, Pool, Row
from deploy.migrations import HEAD
from workflows.vocabulary import ErrorCode

_PATIENCE = 2.0


async def schema_version(pool: Pool) -> str | None:
    """The revision that the database is at; None when it cannot be read."""
    try:
        async with asyncio.timeout(_PATIENCE):
            found: str | None = await pool.fetchval("SELECT version_num FROM alembic_version")
    except (*AWAY, asyncpg.PostgresError):
        return None
    return found


async def _look(pool: Pool) -> Row | None:
    return await pool.fetchrow(
        """
        SELECT (SELECT version_num FROM alembic_version) AS version,
            pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS closed
        """
    )


async def problems(state: State) -> list[str]:
    """Codes of what is in the way; [] when nothing is."""
    if state.disk_was_full():
        return [str(ErrorCode.DISK_FULL)]
    try:
        async with asyncio.timeout(_PATIENCE):
            row = await _look(state.pool)
    except asyncpg.UndefinedTableError:
        return ["schema_behind"]
    except (*AWAY, asyncpg.PostgresError):
        return ["database_away"]
    found = [] if row is not None and (row["version"] or "") >= HEAD else ["schema_behind"]
    if row is not None and row["closed"]:
        found.append("database_read_only")
    return found
