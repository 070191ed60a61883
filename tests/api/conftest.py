"""`api`: one application over one database for all these tests, emptied before each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.api.harness import Api, emptied, serving, settings_for, with_profile
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="session")
async def _served(postgres: PostgresServer) -> AsyncIterator[Api]:
    url = await postgres.clone()
    async with serving(settings_for(url)) as served:
        yield await with_profile(served)
    await postgres.drop(url)


@pytest_asyncio.fixture
async def api(_served: Api) -> Api:
    return await emptied(_served)
