"""What a pool's connections ask before they can be used, and how they are given back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
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


async def _now_of_a_transaction(pool: Pool) -> datetime:
    async with pool.acquire() as connection, connection.transaction():
        now: datetime = await connection.fetchval("SELECT now()")
        return now


async def test_a_value_that_does_not_fit_leaves_no_transaction_open(
    pool: Pool, oldest_session: Connection
) -> None:
    """The statement was announced; the next transaction begins when it begins."""
    with pytest.raises(asyncpg.DataError):
        await pool.fetchval("SELECT $1::int", "seven")
    before = await oldest_session.fetchval("SELECT clock_timestamp()")
    assert await _now_of_a_transaction(pool) > before


async def test_who_is_cancelled_before_the_values_are_sent_leaves_no_transaction_open(
    pool: Pool, oldest_session: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what the next one writes is said to be older than what it answers."""
    announce = asyncpg.Connection._get_statement  # type: ignore[attr-defined]

    async def cut(*args: Any, **options: Any) -> Any:
        await announce(*args, **options)
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "_get_statement", cut)
        with pytest.raises(asyncio.CancelledError):
            await pool.fetchval("SELECT count(*) FROM runs WHERE id = $1", new_id())
    before = await oldest_session.fetchval("SELECT clock_timestamp()")
    assert await _now_of_a_transaction(pool) > before


async def test_a_server_that_does_not_answer_at_the_give_back_hides_no_error(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: Any, **__: Any) -> str:
        raise TimeoutError

    with monkeypatch.context() as patch:
        patch.setattr(asyncpg.Connection, "execute", silent)
        with pytest.raises(asyncpg.DataError):
            await pool.fetchval("SELECT $1::int", "seven")
    assert await pool.fetchval("SELECT $1::int", 7) == 7
