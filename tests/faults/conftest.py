"""Servers of the fault tests' own, which may die."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.faults.kit import own_postgres, own_temporal
from tests.services import PostgresServer, TemporalServer


@pytest_asyncio.fixture(scope="session")
async def mortal_postgres() -> AsyncIterator[PostgresServer]:
    async with own_postgres() as server:
        yield server


@pytest_asyncio.fixture(scope="session")
async def mortal_temporal() -> AsyncIterator[TemporalServer]:
    async with own_temporal() as server:
        yield server
