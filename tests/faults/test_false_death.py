"""What looks like a death and is none: nobody's work is taken away, nothing is asked for twice
(issue 4.1c). Restarts and crashes of Postgres are in `test_postgres_away`.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from deploy.settings import load
from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import PATIENT, holder, issues, planted, stored, worker_seen
from tests.faults.relay import Relay
from tests.services import PostgresServer, free_port
from tests.stack import Json, Stack, consistent, minutes
from tests.transaction_pooler import TransactionPooler
from worker.doctor_database import check_sessions
from worker.doctor_findings import Level

FROZEN_SECONDS = 5.0
CALM = {"REDRAFT_SILENCE_TIMEOUT": "600"}
"""A slow machine must not end a stalled reply before the test does."""
BEATS = {**CALM, "REDRAFT_HEARTBEAT_TIMEOUT": "3"}


async def _streaming(stack: Stack, llm: FakeLLM, count: int) -> list[Json]:
    """So many runs, each with a review that stands still behind one stored item of two."""
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(*(Reply(items=issues(2), stall_after=Items(1)) for _ in range(count)))
    runs = [await stack.create(minutes(errors=2)) for _ in range(count)]
    for run in runs:
        await stored(stack, run["id"], 1)
    return runs


async def _all_end(stack: Stack, runs: list[Json]) -> None:
    for run in runs:
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
        await consistent(stack, run["id"])


async def _abandoned(stack: Stack) -> list[str]:
    rows = await stack.sql("SELECT reason_code FROM steps WHERE status = 'FAILED'")
    return [row["reason_code"] for row in rows]


@pytest.mark.timeout(300)
@pytest.mark.rule("lock_free")
async def test_a_network_to_postgres_that_stands_still_for_five_seconds_kills_nobody(
    start_stack: StartStack, llm: FakeLLM, postgres: PostgresServer
) -> None:
    stack = await start_stack({**PATIENT, **CALM}, workers=0)
    async with Relay(postgres.port) as relay:
        through = stack.url.replace(f":{postgres.port}/", f":{relay.port}/")
        leader = stack.worker(REDRAFT_WORKER_SLOTS="1")  # sees the other one's row grow old
        await worker_seen(stack, leader)
        runs = await _streaming(stack, llm, 1)
        first = stack.worker(REDRAFT_DATABASE_URL=through)
        await worker_seen(stack, first)
        runs += await _streaming(stack, llm, 3)
        assert {await holder(stack, run["id"]) for run in runs[1:]} == {first}
        relay.hold()
        await asyncio.sleep(FROZEN_SECONDS / 2)
        llm.release()  # replies end while nothing can be stored
        await llm.wait_done(4, seconds=30)
        await asyncio.sleep(FROZEN_SECONDS / 2)
        [row] = await stack.sql(
            "SELECT now() - seen_at > interval '2 s' AS old FROM workers WHERE pid = $1", first.pid
        )
        assert row["old"], "the freeze reached the worker"
        relay.go_on()
        await _all_end(stack, runs)
        assert await _abandoned(stack) == []
        assert len(llm.requests) == 4 * 3


@pytest.mark.timeout(300)
async def test_behind_a_pooler_the_living_are_left_alone_and_heartbeats_tell_the_dead(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    """Nobody has a life lock that proves anything. The first worker and the third cannot reach the
    direct address: no lock, no reaper. The second has only the pooler's address and leads."""
    stack = await start_stack(BEATS, workers=0)
    async with TransactionPooler(stack.url) as pooler:
        nowhere = f"postgresql://redraft@127.0.0.1:{free_port()}/redraft"
        behind = {"REDRAFT_DATABASE_URL": pooler.url}
        lockless = {**behind, "REDRAFT_DATABASE_DIRECT_URL": nowhere}
        first = stack.worker(**lockless)
        await worker_seen(stack, first)
        runs = await _streaming(stack, llm, 3)
        second, third = stack.worker(**behind), stack.worker(**lockless)
        for process in (second, third):
            await worker_seen(stack, process)
        await asyncio.sleep(4)  # several looks of a reaper and more than a heartbeat timeout
        assert await _abandoned(stack) == []
        assert len(llm.requests) == 3

        stack.kill(second)  # now there is no reaper
        stack.kill(first)
        began = time.monotonic()
        await llm.wait_requests(6, seconds=60)
        assert time.monotonic() - began < 14, "sooner than by 15 s of silence"
        await _all_end(stack, runs)
        assert await _abandoned(stack) == ["worker_lost"] * 3
        assert len(llm.requests) == 3 + 3 * 3
        continued = [[item["quote"] for item in request.already] for request in llm.requests[3:]]
        assert sorted(continued) == [[]] * 6 + [["E1x"]] * 3
        for direct in (pooler.url, nowhere):
            settings = load({**behind, "REDRAFT_DATABASE_DIRECT_URL": direct})
            [told] = await check_sessions(settings)
            assert told.level is Level.FAIL
            assert "cannot be proved" in told.text
        llm.release()
