"""Reads of the overview and of lists beyond their rows: who waits, what is in trouble, the day.

Ages are counted by the database's clock. A day is one of UTC; it is compared with the same weekday
of the four weeks before, each up to the present time of day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from api.queries.rows import Reader
from workflows.vocabulary import LIMITS, Reason

QUIET_SECONDS = 120
"""A run at work that made no progress for so long is shown as standing still."""
_LIMIT_STOPS = sorted({str(reason) for reason in LIMITS} | {str(Reason.PRICE_UNKNOWN)})

# Not while it waits for its next try: that has a time of its own.
QUIET = f"""
    r.status = 'RUNNING' AND r.last_progress_at < now() - interval '{QUIET_SECONDS} s'
        AND (r.retry_at IS NULL OR r.retry_at <= now())
"""
_LOST = """
    r.status = 'RUNNING' AND s.id IS NOT NULL AND s.epoch = r.epoch
        AND (w.id IS NULL OR w.goodbye_at IS NOT NULL OR w.seen_at <= now() - interval '15 s')
"""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What was confirmed on one day, `weeks_ago` weeks before today; the median is of the seconds
    a run was at work."""

    weeks_ago: int
    runs: int
    median_seconds: float | None
    issues_fixed: int


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What calls of one day cost in one currency; `currency` is None for those without a price."""

    weeks_ago: int
    currency: str | None
    cost: Decimal | None
    is_estimate: bool
    calls: int


async def waiting_ids(reader: Reader, limit: int) -> list[str]:
    """Runs that wait for a decision, the one that waits longest first."""
    rows = await reader.fetch(
        """
        SELECT id FROM runs WHERE status = 'AWAITING_CONFIRMATION'
        ORDER BY last_progress_at, id LIMIT $1
        """,
        limit,
    )
    return [str(row["id"]) for row in rows]


async def trouble_ids(reader: Reader, limit: int) -> list[str]:
    """Runs that stand still or lost their worker, then stops at a limit, then failures; of each the
    newest first."""
    rows = await reader.fetch(
        f"""
        SELECT id FROM (
            (SELECT r.id, 1 AS place, r.last_progress_at AS at FROM runs r
                LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
                LEFT JOIN workers w ON w.id = s.worker
                WHERE ({QUIET}) OR ({_LOST}) ORDER BY r.last_progress_at DESC LIMIT $1)
            UNION ALL
            (SELECT r.id, 2, r.last_progress_at FROM runs r
                WHERE r.status = 'INTERRUPTED' AND r.reason_code = ANY ($2::text[])
                ORDER BY r.last_progress_at DESC LIMIT $1)
            UNION ALL
            (SELECT r.id, 3, r.ended_at FROM runs r WHERE r.status = 'FAILED'
                ORDER BY r.created_at DESC, r.id DESC LIMIT $1)
        ) found ORDER BY place, at DESC, id LIMIT $1
        """,  # noqa: S608
        limit,
        _LIMIT_STOPS,
    )
    return [str(row["id"]) for row in rows]


async def trouble_count(reader: Reader) -> int:
    """How many `trouble_ids` would name without a limit."""
    number: int = await reader.fetchval(
        f"""
        SELECT (SELECT count(*) FROM runs r
                LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
                LEFT JOIN workers w ON w.id = s.worker WHERE ({QUIET}) OR ({_LOST}))
            + (SELECT count(*) FROM runs r
                WHERE r.status = 'INTERRUPTED' AND r.reason_code = ANY ($1::text[]))
            + (SELECT count(*) FROM runs r WHERE r.status = 'FAILED')
        """,  # noqa: S608
        _LIMIT_STOPS,
    )
    return number


async def quiet_since(reader: Reader, run_ids: Sequence[str]) -> Mapping[str, datetime]:
    """Of these runs those that should be at work and are not: since when they made no progress."""
    rows = await reader.fetch(
        f"""
        SELECT r.id, r.last_progress_at FROM runs r WHERE r.id = ANY ($1::uuid[]) AND {QUIET}
        """,  # noqa: S608
        list(run_ids),
    )
    return {str(row["id"]): row["last_progress_at"] for row in rows}


async def finished(reader: Reader) -> list[Finished]:
    """Today (0) and the same weekday of the weeks before, where anything was confirmed."""
    rows = await reader.fetch(
        """
        WITH today AS (SELECT date_trunc('day', now(), 'UTC') AS start)
        SELECT d.weeks_ago, count(*) AS runs, sum(fixed.number)::int AS issues_fixed,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY r.seconds_running) AS median_seconds
        FROM today CROSS JOIN generate_series(0, 4) AS d (weeks_ago)
        JOIN runs r ON r.status = 'CONFIRMED'
            AND r.ended_at >= today.start - make_interval(days => 7 * d.weeks_ago)
            AND r.ended_at <= now() - make_interval(days => 7 * d.weeks_ago)
        CROSS JOIN LATERAL (
            SELECT count(*) AS number FROM issues i WHERE i.run_id = r.id AND i.status = 'fixed'
        ) fixed
        GROUP BY d.weeks_ago ORDER BY d.weeks_ago
        """
    )
    return [Finished(**dict(row)) for row in rows]


async def spent(reader: Reader) -> list[Spent]:
    """The same days: what the calls that began in them cost, as far as they are over."""
    rows = await reader.fetch(
        """
        WITH today AS (SELECT date_trunc('day', now(), 'UTC') AS start)
        SELECT d.weeks_ago, c.currency, c.cost, c.is_estimate, c.calls
        FROM today CROSS JOIN generate_series(0, 4) AS d (weeks_ago)
        CROSS JOIN LATERAL (
            SELECT CASE WHEN c.cost IS NOT NULL THEN c.currency END AS currency,
                sum(c.cost) AS cost, count(*) AS calls,
                bool_or(c.usage_source <> 'reported') AS is_estimate
            FROM model_calls c
            WHERE c.started_at >= today.start - make_interval(days => 7 * d.weeks_ago)
                AND c.started_at <= now() - make_interval(days => 7 * d.weeks_ago)
                AND c.status <> 'STARTED'
            GROUP BY 1
        ) c
        ORDER BY d.weeks_ago, c.currency NULLS LAST
        """
    )
    return [Spent(**dict(row)) for row in rows]
