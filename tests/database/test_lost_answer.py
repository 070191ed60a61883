"""A commit lands and its answer is lost: the transaction is made again and finds its own rows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from activities.claim import Claimed, claim
from activities.owning.watch import Watch
from activities.review import ReviewCloser
from activities.steps.execute import execute
from activities.steps.step import Step
from activities.tools import Tools
from deploy.database import open_pool
from deploy.settings import load
from tests.attempts import Shop, blocked
from tests.fake_llm import Items, Reply, good_reviewer
from tests.faults.kit import issues, planted
from tests.faults.relay import COMMIT, Relay
from workflows.vocabulary import EventType, StepName

DONE = [("review", "SUCCEEDED", None), ("refine", "SUCCEEDED", None)]


@pytest_asyncio.fixture
async def relay(shop: Shop) -> AsyncIterator[Relay]:
    port = int(shop.settings.database_url.rpartition("/")[0].rpartition(":")[2])
    async with Relay(port) as made:
        yield made


@pytest_asyncio.fixture
async def worker(shop: Shop, relay: Relay) -> AsyncIterator[Tools]:
    """Its pool reaches Postgres through the relay."""
    head, _, name = shop.settings.database_url.rpartition("/")
    url = f"{head.rpartition(':')[0]}:{relay.port}/{name}"
    pool = await open_pool(load({"REDRAFT_DATABASE_URL": url}), name="redraft-tests")
    yield shop.worker(pool=pool)
    await shop.close()
    await pool.close()


@contextlib.asynccontextmanager
async def _losing(shop: Shop, relay: Relay, run_id: str) -> AsyncIterator[None]:
    """Whoever asks for the run's lock in the body commits after it, and is not told so."""
    async with shop.locked(run_id):
        yield
        await blocked(shop.pool)
        lost = relay.lose_answer(COMMIT)
    await asyncio.wait_for(lost.wait(), 10)


@pytest.mark.rule("own_step_known_again")
async def test_a_claim_whose_answer_was_lost_holds_the_step_that_it_made(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    run_id = await shop.run(0)
    async with _losing(shop, relay, run_id):
        attempt = shop.attempt(worker, run_id)
    await attempt.ends()
    assert await shop.steps(run_id) == DONE[:1]
    assert len(shop.llm.requests) == 1


async def _first_review(worker: Tools, run_id: str) -> Step:
    """Claimed, and nothing of it done yet."""
    watch = Watch(run_id=run_id, epoch=1)
    got = await claim(worker, watch, 1, (StepName.REVIEW,))
    assert isinstance(got, Claimed)
    return Step(tools=worker, watch=watch, claimed=got, closer=ReviewCloser(got))


@pytest.mark.rule("own_call_known_again")
async def test_a_call_whose_row_was_written_without_an_answer_is_made_once(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    run_id = await shop.run(0)
    step = await _first_review(worker, run_id)
    async with _losing(shop, relay, run_id):
        work = asyncio.create_task(execute(step))
    await asyncio.wait_for(work, 20)
    assert await shop.calls(run_id) == [("SUCCEEDED", None)]
    assert await shop.told("SELECT calls FROM runs") == [(1,)]
    assert len(shop.llm.requests) == 1


async def test_a_call_whose_row_was_written_without_an_answer_is_closed_if_the_run_was_stopped(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    """The person's move waits behind the row's commit, and the second try behind the person."""
    run_id = await shop.run(0)
    step = await _first_review(worker, run_id)
    async with shop.locked(run_id):
        work = asyncio.create_task(execute(step))
        await blocked(shop.pool)
        stopping = asyncio.create_task(shop.move(run_id, EventType.RUN_INTERRUPTED))
        await blocked(shop.pool, 2)
        lost = relay.lose_answer(COMMIT)
    await asyncio.wait_for(lost.wait(), 10)
    await asyncio.wait_for(asyncio.gather(work, stopping), 20)
    assert await shop.calls(run_id) == [("CANCELLED", "interrupted")]
    assert await shop.steps(run_id) == [("review", "FAILED", "interrupted")]
    assert await shop.told("SELECT calls FROM runs") == [(1,)]
    assert not shop.llm.requests
    used = "SELECT tokens_input + tokens_output, cost_is_estimate FROM runs"
    assert await shop.told(used) == [(0, False)], "nobody has to guess what was never sent"
    assert await shop.told("SELECT tokens_input, tokens_output FROM model_calls") == [(0, 0)]


@pytest.mark.rule("own_items_known_again")
async def test_an_item_that_was_stored_without_an_answer_is_there_once(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    """The second item is stored by itself: the third is still on its way."""
    shop.llm.script(good_reviewer(errors=planted(3)))
    shop.llm.queue(Reply(items=issues(3), stall_after=Items(1), per_chunk=0.05))
    run_id = await shop.run(3)
    attempt = shop.attempt(worker, run_id)
    await shop.kept(run_id, 1)
    async with _losing(shop, relay, run_id):
        shop.llm.release()
    assert (await attempt.ends()).code == "done"
    assert await shop.keys(run_id) == ["E1x", "E2x", "E3x"]
    assert await shop.steps(run_id) == DONE
    assert len(shop.llm.requests) == 2


async def test_a_part_that_was_committed_without_an_answer_is_done(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run()
    attempt = shop.attempt(worker, run_id)
    await shop.kept(run_id, 1)
    async with _losing(shop, relay, run_id):
        shop.llm.release()
    assert (await attempt.ends()).code == "done"
    assert await shop.steps(run_id) == DONE
    assert await shop.told("SELECT calls, early_ends FROM step_parts ORDER BY plan_id") == [
        (1, 0),
        (1, 0),
    ]
    assert len(shop.llm.requests) == 2


@pytest.mark.rule("own_close_known_again")
async def test_a_step_that_was_closed_without_an_answer_is_done(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    run_id = await shop.run(max_rounds=2)
    async with shop.document_locked():
        attempt = shop.attempt(worker, run_id)
        await blocked(shop.pool)
        lost = relay.lose_answer(COMMIT)
    await asyncio.wait_for(lost.wait(), 10)
    assert (await attempt.ends()).code == "done"
    assert await shop.steps(run_id) == DONE
    assert len(shop.llm.requests) == 2


async def test_a_round_that_was_closed_without_an_answer_is_followed_by_another_activity(
    shop: Shop, worker: Tools, relay: Relay
) -> None:
    """The attempt would have begun it itself, had it heard where its commit left the run."""
    shop.llm.script(good_reviewer(errors=planted(1)))
    worker.settings = replace(worker.settings, rounds_within=20.0)
    run_id = await shop.run()
    async with shop.document_locked():
        attempt = shop.attempt(worker, run_id)
        await blocked(shop.pool)
        lost = relay.lose_answer(COMMIT)
    await asyncio.wait_for(lost.wait(), 10)
    assert (await attempt.ends()).code == "done"
    assert await shop.steps(run_id) == DONE
    assert await shop.told("SELECT owner_worker FROM runs") == [(None,)]
    assert (await shop.attempt(worker, run_id, round_=2).ends()).code == "done"
    assert await shop.steps(run_id) == [*DONE, DONE[0]]
    assert len(shop.llm.requests) == 3
