"""A run from start to the wait for a person, as rows tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, Reply, Request, good_reviewer
from tests.faults.kit import planted
from tests.stack import Json, Stack, consistent, minutes


def issue_of(quote: str, **more: Any) -> Json:
    given = {"category": "fact", "severity": "major", "problem": "p", "suggestion": None}
    return {"quote": quote, "evidence": [], **given, **more}


async def test_a_run_with_errors_is_reviewed_refined_and_offered(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "the blue box")]))
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    steps = await stack.rows(run["id"], "steps")
    assert [(s["name"], s["round"], s["status"]) for s in steps] == [
        ("review", 1, "SUCCEEDED"),
        ("refine", 1, "SUCCEEDED"),
        ("review", 2, "SUCCEEDED"),
    ]
    assert run["reason"]["code"] == "passed"
    assert run["offered_revision"] == 1
    code, text = await stack.call(
        "GET", f"/api/documents/{run['document_id']}/revisions/1", None, {"Accept": "text/markdown"}
    )
    assert code == 200
    assert "We ship the blue box on Friday." in text
    assert len(llm.requests) == 3
    await consistent(stack, run["id"])


async def test_clean_minutes_pass_after_one_review(stack: Stack, llm: FakeLLM) -> None:
    run = await stack.create(minutes(errors=0))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["score"], run["offered_revision"]) == ("passed", 100, 0)
    assert len(llm.requests) == 1
    await consistent(stack, run["id"])


async def test_an_edit_never_makes_a_text_longer_than_a_person_may_send(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=[("E1x", "the blue box")]))
    edit = {"find": "E1x", "replace": "blue " * 200_001, "resolves": ["I1"]}
    llm.queue(Reply(items=[edit], chunk_chars=100_000), schema="redraft_refine")
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["offered_revision"]) == ("no_progress", 0)
    await consistent(stack, run["id"])


async def _rounds_in_temporal(stack: Stack, run_id: str) -> list[str]:
    """The types of its activities, local ones apart, as the history has them."""
    told = await stack.workflow(run_id).fetch_history()
    given = [event.activity_task_scheduled_event_attributes for event in told.events]
    return [one.activity_type.name for one in given if one.activity_type.name]


async def test_quick_rounds_follow_one_another_in_one_activity(stack: Stack, llm: FakeLLM) -> None:
    llm.script(good_reviewer(errors=planted(3), per_call=1))
    run = await stack.create({**minutes(errors=3), "pass_score": 100})
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["current_round"]) == ("passed", 4)
    assert await _rounds_in_temporal(stack, run["id"]) == ["round"]
    [row] = await stack.sql("SELECT owner_worker FROM runs WHERE id = $1", run["id"])
    assert row["owner_worker"] is None
    await consistent(stack, run["id"])


async def test_with_the_setting_off_each_round_is_an_activity(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({"REDRAFT_ROUNDS_WITHIN": "0"})
    llm.script(good_reviewer(errors=planted(3), per_call=1))
    run = await stack.create({**minutes(errors=3), "pass_score": 100})
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["current_round"] == 4
    assert await _rounds_in_temporal(stack, run["id"]) == ["round"] * 4
    await consistent(stack, run["id"])


async def test_an_interrupt_in_a_later_round_of_an_activity_stops_it_and_a_resume_goes_on(
    stack: Stack, llm: FakeLLM
) -> None:
    good = good_reviewer(errors=planted(3), per_call=1)

    def second_review_hangs(request: Request) -> Reply:
        reply = good(request)
        assert isinstance(reply, Reply)
        return replace(reply, hang=True) if len(llm.requests) == 4 else reply

    llm.script(second_review_hangs)
    run = await stack.create({**minutes(errors=3), "pass_score": 100})
    await llm.wait_requests(4)
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {}))[0] == 202
    run = await stack.until(run["id"], "INTERRUPTED")
    assert run["current_round"] == 1
    llm.release()
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["current_round"]) == ("passed", 4)
    first = [ask for ask in llm.requests if all(f"E{n}x" in ask.document for n in (1, 2, 3))]
    assert [ask.number for ask in first] == [1, 2, 3]  # nothing of the first round once more
    await consistent(stack, run["id"])


async def test_a_small_issue_that_a_reviewer_takes_seriously_is_worked_on(
    stack: Stack, llm: FakeLLM
) -> None:
    def player(request: Request) -> Reply:
        if request.schema == "redraft_refine":
            edits = [("E1x", "the red box"), ("E2x", "the blue box")]
            find, put = next(edit for edit in edits if edit[0] in request.document)
            [told] = [issue.id for issue in request.issues if issue.quote == find]
            return Reply(items=[{"find": find, "replace": put, "resolves": [told]}])
        later = len(llm.of("redraft_review")) > 1
        wrong = [("E1x", "major"), ("E2x", "major" if later else "minor")]
        items = [issue_of(q, severity=s) for q, s in wrong if q in request.document]
        return Reply(items=items, extra={"score": 50})

    llm.script(player)
    run = await stack.create(minutes(errors=2))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["current_round"]) == ("passed", 3)
    issues = await stack.rows(run["id"], "issues")
    assert {(one["quote"], one["severity"], one["status"]) for one in issues} == {
        ("E1x", "major", "fixed"),
        ("E2x", "major", "fixed"),
    }
    await consistent(stack, run["id"])
