"""A run that stops and asks: at a limit, at a guardrail; and goes on only when a person says so."""

from __future__ import annotations

import uuid

from tests.fake_llm import FakeLLM, Reply, Request, good_reviewer
from tests.stack import Json, Stack, consistent, minutes
from workflows.vocabulary import QUEUE, RECONCILE_WORKFLOW

TRIP = {
    "kind": "itinerary",
    "title": "Five days",
    "attributes": {"to": "Rockford", "days": 5},
    "sources": [{"name": "request", "media_type": "text/plain", "text": "Five days."}],
}
WALK: Json = {"start": "09:00", "end": "11:00", "kind": "sight", "name": "A walk", "cost": None}
DAYS: list[Json] = [{"day": day, "city": "Rockford", "entries": [WALK]} for day in (1, 2)]


def spins(request: Request) -> Reply:
    return Reply(items=[] if request.already else DAYS)


async def resume(stack: Stack, run: Json, body: Json) -> tuple[int, Json]:
    return await stack.call("POST", f"/api/runs/{run['id']}/resume", body)


async def nobody_goes_on(stack: Stack, llm: FakeLLM, run: Json) -> None:
    """Neither the sweep nor a signal by hand continues a stop that asks for more than a resume."""
    asked = len(llm.requests)
    await stack.workflow(run["id"]).signal("resume")
    await stack.client_of_namespace().execute_workflow(
        RECONCILE_WORKFLOW, id=uuid.uuid4().hex, task_queue=QUEUE
    )
    now = await stack.run(run["id"])
    assert (now["status"], now["event_seq"]) == (run["status"], run["event_seq"])
    assert len(llm.requests) == asked


async def test_a_limit_stops_the_run_which_goes_on_from_there_when_it_is_raised(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    run = await stack.create(minutes(limits={"max_calls": 2}))
    run = await stack.until(run["id"], "INTERRUPTED")
    assert run["reason"] == {
        "code": "limit_calls",
        "params": {
            **{"limit": 2, "used": 2, "needed": 3},
            **{"part": "main", "step": "review", "round": 2},
        },
    }
    assert (run["calls"], run["limits"], len(llm.requests)) == (2, {"max_calls": 2}, 2)
    code, problem = await resume(stack, run, {})
    assert (code, problem["code"]) == (409, "limit_required")
    await nobody_goes_on(stack, llm, run)
    code, _ = await resume(stack, run, {"limits": {"max_calls": 10}})
    assert code == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["calls"], len(llm.requests), len(await stack.rows(run["id"], "calls"))) == (3, 3, 3)
    types = [event["type"] for event in await stack.events(run["id"])]
    assert (types.count("budget_warning"), types.count("run_resumed")) == (1, 1)
    await consistent(stack, run["id"])


async def test_each_stop_of_a_model_that_repeats_itself_needs_an_override_of_its_own(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script({"redraft_itinerary": spins})
    run = await stack.create(TRIP)
    for stops in (1, 2):
        run = await stack.until(run["id"], "FAILED")
        assert (run["reason"]["code"], run["guardrail"]) == ("spinning", "spinning")
        assert len(llm.requests) == 1 + stops
        await nobody_goes_on(stack, llm, run)
        code, problem = await resume(stack, run, {})
        assert (code, problem["code"]) == (409, "guardrail_override_required")
        if stops == 2:
            llm.script(good_reviewer(errors=[]))
        code, _ = await resume(stack, run, {"override_guardrail": True})
        assert code == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    stopped = [e for e in await stack.events(run["id"]) if e["type"] == "guardrail_stop"]
    assert [event["code"] for event in stopped] == ["spinning", "spinning"]
    await consistent(stack, run["id"])
