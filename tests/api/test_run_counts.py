"""Counts of runs are kept by triggers: at any moment they tell what the rows tell."""

from __future__ import annotations

import asyncio
from typing import Any

from api import queries
from api.queries import RunFilter
from api.summing import add_up_counts
from deploy.database import Pool
from tests.api.harness import Api
from tests.read_rows import add_document, add_ended_run, add_run
from workflows.vocabulary import RunStatus

FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"kinds": ("minutes",)},
    {"kinds": ("minutes", "text"), "actors": ("ana",)},
    {"actors": ("ana",), "statuses": ("RUNNING", "FAILED")},
)


async def _tells_the_rows(pool: Pool) -> int:
    """How many runs there are in all; each filter's counts are compared with a look at the rows."""
    rows = await pool.fetch("SELECT kind, actor, status FROM runs")
    for wanted in FILTERS:
        told = await queries.counts_by_status(pool, RunFilter(**wanted))
        expected = dict.fromkeys(map(str, RunStatus), 0)
        for row in rows:
            expected[row["status"]] += all(
                row[name] in wanted.get(f"{name}{'es' if name == 'status' else 's'}", (row[name],))
                for name in ("kind", "actor", "status")
            )
        assert told == expected, wanted
    return len(rows)


async def _some(pool: Pool) -> list[str]:
    """Runs of each status but two, of two kinds and actors; their documents."""
    documents = [await add_document(pool) for _ in range(6)]
    await add_run(pool, documents[0])
    await add_run(pool, documents[1], kind="text", actor="ana")
    await add_run(pool, documents[2], status="AWAITING_CONFIRMATION")
    await add_ended_run(pool, "CONFIRMED", documents[3], actor="ana")
    await add_ended_run(pool, "FAILED", documents[4], kind="text")
    await add_ended_run(pool, "CANCELLED", documents[4])
    await add_ended_run(pool, "CONFIRMED", documents[5])
    return documents


async def test_counts_follow_each_move_and_each_deletion(api: Api) -> None:
    documents = await _some(api.pool)
    assert await _tells_the_rows(api.pool) == 7
    await api.pool.execute(
        "UPDATE runs SET status = 'INTERRUPTED', running_since = NULL WHERE status = 'RUNNING'"
    )
    await _tells_the_rows(api.pool)
    await api.pool.execute(
        """
        UPDATE runs SET status = 'RUNNING', epoch = epoch + 1, running_since = now(),
            ended_at = NULL WHERE status = 'FAILED'
        """
    )
    await api.pool.execute("UPDATE runs SET actor = 'ben', kind = 'text' WHERE actor = 'ana'")
    await _tells_the_rows(api.pool)
    await api.pool.execute("DELETE FROM documents WHERE id = ANY ($1::uuid[])", documents[3:5])
    assert await _tells_the_rows(api.pool) == 4
    await api.pool.execute("DELETE FROM documents")
    assert await _tells_the_rows(api.pool) == 0


async def test_what_changes_no_status_writes_no_count(api: Api) -> None:
    run = await add_run(api.pool)
    before = await api.pool.fetchval("SELECT count(*) FROM run_counts")
    await api.pool.execute(
        "UPDATE runs SET status = status, event_seq = event_seq + 1 WHERE id = $1", run
    )
    assert await api.pool.fetchval("SELECT count(*) FROM run_counts") == before


async def test_added_up_counts_are_few_and_tell_the_same(api: Api) -> None:
    await _some(api.pool)
    many = await api.pool.fetchval("SELECT count(*) FROM run_counts")
    await add_up_counts(api.pool, many)
    assert await api.pool.fetchval("SELECT count(*) FROM run_counts") == many, "few are left alone"
    await asyncio.gather(*(add_up_counts(api.pool, 1) for _ in range(4)))
    kept = await api.pool.fetch("SELECT kind, actor, status, number FROM run_counts")
    keys = await api.pool.fetchval("SELECT count(DISTINCT (kind, actor, status)) FROM runs")
    assert len(kept) == keys < many
    assert min(row["number"] for row in kept) == 1
    await _tells_the_rows(api.pool)


async def test_a_move_that_is_under_way_while_they_are_added_up_is_counted_once(api: Api) -> None:
    await _some(api.pool)
    async with api.pool.acquire() as other:
        move = other.transaction()
        await move.start()
        await other.execute(
            """
            UPDATE runs SET status = 'INTERRUPTED', running_since = NULL
            WHERE status = 'RUNNING' AND actor = 'ana'
            """
        )
        async with asyncio.timeout(10):  # neither waits for the other
            await add_up_counts(api.pool, 1)
        await _tells_the_rows(api.pool)
        await move.commit()
    await _tells_the_rows(api.pool)
    await add_up_counts(api.pool, 1)
    await _tells_the_rows(api.pool)
