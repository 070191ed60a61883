"""Moves that are no person's name the row they were decided on; another row refuses them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from temporalio.testing import ActivityEnvironment

from activities.checkpoint import Checkpoint
from activities.owning.death import say_goodbye
from activities.record import Move, acknowledge, lock_run, move
from tests.attempts import Shop, blocked, moved
from tests.fake_llm import Items, Reply, errors
from tests.faults.kit import issues
from workflows.contract import ConcludeInput, HandMove, Moved
from workflows.vocabulary import EventType, RunStatus, Signal

INTERRUPTED, RESUMED = EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED


async def _row(shop: Shop, run_id: str) -> tuple[str, int]:
    [(status, epoch)] = await shop.told("SELECT status, epoch FROM runs WHERE id = $1", run_id)
    return status, epoch


@pytest.mark.rule("conditional_update")
async def test_a_move_from_a_status_that_is_no_more_has_no_effect(shop: Shop) -> None:
    run_id = await shop.run()
    await shop.move(run_id, INTERRUPTED)
    before = await shop.told("SELECT status, epoch, event_seq, move_seq FROM runs")
    late = Move(event=EventType.RUN_CANCELLED, actor="bob", from_=RunStatus.RUNNING)
    async with shop.pool.acquire() as connection:
        assert await move(connection, run_id, late) is None
    assert await shop.told("SELECT status, epoch, event_seq, move_seq FROM runs") == before


@pytest.mark.rule("signalled_seq", "number_not_flag")
async def test_a_slower_acknowledgement_leaves_a_later_move_due(shop: Shop) -> None:
    run_id = await shop.run()
    due = "SELECT move_seq > signalled_seq FROM runs"
    await shop.move(run_id, INTERRUPTED, RESUMED)
    [(first,)] = await shop.told("SELECT seq FROM run_events WHERE type = 'run_interrupted'")
    async with shop.pool.acquire() as connection:
        await acknowledge(connection, run_id, first)
        assert await shop.told(due) == [(True,)]
        await acknowledge(connection, run_id, first + 1)
        await acknowledge(connection, run_id, first)
    assert await shop.told(due) == [(False,)]


@pytest.mark.rule("conclude_by_epoch")
async def test_a_conclude_that_runs_again_does_not_offer_the_run_of_a_later_epoch(
    shop: Shop,
) -> None:
    run_id = await shop.run(outcome="passed", best_revision=0)
    concluding = Checkpoint(shop.worker()).conclude
    await shop.move(run_id, INTERRUPTED, RESUMED)
    said = await ActivityEnvironment().run(concluding, ConcludeInput(run_id=run_id, epoch=1))
    assert said == Moved(moved=False)
    assert await _row(shop, run_id) == ("RUNNING", 2)


@pytest.mark.rule("hand_by_epoch")
async def test_a_signal_by_hand_that_is_obeyed_again_does_not_stop_a_later_epoch(
    shop: Shop,
) -> None:
    run_id = await shop.run()
    obey = Checkpoint(shop.worker()).move_by_hand
    asked = HandMove(run_id=run_id, command=Signal.INTERRUPT, loaded_status="RUNNING", epoch=1)
    assert (await ActivityEnvironment().run(obey, asked)).moved
    await shop.move(run_id, RESUMED)
    assert not (await ActivityEnvironment().run(obey, asked)).moved
    assert await _row(shop, run_id) == ("RUNNING", 2)


@pytest.mark.rule("hand_names_status")
async def test_a_resume_by_hand_of_a_run_at_work_does_not_undo_the_interrupt_after_it(
    shop: Shop,
) -> None:
    run_id = await shop.run()
    obey = Checkpoint(shop.worker()).move_by_hand
    await shop.move(run_id, INTERRUPTED)
    asked = HandMove(run_id=run_id, command=Signal.RESUME, loaded_status="RUNNING", epoch=1)
    assert not (await ActivityEnvironment().run(obey, asked)).moved
    assert await _row(shop, run_id) == ("INTERRUPTED", 1)


@pytest.mark.rule("failure_by_epoch")
async def test_a_failure_of_an_older_epoch_does_not_fail_the_resumed_run(shop: Shop) -> None:
    shop.llm.queue(replace(errors.bad_key(), hang=True))
    run_id = await shop.run()
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.llm.wait_requests(1, seconds=10)
    async with shop.pool.acquire() as connection, connection.transaction():
        await lock_run(connection, run_id)
        shop.llm.release()
        await blocked(shop.pool)  # the refusal of the provider, on its way into the rows
        await moved(connection, run_id, INTERRUPTED)
        await moved(connection, run_id, RESUMED)
    await attempt.task
    assert await shop.steps(run_id) == [("review", "FAILED", "provider_refused")]
    assert await _row(shop, run_id) == ("RUNNING", 2)


@pytest.mark.rule("failure_by_own_step")
async def test_a_failure_of_a_superseded_attempt_does_not_fail_the_run_of_its_successor(
    shop: Shop,
) -> None:
    at_work = Reply(items=issues(2), stall_after=Items(1))
    shop.llm.queue(replace(errors.bad_key(), hang=True), at_work)
    run_id, gone = await shop.run(2), shop.worker()
    zombie = shop.attempt(gone, run_id)
    await shop.llm.wait_requests(1, seconds=10)
    await say_goodbye(shop.pool, gone.worker)
    successor = await shop.shows(shop.worker())
    shop.attempt(successor, run_id)
    await shop.kept(run_id, 1)
    shop.llm.release(1)
    await zombie.task
    assert await _row(shop, run_id) == ("RUNNING", 1)
    assert [status for _, status, _ in await shop.steps(run_id)] == ["FAILED", "RUNNING"]


@pytest.mark.rule("fault_by_own_step")
async def test_a_fault_of_an_attempt_that_holds_nothing_is_not_the_runs(shop: Shop) -> None:
    """A bug in a late attempt, after hours of failures, beside one that is at work."""
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    shop.attempt(await shop.shows(shop.worker()), run_id)
    await shop.kept(run_id, 1)
    await shop.pool.execute("UPDATE runs SET failing_since = now() - interval '1 day'")
    broken = shop.worker()
    broken.kinds.clear()
    late = shop.attempt(broken, run_id)
    await asyncio.wait({late.task}, timeout=10)
    assert late.task.exception() is not None
    assert await _row(shop, run_id) == ("RUNNING", 1)
    assert await shop.told("SELECT failures, retry_at FROM runs") == [(0, None)]
