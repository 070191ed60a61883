"""A worker stands still longer than anybody waits, and comes back (scenarios 7, 8 and 14)."""

from __future__ import annotations

import asyncio

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import (
    PATIENT,
    freeze,
    frozen,
    holder,
    issues,
    nothing_repaid,
    planted,
    stored,
    thaw,
    worker_seen,
)
from tests.stack import Stack, consistent, minutes


async def _until_closed(stack: Stack, run_id: str) -> None:
    """A thawed worker has noticed that it was replaced."""

    async def quiet() -> bool:
        rows = await stack.sql("SELECT in_flight FROM workers WHERE goodbye_at IS NULL")
        return not any(row["in_flight"] for row in rows)

    await eventually(quiet, seconds=60, what="no step in anybody's hands")
    await consistent(stack, run_id)


@pytest.mark.timeout(240)
async def test_what_a_frozen_worker_brings_after_its_replacement_is_closed_and_not_kept(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({"REDRAFT_HEARTBEAT_TIMEOUT": "3"}, workers=2)
    for process in stack.workers:
        await worker_seen(stack, process)
    llm.script(good_reviewer(errors=planted(3)))
    llm.queue(Reply(items=issues(3), stall_after=Items(2)), schema="redraft_review")
    run = await stack.create(minutes(errors=3))
    await stored(stack, run["id"], 2)
    first = await holder(stack, run["id"])
    freeze(first)
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=120)
    assert [item["quote"] for item in llm.requests[1].already] == ["E1x", "E2x"]
    before = [(e["seq"], e["type"]) for e in await stack.events(run["id"])]
    llm.release(1)
    await llm.wait_idle(seconds=30)
    thaw(first)
    await _until_closed(stack, run["id"])
    events = [(e["seq"], e["type"]) for e in await stack.events(run["id"])]
    assert events[: len(before)] == before
    assert {type_ for _, type_ in events[len(before) :]} <= {"call_ended"}
    assert (await stack.run(run["id"]))["status"] == "AWAITING_CONFIRMATION"
    steps = await stack.rows(run["id"], "steps")
    assert [s["reason"] and s["reason"]["code"] for s in steps][:2] == ["worker_lost", None]
    revisions = await stack.sql("SELECT number FROM revisions WHERE author = 'run'")
    assert len(revisions) == 1
    items = [item["key"] for item in await stack.rows(run["id"], "items")]
    assert len(items) == len(set(items))
    await nothing_repaid(stack, llm, run["id"])


@pytest.mark.timeout(240)
async def test_a_worker_frozen_before_its_request_has_it_counted_and_its_reply_refused(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({"REDRAFT_HEARTBEAT_TIMEOUT": "3"}, workers=0)
    llm.script(good_reviewer(errors=planted(1)))
    first = stack.worker(REDRAFT_FAULT="request.before:1:freeze")
    run = await stack.create()
    await frozen(first)
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=120)
    thaw(first)
    await _until_closed(stack, run["id"])
    calls = await stack.rows(run["id"], "calls")
    assert len(calls) >= len(llm.requests)
    assert calls[0]["status"] == "LOST"
    assert len([s for s in await stack.rows(run["id"], "steps") if s["status"] != "FAILED"]) == 3
    await nothing_repaid(stack, llm, run["id"])


async def test_a_round_longer_than_its_limit_goes_on_and_is_asked_for_once(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({**PATIENT, "REDRAFT_ROUND_TIMEOUT": "3"})
    llm.script(good_reviewer(errors=planted(3)))
    llm.queue(Reply(items=issues(3), stall_after=Items(2)), schema="redraft_review")
    run = await stack.create(minutes(errors=3))
    await stored(stack, run["id"], 2)

    async def tried_again() -> bool:
        described = await stack.workflow(run["id"]).describe()
        pending = described.raw_description.pending_activities
        return bool(pending and pending[0].attempt > 1)

    await eventually(tried_again, seconds=60, what="a second attempt of the activity")
    llm.release()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    steps = await stack.rows(run["id"], "steps")
    reviews = llm.of("redraft_review")
    assert len(reviews) == len([s for s in steps if s["name"] == "review"])
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])


async def test_of_ten_resumes_at_once_one_wins(start_stack: StartStack, llm: FakeLLM) -> None:
    stack = await start_stack()
    llm.script(good_reviewer(errors=planted(1)))
    llm.queue(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=60)
    path = f"/api/runs/{run['id']}"
    assert (await stack.call("POST", f"{path}/interrupt", {}))[0] == 202
    answers = await asyncio.gather(*(stack.call("POST", f"{path}/resume", {}) for _ in range(10)))
    assert sorted(code for code, _ in answers) == [202, *[409] * 9]
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    events = [event["type"] for event in await stack.events(run["id"])]
    assert events.count("run_resumed") == 1
    assert llm.most_in_flight == 1
    await consistent(stack, run["id"])


@pytest.mark.timeout(240)
async def test_a_resume_does_not_wait_for_ever_for_a_step_that_ignores_the_stop(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT, workers=0)
    llm.script(good_reviewer(errors=planted(1)))
    deaf = stack.worker()
    llm.queue(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=60)
    freeze(deaf)
    path = f"/api/runs/{run['id']}"
    assert (await stack.call("POST", f"{path}/interrupt", {}))[0] == 202
    assert (await stack.call("POST", f"{path}/resume", {}))[0] == 202
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=120)
    thaw(deaf)
    await llm.wait_gone(1, seconds=30)
    await _until_closed(stack, run["id"])
    assert len(await stack.sql("SELECT number FROM revisions WHERE author = 'run'")) == 1
    await nothing_repaid(stack, llm, run["id"])
