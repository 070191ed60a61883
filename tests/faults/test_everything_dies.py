"""API, worker, Temporal and Postgres die in one moment; nobody has to do anything (issue 4.1d)."""

from __future__ import annotations

import pytest

from tests.fake_llm import FakeLLM
from tests.faults.everything import Mortals, everything_dies
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack


@pytest.mark.timeout(400)
@pytest.mark.rule("row_is_truth", "claim_supersedes_dead", "call_fenced")
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
