"""What happened in a range of time: reads of `api.queries.observe`, put together as one answer.

The page and the API show the same answer; nothing is counted a second way.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from api import queries, wire
from api.past_hours import HOUR, PastHours, floor
from api.queries import Reader
from api.queries import observe as reads
from api.queries.observe import Scope
from api.wire import observe as told
from deploy.database import Pool, Row
from workflows.vocabulary import RunStatus

GRAINS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(days=1),
    timedelta(days=7),
    timedelta(days=28),
)
MOST_POINTS = 62
EXACT_STEPS = 20_000
"""Percentiles of more steps are those of a sample."""
SIMULATED = "offline"
"""Model of the offline model's profile, as `deploy.local` makes it."""
_FATES = ("lost", "repeated")
_KEY = ("kind", "profile", "model", "currency", "fate")
_ADDED = ("calls", "input", "output", "cached", "reasoning", "unpriced")


class Sum(Protocol):
    """Rows with the same key, added up: of the database, or of several of its rows."""

    def __getitem__(self, column: str, /) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Rows of calls that count, with the currency that sums are made in."""

    rows: Sequence[Sum]
    currency: str | None
    currencies: Sequence[str]


class Observatory:
    """One a process: it remembers the sums of past hours."""

    def __init__(self) -> None:
        self._calls = PastHours(reads.calls_ended)
        self._steps = PastHours(reads.steps_ended)

    async def warm(self, pool: Pool, days: int = 30) -> None:
        """Reads the past day by day, the newest first, so that nobody waits for it later."""
        now = floor(datetime.now(UTC), HOUR)
        for day in range(days):
            for past in (self._calls, self._steps):
                to = now - day * timedelta(days=1)
                async with pool.acquire() as connection:
                    await past.rows(connection, to - timedelta(days=1), to, HOUR)
            await asyncio.sleep(0.2)  # others wait for the database too

    async def observe(self, pool: Pool, wanted: Scope, *, simulated: bool) -> told.Observed:
        """`simulated`: whether calls of the offline model are in the sums."""
        grain = grain_of(wanted.to - wanted.from_)
        scope = replace(wanted, from_=floor(wanted.from_, min(grain, HOUR)))
        async with pool.acquire() as connection:
            calls = await self._calls.rows(connection, scope.from_, scope.to, grain)
            steps = await self._steps.rows(connection, scope.from_, scope.to, grain)
            steps = _narrowed(steps, scope)
            counts = _sum_by(steps, lambda row: row["name"], lambda row: row["steps"])
            sampled = sum(counts.values()) > EXACT_STEPS
            times = await reads.step_times(connection, scope, sampled=sampled)
            moves = await reads.runs_by_time(connection, scope, grain)
            statuses = await reads.runs_created(connection, scope)
            merged = _merged(_narrowed(calls, scope), grain)
            sums = _sums([row for row in merged if simulated or row["model"] != SIMULATED])
            return told.Observed(
                from_=scope.from_,
                to=scope.to,
                bucket_seconds=int(grain.total_seconds()),
                kind=scope.kind,
                profile=scope.profile,
                excludes=[] if simulated else ["simulated_calls"],
                simulated_calls=sum(r["calls"] for r in merged if r["model"] == SIMULATED),
                sampled=sampled,
                runs_by_status={str(status): 0 for status in RunStatus}
                | {row["status"]: row["runs"] for row in statuses},
                success_rate=_success(moves),
                steps=_times(times, counts),
                tokens=_tokens_by(sums),
                cost=_cost_by(sums),
                waste=await _waste(connection, scope, sums, simulated=simulated),
                saved_by_continuation=_saved(sums),
                guardrail_stops=await _stops(connection, scope),
                interrupts=await _interrupts(connection, scope),
                queue=await _queue(connection),
                series=_series(scope, grain, sums, moves),
                workers=await queries.workers(connection),
            )


def grain_of(length: timedelta) -> timedelta:
    """Buckets of a range: the finest that are at most 62."""
    return next((g for g in GRAINS if length <= g * MOST_POINTS), GRAINS[-1])


def _narrowed(rows: Iterable[Row], scope: Scope) -> list[Row]:
    return [
        row
        for row in rows
        if scope.kind in (None, row["kind"]) and scope.profile in (None, row["profile"])
    ]


def _merged(rows: Iterable[Row], grain: timedelta) -> list[Sum]:
    """Hours as buckets: a month has hundreds of hours with the same few keys."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    buckets: dict[datetime, datetime] = {}
    for row in rows:
        at = row["at"]
        bucket = buckets.get(at) or buckets.setdefault(at, floor(at, grain))
        key = (bucket, *(row[name] for name in _KEY))
        into = found.get(key)
        if into is None:
            found[key] = {**dict(row), "at": bucket}
            continue
        for name in _ADDED:
            into[name] += row[name]
        if row["cost"] is not None:
            into["cost"] = row["cost"] + (into["cost"] or 0)
    return list(found.values())


def _sum_by(
    rows: Iterable[Sum], key: Callable[[Sum], str], value: Callable[[Sum], int]
) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[key(row)] += value(row)
    return dict(found)


def _sums(rows: Sequence[Sum]) -> _Sums:
    priced = [row for row in rows if row["currency"]]
    used = _sum_by(priced, lambda row: row["currency"], lambda row: row["calls"])
    currencies = sorted(used, key=lambda name: (-used[name], name))
    return _Sums(rows=rows, currency=next(iter(currencies), None), currencies=sorted(currencies))


