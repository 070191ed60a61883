"""A worker stands still, or its network does, in the middle of a transaction: the run's lock must
not be held for as long as that lasts.
"""

from __future__ import annotations

import pytest

from tests.conftest import StartStack
from tests.fake_llm import FakeLLM, good_reviewer
from tests.faults.kit import frozen, nothing_repaid, planted
from tests.stack import consistent, minutes


@pytest.mark.timeout(300)
async def test_a_worker_frozen_inside_a_transaction_keeps_its_run_from_nobody(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack({"REDRAFT_HEARTBEAT_TIMEOUT": "4"}, workers=0)
    first = stack.worker(REDRAFT_FAULT="settle.written:1:freeze")
    llm.script(good_reviewer(errors=planted(2)))
    run = await stack.create(minutes(errors=2))
    await frozen(first)
    for command in ("interrupt", "resume"):
        code, answer = await stack.call("POST", f"/api/runs/{run['id']}/{command}", {})
        assert code == 202, answer
    stack.worker()
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=120)
    stack.kill(first)
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
