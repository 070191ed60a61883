"""A worker stands still longer than anybody waits, and comes back (scenarios 7, 8 and 14)."""

from __future__ import annotations

import asyncio

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import frozen, issues, nothing_repaid, planted, stored, thaw
from tests.faults.relay import Relay
from tests.services import TemporalServer
from tests.stack import Stack, consistent, minutes


async def _until_closed(stack: Stack) -> None:
    """A thawed worker has noticed that it was replaced."""

    async def quiet() -> bool:
        rows = await stack.sql("SELECT in_flight FROM workers WHERE goodbye_at IS NULL")
        return not any(row["in_flight"] for row in rows)

    await eventually(quiet, seconds=60, what="no step in anybody's hands")


@pytest.mark.timeout(400)
async def test_what_a_frozen_worker_brings_after_its_replacement_is_counted_and_not_kept(
    start_stack: StartStack, llm: FakeLLM, temporal: TemporalServer
) -> None:
    """Three runs in its hands: one streams, one is stopped and resumed meanwhile, and one is
    between its call's row and its request."""
    async with Relay(temporal.port) as relay:
        stack = await start_stack({"REDRAFT_HEARTBEAT_TIMEOUT": "3"}, workers=0)
        first = stack.worker(
            REDRAFT_FAULT="request.before:3:freeze", TEMPORAL_ADDRESS=f"127.0.0.1:{relay.port}"
        )
        llm.script(good_reviewer(errors=planted(3)))
        late = Reply(items=issues(4), stall_after=Items(2))  # its fourth is nobody else's
        llm.queue(late, Reply(hang=True))
        streaming = await stack.create(minutes(errors=4))
        await stored(stack, streaming["id"], 2)
        stopped = await stack.create(minutes(errors=4))
        await llm.wait_requests(2, seconds=60)
        asking = await stack.create(minutes(errors=4))
        await frozen(first)
        await relay.cut()
        for command in ("interrupt", "resume"):
            path = f"/api/runs/{stopped['id']}/{command}"
            assert (await stack.call("POST", path, {}))[0] == 202
        stack.worker()
        runs = [streaming, stopped, asking]
        for run in runs:
            await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=150)
        before = [await _told(stack, run["id"]) for run in runs]
        llm.release(1)
        await relay.mend()
        thaw(first)
        await _until_closed(stack)
    for run, told in zip(runs, before, strict=True):
        now = await _told(stack, run["id"])
        assert now[: len(told)] == told
        assert {type_ for _, type_ in now[len(told) :]} <= {"call_ended"}
        assert (await stack.run(run["id"]))["status"] == "AWAITING_CONFIRMATION"
        steps = await stack.rows(run["id"], "steps")
        assert [step["status"] for step in steps] == ["FAILED", *["SUCCEEDED"] * 3]
        assert (await stack.rows(run["id"], "calls"))[0]["status"] == "LOST"
        items = [(i["step"], i["round"], i["key"]) for i in await stack.rows(run["id"], "items")]
        assert len(items) == len(set(items)) == 6
        await consistent(stack, run["id"])
    revisions = await stack.sql("SELECT number FROM revisions WHERE author = 'run'")
    assert [row["number"] for row in revisions] == [1, 1, 1]
    [requests, calls] = [len(llm.requests), await stack.sql("SELECT id FROM model_calls")]
    assert requests <= len(calls) == 12
    again = next(r for r in llm.requests[2:] if r.already)
    assert [item["quote"] for item in again.already] == ["E1x", "E2x"]


async def _told(stack: Stack, run_id: str) -> list[tuple[int, str]]:
    return [(event["seq"], event["type"]) for event in await stack.events(run_id)]


async def test_a_round_longer_than_its_limit_goes_on_and_is_asked_for_once(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({"REDRAFT_HEARTBEAT_TIMEOUT": "3", "REDRAFT_ROUND_TIMEOUT": "3"})
    llm.script(good_reviewer(errors=planted(3)))
    llm.queue(Reply(items=issues(3), stall_after=Items(2)), schema="redraft_review")
    run = await stack.create(minutes(errors=3))
    await stored(stack, run["id"], 2)

    async def tried_again() -> bool:
        described = await stack.workflow(run["id"]).describe()
        pending = described.raw_description.pending_activities
        return bool(pending and pending[0].attempt > 1)

    await eventually(tried_again, seconds=60, what="a second attempt of the activity")
    await asyncio.sleep(3)  # beats of the first one are refused meanwhile: it is told to end
    llm.release()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    steps = await stack.rows(run["id"], "steps")
    assert [(s["name"], s["status"]) for s in steps] == [
        ("review", "SUCCEEDED"),
        ("refine", "SUCCEEDED"),
        ("review", "SUCCEEDED"),
    ]
    assert len(llm.requests) == 3
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
