"""What the dead leave in a run that is not RUNNING is closed by the reaper itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from activities.owning.death import say_goodbye
from activities.tools import Tools
from deploy.database import Connection
from tests import read_rows
from tests.api.harness import NOWHERE
from tests.attempts import Shop
from tests.fake_llm import Items, Reply
from tests.faults.kit import issues
from worker import reaper as module
from worker.reaper import Reaper
from workflows.vocabulary import EventType


@contextlib.asynccontextmanager
async def reaping(tools: Tools) -> AsyncIterator[None]:
    """This worker's reaper, which is to close steps and never to reach Temporal."""
    reaper = Reaper(tools, await Client.connect(NOWHERE, lazy=True))
    reaper.last_sweep = time.monotonic()
    running = asyncio.create_task(reaper.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})


async def _interrupted(shop: Shop, tools: Tools) -> str:
    """A run that was stopped while its attempt, which nobody tells, waits for its reply."""
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    shop.attempt(tools, run_id)
    await shop.kept(run_id, 1)
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    return run_id


async def _closed(shop: Shop, run_id: str) -> None:
    async def closed() -> bool:
        return await shop.steps(run_id) == [("review", "FAILED", "worker_lost")]

    await shop.until(closed, what="the step closed by the reaper")
    assert await shop.calls(run_id) == [("LOST", "worker_lost")]
    assert await shop.told("SELECT status, owner_worker FROM runs") == [("INTERRUPTED", None)]


@pytest.mark.rule("reaper_closes")
async def test_a_stopped_run_keeps_no_open_step_of_a_dead_worker(shop: Shop) -> None:
    gone = shop.worker()
    run_id = await _interrupted(shop, gone)
    await say_goodbye(shop.pool, gone.worker)
    async with reaping(shop.worker()):
        await _closed(shop, run_id)


async def test_a_run_that_an_attempt_could_not_give_up_is_given_up_later(shop: Shop) -> None:
    run_id, tools = await shop.run(), shop.worker()
    await shop.pool.execute("UPDATE runs SET owner_worker = $1", tools.worker)
    async with shop.locked(run_id):
        assert (await shop.attempt(tools, run_id, epoch=7).ends()).code == "stale"

    async def given_up() -> bool:
        return await shop.told("SELECT owner_worker FROM runs") == [(None,)]

    assert not await given_up()
    async with reaping(tools):
        await shop.until(given_up, what="the run given up by the worker's own loop")
    assert not tools.unreleased


async def test_a_run_that_is_held_keeps_no_other_one_of_its_worker_and_no_proof_of_a_death(
    shop: Shop,
) -> None:
    gone, tools = shop.worker(), shop.worker()
    stopped = await _interrupted(shop, gone)
    await say_goodbye(shop.pool, gone.worker)
    held, other = sorted([await shop.run(), await shop.run()])
    for run_id in (held, other):
        await shop.pool.execute(
            "UPDATE runs SET owner_worker = $2 WHERE id = $1", run_id, tools.worker
        )
        tools.unreleased.add(run_id)

    async def rest_done() -> bool:
        owned = await shop.told("SELECT id FROM runs WHERE owner_worker IS NOT NULL")
        return owned == [(held,)] and await shop.steps(stopped) == [
            ("review", "FAILED", "worker_lost")
        ]

    async with shop.locked(held), reaping(tools):
        await shop.until(rest_done, seconds=8, what="all that nobody holds")
        assert tools.unreleased == {held}


@pytest.mark.rule("reaper_sees_dead_steps")
@pytest.mark.parametrize("own", [False, True], ids=["another's", "its own"])
async def test_a_stopped_run_keeps_no_step_that_its_living_worker_forgot(
    shop: Shop, own: bool
) -> None:
    forgetful = await shop.shows(shop.worker())
    run_id = await _interrupted(shop, forgetful)
    forgetful.in_flight.steps.clear()
    async with reaping(forgetful if own else shop.worker()):
        await _closed(shop, run_id)


async def test_a_stopped_run_keeps_the_step_of_a_living_worker_until_it_has_stored_it(
    shop: Shop,
) -> None:
    living = await shop.shows(shop.worker())
    run_id = await _interrupted(shop, living)
    async with reaping(shop.worker()):
        await asyncio.sleep(2.5)  # some looks
        assert await shop.steps(run_id) == [("review", "RUNNING", None)]
        shop.llm.release()

        async def stored() -> bool:
            return await shop.steps(run_id) == [("review", "SUCCEEDED", None)]

        await shop.until(stored, what="the reply that was under way")


class Frozen(Reaper):
    """Stands still as the leader."""

    async def _lead(self, connection: Connection) -> None:
        await asyncio.Event().wait()


async def test_a_leader_that_stands_still_does_not_stay_the_leader(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen, or on a machine without power: its connection may look alive for hours."""
    monkeypatch.setattr(module, "STANDS_STILL", 1.5)
    client = await Client.connect(NOWHERE, lazy=True)
    frozen, other = Frozen(shop.worker(), client), Reaper(shop.worker(), client)
    other.last_sweep = time.monotonic()
    running = [asyncio.create_task(frozen.run())]

    async def frozen_leads() -> bool:
        return frozen.leading

    async def other_leads() -> bool:
        return other.leading

    try:
        await shop.until(frozen_leads, what="a leader")
        running.append(asyncio.create_task(other.run()))
        await shop.until(other_leads, what="another leader")
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)


async def test_what_the_dead_left_is_handed_on_in_the_order_of_the_stages(shop: Shop) -> None:
    stages = {
        await read_rows.add_run(shop.pool, stage=stage, owner_worker="gone"): stage
        for stage in ("refine", "draft", "review", "transcribe", "draft")
    }
    reaper = Reaper(shop.worker(), await Client.connect(NOWHERE, lazy=True))
    async with shop.pool.acquire() as connection:
        left = [stages[row["id"]] for row in await reaper._owned(connection)]
    assert left[:3] == ["transcribe", "draft", "draft"]
    assert set(left[3:]) == {"review", "refine"}
