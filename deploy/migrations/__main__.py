"""`./redraft migrate`: brings the database to this code's schema and grants the application role.

Waits at most 3 s for any lock and then fails cleanly, so a busy table never queues behind it; run
it again. Two at once are safe: the second waits for the first and finds nothing to do.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from deploy.settings import SettingsError, load

_LOCK = 0x52454452  # one migration at a time

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
        connect_args={"server_settings": {"lock_timeout": "3s", "statement_timeout": "600s"}},
    )
    try:
        async with engine.connect() as guard:
            await guard.execute(text("SET lock_timeout = 0"))
            await guard.execute(text(f"SELECT pg_advisory_lock({_LOCK})"))
            async with engine.connect() as connection:
                await connection.run_sync(_upgrade)
            async with engine.begin() as connection:
                await connection.execute(text(_GRANTS))
    finally:
        await engine.dispose()


def main() -> int:
    try:
        settings = load()
        asyncio.run(migrate(settings.database_owner_url))
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except Exception as error:
        sys.stderr.write(
            f"migrate: {type(error).__name__}: {error}\n"
            "Nothing half-done was kept. Check REDRAFT_DATABASE_OWNER_URL and run it again.\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
