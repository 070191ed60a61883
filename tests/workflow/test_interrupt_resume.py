"""Stop, edit, go on: what an operator does while a run is at work."""

from __future__ import annotations

import time

import pytest

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.stack import Stack, consistent, minutes

ISSUE = {
    "category": "wrong_fact",
    "severity": "major",
    "quote": "E1x",
    "problem": "not what was said",
    "suggestion": "the blue box",
    "evidence": ["T1"],
}


async def test_interrupt_before_the_first_byte_closes_the_request(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    asked = time.time()
    code, answer = await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {"reason": "look"})
    assert (code, answer["status"], answer["reason"]["code"]) == (202, "INTERRUPTED", "operator")
    gone = (await llm.wait_gone(1))[0]
    assert gone.gone_at is not None
    assert gone.gone_at - asked < 2.5
    await eventually(lambda: _settled(stack, run["id"]), what="step and call closed")
    step = (await stack.rows(run["id"], "steps"))[0]
    assert (step["status"], step["reason"]["code"]) == ("FAILED", "interrupted")
    call = (await stack.rows(run["id"], "calls"))[0]
    assert (call["status"], call["end_cause"]) == ("CANCELLED", "interrupted")
    assert "run_failed" not in [event["type"] for event in await stack.events(run["id"])]


async def _settled(stack: Stack, run_id: str) -> bool:
    run = await stack.run(run_id)
    return not run["stopping"] and run["active_step"] is None


async def test_items_received_before_the_stop_are_kept_and_only_the_rest_is_asked_for(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue"), ("E2x", "blue")]))
    two = [ISSUE, {**ISSUE, "quote": "E2x"}]
    llm.queue(Reply(items=two, stall_after=Items(1)), schema="redraft_review")
    llm.queue(Reply(items=[two[1]], extra={"score": 50}), schema="redraft_review")
    run = await stack.create(minutes(errors=2))

    async def kept() -> bool:
        return len(await stack.rows(run["id"], "items")) == 1

    await eventually(kept, seconds=30, what="the first item stored")
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {}))[0] == 202
    await llm.wait_gone(1)
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    again = llm.requests[1]
    assert again.schema == "redraft_review"
    assert [item["quote"] for item in again.already] == ["E1x"]
    items = [i for i in await stack.rows(run["id"], "items") if i["step"] == "review"]
    assert [i["payload"]["quote"] for i in items if i["round"] == 1] == ["E1x", "E2x"]
    steps = await stack.rows(run["id"], "steps")
    assert [(s["name"], s["attempt"], s["status"]) for s in steps[:2]] == [
        ("review", 1, "FAILED"),
        ("review", 2, "SUCCEEDED"),
    ]
    await consistent(stack, run["id"])


async def test_resume_goes_straight_to_the_refine_that_was_stopped(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    llm.queue(Reply(hang=True), schema="redraft_refine")
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    await llm.wait_until(lambda: len(llm.of("redraft_refine")) == 1, seconds=30)
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {}))[0] == 202
    await llm.wait_gone(1)
    before = len(llm.requests)
    code, resumed = await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
    assert (code, resumed["status"], resumed["reason"]) == (202, "RUNNING", None)
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert llm.requests[before].schema == "redraft_refine"
    assert len(llm.of("redraft_review")) == 2
    await consistent(stack, run["id"])


@pytest.mark.rule("move_voids_plan")
async def test_resume_with_an_edited_text_voids_the_pending_review(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    llm.queue(Reply(hang=True), schema="redraft_refine")
    run = await stack.create()
    await llm.wait_until(lambda: len(llm.of("redraft_refine")) == 1, seconds=30)
    await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    await llm.wait_gone(1)
    body = {"body": "# Minutes\n\n- A person's line.\n", "base_revision": 0}
    code, _ = await stack.call("POST", f"/api/runs/{run['id']}/resume", body)
    assert code == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert llm.of("redraft_review")[1].document.strip().endswith("- A person's line.")
    assert len(llm.of("redraft_refine")) == 1
    assert run["offered_revision"] == 1
    assert run["max_rounds"] == 6
    await consistent(stack, run["id"])


async def test_interrupt_then_resume_at_once_never_has_two_requests_in_flight(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    llm.pace(before_first=0.4)
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    for _ in range(5):
        await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
        await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=40)
    assert llm.most_in_flight == 1
    await consistent(stack, run["id"])


async def test_an_interrupt_that_loses_has_no_effect(stack: Stack, llm: FakeLLM) -> None:
    run = await stack.create(minutes(errors=0))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    before = await stack.events(run["id"])
    code, problem = await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    assert (code, problem["code"]) == (409, "status_changed")
    assert problem["run"]["status"] == "AWAITING_CONFIRMATION"
    assert await stack.events(run["id"]) == before
