"""Whose run it is: who may clear `owner_worker`, and when a take-over acts (PROTOCOL 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from activities.checkpoint import Checkpoint
from activities.owning.death import say_goodbye
from activities.steps.opening import StepOpening, open_step
from activities.tools import Tools
from deploy.database import Connection, new_id
from tests.attempts import Attempt, Shop, blocked, moved
from tests.fake_llm import Items, Reply
from tests.faults.kit import issues
from workflows.contract import Moved, TakeOver
from workflows.vocabulary import EventType, StepName

INTERRUPTED, RESUMED = EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED


async def _streaming(shop: Shop) -> tuple[str, Attempt]:
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    return run_id, attempt


async def _owner(shop: Shop) -> str | None:
    [(owner,)] = await shop.told("SELECT owner_worker FROM runs")
    return str(owner) if owner else None


@pytest.mark.rule("owner_clears_own")
async def test_a_stale_attempt_hides_nobody_who_is_between_two_steps(shop: Shop) -> None:
    run_id, frozen = await shop.run(), "a worker that stands still"
    await shop.pool.execute("UPDATE runs SET owner_worker = $1", frozen)
    stale = shop.attempt(shop.worker(), run_id, epoch=7)
    assert (await stale.ends()).code == "stale"
    assert await _owner(shop) == frozen


@pytest.mark.rule("owner_kept_by_step")
async def test_an_older_attempt_of_the_same_worker_leaves_the_newer_one_its_run(
    shop: Shop,
) -> None:
    run_id, newer = await _streaming(shop)
    older = shop.attempt(newer.tools, run_id, epoch=7)
    assert (await older.ends()).code == "stale"
    assert await _owner(shop) == newer.tools.worker


async def _owning(shop: Shop) -> tuple[str, Tools]:
    """A run of this worker, between two steps."""
    run_id, tools = await shop.run(), shop.worker()
    await shop.pool.execute("UPDATE runs SET owner_worker = $1", tools.worker)
    return run_id, tools


async def test_an_attempt_that_is_told_to_end_while_it_gives_up_the_run_gives_it_up(
    shop: Shop,
) -> None:
    run_id, tools = await _owning(shop)
    async with shop.locked(run_id):
        stale = shop.attempt(tools, run_id, epoch=7)
        await blocked(shop.pool)
        stale.tell()
        await asyncio.wait({stale.task}, timeout=0.2)
    assert (await stale.ends()).code == "stale"
    assert await _owner(shop) is None


@pytest.mark.rule("owner_kept_by_step")
async def test_a_step_begun_while_an_older_attempt_gives_up_the_run_keeps_its_owner(
    shop: Shop,
) -> None:
    run_id, tools = await _owning(shop)
    opening = StepOpening(
        run_id=run_id,
        epoch=1,
        step_id=new_id(),
        plan_id=new_id(),
        name=StepName.REVIEW,
        round=1,
        input_revision=0,
        sources=(),
        worker=tools.worker,
        cut=(),
    )
    async with shop.locked(run_id) as connection:
        stale = shop.attempt(tools, run_id, epoch=7)
        await blocked(shop.pool)
        await open_step(connection, opening)
    assert (await stale.ends()).code == "stale"
    assert await _owner(shop) == tools.worker


@pytest.mark.rule("take_over_clears_owner")
async def test_a_take_over_closes_step_and_call_of_the_dead_and_clears_the_owner(
    shop: Shop,
) -> None:
    run_id, attempt = await _streaming(shop)
    wanted = TakeOver(run_id=run_id, epoch=1, worker=attempt.tools.worker)
    assert (await Checkpoint(shop.worker()).take_over(wanted)).code == "alive"
    assert await shop.steps(run_id) == [("review", "RUNNING", None)]
    await say_goodbye(shop.pool, attempt.tools.worker)
    assert (await Checkpoint(shop.worker()).take_over(wanted)).moved
    assert await shop.steps(run_id) == [("review", "FAILED", "worker_lost")]
    assert await shop.calls(run_id) == [("LOST", "worker_lost")]
    assert await _owner(shop) is None


async def comes_back(connection: Connection, run_id: str) -> None:
    await connection.execute("UPDATE workers SET goodbye_at = NULL")


async def another_owner(connection: Connection, run_id: str) -> None:
    await connection.execute("UPDATE runs SET owner_worker = 'somebody else'")


async def another_epoch(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)
    await moved(connection, run_id, RESUMED)


async def stopped(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)


@pytest.mark.rule("take_over_checks")
@pytest.mark.parametrize("change", [comes_back, another_owner, another_epoch, stopped])
async def test_a_take_over_does_nothing_when_the_world_changed_before_its_lock(
    shop: Shop, change: Callable[[Connection, str], Awaitable[None]]
) -> None:
    run_id, attempt = await _streaming(shop)
    await say_goodbye(shop.pool, attempt.tools.worker)
    wanted = TakeOver(run_id=run_id, epoch=1, worker=attempt.tools.worker)
    async with shop.locked(run_id) as connection:
        taking = asyncio.create_task(Checkpoint(shop.worker()).take_over(wanted))
        await blocked(shop.pool)
        await change(connection, run_id)
    assert await taking == Moved(moved=False)
    assert await shop.steps(run_id) == [("review", "RUNNING", None)]
    assert await shop.calls(run_id) == [("STARTED", None)]
