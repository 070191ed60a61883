"""The connection pool, its codecs, and transactions that are repeated instead of lost.

Ids are text in Python, JSON columns are plain values. `Any` is at home here and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

import asyncpg
import uuid_utils

from deploy.settings import Settings

log = logging.getLogger("redraft.database")

Connection: TypeAlias = (
    "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
)
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Row: TypeAlias = asyncpg.Record
Result = TypeVar("Result")

AWAY = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the connection died in the middle of the driver's own steps
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.DiskFullError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.QueryCanceledError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.LockNotAvailableError,  # somebody keeps the rows for long: `lock_wait`
)
"""The database cannot answer now; whether the last commit landed is not known."""

COLLISIONS = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.UniqueViolationError,
    asyncpg.LockNotAvailableError,
)
"""Another transaction was in the way: the same work, done again, finds the newer rows."""

_SESSION = {"idle_in_transaction_session_timeout": "5000"}
"""Milliseconds. A process that stands still inside a transaction, or whose network does, would keep
the run's lock for as long: nobody could interrupt the run or take it over."""
_SOON = 2.0
"""Seconds for what a connection is asked at its give-back, before it is ended instead."""
_LONG_WAIT = 0.1
"""Seconds. Who waited longer for a lock did not collide: somebody holds it (`open_pool`)."""


def new_id() -> str:
    """A UUID v7: sorted by time of making."""
    return str(uuid_utils.uuid7())


def clean(text: str) -> str:
    """What Postgres and every encoder can hold: no NUL, lone surrogates become U+FFFD."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\x00", "")


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Pooled(asyncpg.Connection):
    """Asks what Postgres' own array types (uuid[], jsonb[]) are made of once a process, not once a
    connection: the driver's question costs more than connecting, and comes amid a commit.

    Knows whether a statement may have been announced and not run: the server opens a transaction
    with the announcement, and whoever is cancelled before the values are sent, or has one that does
    not fit, leaves it open. The next one's `now()` would be of then, its locks stay.
    """

    unsure = False

    async def _do_execute(self, *args: Any, **options: Any) -> Any:
        try:
            return await super()._do_execute(*args, **options)  # type: ignore[misc]
        except BaseException:
            self.unsure = True
            raise

    async def _introspect_types(self, typeoids: Iterable[int], timeout: float) -> Any:
        wanted = frozenset(typeoids)
        if wanted in _TYPES:
            return _TYPES[wanted], _ASKED_BEFORE
        found, statement = await super()._introspect_types(typeoids, timeout)  # type: ignore[misc]
        if all(oid < _FIRST_OF_A_DATABASE for oid in wanted):
            _TYPES[wanted] = found
        return found, statement


_FIRST_OF_A_DATABASE = 16_384
"""Types below it are Postgres' own and the same in every database."""
_TYPES: dict[frozenset[int], Any] = {}
_ASKED_BEFORE = SimpleNamespace(name="asked before")
"""In the place of the statement that asked: it has a name, so the driver need not prepare again."""


async def prepare_connection(connection: Connection) -> None:
    """Codecs of a new connection: jsonb as plain values, uuid as text."""
    await connection.set_type_codec(
        "jsonb", encoder=_encode, decoder=json.loads, schema="pg_catalog"
    )
    await connection.set_type_codec("uuid", encoder=str, decoder=str, schema="pg_catalog")


async def _end_what_is_open(connection: Connection) -> None:
    """At a give-back. Nothing else to reset: no pooled connection listens, holds a session lock or
    sets anything beyond its transaction. The driver's own reset costs a round trip each time.

    Raises nothing: the caller's own error, or that it was cancelled, would be lost.
    """
    if isinstance(connection, _Pooled) and connection.unsure:
        connection.unsure = False
        try:  # sent whole, and ends the transaction it finds
            await connection.execute("SELECT 1", timeout=_SOON)
        except (*AWAY, asyncpg.PostgresError):
            connection.terminate()


async def open_pool(
    settings: Settings,
    *,
    name: str,
    size: int = 0,
    command_timeout: float = 15.0,
    lock_wait: float = 0.0,
    pooled: bool = False,
) -> Pool:
    """A pool of up to `size` connections; opens none until one is needed.

    `lock_wait`: seconds after which a statement gives up waiting for rows that somebody holds, and
    its connection is for others until it is tried again (0 = it waits as long as any command).
    `pooled`: a pooler may sit in between, so no statement is kept prepared.
    """
    session = {**_SESSION, "lock_timeout": f"{lock_wait * 1000:.0f}"}
    pool = await asyncpg.create_pool(
        settings.database_url,
        min_size=0,
        max_size=size or settings.database_pool_size,
        command_timeout=command_timeout,
        timeout=5.0,
        max_inactive_connection_lifetime=300.0,
        statement_cache_size=0 if pooled else 200,
        connection_class=_Pooled,
        init=prepare_connection,
        reset=_end_what_is_open,
        server_settings={} if pooled else {"application_name": name, **session},
    )
    assert pool is not None, "create_pool returns a pool when awaited"
    return pool


async def transaction(
    pool: Pool,
    work: Callable[[Connection], Awaitable[Result]],
    *,
    patience: float = 0.0,
    collisions: int = 8,
    waits: bool = True,
) -> Result:
    """Runs `work` in one transaction and repeats it whole when another was in the way.

    While the database is away, or somebody holds the rows, it is tried again for `patience` seconds
    (`float("inf")` = until it works); unless it `waits`, held rows are raised. `work` may
    therefore run more than once although it was committed: it must look at the rows first. Raises
    the last error.
    """

    async def whole(connection: Connection) -> Result:
        async with connection.transaction():
            return await work(connection)

    return await reading(pool, whole, patience=patience, collisions=collisions, waits=waits)


async def reading(
    pool: Pool,
    work: Callable[[Connection], Awaitable[Result]],
    *,
    patience: float = 0.0,
    collisions: int = 0,
    waits: bool = True,
) -> Result:
    """`work` on a connection, tried again like a transaction but without one: for statements whose
    answers need not be of one moment."""
    began, tries, delay = time.monotonic(), 0, 0.02
    while True:
        tried = time.monotonic()
        try:
            async with pool.acquire() as connection:
                tried = time.monotonic()
                return await work(connection)
        except (*COLLISIONS, *AWAY) as error:
            held = _held(error, tried)
            if isinstance(error, COLLISIONS) and not held:
                tries += 1
                if tries > collisions:
                    raise
                await asyncio.sleep(random.uniform(0, 0.01) * tries)
                continue
            if time.monotonic() - began >= patience or (held and not waits):
                raise
            log.warning(
                "rows held, work waits" if held else "database away, work waits",
                extra={"error": type(error).__name__, "seconds": round(delay, 2)},
            )
            await asyncio.sleep(delay)
            delay = min(delay * 1.7, 2.0)


def _held(error: Exception, tried: float) -> bool:
    """Whether it was waited for in vain, and not refused at once."""
    waited = time.monotonic() - tried > _LONG_WAIT
    return isinstance(error, asyncpg.LockNotAvailableError) and waited
