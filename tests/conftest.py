"""Session services (one Postgres, one Temporal) and what tests take from them, fresh each time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from deploy.database import Pool, open_pool
from deploy.settings import Settings
from tests.fake_llm import FakeLLM
from tests.promised import Part, require
from tests.services import PostgresServer, TemporalServer, free_port, own_postgres, own_temporal
from tests.stack import Stack


@pytest_asyncio.fixture(scope="session")
async def postgres() -> AsyncIterator[PostgresServer]:
    """One cluster, with a migrated template database."""
    require(Part.POSTGRES)
    async with own_postgres() as server:
        yield server


@pytest_asyncio.fixture
async def database_url(postgres: PostgresServer) -> AsyncIterator[str]:
    """A database of the present schema, empty."""
    url = await postgres.clone()
    yield url
    await postgres.drop(url)


@pytest_asyncio.fixture
async def settings(database_url: str) -> Settings:
    return Settings(
        database_url=database_url,
        database_owner_url=database_url,
        database_direct_url=database_url,
    )


@pytest_asyncio.fixture
async def pool(settings: Settings) -> AsyncIterator[Pool]:
    pool = await open_pool(settings, name="redraft-tests")
    yield pool
    await pool.close()


@pytest_asyncio.fixture(scope="session")
async def temporal() -> AsyncIterator[TemporalServer]:
    require(Part.TEMPORAL)
    async with own_temporal() as server:
        yield server


@pytest_asyncio.fixture(scope="session")
async def temporal_client(temporal: TemporalServer) -> Client:
    return await temporal.ready()


@pytest.fixture(scope="session")
def model_port() -> int:
    """Every FakeLLM of the session listens here, so a shared worker always finds the newest."""
    return free_port()


@pytest_asyncio.fixture
async def llm(model_port: int) -> AsyncIterator[FakeLLM]:
    async with FakeLLM(port=model_port) as server:
        yield server


StartStack = Callable[..., Awaitable[Stack]]


@pytest_asyncio.fixture
async def start_stack(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client, llm: FakeLLM
) -> AsyncIterator[StartStack]:
    """`await start_stack({...}, workers=1)`: processes of the test's own, ended with it."""
    stacks: list[Stack] = []

    async def start(environment: dict[str, str] | None = None, **options: Any) -> Stack:
        stack = Stack(postgres, temporal, temporal_client, llm.base_url, environment)
        stacks.append(stack)
        return await stack.start(**options)

    yield start
    for stack in stacks:
        await stack.stop()


@pytest_asyncio.fixture(scope="session")
async def shared_stack(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client, model_port: int
) -> AsyncIterator[Stack]:
    stack = Stack(postgres, temporal, temporal_client, f"http://127.0.0.1:{model_port}/v1")
    yield await stack.start()
    await stack.stop()


@pytest_asyncio.fixture
async def stack(shared_stack: Stack, llm: FakeLLM) -> AsyncIterator[Stack]:
    """The session's API and worker, idle, with a fresh FakeLLM. Never kill its processes."""
    yield shared_stack
    await shared_stack.settle()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here is on loopback."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
