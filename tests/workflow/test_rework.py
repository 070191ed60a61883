"""A text sent back: the person's comments are answered, the locks hold, a new offer waits."""

from __future__ import annotations

from tests.fake_llm import FakeLLM, Reply, good_reviewer
from tests.stack import Stack, consistent, minutes


async def test_comments_are_issues_that_the_next_round_answers(stack: Stack, llm: FakeLLM) -> None:
    """The reviewer finds nothing, so without them the run would pass at once."""
    llm.script(good_reviewer(errors=[]))
    run = await stack.create(minutes(errors=1))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    number = run["offered_revision"]
    document = f"/api/documents/{run['document_id']}/revisions"
    _, offered = await stack.call("GET", f"{document}/{number}")
    line = next(line for line in offered["body"].splitlines() if line.startswith("- "))
    locked = offered["body"].splitlines()[0]
    edits = [
        {"find": locked, "replace": "# Other", "resolves": ["I2"]},
        {"find": line, "replace": f"{line} Everybody agreed.", "resolves": ["I1", "I2"]},
    ]
    llm.queue(Reply(items=edits), schema="redraft_refine")
    code, _ = await stack.call(
        "POST",
        f"/api/runs/{run['id']}/rework",
        {
            "comments": [{"quote": line, "text": "and who agreed?"}, {"text": "say who agreed"}],
            "locks": [{"quote": locked}],
        },
    )
    assert code == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["current_round"]) == ("passed", 3)
    _, made = await stack.call("GET", f"{document}/{run['offered_revision']}")
    assert made["body"] == offered["body"].replace(line, f"{line} Everybody agreed.")
    asked = llm.of("redraft_refine")[-1]
    assert "and who agreed?" in str(asked.messages)
    assert "say who agreed" in str(asked.messages)
    issues = await stack.rows(run["id"], "issues")
    assert [issue["status"] for issue in issues] == ["fixed", "fixed"]
    await consistent(stack, run["id"])


async def test_a_change_that_was_rejected_is_not_made_again(stack: Stack, llm: FakeLLM) -> None:
    """The reviewer still calls it wrong: that stays an open issue for the person."""
    llm.script(good_reviewer(errors=[("E1x", "the blue box")]))
    run = await stack.create(minutes(errors=1))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    document = f"/api/documents/{run['document_id']}"
    number = run["offered_revision"]
    _, diff = await stack.call("GET", f"{document}/diff?from=0&to={number}")
    [changed] = [at for at, hunk in enumerate(diff["hunks"]) if hunk["op"] != "equal"]
    change = {"from": 0, "to": number, "hunk": changed}
    code, _ = await stack.call(
        "POST",
        f"/api/runs/{run['id']}/rework",
        {"decisions": [{"change": change, "accept": False}], "extra_rounds": 2},
    )
    assert code == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    _, first = await stack.call("GET", f"{document}/revisions/0")
    _, offered = await stack.call("GET", f"{document}/revisions/{run['offered_revision']}")
    assert offered["body"] == first["body"]
    assert run["open_issues"] == 1
    assert run["reason"]["code"] != "passed"
    await consistent(stack, run["id"])
