"""How an attempt in flight hears of a stop, and what it does while the database is away."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.exceptions import ApplicationError

from deploy.database import open_pool
from deploy.settings import load
from tests.attempts import Attempt, Shop
from tests.fake_llm import Items, Reply, good_reviewer
from tests.faults.kit import issues, planted
from tests.faults.relay import Relay
from worker.interrupts import listen, watch_rows
from workflows.vocabulary import MOVES_CHANNEL, EventType

INTERRUPTED = EventType.RUN_INTERRUPTED


async def _streaming(shop: Shop) -> tuple[str, Attempt]:
    """A review of two issues that stands still behind the first."""
    shop.llm.script(good_reviewer(errors=planted(2)))
    shop.llm.queue(Reply(items=issues(2), stall_after=Items(1)))
    run_id = await shop.run(2)
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    return run_id, attempt


@pytest.mark.rule("cancel_means_look")
async def test_an_attempt_that_is_told_to_end_goes_on_while_its_row_says_so(shop: Shop) -> None:
    run_id, attempt = await _streaming(shop)
    attempt.tell()

    async def looked() -> bool:
        return run_id in attempt.tools.suspects or attempt.task.done()

    await shop.until(looked, what="a look at the row")
    shop.llm.release()
    assert (await attempt.ends()).code == "done"
    assert [status for _, status, _ in await shop.steps(run_id)] == ["SUCCEEDED"] * 2
    assert len(shop.llm.requests) == 2


async def test_an_attempt_that_is_told_to_end_ends_when_its_row_says_so(shop: Shop) -> None:
    run_id, attempt = await _streaming(shop)
    await shop.move(run_id, INTERRUPTED)
    attempt.tell()
    assert (await attempt.ends()).code == "stopped"
    assert await shop.calls(run_id) == [("CANCELLED", "interrupted")]


@pytest.mark.rule("worker_polls_row")
@pytest.mark.parametrize("gone", [False, True], ids=["interrupted", "deleted"])
async def test_a_stop_that_nobody_tells_of_is_seen_within_seconds(shop: Shop, gone: bool) -> None:
    run_id, attempt = await _streaming(shop)
    polling = asyncio.create_task(watch_rows(attempt.tools))
    try:
        if gone:
            await shop.pool.execute("DELETE FROM documents")
        else:
            await shop.move(run_id, INTERRUPTED)
        await shop.llm.wait_gone(1, seconds=10)
        assert (await attempt.ends()).code == "stopped"
    finally:
        polling.cancel()


@pytest.mark.rule("worker_sees_closed_step")
async def test_an_attempt_whose_step_somebody_closed_ends_within_seconds(shop: Shop) -> None:
    run_id, attempt = await _streaming(shop)
    polling = asyncio.create_task(watch_rows(attempt.tools))
    try:
        await shop.pool.execute(
            """
            UPDATE steps SET status = 'FAILED', reason_code = 'worker_lost', ended_at = now()
            WHERE run_id = $1
            """,
            run_id,
        )
        await shop.llm.wait_gone(1, seconds=10)
        assert (await attempt.ends()).code == "stopped"
    finally:
        polling.cancel()


@pytest.mark.rule("notify_is_only_a_hint")
async def test_a_notification_makes_an_attempt_look_and_the_row_alone_makes_it_stop(
    shop: Shop,
) -> None:
    run_id, attempt = await _streaming(shop)
    listening = asyncio.create_task(listen(attempt.tools))
    try:
        await _last_said(shop, "LISTEN%")
        await shop.pool.execute("SELECT pg_notify($1, $2)", MOVES_CHANNEL, run_id)
        await _last_said(shop, "%LEFT JOIN steps%", or_done=attempt)
        assert not attempt.task.done()
        assert attempt.tools.in_flight.of_run(run_id)[0].stopping is None
        await shop.move(run_id, INTERRUPTED)
        assert (await attempt.ends()).code == "stopped"
    finally:
        listening.cancel()


async def _last_said(shop: Shop, like: str, or_done: Attempt | None = None) -> None:
    """Waits until another session's last statement was like this."""

    async def said() -> bool:
        if or_done is not None and or_done.task.done():
            return True
        return bool(
            await shop.told(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                  AND pid <> pg_backend_pid() AND state = 'idle' AND btrim(query) ILIKE $1
                """,
                like,
            )
        )

    await shop.until(said, what=like)


@pytest.mark.rule("commit_repeats")
async def test_a_commit_that_cannot_reach_the_database_is_repeated_and_never_its_call(
    shop: Shop,
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    port = int(shop.settings.database_url.rpartition("/")[0].rpartition(":")[2])
    async with Relay(port) as relay:
        url = shop.settings.database_url.replace(f":{port}/", f":{relay.port}/")
        pool = await open_pool(load({"REDRAFT_DATABASE_URL": url}), name="redraft-tests")
        try:
            run_id = await shop.run()
            attempt = shop.attempt(shop.worker(pool=pool), run_id)
            await shop.kept(run_id, 1)
            await relay.cut()
            shop.llm.release()
            await shop.llm.wait_done(1)
            await asyncio.wait({attempt.task}, timeout=0.5)
            await relay.mend()
            assert (await attempt.ends()).code == "done"
        finally:
            attempt.task.cancel()
            await asyncio.wait({attempt.task}, timeout=10)
            await pool.close()
    assert [status for _, status, _ in await shop.steps(run_id)] == ["SUCCEEDED"] * 2
    assert len(shop.llm.requests) == 2


async def test_a_step_handed_over_is_stored_and_its_slot_given_back(shop: Shop) -> None:
    run_id, attempt = await _streaming(shop)
    attempt.shut_down()
    with pytest.raises(ApplicationError) as handed:
        await attempt.ends()
    assert handed.value.type == "handed_over"
    assert await shop.steps(run_id) == [("review", "FAILED", "handed_over")]
    assert await shop.told("SELECT owner_worker FROM runs") == [(None,)]
