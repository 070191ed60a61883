"""Postgres ends and comes back: nobody is dead, nothing is asked for twice (issue 4.1c and d)."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import asyncpg
import pytest
import pytest_asyncio
from temporalio.client import Client

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import PATIENT, issues, own_postgres, planted, stored
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent, minutes


@pytest_asyncio.fixture(scope="module")
async def cluster() -> AsyncIterator[PostgresServer]:
    async with own_postgres() as server:
        yield server


@pytest_asyncio.fixture
async def apart(
    cluster: PostgresServer, temporal: TemporalServer, temporal_client: Client, llm: FakeLLM
) -> AsyncIterator[Stack]:
    """Two workers, either of which could take what the other has."""
    stack = Stack(cluster, temporal, temporal_client, llm.base_url, PATIENT)
    yield await stack.start(workers=2)
    await stack.stop()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restart", "crash"])
async def test_calls_in_flight_outlive_a_restart_of_postgres(
    apart: Stack, cluster: PostgresServer, llm: FakeLLM, how: int
) -> None:
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(*(Reply(items=issues(2), stall_after=Items(1)) for _ in range(4)))
    runs = [await apart.create(minutes(errors=2)) for _ in range(4)]
    for run in runs:
        await stored(apart, run["id"], 1)
    cluster.stop(how)
    llm.release()
    await llm.wait_done(4, seconds=60)
    await asyncio.sleep(3)  # long enough for every proof of death but a true one
    cluster.start()
    await cluster.ready()
    for run in runs:
        await _ends(apart, run)
        steps = await apart.rows(run["id"], "steps")
        assert {step["status"] for step in steps} == {"SUCCEEDED"}, steps
        await consistent(apart, run["id"])
    assert len(llm.requests) == 4 * 3
    assert not [line for line in apart.logs().splitlines() if " ERROR " in line]


async def _ends(stack: Stack, run: Json) -> None:
    async def done() -> bool:
        code, now = await stack.call("GET", f"/api/runs/{run['id']}")
        return bool(code == 200 and now["status"] == "AWAITING_CONFIRMATION")

    await eventually(done, seconds=120, what=f"the end of {run['id']}")


@pytest.mark.timeout(300)
async def test_a_lock_that_is_free_at_every_look_proves_no_death(
    apart: Stack, llm: FakeLLM
) -> None:
    """The sessions that hold life locks are ended again and again; the workers' rows stay fresh."""
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(*(Reply(items=issues(2), stall_after=Items(1)) for _ in range(6)))
    runs = [await apart.create(minutes(errors=2)) for _ in range(6)]  # so that both have some
    for run in runs:
        await stored(apart, run["id"], 1)
    connection = await asyncpg.connect(apart.url)
    try:
        for _ in range(100):
            await connection.execute(
                """
                SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN workers w
                  ON l.classid::bigint = (w.lock_key >> 32) & 4294967295
                 AND l.objid::bigint = w.lock_key & 4294967295
                WHERE l.locktype = 'advisory'
                """
            )
            await asyncio.sleep(0.05)
    finally:
        await connection.close()
    llm.release()
    for run in runs:
        await _ends(apart, run)
        steps = await apart.rows(run["id"], "steps")
        assert {step["status"] for step in steps} == {"SUCCEEDED"}, steps
        await consistent(apart, run["id"])
    assert len(llm.requests) == 6 * 3
