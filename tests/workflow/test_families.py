"""Four reviewers side by side: each family of error is somebody's; what two say is one issue."""

from __future__ import annotations

from tests.fake_llm import FakeLLM, Reply, Request
from tests.stack import Json, Stack, consistent, minutes

FOUR = ["facts", "relations", "invented", "gaps"]
"""Wrong entity or value, wrong relation or negation, invented, missing decision or action."""


def issue(quote: str, category: str, severity: str = "major", **more: str) -> Json:
    given: Json = {"problem": category, "suggestion": None, "evidence": [], **more}
    return {"quote": quote, "category": category, "severity": severity, **given}


def review(request: Request) -> list[Json]:
    said = {
        "facts": [issue("E1x", "name", suggestion="Box 1")],
        "relations": [issue("E2x", "negation"), issue("ship E1x on", "fact", "blocker")],
        "invented": [issue("E3x", "invented"), issue("E2x", "relation")],
        "gaps": [issue("## Decisions", "missing"), issue("nowhere in it", "missing")],
    }
    return said[request.part]


async def test_four_reviewers_cover_four_families_and_their_findings_are_merged(
    stack: Stack, llm: FakeLLM
) -> None:
    def play(request: Request) -> Reply:
        if request.schema == "redraft_review":
            wrong = "E1x" in request.document
            return Reply(items=review(request) if wrong else [], extra={"score": 50})
        edits = [
            ("ship E1x", "ship Box 1", 1),
            ("We ship E2x", "We do not ship Box 2", 2),
            ("- We ship E3x on Friday.\n", "", 3),
            ("## Decisions", "## Decisions\n\n- Ana books the room.", 4),
        ]
        return Reply(
            items=[
                {"find": find, "replace": new, "resolves": [f"I{number}"]}
                for find, new, number in edits
            ]
        )

    llm.script(play)
    profile = {"name": "four", "model": "fake", "prompts": {"reviewers": FOUR}}
    assert (await stack.call("POST", "/api/profiles", profile))[0] == 201
    run = await stack.create({**minutes(errors=3), "profile": "four"})
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "passed"
    assert sorted(ask.part for ask in llm.of("redraft_review"))[::2] == sorted(FOUR)
    found = {one["quote"]: one for one in await stack.rows(run["id"], "issues")}
    assert sorted(found) == ["## Decisions", "E1x", "E2x", "E3x"]
    assert (found["E1x"]["severity"], found["E1x"]["suggestion"]) == ("blocker", "Box 1")
    steps = await stack.rows(run["id"], "steps")
    assert (steps[0]["parts"], steps[0]["result"]["dropped"]) == (
        {"done": 4, "total": 4},
        {"gaps": 1},
    )
    await consistent(stack, run["id"])
