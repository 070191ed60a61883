"""A stop against the end: one of them wins, and the row says which."""

from __future__ import annotations

import asyncio

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.stack import Stack, consistent, minutes
from tests.workflow.test_interrupt_resume import ISSUE


async def test_an_interrupt_against_the_last_commit_has_one_winner(
    stack: Stack, llm: FakeLLM
) -> None:
    """2xx: INTERRUPTED until a resume that asks for nothing stored. 409: offered."""
    won = 0
    for offset in range(8):
        llm.pace(before_first=0.1)
        before = len(llm.requests)
        run = await stack.create(minutes(errors=0))
        await llm.wait_requests(before + 1, seconds=30)
        await asyncio.sleep(0.085 + offset * 0.006)  # around the reply's arrival, on purpose
        code, answer = await stack.call("POST", f"/api/runs/{run['id']}/interrupt", {})
        if code == 409:
            assert answer["run"]["status"] == "AWAITING_CONFIRMATION"
            continue
        won += 1
        assert code == 202
        await _quiet(stack, run["id"])
        stopped = await stack.run(run["id"])
        assert stopped["status"] == "INTERRUPTED"
        stored = stopped["current_round"] == 1
        asked = len(llm.requests)
        assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
        await stack.until(run["id"], "AWAITING_CONFIRMATION")
        assert len(llm.requests) == asked + (not stored)
        await consistent(stack, run["id"])
    assert won, "no interrupt was early enough to tell anything"


async def _quiet(stack: Stack, run_id: str) -> None:
    async def quiet() -> bool:
        return not (await stack.run(run_id))["stopping"]

    await eventually(quiet, what="the step's end")


async def test_confirm_reject_and_cancel_at_once_have_one_winner(
    stack: Stack, llm: FakeLLM
) -> None:
    run = await stack.create(minutes(errors=0))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    path = f"/api/runs/{run['id']}"
    answers = await asyncio.gather(
        *(stack.call("POST", f"{path}/confirm", {"revision": 0}) for _ in range(4)),
        *(stack.call("POST", f"{path}/reject", {}) for _ in range(4)),
        *(stack.call("POST", f"{path}/cancel") for _ in range(4)),
    )
    codes = sorted(code for code, _ in answers)
    assert [code for code in codes if code < 300] == codes[:1]
    assert set(codes[1:]) == {409}
    ends = [e["type"] for e in await stack.events(run["id"])][-1:]
    assert ends[0] in ("run_confirmed", "run_rejected", "run_cancelled")


async def test_the_budget_of_calls_begins_anew_with_each_step(stack: Stack, llm: FakeLLM) -> None:
    """Review and refine each need four calls; five would have been the last."""
    issues = [{**ISSUE, "quote": f"E{n}x"} for n in range(1, 5)]
    edits = [{"find": f"E{n}x", "replace": "blue", "resolves": [f"I{n}"]} for n in range(1, 5)]
    llm.script(good_reviewer())
    for schema, items in (("redraft_review", issues), ("redraft_refine", edits)):
        cut = [Reply(items=items[n:], cut_after=Items(1)) for n in range(3)]
        llm.queue(*cut, Reply(items=items[3:], extra={"score": 60}), schema=schema)
    run = await stack.create(minutes(errors=4))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "passed"
    assert len(llm.of("redraft_review")) == 5
    assert len(llm.of("redraft_refine")) == 4
    assert [len(r.already) for r in llm.of("redraft_refine")] == [0, 1, 2, 3]
    await consistent(stack, run["id"])


async def test_a_reviewer_that_finds_something_new_each_time_ends_at_the_round_limit(
    stack: Stack, llm: FakeLLM
) -> None:
    rounds = iter(range(1, 9))

    def play(request: object) -> Reply:
        return Reply(items=[{**ISSUE, "quote": f"E{next(rounds)}x"}], extra={"score": 10})

    llm.script(good_reviewer(errors=[(f"E{n}x", "blue") for n in range(1, 9)]))
    refine = good_reviewer(errors=[(f"E{n}x", "blue") for n in range(1, 9)])
    llm.script({"redraft_review": play, "redraft_refine": refine})
    run = await stack.create(minutes(errors=8, max_rounds=2))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["current_round"] <= 2
    assert run["reason"]["code"] in ("round_limit", "no_progress")
    await consistent(stack, run["id"])


async def test_a_reviewer_that_repeats_itself_is_no_progress(stack: Stack, llm: FakeLLM) -> None:
    stubborn = Reply(items=[ISSUE], extra={"score": 10})
    edit = {"find": "- We ship", "replace": "- We will ship", "resolves": ["I1"]}
    llm.script(
        {"redraft_review": lambda _: stubborn, "redraft_refine": lambda _: Reply(items=[edit])}
    )
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "no_progress"
    assert run["current_round"] == 2
    await consistent(stack, run["id"])
