"""API, worker, Temporal and Postgres die in one moment; nobody has to do anything (issue 4.1d)."""

from __future__ import annotations

import pytest

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.everything import Mortals, everything_dies
from tests.faults.kit import PATIENT, issues, nothing_repaid, planted, stored
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack, consistent, minutes


@pytest.mark.timeout(400)
async def test_each_run_goes_on_or_waits_as_its_row_says_after_everything_died(
    mortal_postgres: PostgresServer, mortal_temporal: TemporalServer, llm: FakeLLM
) -> None:
    client = await mortal_temporal.ready()
    stack = Stack(mortal_postgres, mortal_temporal, client, llm.base_url)
    try:
        await stack.start(workers=0)
        await everything_dies(
            Mortals(stack=stack, llm=llm, postgres=mortal_postgres, temporal=mortal_temporal)
        )
    finally:
        await stack.stop()


async def test_a_run_needs_no_api_to_go_on(start_stack: StartStack, llm: FakeLLM) -> None:
    stack = await start_stack(PATIENT)
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(Reply(items=issues(2), stall_after=Items(1)))
    run = await stack.create(minutes(errors=2))
    await stored(stack, run["id"], 1)
    assert stack.api_process is not None
    stack.kill(stack.api_process)
    llm.release()

    async def done() -> bool:
        return bool(await stack.sql("SELECT id FROM runs WHERE status = 'AWAITING_CONFIRMATION'"))

    await eventually(done, seconds=60, what="the end of the run")
    stack.api()
    await stack.until_ready()
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
    assert len(llm.requests) == 3
