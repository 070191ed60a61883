"""`./redraft migrate`: brings the database to this code's schema and grants the application role.

Waits at most 3 s for the locks of a revision, in short tries: whoever reads or writes a table
meanwhile queues behind one try only. Then it fails cleanly; run it again. Two at once are safe: the
second waits for the first and finds nothing to do.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from deploy.settings import SettingsError, load
from deploy.usage import only_help

_SENTENCE = """Brings the database to this version's schema and grants the application role.
Nothing half-done is kept; it can be run again, and two at once are safe."""
_READS = ("database_url", "database_owner_url")
_LOCK = 0x52454452  # one migration at a time
ONE_TRY = 0.4
"""Seconds that one try waits for a lock, and that others then have before the next."""
PATIENCE = 3.0
_LOCK_NOT_AVAILABLE = "55P03"

_GRANTS = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'redraft_app')
       AND current_user <> 'redraft_app' THEN
        GRANT USAGE ON SCHEMA public TO redraft_app;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO redraft_app;
        REVOKE UPDATE, DELETE ON audit_events FROM redraft_app;
        REVOKE INSERT, UPDATE, DELETE ON alembic_version FROM redraft_app;
    END IF;
END $$
"""


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def migrate(url: str) -> None:
    """Raises what the driver raises; every revision is its own transaction, so it can be rerun."""
    async_url = make_url(url).set(drivername="postgresql+asyncpg")
    engine = create_async_engine(
        async_url,
        poolclass=NullPool,
        connect_args={
            "server_settings": {
                "lock_timeout": f"{ONE_TRY * 1000:.0f}ms",
                "statement_timeout": "600s",
            }
        },
    )
    try:
        async with engine.connect() as guard:
            await guard.execute(text("SET lock_timeout = 0"))
            await guard.execute(text(f"SELECT pg_advisory_lock({_LOCK})"))
            await _until_locks_are_free(engine)
    finally:
        await engine.dispose()


async def _until_locks_are_free(engine: AsyncEngine) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            async with engine.connect() as connection:
                await connection.run_sync(_upgrade)
            async with engine.begin() as connection:
                await connection.execute(text(_GRANTS))
            return
        except Exception as error:
            if not _is_locked_out(error) or time.monotonic() + ONE_TRY >= give_up:
                raise
            await asyncio.sleep(ONE_TRY)


def _is_locked_out(error: Exception) -> bool:
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlstate", None) == _LOCK_NOT_AVAILABLE


def main(arguments: Sequence[str] | None = None) -> int:
    only_help("migrate", _SENTENCE, _READS, arguments)
    try:
        settings = load()
        asyncio.run(migrate(settings.database_owner_url))
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        if _is_locked_out(error):
            what = (
                f"another session held a table's lock for {PATIENCE:.0f} s (an open transaction?)"
            )
        owner = "REDRAFT_DATABASE_OWNER_URL"
        name = owner if os.environ.get(owner) else "REDRAFT_DATABASE_URL"
        sys.stderr.write(
            f"migrate: {what}\nNothing half-done was kept. Check {name} and run it again.\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
