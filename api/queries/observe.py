"""Reads of the observability centre: sums over a time range, from rows alone.

Calls and steps count when they ended, runs when they were created or ended, stops when they were
told. Each function asks one question; `api.observe` puts the answers together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from api.queries.rows import Reader
from deploy.database import Row

_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
SAMPLE = 16
"""Percentiles of many steps are those of one in 16 (index `steps_sampled`)."""
NEWEST_INTERRUPTS = 2000


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is looked at: from (included) to (excluded); None is any kind, any profile."""

    from_: datetime
    to: datetime
    kind: str | None = None
    profile: str | None = None

    def arguments(self) -> tuple[Any, ...]:
        return self.from_, self.to, self.kind, self.profile


async def calls_ended(
    reader: Reader, from_: datetime, to: datetime, grain: timedelta
) -> Sequence[Row]:
    """Calls by time, kind, profile, model, currency and fate: what became of what they brought.

    `lost` died with its process; `repeated` failed or was stopped with nothing kept, so all of it
    is asked for again; `continued` ended early and its items were kept; `used` ended well.
    """
    return await reader.fetch(
        """
        SELECT date_bin($3, c.ended_at, $4) AS at, r.kind, c.profile, c.model, c.currency,
            CASE WHEN c.status = 'LOST' THEN 'lost' WHEN c.status = 'SUCCEEDED' THEN 'used'
                WHEN c.items_kept > 0 THEN 'continued' ELSE 'repeated' END AS fate,
            count(*) AS calls,
            coalesce(sum(c.tokens_input), 0)::bigint AS input,
            coalesce(sum(c.tokens_output), 0)::bigint AS output,
            coalesce(sum(c.tokens_cached), 0)::bigint AS cached,
            coalesce(sum(c.tokens_reasoning), 0)::bigint AS reasoning,
            sum(c.cost) AS cost,
            count(*) FILTER (WHERE c.cost IS NULL) AS unpriced
        FROM model_calls c JOIN runs r ON r.id = c.run_id
        WHERE c.ended_at >= $1 AND c.ended_at < $2
        GROUP BY 1, 2, 3, 4, 5, 6
        """,
        from_,
        to,
        grain,
        _ORIGIN,
    )


async def steps_ended(
    reader: Reader, from_: datetime, to: datetime, grain: timedelta
) -> Sequence[Row]:
    """How many steps succeeded, by time, kind, profile of the run, and name."""
    return await reader.fetch(
        """
        SELECT date_bin($3, s.ended_at, $4) AS at, r.kind, r.profile, s.name, count(*) AS steps
        FROM steps s JOIN runs r ON r.id = s.run_id
        WHERE s.ended_at >= $1 AND s.ended_at < $2 AND s.status = 'SUCCEEDED'
        GROUP BY 1, 2, 3, 4
        """,
        from_,
        to,
        grain,
        _ORIGIN,
    )


async def step_times(reader: Reader, scope: Scope, *, sampled: bool) -> Sequence[Row]:
    """Percentiles of work and of waiting before it, in milliseconds, of steps that succeeded."""
    sample = f"AND get_byte(uuid_send(s.id), 15) < {256 // SAMPLE:d}" if sampled else ""
    # Without a filter the rows of runs are not needed, and looking up each of them is most of it.
    narrow = scope.kind is not None or scope.profile is not None
    runs = "JOIN runs r ON r.id = s.run_id" if narrow else ""
    filters = "AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)"
    return await reader.fetch(
        f"""
        SELECT s.name,
            percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
                ORDER BY extract(epoch FROM s.ended_at - s.started_at)::float8) AS took,
            percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
                ORDER BY extract(epoch FROM s.started_at - s.queued_at)::float8) AS waited
        FROM steps s {runs}
        WHERE s.ended_at >= $1 AND s.ended_at < $2 AND s.status = 'SUCCEEDED'
            {sample} {filters if narrow else ""}
        GROUP BY s.name
        """,  # noqa: S608
        *(scope.arguments() if narrow else scope.arguments()[:2]),
    )


