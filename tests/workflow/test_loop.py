"""The workflow's loop alone: whatever arrives, in whatever order, it goes by the row it loads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType as History
from temporalio.client import Client, WorkflowExecutionStatus

from tests.eventually import eventually
from tests.workflow.scripted import Script, scripted
from workflows.contract import CancelMove, ConcludeInput, HandMove, WorkInput


@pytest_asyncio.fixture
async def script(temporal_client: Client) -> AsyncIterator[Script]:
    async with scripted(temporal_client) as made:
        yield made


async def _ended(script: Script) -> WorkflowExecutionStatus:
    async def status() -> WorkflowExecutionStatus | None:
        found = (await script.handle.describe()).status
        return None if found == WorkflowExecutionStatus.RUNNING else found

    return await eventually(status, seconds=30, what="the workflow's end")


@pytest.mark.rule("row_is_truth")
async def test_a_late_or_doubled_signal_stops_nothing_that_the_row_does_not(script: Script) -> None:
    await script.start()
    await script.until_asked(WorkInput)
    for _ in range(2):
        await script.handle.signal("interrupt", {"seq": 1})
    await script.until_loaded(2)
    script.deaf.set()
    await script.until_asked(ConcludeInput)
    assert len(script.of(WorkInput)) == 1
    assert script.of(HandMove) == []


@pytest.mark.rule("wait_by_count")
async def test_a_signal_that_arrives_during_a_load_is_not_missed(script: Script) -> None:
    script.row = script.now("INTERRUPTED", next_="wait")
    script.loads.clear()
    await script.start()
    await script.until_loaded(1)  # and holds what the row said then
    script.row = script.now("RUNNING", epoch=2)
    await script.handle.signal("resume", {"seq": 3})
    await script.heard("EXECUTION_SIGNALED")
    script.loads.set()
    await script.until_asked(WorkInput)
    assert script.of(WorkInput)[0].epoch == 2


async def test_a_load_that_fails_again_and_again_is_repeated_after_a_pause(script: Script) -> None:
    script.away = 7  # more than are tried without a pause
    await script.start()
    await script.until_asked(WorkInput)
    script.deaf.set()
    await script.until_asked(ConcludeInput)
    kinds = [event.event_type async for event in script.handle.fetch_history_events()]
    assert kinds.count(History.EVENT_TYPE_TIMER_FIRED) == 1
    assert len(kinds) < 40, "nothing is written while the tries go on"


@pytest.mark.rule("every_end_loads")
async def test_an_activity_that_fails_for_good_is_a_reason_to_load(script: Script) -> None:
    script.broken = 1
    await script.start()
    await script.until_asked(WorkInput, 2)
    script.deaf.set()
    await script.until_asked(ConcludeInput)
    assert (await script.handle.describe()).status == WorkflowExecutionStatus.RUNNING


@pytest.mark.rule("abandon_after_10s")
async def test_an_activity_that_does_not_end_is_abandoned_after_ten_seconds(script: Script) -> None:
    await script.start()
    await script.until_asked(WorkInput)
    script.row = script.now("RUNNING", epoch=2)
    began = asyncio.get_running_loop().time()
    await script.handle.signal("resume", {"seq": 3})
    await script.until_asked(WorkInput, 2, seconds=20)
    assert script.of(WorkInput)[1].epoch == 2
    assert asyncio.get_running_loop().time() - began > 9


@pytest.mark.rule("hand_at_arrival")
async def test_a_signal_by_hand_is_about_the_load_before_it_arrived(script: Script) -> None:
    await script.start()
    await script.until_asked(WorkInput)
    script.row = script.now("RUNNING", epoch=2)  # moved on, and nobody has told yet
    await script.handle.signal("interrupt")
    await script.until_asked(HandMove)
    [asked] = script.of(HandMove)
    assert (asked.loaded_status, asked.epoch) == ("RUNNING", 1)


@pytest.mark.rule("cancel_moves")
async def test_a_cancelled_workflow_cancels_the_run_and_then_ends(script: Script) -> None:
    script.row = script.now("AWAITING_CONFIRMATION", next_="wait")
    await script.start()
    await script.until_loaded(1)
    await script.handle.cancel()
    assert await _ended(script) == WorkflowExecutionStatus.CANCELED
    assert len(script.of(CancelMove)) == 1


@pytest.mark.rule("cancel_arrives")
async def test_a_cancel_during_a_load_is_not_swallowed_by_it(script: Script) -> None:
    script.loads.clear()
    await script.start()
    await script.until_loaded(1)
    await script.handle.cancel()
    await script.heard("EXECUTION_CANCEL_REQUESTED")
    script.loads.set()
    assert await _ended(script) == WorkflowExecutionStatus.CANCELED
    assert len(script.of(CancelMove)) == 1


async def test_a_signal_beside_the_end_of_the_parking_time_is_obeyed(
    temporal_client: Client,
) -> None:
    async with scripted(temporal_client) as first:
        first.row = first.now("INTERRUPTED", next_="wait", parking=3.0)
        await first.start()
        await first.heard("TASK_STARTED")
    script = replace(first, asked=[])
    await script.handle.signal("resume", {"seq": 3})  # nobody listens, and the timer ends too

    async def parked() -> bool:
        kinds = [e.event_type async for e in script.handle.fetch_history_events()]
        return History.EVENT_TYPE_TIMER_FIRED in kinds

    await eventually(parked, what="the end of the parking time")
    script.row = script.now("RUNNING", epoch=2)
    async with script.worker():
        await script.until_asked(WorkInput)
