"""What a provider does wrong, and what becomes of the run."""

from __future__ import annotations

import json

import pytest

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, Request, errors, good_reviewer, itinerary_days
from tests.stack import Json, Stack, consistent, minutes
from tests.workflow.test_interrupt_resume import ISSUE


async def test_retry_after_is_honoured_and_shown_while_waiting(stack: Stack, llm: FakeLLM) -> None:
    llm.queue(errors.rate_limited(retry_after=3))
    run = await stack.create(minutes(errors=0))
    await llm.wait_requests(1, seconds=30)
    waiting = await _phase(stack, run["id"], "waiting_retry")
    assert waiting["params"]["last_error"] == "rate_limited"
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    first, second = llm.requests[0].at, llm.requests[1].at
    assert second - first >= 3
    calls = await stack.rows(run["id"], "calls")
    assert [(c["status"], c["end_cause"]) for c in calls] == [
        ("FAILED", "rate_limited"),
        ("SUCCEEDED", None),
    ]
    assert len(llm.requests) == len(calls) == 2
    await consistent(stack, run["id"])


async def _phase(stack: Stack, run_id: str, code: str) -> Json:
    async def look() -> Json | None:
        phase = (await stack.run(run_id))["phase"]
        return phase if phase and phase["code"] == code else None

    return await eventually(look, what=f"phase {code}")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (errors.bad_key(), "provider_refused"),
        (errors.quota(), "provider_refused"),
        (errors.no_model(), "provider_refused"),
        (errors.too_long(), "provider_refused"),
        (errors.content_filter(), "refusal"),
    ],
    ids=["key", "quota", "model", "context", "filter"],
)
async def test_a_final_refusal_is_asked_once_and_repaired_by_a_resume(
    stack: Stack, llm: FakeLLM, reply: Reply, reason: str
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    llm.queue(reply, schema="redraft_refine")
    run = await stack.create()
    run = await stack.until(run["id"], "FAILED")
    assert run["reason"]["code"] == reason
    assert len(llm.of("redraft_refine")) == 1
    code, problem = await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
    if reason == "refusal":
        assert (code, problem["code"]) == (409, "guardrail_override_required")
        override = {"override_guardrail": True}
        code, _ = await stack.call("POST", f"/api/runs/{run['id']}/resume", override)
    assert code == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert len(llm.of("redraft_review")) == 2
    await consistent(stack, run["id"])


async def test_a_reply_cut_by_length_keeps_its_items_and_the_rest_is_asked_for(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "blue"), ("E2x", "blue")]))
    two = [ISSUE, {**ISSUE, "quote": "E2x"}]
    llm.queue(
        Reply(text='{"items":[' + json.dumps(ISSUE) + ',{"category":"wro', finish_reason="length"),
        Reply(items=two, cut_after=Items(1)),
        Reply(items=[two[1]], extra={"score": 40}),
        schema="redraft_review",
    )
    run = await stack.create(minutes(errors=2))
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    calls = [c for c in await stack.rows(run["id"], "calls") if c["part"] == "main"]
    assert [c["end_cause"] for c in calls[:3]] == ["length", "cut", None]
    assert llm.requests[1].already[0]["quote"] == "E1x"
    await consistent(stack, run["id"])


async def test_five_calls_that_end_early_are_the_last(stack: Stack, llm: FakeLLM) -> None:
    body = minutes(errors=9)
    issues = [{**ISSUE, "quote": f"E{n}x"} for n in range(1, 10)]
    llm.script(
        {
            "redraft_review": [
                Reply(items=issues[n:], stall_after=None, cut_after=Items(1)) for n in range(7)
            ]
        }
    )
    run = await stack.create(body)
    run = await stack.until(run["id"], "FAILED")
    assert (run["reason"]["code"], run["guardrail"]) == ("call_limit", "call_limit")
    assert len(llm.requests) == 5
    assert len(await stack.rows(run["id"], "items")) == 5
    override = {"override_guardrail": True}
    llm.script(good_reviewer(errors=[(f"E{n}x", "blue") for n in range(1, 10)]))
    code, _ = await stack.call("POST", f"/api/runs/{run['id']}/resume", override)
    assert code == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await consistent(stack, run["id"])


async def test_garbage_again_and_again_is_an_unusable_reply(stack: Stack, llm: FakeLLM) -> None:
    llm.script(Reply(text="I'd rather talk about the weather."))
    run = await stack.create()
    run = await stack.until(run["id"], "FAILED")
    assert run["reason"]["code"] == "invalid_reply"
    assert len(llm.requests) <= 5
    llm.script(good_reviewer(errors=[("E1x", "blue")]))
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    await consistent(stack, run["id"])


async def test_a_fallback_answers_after_errors_and_everybody_sees_it(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.queue(errors.server_error(503), errors.rate_limited(retry_after=300))
    async with FakeLLM() as other:  # the stack is shared: its own profile stays as it is
        backup = {"name": "backup", "model": "spare", "base_url": other.base_url}
        first = {"name": "main", "model": "fake", "fallback": {"profile": "backup", "after": 2}}
        for profile in (backup, first):
            code, _ = await stack.call("POST", "/api/profiles", profile)
            assert code == 201
        run = await stack.create(minutes(errors=0, profile="main"))
        run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
        assert len(other.requests) == 1
    assert (run["profile"]["name"], run["fallback"]) == (
        "main",
        {"name": "backup", "version": 1},
    )
    calls = await stack.rows(run["id"], "calls")
    assert [(c["profile"]["name"], c["model"], c["status"]) for c in calls] == [
        ("main", "fake", "FAILED"),
        ("main", "fake", "FAILED"),
        ("backup", "spare", "SUCCEEDED"),
    ]
    changes = [e for e in await stack.rows(run["id"], "events") if e["type"] == "profile_changed"]
    assert [(e["from"], e["to"], e["code"]) for e in changes] == [
        ("main", "backup", "rate_limited")
    ]
    await consistent(stack, run["id"])


async def test_an_absent_provider_is_waited_for(stack: Stack, llm: FakeLLM) -> None:
    await llm.refuse()
    run = await stack.create(minutes(errors=0))
    await _phase(stack, run["id"], "waiting_retry")
    await llm.accept()
    await stack.until(run["id"], "AWAITING_CONFIRMATION")
    calls = await stack.rows(run["id"], "calls")
    assert {c["end_cause"] for c in calls[:-1]} == {"connection"}
    await consistent(stack, run["id"])


async def test_a_trip_of_five_days_is_continued_inside_one_step(stack: Stack, llm: FakeLLM) -> None:
    def play(request: Request) -> Reply:
        days = itinerary_days(request)
        return Reply(items=days if request.already else days[:3])

    llm.script({"redraft_itinerary": play})
    trip = {
        "kind": "itinerary",
        "title": "Five days",
        "attributes": {"to": "Rockford", "days": 5},
        "sources": [{"name": "request", "media_type": "text/plain", "text": "Five days."}],
    }
    run = await stack.create(trip)
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    drafts = llm.of("redraft_itinerary")
    assert len(drafts) == 2
    assert drafts[1].already_keys("day") == [1, 2, 3]
    items = [i for i in await stack.rows(run["id"], "items") if i["step"] == "draft"]
    assert [i["key"] for i in items] == ["1", "2", "3", "4", "5"]
    steps = [s for s in await stack.rows(run["id"], "steps") if s["name"] == "draft"]
    assert [(s["round"], s["attempt"], s["status"]) for s in steps] == [(0, 1, "SUCCEEDED")]
    await consistent(stack, run["id"])
