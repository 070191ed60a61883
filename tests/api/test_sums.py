"""Sums of the past: in every snapshot they and the rows between them tell what the rows tell."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from api.observing import observe, quantiles
from api.queries.observe import Scope
from api.queries.sums import ERROR, HOUR, floor
from api.summing import SETTLED, sum_next
from api.wire.observe import Observed
from deploy.database import AWAY, Connection
from tests.api.harness import Api
from tests.eventually import eventually
from tests.read_rows import add_call, add_run, add_step

NOW = datetime.now(UTC)
NOON = floor(NOW, timedelta(days=1)) - timedelta(days=2, hours=12)
"""Three days ago: the whole day around it is over."""
INSTANT = timedelta(microseconds=1)
ENDS = (
    NOON - timedelta(hours=12) - INSTANT,
    NOON - timedelta(hours=12),
    NOON - INSTANT,
    NOON,
    NOON + timedelta(minutes=59, seconds=59),
    NOON + HOUR,
    NOON + timedelta(hours=12) - INSTANT,
    NOON + timedelta(hours=12),
    NOW - HOUR - SETTLED - INSTANT,
    NOW - timedelta(minutes=1),
)
RANGES = (
    (NOW - timedelta(days=30), NOW),
    (NOW - timedelta(days=90), NOW),
    (NOON - timedelta(hours=12), NOON + timedelta(hours=12)),
    (NOON, NOON + HOUR),
    (NOON - timedelta(hours=5), NOON + timedelta(minutes=30)),
    (NOON - timedelta(hours=30), NOW - HOUR),
)


async def _called(api: Api, run: str, seq: int, at: datetime, **call: Any) -> str:
    """A step that ended at that time with one call; the call's id."""
    times = {"queued_at": at - seq * timedelta(seconds=3), "started_at": at - timedelta(seconds=2)}
    step = await add_step(
        api.pool, run, seq=seq, attempt=seq, status="SUCCEEDED", ended_at=at, **times
    )
    row: dict[str, Any] = {"number": seq, "status": "SUCCEEDED", "ended_at": at, "items_kept": 1}
    row |= {"tokens_input": 1000 + seq, "tokens_output": 10, "cost": Decimal("0.1")}
    return await add_call(api.pool, run, step, **{**row, "currency": "USD", **call})


