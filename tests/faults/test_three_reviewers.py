"""Three reviewers look side by side: one run, three calls, one result (PROTOCOL 4, parts)."""

from __future__ import annotations

import pytest

from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, good_reviewer
from tests.faults.kit import planted
from tests.faults.rounds import REVIEWERS, three_reviewers
from tests.faults.thirty_kills import KILLED_OFTEN, thirty_kills
from tests.stack import Stack, consistent, minutes


async def test_what_reviewers_find_in_the_same_moment_is_all_in_the_result(
    stack: Stack, llm: FakeLLM
) -> None:
    """Each reply ends before its items are stored by themselves, so all come with the commits."""
    await three_reviewers(stack)
    llm.script(good_reviewer(errors=planted(9)))
    for _ in range(3):
        run = await stack.create(minutes(errors=9, profile=REVIEWERS))
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
        items = [item for item in await stack.rows(run["id"], "items") if item["step"] == "review"]
        found = await stack.rows(run["id"], "issues")
        assert sorted(issue["quote"] for issue in found) == [f"E{n}x" for n in range(1, 10)]
        assert len(items) == 9
        assert {issue["raised_by"] for issue in found} == {
            "model:facts",
            "model:claims",
            "model:gaps",
        }
        steps = await stack.rows(run["id"], "steps")
        assert steps[0]["parts"] == {"done": 3, "total": 3}
        await consistent(stack, run["id"])
    assert len(llm.of("redraft_review", "gaps")) == 6


@pytest.mark.timeout(300)
async def test_a_run_whose_worker_dies_again_and_again_ends_by_itself_and_pays_nothing_twice(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(KILLED_OFTEN, workers=0)
    seen = await thirty_kills(stack, llm, seed=4, kills=6)
    assert seen.in_flight > 0, "no kill met a call"
