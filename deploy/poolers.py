"""Whether a pooler sits between us and Postgres: what a session keeps is lost behind one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

import asyncpg

from deploy.database import AWAY, Connection, prepare_connection
from deploy.settings import Settings

log = logging.getLogger("redraft.database")

AT_START = 2.0
"""Seconds that a start waits for the database to say whether a pooler sits before it."""
SECONDS = 5.0
_TOKEN = "redraft.session"


@contextlib.asynccontextmanager
async def connected(url: str, *, seconds: float = SECONDS) -> AsyncIterator[Connection]:
    """One connection without kept statements, so that it works through any pooler."""
    connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
        url, timeout=seconds, command_timeout=seconds, statement_cache_size=0
    )
    try:
        await prepare_connection(connection)
        yield connection
    finally:
        with contextlib.suppress(*AWAY, asyncpg.PostgresError):
            await connection.close(timeout=seconds)


async def is_pooled(url: str, *, seconds: float = SECONDS) -> bool:
    """Whether session state is lost between transactions, as through a transaction pooler.

    A second connection takes the server session that the first gave back, if one was given back.
    Raises what the driver raises when nobody answers.
    """
    try:
        async with (
            connected(url, seconds=seconds) as first,
            connected(url, seconds=seconds) as second,
        ):
            async with first.transaction():
                pid = await first.fetchval("SELECT pg_backend_pid()")
                await first.fetchval("SELECT set_config($1, 'mine', false)", _TOKEN)
            async with second.transaction():
                taken = await second.fetchval("SELECT pg_backend_pid()")
                async with first.transaction():
                    again, mine = await first.fetchrow(
                        "SELECT pg_backend_pid(), current_setting($1, true)", _TOKEN
                    ) or (0, "")
            return bool(taken == pid or again != pid or mine != "mine")
    except (
        asyncpg.InvalidSQLStatementNameError,
        asyncpg.DuplicatePreparedStatementError,
        asyncpg.ProtocolViolationError,
    ):
        return True


async def behind_pooler(settings: Settings) -> bool:
    """Whether connections must keep no statements: a direct address is set, or a look says so.

    A database that is away counts as one without a pooler.
    """
    if settings.database_direct_url != settings.database_url:
        return True
    try:
        pooled = await is_pooled(settings.database_url, seconds=AT_START)
    except (*AWAY, asyncpg.PostgresError):
        return False
    if pooled:
        log.warning("a pooler sits before the database: set REDRAFT_DATABASE_DIRECT_URL")
    return pooled
