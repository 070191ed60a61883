"""Temporal ends, forgets, or is not there; the API dies between commit and signal (scenarios 6, 20
and 21, issue 4.1d)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio

from deploy.local.data import DataDirectory
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import (
    freeze,
    issues,
    nothing_repaid,
    own_temporal,
    planted,
    stored,
    thaw,
)
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent, minutes

SOON = {
    "REDRAFT_HEARTBEAT_TIMEOUT": "300",
    "REDRAFT_SWEEP_SECONDS": "2",
    "TEMPORAL_NAMESPACE": "redraft",  # the server makes it anew when its store is gone
}


@pytest_asyncio.fixture(scope="module")
async def server() -> AsyncIterator[TemporalServer]:
    async with own_temporal() as temporal:
        yield temporal


@pytest_asyncio.fixture
async def beside(
    postgres: PostgresServer, server: TemporalServer, llm: FakeLLM
) -> AsyncIterator[Stack]:
    stack = Stack(postgres, server, await server.ready(), llm.base_url, SOON)
    yield await stack.start()
    await stack.stop()


async def _streaming(stack: Stack, llm: FakeLLM) -> Json:
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(Reply(items=issues(2), stall_after=Items(1)), schema="redraft_review")
    run = await stack.create(minutes(errors=2))
    await stored(stack, run["id"], 1)
    return run


async def _ends_once(stack: Stack, llm: FakeLLM, run: Json) -> None:
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=150)
    steps = await stack.rows(run["id"], "steps")
    assert {step["status"] for step in steps} == {"SUCCEEDED"}, steps
    assert len(llm.requests) == 3
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])


@pytest.mark.timeout(300)
async def test_a_call_outlives_the_end_of_temporal_and_is_asked_for_once(
    beside: Stack, server: TemporalServer, llm: FakeLLM
) -> None:
    run = await _streaming(beside, llm)
    server.stop()
    llm.release()
    await llm.wait_done(1, seconds=30)
    await asyncio.sleep(2)
    server.start()
    await server.ready()
    await _ends_once(beside, llm, run)


@pytest.mark.timeout(300)
async def test_every_row_goes_on_or_waits_after_temporal_forgot_everything(
    beside: Stack, server: TemporalServer, llm: FakeLLM
) -> None:
    waiting = await beside.create(minutes(errors=0))
    await beside.until(waiting["id"], "AWAITING_CONFIRMATION", seconds=60)
    stopped = await _streaming(beside, llm)
    assert (await beside.call("POST", f"/api/runs/{stopped['id']}/interrupt", {}))[0] == 202
    await llm.wait_gone(1, seconds=60)
    running = await _streaming(beside, llm)
    server.stop()
    for file in DataDirectory(server.folder).temporal_file.parent.glob("*.db*"):
        file.unlink()
    server.start()
    await server.ready()
    llm.release()
    await beside.until(running["id"], "AWAITING_CONFIRMATION", seconds=150)
    assert len(llm.requests) == 1 + 1 + 3
    assert (await beside.run(stopped["id"]))["status"] == "INTERRUPTED"
    assert (await beside.run(waiting["id"]))["status"] == "AWAITING_CONFIRMATION"
    assert (await beside.call("POST", f"/api/runs/{stopped['id']}/resume", {}))[0] == 202
    confirm = {"revision": 0}
    assert (await beside.call("POST", f"/api/runs/{waiting['id']}/confirm", confirm))[0] == 200
    await beside.until(stopped["id"], "AWAITING_CONFIRMATION", seconds=150)
    assert [item["quote"] for item in llm.requests[5].already] == ["E1x"]
    assert len(llm.requests) == 1 + 1 + 3 + 3
    for run in (waiting, stopped, running):
        await consistent(beside, run["id"])


@pytest.mark.timeout(300)
async def test_a_run_made_while_temporal_is_away_starts_by_itself(
    beside: Stack, server: TemporalServer, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(1)))
    server.stop()
    try:
        key = {"Idempotency-Key": uuid.uuid4().hex}
        code, run = await beside.call("POST", "/api/runs", minutes(), key)
        assert (code, run["signal_due"]) == (201, True)
        path = f"/api/documents/{run['document_id']}/runs"
        assert (await beside.call("POST", path, {}, {"Idempotency-Key": "2"}))[0] == 409
        assert (await beside.call("POST", "/api/runs", minutes(), key))[1]["id"] == run["id"]
    finally:
        server.start()
        await server.ready()
    await _ends_once(beside, llm, run)


@pytest.mark.timeout(300)
async def test_a_run_whose_api_died_before_the_signal_starts_once(
    beside: Stack, server: TemporalServer, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(1)))
    assert server.process is not None
    assert beside.api_process is not None
    key = {"Idempotency-Key": uuid.uuid4().hex}
    freeze(server.process)  # so that the API waits between its commit and its answer
    try:
        asking = asyncio.create_task(beside.call("POST", "/api/runs", minutes(), key))

        async def committed() -> bool:
            return bool(await beside.sql("SELECT id FROM runs WHERE move_seq > signalled_seq"))

        await eventually(committed, seconds=30, what="the committed run")
        beside.kill(beside.api_process)
        with pytest.raises(httpx2.HTTPError):
            await asking
    finally:
        thaw(server.process)
    beside.api()
    await beside.until_ready()
    code, run = await beside.call("POST", "/api/runs", minutes(), key)
    assert code == 201
    assert len(await beside.sql("SELECT id FROM runs")) == 1
    await _ends_once(beside, llm, run)
