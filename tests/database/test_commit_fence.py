"""What an attempt may still write once the world has changed: asked in the transaction itself.

Nobody tells these attempts anything: only the fence stands between them and the rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from activities.claim import Claimed, abandon_step, claim
from activities.items import read_items
from activities.owning.watch import Watch
from activities.record import NewRevision, insert_revision, lock_run, rebase
from activities.review import ReviewCloser
from activities.steps.execute import execute
from activities.steps.step import Step
from deploy.database import Connection
from tests.attempts import Attempt, Shop, blocked, moved
from tests.fake_llm import Items, Reply, good_reviewer
from tests.faults.kit import issues, planted
from workflows.vocabulary import EventType, Reason, StepName

STEPS = (StepName.REVIEW, StepName.REFINE)
INTERRUPTED, RESUMED = EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED
Change = Callable[[Connection, str], Awaitable[object]]


async def superseded(connection: Connection, run_id: str) -> None:
    """Its step is given up for dead, as a claim or a take-over does it."""
    run = await lock_run(connection, run_id)
    assert run is not None
    step = await connection.fetchval("SELECT id FROM steps WHERE run_id = $1", run_id)
    await abandon_step(connection, run_id, step, "w", Reason.WORKER_LOST)


async def resumed(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)
    await moved(connection, run_id, RESUMED)


async def cancelled(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, EventType.RUN_CANCELLED)


async def interrupted(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)


async def edited(connection: Connection, run_id: str) -> None:
    """A person stops the run and gives it another text."""
    await moved(connection, run_id, INTERRUPTED)
    [document] = await connection.fetch("SELECT id FROM documents FOR UPDATE")
    new = NewRevision(document_id=document["id"], body="Anew.", base=0, author="ana")
    await rebase(connection, run_id, await insert_revision(connection, new), fresh_loop=True)


async def another_text(connection: Connection, run_id: str) -> None:
    await connection.execute("UPDATE runs SET working_revision = 7 WHERE id = $1", run_id)


async def plan_void(connection: Connection, run_id: str) -> None:
    await connection.execute("UPDATE step_plans SET voided_at = now() WHERE run_id = $1", run_id)


async def _whole_reply_held_back(shop: Shop) -> tuple[str, Attempt]:
    """A review whose last item is kept and whose end has not come."""
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    return run_id, attempt


async def _change(shop: Shop, run_id: str, change: Change) -> None:
    async with shop.pool.acquire() as connection, connection.transaction():
        await change(connection, run_id)


@pytest.mark.parametrize(
    ("change", "step"),
    [
        pytest.param(superseded, "worker_lost", marks=pytest.mark.rule("commit_by_own_step")),
        pytest.param(resumed, "interrupted", marks=pytest.mark.rule("commit_by_epoch")),
        pytest.param(cancelled, "interrupted", marks=pytest.mark.rule("commit_by_status")),
        pytest.param(edited, "interrupted", marks=pytest.mark.rule("commit_by_revision")),
        pytest.param(another_text, "interrupted", marks=pytest.mark.rule("commit_by_revision")),
        pytest.param(plan_void, "interrupted", marks=pytest.mark.rule("commit_by_revision")),
    ],
)
async def test_a_reply_that_comes_too_late_is_counted_and_not_kept(
    shop: Shop, change: Change, step: str
) -> None:
    run_id, attempt = await _whole_reply_held_back(shop)
    await _change(shop, run_id, change)
    shop.llm.release()
    assert (await attempt.ends()).code == "stopped"
    assert await shop.steps(run_id) == [("review", "FAILED", step)]
    assert await shop.told("SELECT current_round, pending_review_step FROM runs") == [(0, None)]
    assert await shop.told("SELECT 1 FROM issues") == []
    assert await shop.told("SELECT done_at FROM step_parts") == [(None,)]
    assert await shop.told("SELECT usage_source, ended_at IS NOT NULL FROM model_calls") == [
        ("reported", True)
    ]
    assert len(shop.llm.requests) == 1


async def test_a_reply_that_was_complete_when_the_stop_took_effect_is_kept(shop: Shop) -> None:
    run_id, attempt = await _whole_reply_held_back(shop)
    await _change(shop, run_id, interrupted)
    shop.llm.release()
    assert (await attempt.ends()).code == "stale"
    assert await shop.steps(run_id) == [("review", "SUCCEEDED", None)]
    assert await shop.told("SELECT status, current_round FROM runs") == [("INTERRUPTED", 1)]
    assert len(shop.llm.requests) == 1


@pytest.mark.rule("items_lock_run")
async def test_an_item_never_lands_after_the_next_claim_has_read_the_ledger(shop: Shop) -> None:
    """The second item is stored by itself: the third is still on its way."""
    shop.llm.queue(Reply(items=issues(3), stall_after=Items(1), per_chunk=0.05))
    run_id = await shop.run(3)
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    [(plan,)] = await shop.told("SELECT id FROM step_plans")
    async with shop.locked(run_id) as connection:
        await superseded(connection, run_id)
        read = await read_items(connection, plan)
        shop.llm.release()
        await blocked(shop.pool)
    await attempt.ends()
    assert await shop.keys(run_id) == [item.payload["quote"] for item in read["main"]] == ["E1x"]


async def test_of_two_parts_that_end_at_once_one_closes_the_step(shop: Shop) -> None:
    await shop.reviewers("facts", "claims")
    shop.llm.script(lambda _: Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 2)
    async with shop.locked(run_id):
        shop.llm.release()
        await blocked(shop.pool, 2)
        shop.llm.script(good_reviewer(errors=planted(1)))
    assert (await attempt.ends()).code == "done"
    assert await shop.steps(run_id) == [
        ("review", "SUCCEEDED", None),
        ("refine", "SUCCEEDED", None),
    ]


@pytest.mark.rule("reply_before_result")
async def test_a_reply_is_stored_before_anything_is_made_of_it(shop: Shop) -> None:
    """Its worker dies while the revision is being made: the next one makes it from what is kept."""
    shop.llm.script(good_reviewer(errors=planted(1)))
    run_id = await shop.run()
    async with shop.document_locked():
        late = shop.attempt(shop.worker(), run_id)
        await shop.until(lambda: _two_replies_kept(shop, run_id), what="the reply of the refine")
        assert await shop.steps(run_id) == [
            ("review", "SUCCEEDED", None),
            ("refine", "RUNNING", None),
        ]
        await _change(shop, run_id, _second_superseded)
    assert (await late.ends()).code == "stopped"
    await shop.attempt(shop.worker(), run_id).ends()
    assert (await shop.steps(run_id))[1:] == [
        ("refine", "FAILED", "worker_lost"),
        ("refine", "SUCCEEDED", None),
    ]
    assert len(shop.llm.requests) == 2


async def _two_replies_kept(shop: Shop, run_id: str) -> bool:
    return await shop.calls(run_id) == [("SUCCEEDED", None)] * 2


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(superseded, marks=pytest.mark.rule("call_fenced")),
        pytest.param(interrupted, marks=pytest.mark.rule("call_needs_running")),
        pytest.param(resumed, marks=pytest.mark.rule("call_needs_running")),
    ],
)
async def test_no_call_begins_once_the_step_or_the_run_is_not_ours_any_more(
    shop: Shop, change: Change
) -> None:
    run_id = await shop.run()
    step = await _claimed(shop, run_id)
    await _change(shop, run_id, change)
    await execute(step)
    assert shop.llm.requests == []
    assert await shop.calls(run_id) == []


async def _claimed(shop: Shop, run_id: str) -> Step:
    worker, watch = shop.worker(), Watch(run_id=run_id, epoch=1)
    got = await claim(worker, watch, 1, STEPS)
    assert isinstance(got, Claimed)
    return Step(tools=worker, watch=watch, claimed=got, closer=ReviewCloser(got))


@pytest.mark.rule("call_row_before_request")
async def test_the_row_of_a_call_is_committed_before_its_request_is_sent(shop: Shop) -> None:
    shop.llm.queue(Reply(hang=True))
    run_id = await shop.run()
    step = await _claimed(shop, run_id)
    async with shop.locked(run_id):
        work = asyncio.create_task(execute(step))
        await blocked(shop.pool)
        with pytest.raises(TimeoutError):
            await shop.llm.wait_requests(1, seconds=0.5)
    await shop.llm.wait_requests(1)
    assert await shop.calls(run_id) == [("STARTED", None)]
    step.watch.stop(Reason.INTERRUPTED)
    await work


@pytest.mark.rule("deletion_is_a_stop")
async def test_a_deleted_document_ends_its_attempt_without_a_failure(shop: Shop) -> None:
    _, attempt = await _whole_reply_held_back(shop)
    await shop.pool.execute("DELETE FROM documents")
    shop.llm.release()
    assert (await attempt.ends()).code == "stopped"
    assert attempt.tools.in_flight.steps == set()
    assert await shop.told("SELECT 1 FROM model_calls") == []


@pytest.mark.rule("caps_by_cause")
async def test_a_hand_over_and_a_kill_do_not_count_as_a_reply_that_ended_early(
    shop: Shop,
) -> None:
    shop.llm.queue(*(Reply(items=issues(3)[n:], stall_after=Items(1)) for n in range(2)))
    run_id = await shop.run(3)
    handing_over = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    handing_over.shut_down()
    await asyncio.wait({handing_over.task}, timeout=10)
    dying = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 2)
    await _change(shop, run_id, _second_superseded)
    shop.llm.release()
    await dying.ends()
    assert [cause for _, cause in await shop.calls(run_id)] == ["handed_over", "worker_lost"]
    assert await shop.told("SELECT calls, early_ends, barren FROM step_parts") == [(2, 0, 0)]


async def _second_superseded(connection: Connection, run_id: str) -> None:
    await lock_run(connection, run_id)
    step = await connection.fetchval("SELECT id FROM steps WHERE status = 'RUNNING'")
    await abandon_step(connection, run_id, step, "w", Reason.WORKER_LOST)
