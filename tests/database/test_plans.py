"""What big tables are read by: an index that a statement's own words let the planner use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api import queries
from api.queries import RunFilter, sums
from api.queries.calls import CallFilter, calls_all_page
from api.queries.observe import Scope
from deploy.database import Connection, Pool

NOW = datetime.now(UTC)


class _Planned:
    """Answers with the plans that hold for any arguments, instead of rows."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.plans = connection, ""

    async def fetch(self, statement: str, *arguments: Any) -> list[Any]:
        await self.connection.execute(f"PREPARE asked AS {statement}")
        given = f"({', '.join('NULL' for _ in arguments)})" if arguments else ""
        rows = await self.connection.fetch(f"EXPLAIN EXECUTE asked{given}")
        await self.connection.execute("DEALLOCATE asked")
        self.plans += "\n".join(row[0] for row in rows)
        return []


async def _plans(pool: Pool, read: Any) -> str:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        # Of a few rows every plan is as good as another.
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        await connection.execute("SET LOCAL enable_sort = off")
        planned = _Planned(connection)
        await read(planned)
        return planned.plans


@pytest.mark.parametrize("status", ["LOST", "FAILED", "CANCELLED"])
async def test_calls_that_ended_badly_are_found_without_the_others(pool: Pool, status: str) -> None:
    wanted = CallFilter(status=status, model="m")
    plans = await _plans(pool, lambda reader: calls_all_page(reader, wanted))
    assert "using model_calls_ended_badly" in plans


async def test_steps_of_all_kinds_are_added_up_without_those_of_each(pool: Pool) -> None:
    scope = Scope(from_=NOW - timedelta(days=30), to=NOW)
    plans = await _plans(pool, lambda reader: sums.steps_summed(reader, scope))
    assert "steps_by_quarter_of_all" in plans


@pytest.mark.parametrize(
    ("wanted", "read"),
    [
        (RunFilter(), "run_counts"),
        (RunFilter(kinds=("text",), actors=("ana",)), "run_counts"),
        (RunFilter(tags=("a",)), "runs r"),
    ],
)
async def test_counts_that_are_kept_are_not_counted_again(
    pool: Pool, wanted: RunFilter, read: str
) -> None:
    plans = await _plans(pool, lambda reader: queries.counts_by_status(reader, wanted))
    assert read in plans
    assert ("on runs" in plans) == (read == "runs r")
