"""A run from start to the wait for a person, as rows tell it."""

from __future__ import annotations

from tests.fake_llm import FakeLLM, Reply, good_reviewer
from tests.stack import Stack, consistent, minutes


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
