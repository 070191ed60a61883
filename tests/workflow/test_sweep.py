"""The sweep holds rows against their workflows: real rows, real executions, nobody at work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType as History
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError

from activities.reconcile import Sweep
from activities.record import lock_run
from deploy.database import Pool
from deploy.settings import Settings
from tests.attempts import HERE, Shop, blocked, moved
from tests.fake_llm import FakeLLM
from tests.read_rows import add_step
from tests.services import make_namespace
from tests.workflow.scripted import Script
from workflows.contract import RunInput
from workflows.vocabulary import QUEUE, WORKFLOW_NAME, EventType, workflow_id

INTERRUPTED, RESUMED = EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED
DEAD = str(replace(HERE, pid=2**22 + 1, nonce="dead"))
"""A worker of this machine whose process is gone."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A sweep over one run's row; `client` is of a namespace of its own."""

    shop: Shop
    sweep: Sweep
    client: Client
    run_id: str

    @property
    def handle(self) -> Any:
        return self.client.get_workflow_handle(workflow_id(self.run_id))

    async def open(self) -> None:
        """An execution whose tasks nobody takes."""
        await self.client.start_workflow(
            WORKFLOW_NAME,
            RunInput(run_id=self.run_id),
            id=workflow_id(self.run_id),
            task_queue=QUEUE,
        )

    async def row(self, columns: str = "status, epoch, reason_code") -> tuple[Any, ...]:
        [row] = await self.shop.told(f"SELECT {columns} FROM runs")  # noqa: S608
        return row

    async def signals(self) -> list[str]:
        return [
            event.workflow_execution_signaled_event_attributes.signal_name
            async for event in self.handle.fetch_history_events()
            if event.event_type == History.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
        ]

    async def quiet(self, seconds: int = 300) -> None:
        """Nothing happened to the run for so long."""
        await self.shop.pool.execute(
            "UPDATE runs SET last_progress_at = now() - make_interval(secs => $1)", seconds
        )


@pytest_asyncio.fixture
async def rows(
    pool: Pool, settings: Settings, llm: FakeLLM, temporal_client: Client
) -> AsyncIterator[Rows]:
    shop = Shop(pool, settings, llm)
    config = temporal_client.config()
    config["namespace"] = await make_namespace(temporal_client)
    client = Client(**config)
    sweep = Sweep(shop.worker(), client)
    yield Rows(shop=shop, sweep=sweep, client=client, run_id=await shop.run())
    await shop.close()


@pytest.mark.rule("sweep_starts")
async def test_a_running_row_without_a_workflow_gets_one(rows: Rows) -> None:
    await rows.quiet()
    assert (await rows.sweep.all()).started == 1
    assert (await rows.handle.describe()).status == WorkflowExecutionStatus.RUNNING
    assert await rows.signals() == ["resume"]


@pytest.mark.rule("sweep_starts")
async def test_a_running_row_whose_workflow_parked_gets_a_new_one(rows: Rows) -> None:
    script = Script(client=rows.client, run_id=rows.run_id)
    script.loads.set()
    script.row = script.now("CONFIRMED", next_="end")
    async with script.worker():
        await rows.open()
        await rows.handle.result()
    await rows.quiet()
    assert (await rows.sweep.all()).started == 1
    assert (await rows.handle.describe()).status == WorkflowExecutionStatus.RUNNING


@pytest.mark.rule("sweep_terminated")
async def test_a_run_whose_workflow_was_terminated_has_failed(rows: Rows) -> None:
    await rows.open()
    await rows.handle.terminate()
    await rows.quiet()
    assert (await rows.sweep.all()).ended == 1
    assert await rows.row() == ("FAILED", 1, "workflow_terminated")


@pytest.mark.rule("sweep_cancelled")
async def test_a_run_whose_workflow_was_cancelled_is_cancelled(rows: Rows) -> None:
    script = Script(client=rows.client, run_id=rows.run_id)  # whose cancel reaches no row
    script.loads.set()
    script.row = script.now("INTERRUPTED", next_="wait")
    async with script.worker():
        await rows.open()
        await rows.handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await rows.handle.result()
    await rows.quiet()
    assert (await rows.sweep.all()).ended == 1
    assert await rows.row() == ("CANCELLED", 1, None)


