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

    def of_every(self) -> tuple[str, tuple[Any, ...]]:
        """A condition for the rows of `every`, and arguments: as `narrow`, but each run is looked
        up once. As a join a few thousand of them are found by reading all there are."""
        _, filters, arguments = self.narrow("d")
        if not filters:
            return "true", arguments
        return (
            f"""
            every.run_id IN (SELECT d.run_id FROM (SELECT DISTINCT e.run_id FROM every e) d
                CROSS JOIN LATERAL (
                    SELECT r.id FROM runs r WHERE r.id = d.run_id {filters} LIMIT 1) r)
            """,  # noqa: S608
            arguments,
        )


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


async def stops(reader: Reader, scope: Scope) -> Row:
    """Stops by guardrails, by code; interrupts by people, and the median and 95th percentile of the
    milliseconds from one to the end of the step that was at work, of the newest
    `NEWEST_INTERRUPTS`; None when no step was at work in any. One statement: with a filter the runs
    of these events are most of it."""
    fits, arguments = scope.of_every()
    row = await reader.fetchrow(
        f"""
        WITH every AS (
            SELECT e.run_id, e.type, e.actor, e.at, e.data ->> 'code' AS code FROM run_events e
            WHERE e.type IN ('run_interrupted', 'guardrail_stop') AND e.at >= $1 AND e.at < $2),
        told AS MATERIALIZED (
            SELECT every.run_id, every.type, every.actor, every.at, every.code
            FROM every WHERE {fits}),
        interrupted AS (
            SELECT i.run_id, i.at FROM told i
            WHERE i.type = 'run_interrupted' AND i.actor NOT IN ('worker', 'system'))
        SELECT coalesce((SELECT jsonb_object_agg(g.code, g.stops) FROM (
                SELECT coalesce(t.code, '') AS code, count(*) AS stops FROM told t
                WHERE t.type = 'guardrail_stop' GROUP BY 1 ORDER BY 2 DESC, 1) g), '{{}}') AS stops,
            (SELECT count(*) FROM interrupted) AS interrupts,
            (SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
                ORDER BY date_part('epoch', s.ended_at - n.at) * 1000)
                FROM (SELECT i.run_id, i.at FROM interrupted i
                    ORDER BY i.at DESC LIMIT {NEWEST_INTERRUPTS:d}) n
                CROSS JOIN LATERAL (
                    SELECT t.ended_at FROM steps t
                    WHERE t.run_id = n.run_id AND t.reason_code = 'interrupted'
                      AND t.started_at <= n.at AND t.ended_at >= n.at
                    ORDER BY t.ended_at LIMIT 1) s) AS took
        """,  # noqa: S608
        *arguments,
    )
    assert row is not None, "aggregates have a row"
    return row


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
