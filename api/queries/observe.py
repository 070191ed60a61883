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
NEWEST_INTERRUPTS = 1000


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is looked at: from (included) to (excluded); None is any kind, any profile."""

    from_: datetime
    to: datetime
    kind: str | None = None
    profile: str | None = None

    def arguments(self) -> tuple[Any, ...]:
        return self.from_, self.to, self.kind, self.profile

    def narrow(self, of: str) -> tuple[str, str, tuple[Any, ...]]:
        """A join with the run, conditions and arguments. Without a filter the rows of runs are not
        needed, and looking up each of them is most of it."""
        if self.kind is None and self.profile is None:
            return "", "", (self.from_, self.to)
        filters = "AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)"
        return f"JOIN runs r ON r.id = {of}.run_id", filters, self.arguments()


async def step_times(reader: Reader, scope: Scope) -> Sequence[Row]:
    """How many steps succeeded, and percentiles of their work and of waiting before it, in
    milliseconds."""
    runs, filters, arguments = scope.narrow("s")
    return await reader.fetch(
        f"""
        SELECT s.name, count(*) AS steps,
            percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
                ORDER BY date_part('epoch', s.ended_at - s.started_at) * 1000) AS took,
            percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
                ORDER BY date_part('epoch', s.started_at - s.queued_at) * 1000) AS waited
        FROM steps s {runs}
        WHERE s.ended_at >= $1 AND s.ended_at < $2 AND s.status = 'SUCCEEDED' {filters}
        GROUP BY s.name
        """,  # noqa: S608
        *arguments,
    )


async def runs_created(reader: Reader, scope: Scope, grain: timedelta) -> Sequence[Row]:
    """Runs created in the range, by time and by the status they have now."""
    return await reader.fetch(
        """
        SELECT date_bin($5, r.created_at, $6) AS at, r.status, count(*) AS runs FROM runs r
        WHERE r.created_at >= $1 AND r.created_at < $2
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        GROUP BY 1, 2
        """,
        *scope.arguments(),
        grain,
        _ORIGIN,
    )


async def runs_ended(reader: Reader, scope: Scope, grain: timedelta) -> Sequence[Row]:
    """Runs that ended in the range, by time and status."""
    return await reader.fetch(
        """
        SELECT date_bin($5, r.ended_at, $6) AS at, r.status, count(*) AS runs FROM runs r
        WHERE r.ended_at >= $1 AND r.ended_at < $2
          AND ($3::text IS NULL OR r.kind = $3) AND ($4::text IS NULL OR r.profile = $4)
        GROUP BY 1, 2
        """,
        *scope.arguments(),
        grain,
        _ORIGIN,
    )


async def guardrail_stops(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Stops by guardrails, by code."""
    runs, filters, arguments = scope.narrow("e")
    return await reader.fetch(
        f"""
        SELECT e.data ->> 'code' AS code, count(*) AS stops
        FROM run_events e {runs}
        WHERE e.type = 'guardrail_stop' AND e.at >= $1 AND e.at < $2 {filters}
        GROUP BY 1 ORDER BY 2 DESC, 1
        """,  # noqa: S608
        *arguments,
    )


async def interrupts(reader: Reader, scope: Scope) -> int:
    """Interrupts by people."""
    runs, filters, arguments = scope.narrow("e")
    found = await reader.fetchval(
        f"""
        SELECT count(*) FROM run_events e {runs}
        WHERE e.type = 'run_interrupted' AND e.actor NOT IN ('worker', 'system')
          AND e.at >= $1 AND e.at < $2 {filters}
        """,  # noqa: S608
        *arguments,
    )
    return int(found)


async def interrupt_times(reader: Reader, scope: Scope) -> Sequence[float] | None:
    """Median and 95th percentile of the milliseconds from an interrupt to the end of the step that
    was at work, of the newest `NEWEST_INTERRUPTS`; None when no step was at work in any."""
    runs, filters, arguments = scope.narrow("e")
    found: Sequence[float] | None = await reader.fetchval(
        f"""
        SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
            ORDER BY date_part('epoch', s.ended_at - e.at) * 1000)
        FROM (
            SELECT e.run_id, e.at FROM run_events e {runs}
            WHERE e.type = 'run_interrupted' AND e.actor NOT IN ('worker', 'system')
              AND e.at >= $1 AND e.at < $2 {filters}
            ORDER BY e.at DESC LIMIT {NEWEST_INTERRUPTS:d}) e
        CROSS JOIN LATERAL (
            SELECT t.ended_at FROM steps t
            WHERE t.run_id = e.run_id AND t.reason_code = 'interrupted'
              AND t.started_at <= e.at AND t.ended_at >= e.at
            ORDER BY t.ended_at LIMIT 1) s
        """,  # noqa: S608
        *arguments,
    )
    return found


async def replaced(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Calls whose step was begun anew, by what a person changed: what they brought was kept and
    then not used. They count when the step's plan was voided, by model and currency."""
    runs, filters, arguments = scope.narrow("p")
    return await reader.fetch(
        f"""
        SELECT c.model, c.currency, count(*) AS calls, sum(c.cost) AS cost,
            coalesce(sum(c.tokens_input), 0)::bigint AS input,
            coalesce(sum(c.tokens_output), 0)::bigint AS output
        FROM step_plans p {runs}
        JOIN model_calls c ON c.run_id = p.run_id AND c.round = p.round AND c.step_name = p.name
            AND c.plan_id = p.id
        WHERE p.voided_at >= $1 AND p.voided_at < $2
          AND (c.status = 'SUCCEEDED' OR c.items_kept > 0)
          {filters}
        GROUP BY 1, 2
        """,  # noqa: S608
        *arguments,
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
