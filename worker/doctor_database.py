"""The doctor's look at Postgres: version, rights, migrations, poolers in between, the clock."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit

import asyncpg

from deploy.database import Connection
from deploy.migrations import HEAD
from deploy.poolers import connected, is_pooled
from deploy.settings import Settings
from worker.doctor_findings import Finding, fail, ok, warn

OLDEST = 150000
CLOCK_WARNING = 2.0
HELD_SECONDS = 3.0
"""A transaction that keeps documents or runs from all others for so long is named."""
WORK_TABLES = ("documents", "revisions", "runs", "steps", "step_items", "model_calls", "workers")
AWAY = (OSError, asyncio.TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
_LOST = (
    "a worker's death cannot be proved by its lock, its runs wait for the heartbeat timeout and "
    "15 s of silence"
)
_SET_DIRECT = "set REDRAFT_DATABASE_DIRECT_URL to Postgres itself"
_PROVABLE = ok("sessions", "no pooler in between: a worker's death can be proved")
_NO_DIRECT_ADDRESS = fail("sessions", f"a pooler sits in between: {_LOST}", _SET_DIRECT)


def place(url: str) -> str:
    """Host, port and database of an address, without its password."""
    parts = urlsplit(url)
    return f"{parts.hostname or 'local socket'}:{parts.port or 5432}{parts.path}"


async def check_database(settings: Settings) -> list[Finding]:
    """All of it; one finding only when nobody answers."""
    try:
        async with connected(settings.database_url) as connection:
            found = [await _version(connection), await _writable(connection)]
            found.append(await _migrations(connection))
            if found[-1].level == "OK":
                found.append(await _rights(connection))
                found.append(await _held(connection))
            found.append(await _clock(connection))
    except AWAY as error:
        return [_unreachable("database", settings.database_url, error)]
    return [*found, *await check_sessions(settings)]


def _unreachable(area: str, url: str, error: BaseException) -> Finding:
    acts = (
        (asyncpg.InvalidPasswordError, "set the right password in the address"),
        (asyncpg.InvalidAuthorizationSpecificationError, "set the right role in the address"),
        (asyncpg.InvalidCatalogNameError, "create the database, or set the right name"),
        (asyncpg.TooManyConnectionsError, "raise max_connections, or end idle sessions"),
        (asyncpg.CannotConnectNowError, "wait: Postgres is starting or stopping"),
    )
    act = next((text for kind, text in acts if isinstance(error, kind)), "")
    why = type(error).__name__ if not isinstance(error, OSError) else error.strerror or "no answer"
    return fail(
        area,
        f"{place(url)} does not answer ({why})",
        act or "start it (./redraft up brings one), or set REDRAFT_DATABASE_URL",
    )


async def _version(connection: Connection) -> Finding:
    number, text = await connection.fetchrow(
        "SELECT current_setting('server_version_num')::int, current_setting('server_version')"
    ) or (0, "?")
    if number >= OLDEST:
        return ok("database", f"Postgres {text}")
    return fail("database", f"Postgres {text}", "upgrade it to 15 or newer")


async def _writable(connection: Connection) -> Finding:
    read_only = await connection.fetchval(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
    )
    if not read_only:
        return ok("writable", "the database takes writes")
    return fail(
        "writable",
        "the database is read-only (a standby, or out of disk)",
        "name the primary in REDRAFT_DATABASE_URL, or make room and unlock it",
    )


async def _migrations(connection: Connection) -> Finding:
    try:
        found = await connection.fetchval("SELECT version_num FROM alembic_version")
    except (asyncpg.UndefinedTableError, asyncpg.InsufficientPrivilegeError):
        found = None
    if found == HEAD:
        return ok("schema", f"at {HEAD}, as this code needs")
    if found is None:
        return fail("schema", "the database has no schema yet", "./redraft migrate")
    if found > HEAD:
        return fail("schema", f"at {found}, newer than this code ({HEAD})", "start the newer code")
    return fail("schema", f"at {found}, this code needs {HEAD}", "./redraft migrate")


async def _rights(connection: Connection) -> Finding:
    missing = await connection.fetchval(
        """
        SELECT array_agg(name) FROM unnest($1::text[]) AS name
        WHERE NOT has_table_privilege(name, 'SELECT')
           OR NOT has_table_privilege(name, 'INSERT')
           OR NOT has_table_privilege(name, 'UPDATE')
           OR NOT has_table_privilege(name, 'DELETE')
        """,
        list(WORK_TABLES),
    )
    role, may_rewrite_audit = await connection.fetchrow(
        "SELECT current_user, has_table_privilege('audit_events', 'UPDATE')"
    ) or ("?", False)
    if missing:
        return fail("role", f"{role} may not work in {', '.join(missing)}", "./redraft migrate")
    if may_rewrite_audit:
        return warn(
            "role",
            f"{role} owns the schema, so it could rewrite the audit log",
            "work as redraft_app in REDRAFT_DATABASE_URL, own in REDRAFT_DATABASE_OWNER_URL",
        )
    return ok("role", f"{role} may work and nothing more")


async def _held(connection: Connection) -> Finding:
    """Transactions that hold rows of work at both of two looks: nobody moves or stores theirs."""
    first = await _holders(connection)
    if first:
        await asyncio.sleep(HELD_SECONDS)
    there = await _holders(connection) if first else {}
    stays = sorted(there[one] for one in first.keys() & there.keys())
    if not stays:
        return ok("locks", "no transaction keeps rows of runs from the others")
    named = ", ".join(f"{pid} ({who})" for pid, who in stays)
    return warn(
        "locks",
        f"held in an open transaction for over {HELD_SECONDS:.0f} s, so these rows can neither be "
        f"moved nor stored: session {named}",
        "end that program's transaction, or in Postgres: "
        + "; ".join(f"SELECT pg_terminate_backend({pid})" for pid, _ in stays),
    )


async def _holders(connection: Connection) -> dict[str, tuple[int, str]]:
    """By transaction: whose it is. Any role may read locks, none what another's session does."""
    rows = await connection.fetch(
        """
        SELECT DISTINCT l.virtualtransaction AS held_by, l.pid,
               concat_ws(' ', a.usename, nullif(a.application_name, '')) AS who
        FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
          AND l.relation = ANY (ARRAY['documents', 'runs', 'steps', 'model_calls']::regclass[])
          AND l.mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock')
        """
    )
    return {row["held_by"]: (row["pid"], row["who"]) for row in rows}


