"""The kept schema is what the migrations make, and migrating again changes nothing."""

from __future__ import annotations

import asyncio

from deploy.migrations import HEAD
from deploy.migrations.__main__ import migrate
from tests.architecture.schema_dump import dump
from tests.architecture.sources import ROOT


def without_grants(text: str) -> list[str]:
    """The roles of a deployment are not there in the tests' cluster."""
    return [line for line in text.splitlines() if line and not line.startswith(("GRANT", "REVOKE"))]


async def test_the_kept_schema_is_what_the_migrations_make(database_url: str) -> None:
    kept = (ROOT / "deploy" / "schema.sql").read_text(encoding="utf-8")
    made = await asyncio.to_thread(dump, database_url)
    assert without_grants(made) == without_grants(kept)


async def test_two_migrations_at_once_and_one_more_change_nothing(database_url: str) -> None:
    before = await asyncio.to_thread(dump, database_url)
    await asyncio.gather(migrate(database_url), migrate(database_url))
    assert await asyncio.to_thread(dump, database_url) == before


def test_the_newest_migration_is_the_one_this_code_needs() -> None:
    files = (ROOT / "deploy" / "migrations" / "versions").glob("r*.py")
    assert max(path.name[1:5] for path in files) == HEAD
