"""Runs that another program holds in an open transaction keep nothing else of their worker waiting:
no other run, no row that shows that it lives, no stop of the overdue, no closing of the dead.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest_asyncio

from activities.owning.death import say_goodbye
from activities.tools import TURNS
from deploy.database import Pool
from tests.attempts import Shop
from tests.database.test_reaper import reaping
from tests.fake_llm import Items, Reply
from tests.faults.kit import issues
from worker.run import LOCK_WAIT
from workflows.vocabulary import EventType

CONNECTIONS = 4


@pytest_asyncio.fixture
async def small(shop: Shop) -> Pool:
    """A worker's pool that a few held runs could use up."""
    return await shop.own_pool("small", size=CONNECTIONS, lock_wait=LOCK_WAIT)


@contextlib.asynccontextmanager
async def held(shop: Shop, runs: Sequence[str]) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for run_id in runs:
            await stack.enter_async_context(shop.locked(run_id))
        yield


async def test_more_held_runs_than_turns_keep_no_other_run_from_being_reviewed(
    shop: Shop, small: Pool
) -> None:
    tools = shop.worker(pool=small)
    stuck = [await shop.run() for _ in range(TURNS + 2)]
    other = await shop.run()
    async with held(shop, stuck):
        waiting = [shop.attempt(tools, run_id) for run_id in stuck]
        await shop.until(lambda: _tried(shop, stuck), what="claims that wait")
        shop.llm.queue(Reply(items=issues(1)))
        shop.attempt(tools, other)

        async def reviewed() -> bool:
            return ("review", "SUCCEEDED", None) in await shop.steps(other)

        await shop.until(reviewed, seconds=10, what="the run that nobody holds")
        assert [await shop.steps(run_id) for run_id in stuck] == [[]] * len(stuck)
    for attempt in waiting:
        await attempt.ends(30)
    assert all([await shop.steps(run_id) for run_id in stuck])


async def _tried(shop: Shop, runs: Sequence[str]) -> bool:
    """As many sessions as there are turns wait for these runs, or have waited."""
    tried: int = await shop.pool.fetchval(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'small' AND query LIKE '%FOR NO KEY UPDATE%'
           OR application_name = 'small' AND query LIKE 'ROLLBACK%'
        """
    )
    return tried >= min(TURNS, len(runs))


async def test_held_replies_keep_no_worker_from_showing_that_it_lives(
    shop: Shop, small: Pool
) -> None:
    tools = await shop.shows(shop.worker(pool=small))
    shop.llm.script(lambda _: Reply(items=issues(1), stall_after=Items(1)))
    stuck = [await shop.run() for _ in range(CONNECTIONS + 2)]
    for run_id in stuck:
        shop.attempt(tools, run_id)
        await shop.kept(run_id, 1)
    async with held(shop, stuck):
        shop.llm.release()
        await shop.llm.wait_done(len(stuck))
        seen = await shop.pool.fetchval("SELECT seen_at FROM workers")

        async def shown() -> bool:
            beats = await shop.told(
                "SELECT seen_at > $1::timestamptz + interval '2 s' FROM workers", seen
            )
            return beats == [(True,)]

        await shop.until(shown, seconds=8, what="a beat after two seconds")

    async def stored() -> bool:
        reviews = [(await shop.steps(run_id))[0] for run_id in stuck]
        return set(reviews) == {("review", "SUCCEEDED", None)}

    await shop.until(stored, seconds=30, what="the replies that waited")


async def test_a_held_run_keeps_the_reaper_from_no_dead_step_and_no_overdue_run(
    shop: Shop,
) -> None:
    gone = shop.worker()
    stopped = []
    for _ in range(2):
        shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
        stopped.append(await shop.run())
        shop.attempt(gone, stopped[-1])
        await shop.kept(stopped[-1], 1)
        await shop.move(stopped[-1], EventType.RUN_INTERRUPTED)
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    overdue = [await shop.run(limits={"max_seconds": 1}, running_since=long_ago) for _ in range(2)]
    await say_goodbye(shop.pool, gone.worker)
    first, second = sorted(stopped)
    async with held(shop, [first, min(overdue)]), reaping(shop.worker()):

        async def rest_done() -> bool:
            status = await shop.pool.fetchval("SELECT status FROM runs WHERE id = $1", max(overdue))
            closed = await shop.steps(second) == [("review", "FAILED", "worker_lost")]
            return closed and status == "INTERRUPTED"

        await shop.until(rest_done, seconds=8, what="all that nobody holds")
        assert await shop.steps(first) == [("review", "RUNNING", None)]
