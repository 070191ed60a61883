"""A stop reaches the request in flight whatever else is broken (scenarios 1, 2 and 6)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Reply, good_reviewer
from tests.faults.kit import (
    PATIENT,
    cut_listeners,
    freeze,
    nothing_repaid,
    own_temporal,
    planted,
    thaw,
)
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent

WITHIN = 30
"""Seconds; a path that needed the heartbeat timeout or the call's own limits takes far longer."""


@pytest_asyncio.fixture(scope="module")
async def server() -> AsyncIterator[TemporalServer]:
    async with own_temporal() as temporal:
        yield temporal


async def _asking(stack: Stack, llm: FakeLLM) -> Json:
    """A run whose first request was read and is never answered."""
    llm.script(good_reviewer(errors=planted(1)))
    llm.queue(Reply(hang=True))
    run = await stack.create()
    try:
        await llm.wait_requests(1, seconds=60)
    except TimeoutError:
        raise AssertionError(f"never asked\n{stack.logs()}") from None
    return run


async def _interrupt(stack: Stack, llm: FakeLLM, run: Json) -> Json:
    code, answer = await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    assert (code, answer["status"]) == (202, "INTERRUPTED")
    await llm.wait_gone(1, seconds=WITHIN)

    async def closed() -> bool:
        now = await stack.run(run["id"])
        return now["active_step"] is None and not now["stopping"]

    await eventually(closed, seconds=WITHIN, what="step and call closed")
    calls = await stack.rows(run["id"], "calls")
    assert [(c["status"], c["end_cause"]) for c in calls] == [("CANCELLED", "interrupted")]
    assert isinstance(answer, dict)
    return answer


async def _resumes(stack: Stack, llm: FakeLLM, run: Json) -> None:
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])


async def test_an_interrupt_needs_neither_heartbeats_nor_notifications(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT)
    run = await _asking(stack, llm)
    await cut_listeners(stack)
    await _interrupt(stack, llm, run)
    await _resumes(stack, llm, run)


async def test_an_interrupt_works_without_temporal_and_without_notifications(
    postgres: PostgresServer, server: TemporalServer, llm: FakeLLM
) -> None:
    client = await server.ready()
    stack = Stack(postgres, server, client, llm.base_url, {**PATIENT, "REDRAFT_SWEEP_SECONDS": "2"})
    try:
        await stack.start()
        run = await _asking(stack, llm)
        assert server.process is not None
        freeze(server.process)
        try:
            await cut_listeners(stack)
            answer = await _interrupt(stack, llm, run)
            assert answer["signal_due"] is True
        finally:
            thaw(server.process)

        async def told() -> bool:
            return not (await stack.run(run["id"]))["signal_due"]

        await eventually(told, seconds=90, what="the signal sent by the sweep")
        assert (await stack.run(run["id"]))["status"] == "INTERRUPTED"
        assert len(llm.requests) == 1
        await _resumes(stack, llm, run)
    finally:
        await stack.stop()
