"""What tests of the fence take: a shop of workers. They share a database, emptied for each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest_asyncio

from deploy.database import Connection, open_pool
from deploy.settings import load
from tests.attempts import Shop
from tests.fake_llm import FakeLLM
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="session")
async def shop_url(postgres: PostgresServer) -> AsyncIterator[str]:
    url = await postgres.clone()
    yield url
    await postgres.drop(url)


@pytest_asyncio.fixture(scope="session")
async def oldest_session(shop_url: str) -> AsyncIterator[Connection]:
    """Opened with the first test that takes a shop: some proofs of death need one of 15 s."""
    connection = await asyncpg.connect(shop_url)
    yield connection
    await connection.close()


@pytest_asyncio.fixture
async def shop(shop_url: str, oldest_session: Connection, llm: FakeLLM) -> AsyncIterator[Shop]:
    settings = load({"REDRAFT_DATABASE_URL": shop_url})
    pool = await open_pool(settings, name="redraft-tests")
    made = Shop(pool, settings, llm)
    yield made
    await made.close()
    for table in ("documents", "workers", "profiles", "rate_buckets"):
        await pool.execute(f"DELETE FROM {table}")  # noqa: S608
    await pool.close()
