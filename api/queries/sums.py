"""Sums of the past, written once an hour or a quarter of a day is over, read instead of the rows.

A mark in `summed` says that the sums equal the rows. Triggers take it away in the transaction that
changes the past (a deletion, a late answer, another profile), so in one snapshot what is marked and
what is not make up exactly the rows. Only `api.summing` sets one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.queries.observe import Scope
from api.queries.rows import Reader
from deploy.database import Row

HOUR = timedelta(hours=1)
GROWTH = 1.05
"""From one bucket of durations to the next."""
ERROR = (GROWTH - 1) / (GROWTH + 1)
"""At most so far, of itself, a duration lies from the middle of its bucket (or 1 ms)."""
ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
Span = tuple[datetime, datetime]

# What became of what a call brought: `used` ended well; `continued` ended early with items kept,
# whoever ended it; of those with nothing kept, `lost` died with its process and `repeated`
# failed or was stopped. Another rule here needs another name of `CALLS`: what was summed by the old
# one is read anew then.
CALL_SUMS = """
    date_bin($3, c.ended_at, $4) AS at, r.kind, c.profile, c.model, c.currency,
    CASE WHEN c.status = 'SUCCEEDED' THEN 'used' WHEN c.items_kept > 0 THEN 'continued'
        WHEN c.status = 'LOST' THEN 'lost' ELSE 'repeated' END AS fate,
    count(*) AS calls,
    coalesce(sum(c.tokens_input), 0)::bigint AS input,
    coalesce(sum(c.tokens_output), 0)::bigint AS output,
    coalesce(sum(c.tokens_cached), 0)::bigint AS cached,
    coalesce(sum(c.tokens_reasoning), 0)::bigint AS reasoning,
    sum(c.cost) AS cost,
    count(*) FILTER (WHERE c.cost IS NULL) AS unpriced
"""
LASTED = """
    CROSS JOIN LATERAL (VALUES
        ('took', date_part('epoch', s.ended_at - s.started_at) * 1000),
        ('waited', date_part('epoch', s.started_at - s.queued_at) * 1000)
    ) AS m (measure, ms)
"""
BUCKET = f"CASE WHEN m.ms <= 1 THEN 0 ELSE ceil(ln(m.ms) / ln({GROWTH}::float8)) END::smallint"


@dataclass(frozen=True, kw_only=True)
class Past:
    """One kind of sums: how long one lasts, and how many are made in one transaction."""

    what: str
    rows: str
    every: timedelta
    piece: int


CALLS = Past(what="calls/2", rows="model_calls", every=HOUR, piece=6)
STEPS = Past(what="steps", rows="steps", every=6 * HOUR, piece=1)


def floor(at: datetime, grain: timedelta) -> datetime:
    """The start of the bucket that `at` is in, counted from 1970 in UTC."""
    return ORIGIN + (at - ORIGIN) // grain * grain


def middle(bucket: int) -> float:
    """Milliseconds that stand for all of the bucket."""
    return 0.0 if bucket == 0 else GROWTH**bucket * 2 / (GROWTH + 1)


async def marked(reader: Reader, past: Past, scope: Scope) -> set[datetime]:
    """The hours or quarters that lie whole in the range and are summed."""
    rows = await reader.fetch(
        "SELECT at FROM summed WHERE what = $1 AND at >= $2 AND at <= $3",
        past.what,
        scope.from_,
        scope.to - past.every,
    )
    return {row["at"] for row in rows}


def gaps(scope: Scope, past: Past, summed: Collection[datetime]) -> list[Span]:
    """What lies between the summed ones, in as few spans as can be."""
    found, begun = list[Span](), scope.from_
    for at in sorted(summed):
        if begun < at:
            found.append((begun, at))
        begun = at + past.every
    return [*found, (begun, scope.to)] if begun < scope.to else found


async def calls_summed(reader: Reader, scope: Scope, grain: timedelta) -> Sequence[Row]:
    """Calls of the marked hours: by time, kind, profile, model, currency and fate."""
    return await reader.fetch(
        """
        SELECT date_bin($5, c.at, $6) AS at, c.kind, c.profile, c.model, c.currency, c.fate,
            sum(c.calls)::bigint AS calls, sum(c.input)::bigint AS input,
            sum(c.output)::bigint AS output, sum(c.cached)::bigint AS cached,
            sum(c.reasoning)::bigint AS reasoning, sum(c.cost) AS cost,
            sum(c.unpriced)::bigint AS unpriced
        FROM summed m JOIN calls_by_hour c ON c.at = m.at
        WHERE m.what = 'calls/2' AND m.at >= $1 AND m.at <= $2::timestamptz - interval '1 hour'
          AND ($3::text IS NULL OR c.kind = $3) AND ($4::text IS NULL OR c.profile = $4)
        GROUP BY 1, 2, 3, 4, 5, 6
        """,
        *scope.arguments(),
        grain,
        ORIGIN,
    )


async def calls_ended(reader: Reader, scope: Scope, grain: timedelta) -> Sequence[Row]:
    """The same of any range, from the rows."""
    return await reader.fetch(
        f"""
        SELECT {CALL_SUMS} FROM model_calls c JOIN runs r ON r.id = c.run_id
        WHERE c.ended_at >= $1 AND c.ended_at < $2
          AND ($5::text IS NULL OR r.kind = $5) AND ($6::text IS NULL OR c.profile = $6)
        GROUP BY 1, 2, 3, 4, 5, 6
        """,  # noqa: S608
        scope.from_,
        scope.to,
        grain,
        ORIGIN,
        scope.kind,
        scope.profile,
    )


async def steps_summed(reader: Reader, scope: Scope) -> Sequence[Row]:
    """Steps that succeeded in marked quarters: how many, by name, measure and bucket."""
    of_all = scope.kind is None and scope.profile is None
    narrow = "($3::text IS NULL OR s.kind = $3) AND ($4::text IS NULL OR s.profile = $4)"
    return await reader.fetch(
        f"""
        SELECT s.name, s.measure, s.bucket, sum(s.steps)::bigint AS steps
        FROM summed m JOIN steps_by_quarter s ON s.at = m.at
        WHERE m.what = 'steps' AND m.at >= $1 AND m.at <= $2::timestamptz - interval '6 hours'
          AND {"s.kind IS NULL" if of_all else f"s.kind IS NOT NULL AND {narrow}"}
        GROUP BY 1, 2, 3
        """,  # noqa: S608
        *(scope.arguments()[:2] if of_all else scope.arguments()),
    )


async def steps_lasted(reader: Reader, scope: Scope) -> Sequence[Row]:
    """The same of any range, from the rows."""
    fits, arguments = scope.of_every()
    return await reader.fetch(
        f"""
        WITH every AS (
            SELECT s.run_id, s.name, s.queued_at, s.started_at, s.ended_at FROM steps s
            WHERE s.ended_at >= $1 AND s.ended_at < $2 AND s.status = 'SUCCEEDED'),
        s AS (
            SELECT every.name, every.queued_at, every.started_at, every.ended_at
            FROM every WHERE {fits})
        SELECT s.name, m.measure, {BUCKET} AS bucket, count(*) AS steps FROM s {LASTED}
        GROUP BY 1, 2, 3
        """,  # noqa: S608
        *arguments,
    )
