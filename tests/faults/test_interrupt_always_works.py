"""A stop reaches the request in flight whatever else is broken (scenarios 1, 2 and 6)."""

from __future__ import annotations

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Reply, errors, good_reviewer
from tests.faults.kit import (
    PATIENT,
    cut_listeners,
    freeze,
    frozen,
    nothing_repaid,
    planted,
    thaw,
)
from tests.faults.stops import STANDING_STILL, stop_a_full_house, stop_and_go
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent

WITHIN = 30
"""Seconds; a path that needed the heartbeat timeout or the call's own limits takes far longer."""


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


@pytest.mark.rule("worker_polls_row", "row_is_truth")
async def test_an_interrupt_needs_neither_heartbeats_nor_notifications(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT)
    run = await _asking(stack, llm)
    await cut_listeners(stack)
    await _interrupt(stack, llm, run)
    await _resumes(stack, llm, run)


@pytest.mark.rule("worker_polls_row", "sweep_sends_due")
async def test_an_interrupt_works_without_temporal_and_without_notifications(
    postgres: PostgresServer, mortal_temporal: TemporalServer, llm: FakeLLM
) -> None:
    server = mortal_temporal
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


@pytest.mark.timeout(300)
@pytest.mark.rule("conditional_update")
async def test_a_full_house_stops_at_once(start_stack: StartStack, llm: FakeLLM) -> None:
    """`./redraft bench recovery stops` takes 200."""
    await stop_a_full_house(await start_stack(STANDING_STILL), llm, runs=60)


@pytest.mark.timeout(300)
@pytest.mark.rule("living_wins")
async def test_of_resumes_right_behind_interrupts_no_two_ask_at_once(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT, workers=2)
    await stop_and_go(stack, llm, seed=2, stops=40)


@pytest.mark.rule("claim_needs_running")
async def test_an_interrupt_between_a_commit_and_the_next_claim_stops_the_next(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT, workers=0)
    llm.script(good_reviewer(errors=planted(1)))
    worker = stack.worker(REDRAFT_FAULT="settle.committed:1:freeze")
    run = await stack.create()
    await frozen(worker)
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {}))[0] == 202
    thaw(worker)

    async def reviewed() -> bool:
        now = await stack.run(run["id"])
        return (now["current_round"], now["active_step"], now["stopping"]) == (1, None, False)

    await eventually(reviewed, seconds=2 * WITHIN, what="the review closed")
    assert (await stack.run(run["id"]))["status"] == "INTERRUPTED"
    assert len(llm.requests) == 1
    await _resumes(stack, llm, run)
    assert len(llm.requests) == 3


async def test_an_interrupt_during_back_off_stops_at_once_and_a_resume_waits_the_rest(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT)
    llm.script(good_reviewer(errors=planted(1)))
    llm.queue(errors.rate_limited(retry_after=6))
    run = await stack.create()

    async def waits() -> bool:
        phase = (await stack.run(run["id"]))["phase"]
        return bool(phase and phase["code"] == "waiting_retry")

    await eventually(waits, seconds=WITHIN, what="phase waiting_retry")
    for command in ("interrupt", "resume", "interrupt", "resume"):
        assert (await stack.call("POST", f"/api/runs/{run['id']}/{command}", {}))[0] == 202
    await llm.wait_requests(2, seconds=60)
    assert llm.requests[1].at - llm.requests[0].at > 5
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
    assert len(llm.requests) == 1 + 3
