"""A process that is told to end says so to whoever still waits."""

from __future__ import annotations

import asyncio
import contextlib

import asyncpg
import httpx2

from tests import read_rows as rows
from tests.api.harness import settings_for
from tests.api.streams import serving_on_a_port
from tests.eventually import eventually
from tests.services import PostgresServer


async def test_a_move_that_the_end_of_the_process_cuts_is_told_to_be_sent_again(
    postgres: PostgresServer,
) -> None:
    url = await postgres.clone()
    locker = await asyncpg.connect(url)
    try:
        async with contextlib.AsyncExitStack() as stack:
            served = await stack.enter_async_context(serving_on_a_port(settings_for(url)))
            run_id = await rows.add_run(served.pool)
            client = await stack.enter_async_context(httpx2.AsyncClient(base_url=served.url))
            holding = locker.transaction()
            await holding.start()
            await locker.execute("SELECT 1 FROM runs WHERE id = $1 FOR UPDATE", run_id)
            sent = client.post(
                f"/api/runs/{run_id}/interrupt",
                headers={"Idempotency-Key": "once"},
                timeout=30,
                json={},
            )
            waiting = asyncio.create_task(sent)

            async def waits() -> bool:
                sql = "SELECT true FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT 1"
                return bool(await locker.fetchval(sql))

            await eventually(waits, what="the move to wait for the run's lock")
            served.stop()
            answer = await waiting
            await holding.rollback()
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert answer.json()["code"] == "unavailable"
        assert "Idempotency-Key" in answer.json()["detail"]
    finally:
        await locker.close()
        await postgres.drop(url)
