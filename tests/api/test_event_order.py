"""Readers that ask for "what is behind my last id" miss nothing (scenarios 30 and 31)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from activities import record
from deploy.database import Connection
from tests import read_rows as rows
from tests.api.harness import settings_for
from tests.api.streams import Frame, Served, frames, serving_on_a_port
from tests.eventually import eventually
from tests.services import PostgresServer
from workflows.vocabulary import EventType


@pytest_asyncio.fixture(scope="module")
async def served(postgres: PostgresServer) -> AsyncIterator[Served]:
    url = await postgres.clone()
    async with serving_on_a_port(settings_for(url, REDRAFT_DATABASE_POOL_SIZE=6)) as served:
        yield served
    await postgres.drop(url)


async def _tell(connection: Connection, run_id: str, n: int) -> None:
    event = record.Event(type=EventType.PROGRESS, actor="worker", data={"n": n})
    await record.append_event(connection, run_id, event)


async def _read(served: Served, run_id: str, last_id: str | None, count: int) -> list[Frame]:
    found: list[Frame] = []
    async with served.stream(f"/api/runs/{run_id}/events", last_id) as response:
        async with asyncio.timeout(20):
            async for frame in frames(response):
                found.append(frame)
                if len([one for one in found if one.id]) == count:
                    return found
    raise AssertionError(f"the stream ended after {found}")


async def test_an_event_is_never_overtaken_by_a_later_one_that_commits_first(
    served: Served,
) -> None:
    run_id = await rows.add_run(served.pool)
    await rows.add_events(served.pool, run_id)
    reading = asyncio.create_task(_read(served, run_id, "1", 2))

    async def second() -> None:
        async with served.pool.acquire() as connection, connection.transaction():
            await _tell(connection, run_id, 102)

    async def waits() -> bool:
        sql = "SELECT true FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT 1"
        return bool(await served.pool.fetchval(sql))

    async with served.pool.acquire() as connection, connection.transaction():
        await _tell(connection, run_id, 101)
        overtaking = asyncio.create_task(second())
        await eventually(waits, what="the second to wait for the first")
        assert not reading.done()
    await overtaking
    for told in (await reading, await _read(served, run_id, "1", 2)):
        assert [(frame.id, frame.data["n"]) for frame in told] == [("2", 101), ("3", 102)]


async def test_an_event_is_dated_when_it_was_written_not_when_its_transaction_began(
    served: Served,
) -> None:
    run_id = await rows.add_run(served.pool)
    async with served.pool.acquire() as early, early.transaction():
        await early.execute("SELECT now()")
        async with served.pool.acquire() as late:
            await _tell(late, run_id, 1)
        await _tell(early, run_id, 2)
    sql = "SELECT at FROM run_events WHERE run_id = $1 ORDER BY seq"
    told = [row["at"] for row in await served.pool.fetch(sql, run_id)]
    assert told[0] < told[1]


async def test_frames_that_are_no_rows_have_no_id_and_move_no_reader(served: Served) -> None:
    run_id = await rows.add_run(served.pool)
    step = await rows.add_step(served.pool, run_id)
    await rows.add_events(served.pool, run_id, 6)
    call_id = await rows.add_call(served.pool, run_id, step, partial_text="so", partial_length=2)
    last = ""
    async with served.stream(f"/api/runs/{run_id}/events") as response:
        async with asyncio.timeout(20):
            async for frame in frames(response):
                last = frame.id or last
                if frame.event == "partial":
                    assert (frame.id, frame.data["call_id"]) == (None, call_id)
                    break
    assert last == "6"
    await rows.add_events(served.pool, run_id, 3)
    told = await _read(served, run_id, last, 3)
    assert [frame.id for frame in told if frame.event != "partial"] == ["7", "8", "9"]
