"""A claim acts on the row as it is under its lock, waits for the living and supersedes the dead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from temporalio.exceptions import ApplicationError

from activities.claim import Claimed, claim
from activities.owning.death import say_goodbye
from activities.owning.presence import write_presence
from activities.owning.watch import Watch
from activities.projection import StepClosing, close_step
from deploy.database import Connection, new_id
from tests.attempts import Shop, blocked, moved
from tests.fake_llm import Items, Reply, errors, good_reviewer
from tests.faults.kit import issues, planted
from workflows.contract import Outcome
from workflows.vocabulary import EventType, Reason, StepName, StepStatus

STEPS = (StepName.REVIEW, StepName.REFINE)
INTERRUPTED, RESUMED = EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED
Change = Callable[[Connection, str], Awaitable[object]]


async def interrupted(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)


async def interrupted_and_resumed(connection: Connection, run_id: str) -> None:
    await moved(connection, run_id, INTERRUPTED)
    await moved(connection, run_id, RESUMED)


async def round_done(connection: Connection, run_id: str) -> None:
    await connection.execute("UPDATE runs SET current_round = 1 WHERE id = $1", run_id)


async def review_done(connection: Connection, run_id: str) -> None:
    await connection.execute(
        "UPDATE runs SET current_round = 1, pending_review_step = $2 WHERE id = $1",
        run_id,
        new_id(),
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(interrupted, "stale", marks=pytest.mark.rule("claim_needs_running")),
        pytest.param(interrupted_and_resumed, "stale", marks=pytest.mark.rule("claim_needs_epoch")),
        pytest.param(round_done, "done", marks=pytest.mark.rule("claim_needs_round")),
        pytest.param(review_done, "done", marks=pytest.mark.rule("claim_returns_result")),
    ],
)
async def test_a_claim_that_waited_for_the_lock_goes_by_what_the_row_says_then(
    shop: Shop, change: Change, code: str
) -> None:
    run_id = await shop.run()
    async with shop.locked(run_id) as connection:
        attempt = shop.attempt(shop.worker(), run_id)
        await blocked(shop.pool)
        await change(connection, run_id)
    assert await attempt.ends() == Outcome(code=code)
    assert await shop.steps(run_id) == []
    assert shop.llm.requests == []


@pytest.mark.rule("plan_frozen", "parts_alone")
async def test_the_cut_stays_until_the_step_is_done_and_a_stored_part_is_not_asked_for_again(
    shop: Shop,
) -> None:
    shop.llm.script({"redraft_review:claims": [Reply(hang=True)]})
    await shop.reviewers("facts", "claims")
    run_id = await shop.run()
    attempt = shop.attempt(shop.worker(), run_id)
    await _part_done(shop, "facts")
    await shop.move(run_id, INTERRUPTED)
    attempt.tell()
    assert (await attempt.ends()).code == "stopped"
    await shop.move(run_id, RESUMED)
    await shop.reviewers("main")
    await shop.attempt(shop.worker(), run_id, epoch=2).ends()
    assert sorted(request.part for request in shop.llm.requests) == ["claims", "claims", "facts"]
    assert await shop.steps(run_id) == [
        ("review", "FAILED", "interrupted"),
        ("review", "SUCCEEDED", None),
    ]


async def _part_done(shop: Shop, part: str) -> None:
    async def done() -> bool:
        return bool(
            await shop.told("SELECT 1 FROM step_parts WHERE part = $1 AND done_at < now()", part)
        )

    await shop.until(done, what=f"the commit of {part}")


@pytest.mark.rule("claim_closes_complete")
async def test_a_step_whose_parts_are_all_stored_is_closed_without_a_request(shop: Shop) -> None:
    run_id, worker = await shop.run(), shop.worker()
    got = await claim(worker, Watch(run_id=run_id, epoch=1), 1, STEPS)
    assert isinstance(got, Claimed)
    worker.in_flight.steps.clear()
    await shop.pool.execute("UPDATE step_parts SET done_at = now(), result = '{}'")
    async with shop.pool.acquire() as connection:
        ended = StepClosing(
            run_id=run_id,
            step_id=got.step_id,
            status=StepStatus.FAILED,
            reason=Reason.WORKER_LOST,
        )
        assert await close_step(connection, ended)
    outcome = await shop.attempt(worker, run_id).ends()
    assert (outcome.code, outcome.steps) == ("done", 1)
    assert await shop.steps(run_id) == [
        ("review", "FAILED", "worker_lost"),
        ("review", "SUCCEEDED", None),
    ]
    assert shop.llm.requests == []


@pytest.mark.rule("living_wins", "old_epoch_wait_ends")
async def test_a_living_holder_is_waited_for_to_its_end_or_five_seconds_under_an_older_epoch(
    shop: Shop,
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(*(Reply(items=issues(1), stall_after=Items(1)) for _ in range(2)))
    first = await shop.shows(shop.worker())
    same, older = await shop.run(), await shop.run()
    holding = [shop.attempt(first, run_id) for run_id in (same, older)]
    await shop.kept(same, 1)
    await shop.kept(older, 1)
    await shop.move(older, INTERRUPTED, RESUMED)
    second = await shop.shows(shop.worker())
    began = time.monotonic()
    waits, takes = shop.attempt(second, same), shop.attempt(second, older, epoch=2)
    await takes.ends()
    assert time.monotonic() - began >= 5
    assert not waits.task.done()
    assert [request.already for request in shop.llm.requests[:2]] == [[], []]
    assert len(shop.llm.requests[2].already) == 1
    shop.llm.release()
    await asyncio.gather(waits.ends(), *(attempt.ends() for attempt in holding))
    done = [("review", "SUCCEEDED", None), ("refine", "SUCCEEDED", None)]
    assert await shop.steps(same) == done
    assert await shop.steps(older) == [("review", "FAILED", "superseded"), *done]


@pytest.mark.rule("claim_supersedes_dead", "late_usage_corrects_lost_row")
async def test_a_step_of_the_dead_is_superseded_and_what_it_cost_corrected_when_it_speaks_again(
    shop: Shop,
) -> None:
    shop.llm.script(good_reviewer(errors=planted(2)))
    shop.llm.queue(Reply(items=issues(2), stall_after=Items(1), prompt_tokens=7000))
    run_id, gone = await shop.run(2), shop.worker()
    zombie = shop.attempt(gone, run_id)
    await shop.kept(run_id, 1)
    await say_goodbye(shop.pool, gone.worker)
    await shop.attempt(shop.worker(), run_id).ends()
    assert (await shop.steps(run_id))[0] == ("review", "FAILED", "worker_lost")
    assert (await shop.calls(run_id))[0] == ("LOST", "worker_lost")
    [before] = await shop.told("SELECT tokens_input FROM runs")
    [estimated] = await shop.told(USAGE)
    shop.llm.release()
    assert (await zombie.ends()).code in ("stopped", "done")
    [after], [reported] = await shop.told("SELECT tokens_input FROM runs"), await shop.told(USAGE)
    assert (estimated[0], reported) == ("estimated", ("reported", 7000))
    assert after[0] - before[0] == 7000 - estimated[1]
    assert await shop.told(LAST_CALL_ENDED) == [("LOST", "worker_lost", 1)]
    assert await shop.told("SELECT end_cause, items_kept FROM model_calls ORDER BY id LIMIT 1") == [
        ("worker_lost", 1)
    ]
    assert await shop.keys(run_id) == ["E1x", "E2x"]


LAST_CALL_ENDED = """
    SELECT data ->> 'status', data ->> 'end_cause', (data ->> 'items_kept')::int FROM run_events
    WHERE type = 'call_ended' ORDER BY seq DESC LIMIT 1
    """
USAGE = "SELECT usage_source, tokens_input FROM model_calls WHERE status = 'LOST'"


@pytest.mark.rule("in_flight_list")
async def test_a_step_that_a_living_worker_does_not_list_any_more_is_superseded(
    shop: Shop,
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(Reply(items=issues(1), stall_after=Items(1)))
    worker, run_id = await shop.shows(shop.worker()), await shop.run()
    shop.attempt(worker, run_id)
    await shop.kept(run_id, 1)
    began = time.monotonic()
    worker.in_flight.steps.clear()  # as if its attempt had ended with the step left open
    await shop.attempt(shop.worker(), run_id).ends()
    assert time.monotonic() - began > 1, "a list of before the step's start proves nothing"
    assert (await shop.steps(run_id))[0] == ("review", "FAILED", "worker_lost")
    assert len(shop.llm.of("redraft_review")[1].already) == 1


@pytest.mark.rule("claim_writes_seen")
async def test_a_worker_that_stood_still_gives_birth_to_a_living_step(shop: Shop) -> None:
    shop.llm.queue(Reply(hang=True))
    worker, run_id = shop.worker(), await shop.run()
    async with shop.pool.acquire() as connection:
        await write_presence(connection, worker.presence, frozenset())
    await shop.pool.execute("UPDATE workers SET seen_at = now() - interval '1 min'")
    shop.attempt(worker, run_id)
    await shop.llm.wait_requests(1)
    assert await shop.told(
        """
        SELECT w.seen_at = s.started_at, w.in_flight = ARRAY[s.id]
        FROM steps s JOIN workers w ON w.id = s.worker
        """
    ) == [(True, True)]


@pytest.mark.rule("retry_at_kept")
async def test_interrupt_and_resume_do_not_skip_what_the_provider_asked_to_wait(
    shop: Shop,
) -> None:
    shop.llm.queue(errors.rate_limited(retry_after=30))
    worker, run_id = shop.worker(), await shop.run()
    for epoch in (1, 2):
        with pytest.raises(ApplicationError) as refused:
            await shop.attempt(worker, run_id, epoch=epoch).ends()
        delay = refused.value.next_retry_delay
        assert delay is not None
        assert 20 < delay.total_seconds() <= 30
        await shop.move(run_id, INTERRUPTED, RESUMED)
    assert len(shop.llm.requests) == 1
