"""An effect and its key are one transaction, and a person's moves are made one after the other."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.harness import MINUTES, Api
from tests.attempts import blocked, standing_still


@pytest.mark.rule("key_with_effect")
async def test_who_dies_before_the_key_is_stored_has_done_nothing(api: Api) -> None:
    async with standing_still(api.state.settings) as connection:
        await connection.execute("LOCK TABLE idempotency_keys IN SHARE MODE")
        dying = asyncio.create_task(api.post("/api/runs", MINUTES, idempotency_key="k"))
        await blocked(api.pool)
        assert await api.pool.fetchval("SELECT count(*) FROM runs") == 0
        await api.pool.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        )
        assert (await dying).status == 503
    answer = await api.post("/api/runs", MINUTES, idempotency_key="k")
    assert answer.status == 201
    assert "idempotent-replay" not in answer.headers
    assert await api.pool.fetchval("SELECT count(*) FROM runs") == 1


@pytest.mark.rule("people_lock_first")
async def test_of_ten_resumes_at_once_one_wins_and_nine_are_told_so(api: Api) -> None:
    run = await api.run()
    path = f"/api/runs/{run['id']}"
    assert (await api.post(f"{path}/interrupt")).status == 202
    async with standing_still(api.state.settings) as connection:
        await connection.execute("SELECT FROM runs FOR UPDATE")
        asking = [asyncio.create_task(api.post(f"{path}/resume")) for _ in range(10)]
        await blocked(api.pool, 2)
    answers = await asyncio.gather(*asking)
    assert sorted(answer.status for answer in answers) == [202, *[409] * 9]
    assert {answer.code for answer in answers if answer.status == 409} == {"status_changed"}
    assert (await api.types(run["id"])).count("run_resumed") == 1
