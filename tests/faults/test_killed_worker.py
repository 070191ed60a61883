"""A worker dies or is told to end while a reply streams (scenarios 11, 16b and 18)."""

from __future__ import annotations

import signal
import time

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import (
    PATIENT,
    ended,
    holder,
    issues,
    nothing_repaid,
    planted,
    stored,
    worker_seen,
)
from tests.stack import Json, Stack, consistent, minutes


async def _streaming(stack: Stack, llm: FakeLLM) -> Json:
    """A run whose first review stands still behind two stored items of three."""
    llm.script(good_reviewer(errors=planted(3)))
    llm.queue(Reply(items=issues(3), stall_after=Items(2)), schema="redraft_review")
    run = await stack.create(minutes(errors=3))
    await stored(stack, run["id"], 2)
    return run


async def _continued(stack: Stack, llm: FakeLLM, run_id: str) -> None:
    assert [item["quote"] for item in llm.requests[1].already] == ["E1x", "E2x"]
    await stack.until(run_id, "AWAITING_CONFIRMATION", seconds=60)
    dead = (await stack.rows(run_id, "steps"))[0]
    assert (dead["status"], dead["reason"]["code"]) == ("FAILED", "worker_lost")
    call = (await stack.rows(run_id, "calls"))[0]
    assert (call["status"], call["end_cause"]) == ("LOST", "worker_lost")
    assert call["usage_source"] == "estimated"
    assert call["items_kept"] == 2
    await consistent(stack, run_id)
    await nothing_repaid(stack, llm, run_id)


async def test_the_only_worker_killed_is_continued_from_its_items_without_a_timeout(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT)
    run = await _streaming(stack, llm)
    stack.kill(stack.workers[0])
    await stack.sql(
        "UPDATE workers SET seen_at = now() - interval '20 s'"
    )  # no need to wait for it

    async def told() -> bool:
        return bool((await stack.run(run["id"]))["phase"]["code"] == "worker_lost")

    await eventually(told, seconds=60, what="phase worker_lost")
    again = stack.worker()
    await worker_seen(stack, again)
    began = time.monotonic()
    await llm.wait_requests(2, seconds=60)
    assert time.monotonic() - began < 15
    await _continued(stack, llm, run["id"])


@pytest.mark.rule("take_over")
async def test_another_worker_takes_over_from_a_killed_one_without_a_timeout(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT, workers=2)
    run = await _streaming(stack, llm)
    for process in stack.workers:
        await worker_seen(stack, process)
    stack.kill(await holder(stack, run["id"]))
    await llm.wait_requests(2, seconds=30)
    await _continued(stack, llm, run["id"])


@pytest.mark.rule("unclaimed_taken_over")
async def test_work_that_a_killed_worker_never_claimed_needs_no_timeout(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    """It died in its first claim: no row names it, and Temporal waits for a heartbeat."""
    stack = await start_stack({**PATIENT, "REDRAFT_FAULT": "claim.written"})
    llm.script(good_reviewer(errors=planted(3)))
    run = await stack.create(minutes(errors=3))
    assert await ended(stack.workers[0], seconds=60) == 137
    began = time.monotonic()
    stack.worker(REDRAFT_FAULT="")
    await llm.wait_requests(1, seconds=60)
    assert time.monotonic() - began < 30
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    steps = await stack.rows(run["id"], "steps")
    assert {step["status"] for step in steps} == {"SUCCEEDED"}
    await nothing_repaid(stack, llm, run["id"])


async def test_a_call_that_ends_within_the_grace_is_not_cut_by_an_orderly_end(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({**PATIENT, "REDRAFT_SHUTDOWN_GRACE": "100"})
    run = await _streaming(stack, llm)
    stack.workers[0].send_signal(signal.SIGTERM)
    llm.release()
    assert await ended(stack.workers[0], seconds=100) == 0
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    steps = await stack.rows(run["id"], "steps")
    assert {step["status"] for step in steps} == {"SUCCEEDED"}
    assert len(llm.of("redraft_review")) == 2
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])


async def test_six_orderly_restarts_hand_over_and_consume_no_budget(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({**PATIENT, "REDRAFT_SHUTDOWN_GRACE": "0"})
    llm.script(good_reviewer(errors=planted(7)))
    llm.queue(*(Reply(items=issues(7)[n:], stall_after=Items(1)) for n in range(6)))
    run = await stack.create(minutes(errors=7))
    for n in range(6):
        await stored(stack, run["id"], n + 1)
        stack.workers[-1].send_signal(signal.SIGTERM)
        following = stack.worker()
        assert await ended(stack.workers[-2]) == 0
        await worker_seen(stack, following)
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
    steps = await stack.rows(run["id"], "steps")
    assert [(s["name"], s["reason"] and s["reason"]["code"]) for s in steps[:7]] == [
        *[("review", "handed_over")] * 6,
        ("review", None),
    ]
    calls = await stack.rows(run["id"], "calls")
    assert [call["end_cause"] for call in calls[:7]] == [*["handed_over"] * 6, None]
    [part] = await stack.sql("SELECT early_ends, barren FROM step_parts ORDER BY done_at LIMIT 1")
    assert (part["early_ends"], part["barren"]) == (0, 0)
    assert len(llm.of("redraft_review")) == 6 + 2
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
