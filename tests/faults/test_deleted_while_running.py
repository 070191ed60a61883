"""A document is deleted under a run that is at work (scenario 25)."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.faults.kit import PATIENT, planted
from tests.faults.rows import children_of, left_of
from tests.stack import minutes

RUNS = 10


@pytest.mark.timeout(300)
async def test_deletion_at_any_moment_leaves_no_row_no_call_and_no_complaint(
    start_stack: StartStack, llm: FakeLLM
) -> None:
    stack = await start_stack(PATIENT)
    moments = random.Random(25)
    llm.script(good_reviewer(errors=planted(4)))
    llm.pace(per_chunk=0.02)
    runs = [await stack.create(minutes(errors=4)) for _ in range(RUNS)]
    await llm.wait_requests(1, seconds=60)
    ids = [run["id"] for run in runs] + [run["document_id"] for run in runs]
    children: list[str] = []

    async def delete(document: str, run_id: str, delay: float) -> list[int]:
        await asyncio.sleep(delay)
        children.extend(await children_of(stack, [run_id]))
        first, _ = await stack.call("DELETE", f"/api/documents/{document}")
        second, _ = await stack.call("DELETE", f"/api/documents/{document}")
        return [first, second]

    answers = await asyncio.gather(
        *(delete(run["document_id"], run["id"], moments.uniform(0, 3)) for run in runs)
    )
    assert answers == [[204, 404]] * RUNS
    await llm.wait_idle(seconds=30)

    async def ended() -> bool:
        rows = await stack.sql("SELECT in_flight FROM workers")
        return not any(row["in_flight"] for row in rows)

    await eventually(ended, seconds=60, what="no step in hand")
    asked = len(llm.requests)
    assert await left_of(stack, ids + children) == []
    assert children, "some runs had begun"
    assert await stack.sql("SELECT key FROM idempotency_keys WHERE body IS NOT NULL") == []
    code, _ = await stack.call("GET", f"/api/runs/{runs[0]['id']}")
    assert code == 404
    another = await stack.create(minutes(errors=0))
    await stack.until(another["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert len(llm.requests) == asked + 1
    loud = [line for line in stack.logs().splitlines() if " ERROR " in line or "Traceback" in line]
    assert loud == []