async def _month(api: Api) -> tuple[str, list[str]]:
    """A run with calls at every edge; some are lost, unpriced, or of another model."""
    await api.pool.execute("DELETE FROM summed")
    await api.pool.execute("DELETE FROM calls_by_hour")
    run = await add_run(api.pool)
    calls = []
    for seq, at in enumerate(ENDS, start=1):
        more: dict[str, Any] = {"model": "large"} if seq % 2 else {}
        if seq % 4 == 0:
            more |= {"status": "LOST", "items_kept": seq % 8 // 4}
        if seq % 3 == 0:
            more |= {"cost": None, "currency": None}
        calls.append(await _called(api, run, seq, at, **more))
    return run, calls


async def _summed(api: Api) -> None:
    while await sum_next(api.pool):
        pass


async def _seen(api: Api, from_: datetime, to: datetime, **narrowed: str) -> Observed:
    return await observe(api.pool, Scope(from_=from_, to=to, **narrowed), simulated=True)


async def _tells_the_rows(api: Api) -> None:
    """What the answers say against direct questions to the rows."""
    for wanted in RANGES:
        seen = await _seen(api, *wanted)
        row = await api.pool.fetchrow(
            """
            SELECT count(*) AS calls, coalesce(sum(tokens_input), 0)::int AS input,
                coalesce(sum(tokens_output), 0)::int AS output, sum(cost) AS cost,
                count(*) FILTER (WHERE cost IS NULL) AS unpriced,
                count(*) FILTER (WHERE status = 'LOST' AND items_kept = 0) AS lost,
                count(*) FILTER (WHERE status = 'LOST' AND items_kept > 0) AS continued
            FROM model_calls WHERE ended_at >= $1 AND ended_at < $2
            """,
            seen.from_,
            seen.to,
        )
        assert row is not None
        cost = None if row["cost"] is None else Decimal(row["cost"])
        assert cost == (None if seen.cost.total is None else Decimal(seen.cost.total)), wanted
        assert (
            sum(point.calls for point in seen.series),
            seen.tokens.total.input,
            seen.tokens.total.output,
            seen.cost.unpriced_calls,
            seen.waste.lost.calls,
            seen.saved_by_continuation.calls,
        ) == tuple(value for name, value in row.items() if name != "cost"), wanted
        every = timedelta(seconds=seen.bucket_seconds)
        rows = await api.pool.fetch(
            "SELECT ended_at FROM model_calls WHERE ended_at >= $1 AND ended_at < $2",
            seen.from_,
            seen.to,
        )
        told = {point.t: point.calls for point in seen.series if point.calls}
        assert told == Counter(floor(row["ended_at"], every) for row in rows), wanted
        assert sum(times.count for times in seen.steps.values()) == await api.pool.fetchval(
            "SELECT count(*) FROM steps WHERE ended_at >= $1 AND ended_at < $2",
            seen.from_,
            seen.to,
        ), wanted


async def test_sums_and_the_rows_between_them_make_up_the_rows(api: Api) -> None:
    await _month(api)
    await _tells_the_rows(api)
    await _summed(api)
    marks = await api.pool.fetch("SELECT what, at FROM summed")
    assert {"calls/2", "steps"} == {row["what"] for row in marks}
    assert max(row["at"] for row in marks if row["what"] == "calls/2") <= (datetime.now(UTC) - HOUR)
    await _tells_the_rows(api)
    narrowed = await _seen(api, *RANGES[0], kind="minutes", profile="default")
    assert narrowed.tokens == (await _seen(api, *RANGES[0])).tokens
    assert (await _seen(api, *RANGES[0], profile="other")).tokens.total.input == 0
    assert not await sum_next(api.pool)


async def test_percentiles_of_summed_quarters_are_within_what_is_said(api: Api) -> None:
    await _month(api)
    exact = await _seen(api, *RANGES[2])
    assert exact.percentile_error == 0
    await _summed(api)
    seen = await _seen(api, *RANGES[2])
    assert seen.percentile_error == ERROR
    (name, times), *_ = seen.steps.items()
    found = await api.pool.fetchrow(
        """
        SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (
            ORDER BY extract(epoch FROM started_at - queued_at)::float8 * 1000) AS waited
        FROM steps WHERE ended_at >= $1 AND ended_at < $2
        """,
        *RANGES[2],
    )
    assert found is not None
    assert times.count == exact.steps[name].count
    told = (times.queue_p50_ms, times.queue_p95_ms)
    assert told == pytest.approx(found["waited"], rel=ERROR, abs=1)
    shown = await api.client.get("/observe?range=7d", headers={"accept": "text/html"})
    assert "Times of steps are exact to 2.5 %." in shown.text


def test_a_quantile_is_the_middle_of_the_bucket_that_holds_its_rank() -> None:
    assert quantiles({0: 19, 100: 1}) == (0, 0)
    median, high = quantiles({0: 1, 100: 18, 200: 1})
    assert median == high == pytest.approx(1.05**100, rel=2 * ERROR)


async def test_what_changes_the_past_is_in_the_next_answer_and_in_the_next_sums(api: Api) -> None:
    run, calls = await _month(api)
    other = await add_run(api.pool)
    await _called(api, other, 1, NOON + timedelta(minutes=5))
    await _summed(api)
    whole = await api.pool.fetchval("SELECT count(*) FROM summed")
    changes = {
        "DELETE FROM documents d USING runs r WHERE r.document_id = d.id AND r.id = $1": other,
        "UPDATE model_calls SET ended_at = now(), tokens_input = 7 WHERE id = $1": calls[3],
        "UPDATE runs SET profile = 'fast' WHERE id = $1": run,
    }
    for statement, subject in changes.items():
        await api.pool.execute(statement, subject)
        await _tells_the_rows(api)
        left = await api.pool.fetchval("SELECT count(*) FROM summed")
        assert whole - 8 < left < whole, "the rest of the past is not read again"
        await _summed(api)
        await _tells_the_rows(api)
        assert await api.pool.fetchval("SELECT count(*) FROM summed") == whole
    by_profile = await _seen(api, *RANGES[0], profile="fast")
    assert sum(times.count for times in by_profile.steps.values()) == len(ENDS)
    await api.pool.execute("DELETE FROM summed")  # as after a restore without it
    await _summed(api)
    await _tells_the_rows(api)


async def test_an_end_of_today_leaves_the_sums_alone(api: Api) -> None:
    run, _ = await _month(api)
    step = await add_step(api.pool, run, seq=99, attempt=99)
    call = await add_call(api.pool, run, step, number=99)
    await _summed(api)
    whole = await api.pool.fetchval("SELECT count(*) FROM summed")
    ended = "UPDATE model_calls SET status = 'SUCCEEDED', ended_at = now() WHERE id = $1"
    await api.pool.execute(ended, call)
    assert await api.pool.fetchval("SELECT count(*) FROM summed") == whole
    await _tells_the_rows(api)


@contextlib.asynccontextmanager
async def _held(api: Api) -> AsyncIterator[tuple[Connection, asyncio.Task[bool], int]]:
    """A piece that has its sums and cannot mark them, and the process id of its session."""
    async with api.pool.acquire() as holder:
        hold = holder.transaction()
        await hold.start()
        await holder.execute("LOCK TABLE summed IN SHARE MODE")
        piece = asyncio.create_task(sum_next(api.pool))

        async def waits() -> int | None:
            found: int | None = await api.pool.fetchval(
                """
                SELECT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                WHERE c.relname = 'summed' AND NOT l.granted
                """
            )
            return found

        await eventually(waits, what="a piece that waits")
        pid = await waits()
        assert pid is not None
        try:
            yield holder, piece, pid
        finally:
            with contextlib.suppress(asyncpg.PostgresError):
                await hold.rollback()


async def test_killed_in_the_middle_it_leaves_nothing_and_is_done_again(api: Api) -> None:
    await _month(api)
    async with _held(api) as (holder, piece, pid):
        await holder.execute("SELECT pg_terminate_backend($1)", pid)
        with pytest.raises(AWAY):
            await piece
    assert await api.pool.fetchval("SELECT count(*) FROM summed") == 0
    assert await api.pool.fetchval("SELECT count(*) FROM calls_by_hour WHERE at >= $1", NOON) == 0
    await _summed(api)
    await _tells_the_rows(api)


async def test_a_document_deleted_while_its_hour_is_summed_is_in_no_sum(api: Api) -> None:
    run = await add_run(api.pool)
    await _called(api, run, 1, NOW - HOUR - SETTLED - HOUR)
    async with _held(api) as (holder, piece, _):
        deletion = asyncio.create_task(api.pool.execute("DELETE FROM documents"))

        async def waits() -> bool:
            asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            return bool(await holder.fetchval(asked))

        await eventually(waits, what="a deletion that waits")
        assert not deletion.done()
    assert await piece
    await deletion
    await _tells_the_rows(api)
    assert (await _seen(api, *RANGES[0])).tokens.total.input == 0


async def test_two_processes_sum_the_same_past_once(api: Api) -> None:
    await _month(api)
    async with asyncpg.create_pool(dsn=api.state.settings.database_url, min_size=1) as second:

        async def process(pool: Any) -> int:
            pieces = 0
            while await api.pool.fetchval("SELECT count(*) FROM summed WHERE at = $1", NOON) == 0:
                pieces += await sum_next(pool)
            return pieces

        pieces = await asyncio.gather(process(api.pool), process(second))
    assert sum(pieces) > 1
    await _summed(api)
    await _tells_the_rows(api)
