"""Temporal Web and other programs: signals without argument, cancel, terminate, reset."""

from __future__ import annotations

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Reply, good_reviewer
from tests.stack import Stack, consistent, minutes


async def test_signals_by_hand_move_the_row_and_attributes_and_query_agree(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    handle = stack.workflow(run["id"])
    await handle.signal("interrupt")
    await stack.until(run["id"], "INTERRUPTED", seconds=5)
    await llm.wait_gone(1)
    event = next(e for e in await stack.events(run["id"]) if e["type"] == "run_interrupted")
    assert event["actor"] == "temporal"

    async def agrees() -> bool:
        described = await handle.describe()
        status = described.search_attributes.get("RedraftStatus")
        progress = await handle.query("progress")
        return bool(status == ["INTERRUPTED"] and progress["status"] == "INTERRUPTED")

    await eventually(agrees, what="search attribute and query")
    llm.script(good_reviewer())
    await handle.signal("resume", {"reason": "go on", "actor": "ops"})
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    resumed = next(e for e in await stack.events(run["id"]) if e["type"] == "run_resumed")
    assert resumed["actor"] == "ops"
    await consistent(stack, run["id"])


async def test_nonsense_typed_by_hand_does_not_wedge_the_run(stack: Stack, llm: FakeLLM) -> None:
    run = await stack.create(minutes(errors=0))
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    handle = stack.workflow(run["id"])
    for name in ("decide", "interrupt", "resume", "take_over"):
        for argument in (None, 7, "confirm!", ["a"], {"seq": "x"}, {"epoch": None}):
            await handle.signal(name, argument)
    await handle.signal("decide", args=[1, 2, 3])
    code, answer = await stack.call("POST", f"/api/runs/{run['id']}/confirm", {"revision": 0})
    assert (code, answer["status"]) == (200, "CONFIRMED")

    async def ended() -> bool:
        return bool((await handle.describe()).status == WorkflowExecutionStatus.COMPLETED)

    await eventually(ended, what="the workflow's end")


async def test_words_that_postgres_cannot_hold_do_not_wedge_the_run(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    handle = stack.workflow(run["id"])
    await handle.signal("interrupt", {"reason": "wait\0", "actor": "o\0ps"})
    await stack.until(run["id"], "INTERRUPTED", seconds=5)
    llm.script(good_reviewer())
    await handle.signal("resume", {"reason": "\0", "actor": "\0"})
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    moves = [e for e in await stack.events(run["id"]) if e["type"].startswith("run_")]
    assert [e["actor"] for e in moves[1:3]] == ["ops", "temporal"]
    await consistent(stack, run["id"])


async def test_a_request_for_cancellation_cancels_the_row(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    handle = stack.workflow(run["id"])
    await handle.cancel()
    await stack.until(run["id"], "CANCELLED", seconds=10)
    await llm.wait_gone(1)

    async def cancelled() -> bool:
        return bool((await handle.describe()).status == WorkflowExecutionStatus.CANCELED)

    await eventually(cancelled, what="Canceled in Temporal Web")


async def test_a_terminated_workflow_fails_the_row_which_can_be_resumed(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(Reply(hang=True))
    run = await stack.create()
    await llm.wait_requests(1, seconds=30)
    await stack.workflow(run["id"]).terminate("test")
    run = await stack.until(run["id"], "FAILED", seconds=60)
    assert run["reason"]["code"] == "workflow_terminated"
    await llm.wait_gone(1)
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await consistent(stack, run["id"])


async def test_a_reset_repays_nothing(stack: Stack, llm: FakeLLM) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    run = await stack.create()
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    paid = len(llm.requests)
    client = stack.client_of_namespace()
    handle = stack.workflow(run["id"])
    first = (await handle.describe()).run_id
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=stack.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=first),
            reason="test",
            workflow_task_finish_event_id=4,
            request_id="reset-1",
        )
    )

    async def waits() -> bool:
        described = await handle.describe()
        progress = await handle.query("progress")
        return bool(described.run_id != first and progress["waits_for"] == "wait")

    await eventually(waits, what="the reset execution to wait")
    assert len(llm.requests) == paid
    assert (await stack.run(run["id"]))["status"] == "AWAITING_CONFIRMATION"
    await consistent(stack, run["id"])
