"""A worker that was told to end finishes what is under way and begins nothing new."""

from __future__ import annotations

import signal

from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import PATIENT, ended, issues, nothing_repaid, planted, stored
from tests.stack import consistent, minutes


async def test_nothing_is_asked_for_in_the_grace_that_its_end_would_cut(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({**PATIENT, "REDRAFT_SHUTDOWN_GRACE": "100"})
    llm.script(good_reviewer(errors=planted(3)))
    llm.queue(Reply(items=issues(3), stall_after=Items(2)), schema="redraft_review")
    run = await stack.create(minutes(errors=3))
    await stored(stack, run["id"], 2)
    stack.workers[0].send_signal(signal.SIGTERM)
    llm.release()
    assert await ended(stack.workers[0], seconds=60) == 0
    assert len(llm.requests) == 1
    [review] = await stack.rows(run["id"], "steps")
    assert (review["name"], review["status"]) == ("review", "SUCCEEDED")
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert len(llm.requests) == 3
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
