"""Postgres, then Temporal, is away for a while with ten runs in flight (issue 4.1d)."""

from __future__ import annotations

import pytest

from tests.fake_llm import FakeLLM
from tests.faults.outages import outage
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack

SECONDS = 6.0
"""`./redraft bench recovery outages` takes 20."""


@pytest.mark.timeout(600)
@pytest.mark.rule("commit_repeats")
async def test_an_outage_costs_time_and_no_request(
    mortal_postgres: PostgresServer, mortal_temporal: TemporalServer, llm: FakeLLM
) -> None:
    client = await mortal_temporal.ready()
    stack = Stack(mortal_postgres, mortal_temporal, client, llm.base_url)
    try:
        await stack.start(workers=2)  # either could take what the other has
        await outage(stack, llm, mortal_postgres, seconds=SECONDS)
        await outage(stack, llm, mortal_temporal, seconds=SECONDS)
    finally:
        await stack.stop()