@pytest.mark.rule("sweep_by_epoch")
async def test_a_verdict_about_a_former_execution_does_not_end_the_resumed_run(
    rows: Rows,
) -> None:
    await rows.open()
    await rows.handle.terminate()
    async with rows.shop.pool.acquire() as connection, connection.transaction():
        await lock_run(connection, rows.run_id)
        sweeping = asyncio.create_task(rows.sweep.one(rows.run_id))
        await blocked(rows.shop.pool)
        await moved(connection, rows.run_id, INTERRUPTED)
        await moved(connection, rows.run_id, RESUMED)
    await sweeping
    assert await rows.row() == ("RUNNING", 2, None)


@pytest.mark.rule("due_before_describe")
async def test_a_row_whose_signal_is_due_gets_no_verdict(rows: Rows) -> None:
    await rows.open()
    await rows.handle.terminate()
    await rows.shop.move(rows.run_id, INTERRUPTED, RESUMED)
    await rows.sweep.one(rows.run_id)
    assert await rows.row() == ("RUNNING", 2, None)


@pytest.mark.rule("sweep_sends_due", "signalled_seq")
async def test_due_signals_are_sent_and_acknowledged(rows: Rows) -> None:
    await rows.open()
    await rows.shop.move(rows.run_id, INTERRUPTED)
    assert (await rows.sweep.all()).signalled == 1
    assert await rows.signals() == ["interrupt"]
    await rows.handle.terminate()
    await rows.shop.move(rows.run_id, RESUMED)
    assert (await rows.sweep.all()).signalled == 1
    assert await rows.signals() == ["resume"]
    assert (await rows.handle.describe()).status == WorkflowExecutionStatus.RUNNING
    assert await rows.row("move_seq = signalled_seq") == (True,)
    assert (await rows.sweep.all()).signalled == 0


@pytest.mark.rule("sweep_wakes")
async def test_an_open_workflow_that_nobody_works_for_is_woken_after_a_minute(rows: Rows) -> None:
    await rows.open()
    await rows.quiet(50)
    assert (await rows.sweep.all()).woken == 0
    await rows.quiet(70)
    assert (await rows.sweep.all()).woken == 1
    assert await rows.signals() == ["resume"]
    assert await rows.row("woken") == (1,)


@pytest.mark.rule("sweep_terminates_existing")
async def test_a_workflow_that_does_not_wake_is_replaced(rows: Rows) -> None:
    await rows.open()
    first = (await rows.handle.describe()).run_id
    await rows.quiet()
    for _ in range(3):
        await rows.sweep.all()
    assert (await rows.handle.describe()).run_id == first
    await rows.sweep.all()
    described = await rows.handle.describe()
    assert (described.run_id != first, described.status) == (True, WorkflowExecutionStatus.RUNNING)
    earlier = rows.client.get_workflow_handle(rows.handle.id, run_id=first)
    assert (await earlier.describe()).status == WorkflowExecutionStatus.TERMINATED


@pytest.mark.rule("sweep_sees_dead_owner")
@pytest.mark.parametrize("step", [True, False], ids=["a step", "no step"])
async def test_only_the_living_count_as_at_work(rows: Rows, step: bool) -> None:
    await rows.open()
    other = await rows.shop.shows(rows.shop.worker())
    await rows.shop.pool.execute("UPDATE runs SET owner_worker = $1", other.worker)
    if step:
        step_id, _ = await add_step(rows.shop.pool, rows.run_id, worker=other.worker)
        other.in_flight.steps.add(step_id)
    await rows.quiet()
    assert (await rows.sweep.all()).woken == 0
    await rows.shop.pool.execute("UPDATE runs SET owner_worker = $1", DEAD)
    await rows.shop.pool.execute("UPDATE steps SET worker = $1", DEAD)
    assert (await rows.sweep.all()).woken == 1