def _success(moves: Iterable[Row]) -> float | None:
    ended = _sum_by(moves, lambda row: row["what"], lambda row: row["runs"])
    ended.pop("started", None)
    total = sum(ended.values())
    return round(ended.get(RunStatus.CONFIRMED, 0) / total, 4) if total else None


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else max(0, round(seconds * 1000))


def _times(rows: Iterable[Row], counts: Mapping[str, int]) -> dict[str, told.StepTimes]:
    by_name = {row["name"]: (row["took"], row["waited"]) for row in rows}
    nothing = ((None, None), (None, None))
    return {
        name: told.StepTimes(
            count=count,
            p50_ms=_ms(took[0]),
            p95_ms=_ms(took[1]),
            queue_p50_ms=_ms(waited[0]),
            queue_p95_ms=_ms(waited[1]),
        )
        for name, count in sorted(counts.items())
        for took, waited in [by_name.get(name, nothing)]
    }


def _tokens(rows: Iterable[Sum]) -> told.TokenSums:
    found = [0, 0, 0, 0]
    for row in rows:
        found[0] += row["input"]
        found[1] += row["output"]
        found[2] += row["cached"]
        found[3] += row["reasoning"]
    return told.TokenSums(input=found[0], output=found[1], cached=found[2], reasoning=found[3])


def _by(sums: _Sums, column: str) -> dict[str, list[Sum]]:
    found: dict[str, list[Sum]] = defaultdict(list)
    for row in sums.rows:
        found[row[column]].append(row)
    return dict(sorted(found.items()))


def _tokens_by(sums: _Sums) -> told.TokensBy:
    def split(column: str) -> dict[str, told.TokenSums]:
        return {name: _tokens(rows) for name, rows in _by(sums, column).items()}

    return told.TokensBy(
        total=_tokens(sums.rows),
        by_model=split("model"),
        by_kind=split("kind"),
        by_profile=split("profile"),
    )


def _cost(rows: Iterable[Sum], currency: str | None) -> str | None:
    """None when no price is known; calls in another currency are not in the sum."""
    known = [row["cost"] for row in rows if row["cost"] is not None and row["currency"] == currency]
    return wire.money(sum(known, Decimal(0))) if known else None


def _cost_by(sums: _Sums) -> told.CostBy:
    def split(column: str) -> dict[str, str | None]:
        return {name: _cost(rows, sums.currency) for name, rows in _by(sums, column).items()}

    return told.CostBy(
        total=_cost(sums.rows, sums.currency),
        currency=sums.currency,
        currencies=list(sums.currencies),
        unpriced_calls=sum(row["unpriced"] for row in sums.rows),
        by_model=split("model"),
        by_kind=split("kind"),
        by_profile=split("profile"),
    )


def _wasted(rows: Sequence[Sum], currency: str | None) -> told.Wasted:
    return told.Wasted(
        tokens=sum(row["input"] + row["output"] for row in rows),
        cost=_cost(rows, currency) if rows else "0",
        calls=sum(row["calls"] for row in rows),
    )


async def _waste(reader: Reader, scope: Scope, sums: _Sums, *, simulated: bool) -> told.Waste:
    replaced = await reads.replaced(reader, scope)
    by_fate = {fate: [row for row in sums.rows if row["fate"] == fate] for fate in _FATES}
    return told.Waste(
        replaced=_wasted(
            [row for row in replaced if simulated or row["model"] != SIMULATED], sums.currency
        ),
        lost=_wasted(by_fate["lost"], sums.currency),
        repeated=_wasted(by_fate["repeated"], sums.currency),
    )


def _saved(sums: _Sums) -> told.Saved:
    kept = [row for row in sums.rows if row["fate"] == "continued"]
    return told.Saved(
        tokens=sum(row["output"] for row in kept), calls=sum(row["calls"] for row in kept)
    )


async def _stops(reader: Reader, scope: Scope) -> dict[str, int]:
    return {row["code"] or "": row["stops"] for row in await reads.guardrail_stops(reader, scope)}


async def _interrupts(reader: Reader, scope: Scope) -> told.Interrupts:
    count = await reads.interrupts(reader, scope)
    took = await reads.interrupt_times(reader, scope) or (None, None)
    return told.Interrupts(count=count, p50_ms=_ms(took[0]), p95_ms=_ms(took[1]))


async def _queue(reader: Reader) -> told.Queue:
    row = await reads.queue(reader)
    oldest = row["oldest"]
    return told.Queue(
        waiting=row["waiting"], oldest_seconds=None if oldest is None else max(0, round(oldest))
    )


def _series(scope: Scope, grain: timedelta, sums: _Sums, moves: Iterable[Row]) -> list[told.Point]:
    """Every bucket of the range, also those in which nothing happened."""
    calls: dict[datetime, list[Sum]] = defaultdict(list)
    for row in sums.rows:
        calls[row["at"]].append(row)
    counts: dict[datetime, dict[str, int]] = defaultdict(dict)
    for row in moves:
        counts[row["at"]][row["what"].lower()] = row["runs"]
    first = floor(scope.from_, grain)
    times = [first + n * grain for n in range(-(-(scope.to - first) // grain))]
    return [_point(at, calls[at], counts[at], sums.currency) for at in times]


def _point(
    at: datetime, rows: Sequence[Sum], counts: Mapping[str, int], currency: str | None
) -> told.Point:
    tokens = _tokens(rows)
    return told.Point(
        t=at,
        calls=sum(row["calls"] for row in rows),
        tokens_input=tokens.input,
        tokens_output=tokens.output,
        tokens_wasted=sum(r["input"] + r["output"] for r in rows if r["fate"] in _FATES),
        cost=_cost(rows, currency) if rows else "0",
        **counts,
    )
