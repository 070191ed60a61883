"""`api`: one application over one database for all these tests, emptied before each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

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


@pytest_asyncio.fixture
async def folder(api: Api, tmp_path: Path) -> AsyncIterator[Path]:
    """The shared application stores files into a folder of this test."""
    before = api.state.settings
    api.state.settings = replace(before, blob_url=tmp_path.as_uri())
    yield tmp_path
    api.state.settings = before