async def _clock(connection: Connection) -> Finding:
    before = time.time()
    there = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8"))
    after = time.time()
    difference = there - (before + after) / 2
    text = f"{difference:+.2f} s from here to the database"
    if abs(difference) - (after - before) / 2 <= CLOCK_WARNING:
        return ok("clock", text)
    return warn("clock", text, "synchronise the clocks (ages are the database's, logs are not)")


async def check_sessions(settings: Settings) -> list[Finding]:
    """Locks that prove a worker's death need a session of their own, which a pooler takes away."""
    direct = settings.database_direct_url
    try:
        pooled = await is_pooled(settings.database_url)
        if direct == settings.database_url:
            return [_PROVABLE if not pooled else _NO_DIRECT_ADDRESS]
        if await is_pooled(direct):
            return [fail("sessions", f"{place(direct)} is a pooler too: {_LOST}", _SET_DIRECT)]
        same = await _started(direct) == await _started(settings.database_url)
    except AWAY as error:
        away = _unreachable("sessions", direct, error)
        return [fail("sessions", f"{away.text}: {_LOST}", _SET_DIRECT)]
    if not same:
        return [
            fail(
                "sessions",
                "REDRAFT_DATABASE_DIRECT_URL leads to another server or database",
                "let both lead to the same database",
            )
        ]
    middle = "past the pooler" if pooled else "(the other address is no pooler either)"
    return [ok("sessions", f"the direct address keeps its sessions {middle}")]


async def _started(url: str) -> tuple[object, ...]:
    async with connected(url) as connection:
        row = await connection.fetchrow("SELECT pg_postmaster_start_time(), current_database()")
        return tuple(row or ())