async def runs_created(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Runs created in the range by the status they have now."""
    return await reader.fetch(
        """
        SELECT r.status, count(*) AS runs FROM runs r
        WHERE r.created_at >= $1 AND r.created_at < $2
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        GROUP BY r.status
        """,
        *scope.arguments(),
    )


async def runs_by_time(reader: Reader, scope: Scope, grain: timedelta) -> Sequence[Row]:
    """Runs that began (`what` is 'started') and that ended (the status), by time."""
    return await reader.fetch(
        """
        SELECT date_bin($5, e.at, $6) AS at, e.what, count(*) AS runs
        FROM (
            SELECT r.created_at AS at, 'started' AS what, r.kind, r.profile FROM runs r
            WHERE r.created_at >= $1 AND r.created_at < $2
            UNION ALL
            SELECT r.ended_at, r.status, r.kind, r.profile FROM runs r
            WHERE r.ended_at >= $1 AND r.ended_at < $2
        ) e
        WHERE ($3::text IS NULL OR e.kind = $3) AND ($4::text IS NULL OR e.profile = $4)
        GROUP BY 1, 2
        """,
        *scope.arguments(),
        grain,
        _ORIGIN,
    )


async def guardrail_stops(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Stops by guardrails, by code."""
    return await reader.fetch(
        """
        SELECT e.data ->> 'code' AS code, count(*) AS stops
        FROM run_events e JOIN runs r ON r.id = e.run_id
        WHERE e.type = 'guardrail_stop' AND e.at >= $1 AND e.at < $2
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        GROUP BY 1 ORDER BY 2 DESC, 1
        """,
        *scope.arguments(),
    )


async def interrupts(reader: Reader, scope: Scope) -> int:
    """Interrupts by people."""
    found = await reader.fetchval(
        """
        SELECT count(*) FROM run_events e JOIN runs r ON r.id = e.run_id
        WHERE e.type = 'run_interrupted' AND e.actor NOT IN ('worker', 'system')
          AND e.at >= $1 AND e.at < $2
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        """,
        *scope.arguments(),
    )
    return int(found)


async def interrupt_times(reader: Reader, scope: Scope) -> Sequence[float] | None:
    """Median and 95th percentile of the seconds from an interrupt to the end of the step that was
    at work, of the newest `NEWEST_INTERRUPTS`; None when no step was at work in any."""
    found: Sequence[float] | None = await reader.fetchval(
        """
        SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
            ORDER BY extract(epoch FROM s.ended_at - e.at)::float8)
        FROM (
            SELECT e.run_id, e.at FROM run_events e JOIN runs r ON r.id = e.run_id
            WHERE e.type = 'run_interrupted' AND e.actor NOT IN ('worker', 'system')
              AND e.at >= $1 AND e.at < $2
              AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
            ORDER BY e.at DESC LIMIT $5) e
        CROSS JOIN LATERAL (
            SELECT t.ended_at FROM steps t
            WHERE t.run_id = e.run_id AND t.reason_code = 'interrupted'
              AND t.started_at <= e.at AND t.ended_at >= e.at
            ORDER BY t.ended_at LIMIT 1) s
        """,
        *scope.arguments(),
        NEWEST_INTERRUPTS,
    )
    return found


async def replaced(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Calls whose step was begun anew, by what a person changed: what they brought was kept and
    then not used. They count when the step's plan was voided, by model and currency."""
    return await reader.fetch(
        """
        SELECT c.model, c.currency, count(*) AS calls, sum(c.cost) AS cost,
            coalesce(sum(c.tokens_input), 0)::bigint AS input,
            coalesce(sum(c.tokens_output), 0)::bigint AS output
        FROM step_plans p JOIN runs r ON r.id = p.run_id
        JOIN model_calls c ON c.run_id = p.run_id AND c.round = p.round AND c.step_name = p.name
            AND c.plan_id = p.id
        WHERE p.voided_at >= $1 AND p.voided_at < $2
          AND (c.status = 'SUCCEEDED' OR (c.items_kept > 0 AND c.status <> 'LOST'))
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        GROUP BY 1, 2
        """,
        *scope.arguments(),
    )


async def queue(reader: Reader) -> Row:
    """RUNNING runs that no step works for and that wait for no retry: how many, since when."""
    row = await reader.fetchrow(
        """
        SELECT count(*) AS waiting,
            extract(epoch FROM now() - min(coalesce(q.queued_at, q.created_at)))::float8 AS oldest
        FROM runs q
        WHERE q.status = 'RUNNING' AND (q.retry_at IS NULL OR q.retry_at <= now())
          AND NOT EXISTS (SELECT FROM steps t WHERE t.run_id = q.id AND t.status = 'RUNNING')
        """
    )
    assert row is not None, "an aggregate has a row"
    return row
