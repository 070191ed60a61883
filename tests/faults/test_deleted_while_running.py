"""A document is deleted under a run that is at work (scenario 25)."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.faults.kit import PATIENT, planted
from tests.stack import Stack, minutes

RUNS = 10
OUTLIVE = {"audit_events", "outbox", "workers", "idempotency_keys"}
"""Tables that may name what was deleted: codes and ids only; answers of keys are emptied."""


async def _left(stack: Stack, ids: list[str]) -> list[tuple[str, str]]:
    """(table, column) of every column of an id that still holds one of these."""
    columns = await stack.sql(
        """
        SELECT c.table_name, c.column_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type = 'uuid'
        """
    )
    found = []
    for table, column in columns:
        if table in OUTLIVE:
            continue
        query = f'SELECT count(*) FROM "{table}" WHERE "{column}" = ANY ($1::uuid[])'  # noqa: S608
        [row] = await stack.sql(query, ids)
        if row["count"]:
            found.append((table, column))
    return found


async def _children(stack: Stack, ids: list[str]) -> list[str]:
    """Ids of plans, steps and calls of these runs, whose rows hang on rows that hang on a run."""
    rows = await stack.sql(
        """
        SELECT id FROM step_plans WHERE run_id = ANY ($1::uuid[])
        UNION ALL SELECT id FROM steps WHERE run_id = ANY ($1::uuid[])
        UNION ALL SELECT id FROM model_calls WHERE run_id = ANY ($1::uuid[])
        """,
        ids,
    )
    return [row["id"] for row in rows]


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
        children.extend(await _children(stack, [run_id]))
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
    assert await _left(stack, ids + children) == []
    assert children, "some runs had begun"
    assert await stack.sql("SELECT key FROM idempotency_keys WHERE body IS NOT NULL") == []
    code, _ = await stack.call("GET", f"/api/runs/{runs[0]['id']}")
    assert code == 404
    another = await stack.create(minutes(errors=0))
    await stack.until(another["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert len(llm.requests) == asked + 1
    loud = [line for line in stack.logs().splitlines() if " ERROR " in line or "Traceback" in line]
    assert loud == []
