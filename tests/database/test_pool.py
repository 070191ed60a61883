"""What a pool's connections ask before they can be used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from deploy.database import Connection, Pool, new_id, open_pool
from deploy.settings import load

_THINGS = "SELECT $1::uuid[] AS ids, $2::jsonb[] AS things, $3::bigint[] AS numbers"


@pytest_asyncio.fixture
async def pool(shop_url: str) -> AsyncIterator[Pool]:
    async with await open_pool(
        load({"REDRAFT_DATABASE_URL": shop_url}), name="redraft-tests"
    ) as made:
        yield made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The types that the driver asked the server about, question by question."""
    questions: list[list[int]] = []
    ask = asyncpg.Connection._introspect_types  # type: ignore[attr-defined]

    async def noted(self: Any, typeoids: Iterable[int], timeout: float) -> Any:
        questions.append(sorted(typeoids))
        return await ask(self, typeoids, timeout)

    monkeypatch.setattr(asyncpg.Connection, "_introspect_types", noted)
    return questions


async def _there_and_back(connection: Connection) -> None:
    sent = [new_id()], [{"a": 1}, {}], [2**40]
    row = await connection.fetchrow(_THINGS, *sent)
    assert row is not None
    assert (row["ids"], row["things"], row["numbers"]) == sent


async def test_a_process_asks_once_what_the_types_of_postgres_are(
    pool: Pool, asked: list[list[int]]
) -> None:
    async with pool.acquire() as first:
        await _there_and_back(first)
        known = len(asked)
        async with pool.acquire() as second:
            await _there_and_back(second)
    assert len(asked) == known


async def test_a_type_of_one_database_is_asked_for_by_each_connection(
    pool: Pool, asked: list[list[int]]
) -> None:
    """Its number may be another type's in the next database."""
    for _ in range(2):
        async with pool.acquire() as connection:
            await connection.execute("CREATE TYPE pg_temp.colour AS ENUM ('red', 'blue')")
            colours = await connection.fetchval("SELECT ARRAY['red', 'blue']::pg_temp.colour[]")
        assert colours == ["red", "blue"]
        await pool.expire_connections()
    assert len(asked) == 2
