"""A worker that stood still while its documents were deleted writes nothing any more (issue 4.1g).
Zombies whose step somebody else has finished are in `test_frozen_worker`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import PATIENT, frozen, issues, planted, stored, thaw
from tests.faults.rows import children_of, left_of
from tests.stack import Json, Stack, minutes


async def _workflow_ended(stack: Stack, run: Json) -> None:
    async def ended() -> bool:
        described = await stack.workflow(run["id"]).describe()
        return bool(described.status == WorkflowExecutionStatus.COMPLETED)

    await eventually(ended, seconds=60, what="the workflow's end")


@pytest.mark.timeout(300)
async def test_after_a_deletion_a_thawed_worker_writes_no_row_and_no_blob(
    start_stack: StartStack, llm: FakeLLM, tmp_path: Path
) -> None:
    """Two runs in its hands: one streams, the other is between its call's row and its request."""
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    stack = await start_stack({**PATIENT, "REDRAFT_BLOB_URL": blobs.as_uri()}, workers=0)
    zombie = stack.worker(REDRAFT_FAULT="request.before:2:freeze")
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(Reply(items=issues(2), stall_after=Items(1)))
    streaming = await stack.create(minutes(errors=2))
    await stored(stack, streaming["id"], 1, seconds=120)
    asking = await stack.create(minutes(errors=2))
    await frozen(zombie, seconds=120)
    runs = [streaming, asking]
    ids = [run["id"] for run in runs] + [run["document_id"] for run in runs]
    ids += await children_of(stack, ids)
    for run in runs:
        assert (await stack.call("DELETE", f"/api/documents/{run['document_id']}"))[0] == 204
    assert await left_of(stack, ids) == []

    llm.release()  # the rest of the streaming reply waits for it
    thaw(zombie)

    async def quiet() -> bool:
        rows = await stack.sql(
            "SELECT in_flight FROM workers WHERE pid = $1 AND seen_at > now() - interval '2 s'",
            zombie.pid,
        )
        return bool(rows) and not rows[0]["in_flight"]

    await eventually(quiet, seconds=60, what="no step in the zombie's hands")
    for run in runs:
        await _workflow_ended(stack, run)
    assert await left_of(stack, ids) == []
    assert await stack.sql("SELECT run_id FROM run_events") == []
    assert list(blobs.rglob("*")) == []
    assert len(llm.requests) <= 2
    assert [line for line in stack.logs().splitlines() if " ERROR " in line] == []
    after = await stack.create(minutes(errors=0))  # it is a worker like any other now
    await stack.until(after["id"], "AWAITING_CONFIRMATION", seconds=60)
