"""What happened in a range of time: reads of `api.queries.observe`, put together as one answer.

The page and the API show the same answer; nothing is counted a second way.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from api import queries, wire
from api.queries import Reader, sums
from api.queries import observe as reads
from api.queries.observe import Scope
from api.queries.sums import CALLS, HOUR, STEPS, floor
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
SIMULATED = "offline"
"""Model of the offline model's profile, as `deploy.local` makes it."""
_FATES = ("lost", "repeated")
_KEY = ("at", "kind", "profile", "model", "currency", "fate")
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


async def observe(pool: Pool, wanted: Scope, *, simulated: bool) -> told.Observed:
    """`simulated`: whether calls of the offline model are in the sums."""
    grain = grain_of(wanted.to - wanted.from_)
    scope = replace(wanted, from_=floor(wanted.from_, min(grain, HOUR)))
    async with (
        pool.acquire() as connection,
        # One snapshot, in which marked sums and unmarked rows make up the whole.
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        merged = _merged(await _calls(connection, scope, grain))
        times, error = await _steps(connection, scope)
        created = await reads.runs_created(connection, scope, grain)
        ended = await reads.runs_ended(connection, scope, grain)
        stopped = await reads.stops(connection, scope)
        counted = _sums([row for row in merged if simulated or row["model"] != SIMULATED])
        return told.Observed(
            from_=scope.from_,
            to=scope.to,
            bucket_seconds=int(grain.total_seconds()),
            kind=scope.kind,
            profile=scope.profile,
            excludes=[] if simulated else ["simulated_calls"],
            simulated_calls=sum(r["calls"] for r in merged if r["model"] == SIMULATED),
            percentile_error=error,
            runs_by_status={str(status): 0 for status in RunStatus} | _by_status(created),
            success_rate=_success(ended),
            steps=times,
            tokens=_tokens_by(counted),
            cost=_cost_by(counted),
            waste=await _waste(connection, scope, counted, simulated=simulated),
            saved_by_continuation=_saved(counted),
            guardrail_stops=stopped["stops"],
            interrupts=_interrupts(stopped),
            queue=await _queue(connection),
            series=_series(scope, grain, counted, created, ended),
            workers=await queries.workers(connection),
        )


async def _calls(reader: Reader, scope: Scope, grain: timedelta) -> list[Row]:
    """Of summed hours their sums, of all between them the rows; several rows may have one key."""
    if grain < HOUR:
        return list(await sums.calls_ended(reader, scope, grain))
    found = list(await sums.calls_summed(reader, scope, grain))
    summed = await sums.marked(reader, CALLS, scope)
    for from_, to in sums.gaps(scope, CALLS, summed):
        found += await sums.calls_ended(reader, replace(scope, from_=from_, to=to), grain)
    return found


async def _steps(reader: Reader, scope: Scope) -> tuple[dict[str, told.StepTimes], float]:
    """Times by name, and how far their percentiles may be off: exact where no sum is in them."""
    found = list(await sums.steps_summed(reader, scope))
    if not found:
        rows = await reads.step_times(reader, scope)
        exact = {row["name"]: _times(row["steps"], row["took"], row["waited"]) for row in rows}
        return dict(sorted(exact.items())), 0
    summed = await sums.marked(reader, STEPS, scope)
    for from_, to in sums.gaps(scope, STEPS, summed):
        found += await sums.steps_lasted(reader, replace(scope, from_=from_, to=to))
    buckets: dict[str, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for row in found:
        buckets[row["name"]][row["measure"]][row["bucket"]] += row["steps"]
    times = {
        name: _times(found["took"].total(), *map(quantiles, (found["took"], found["waited"])))
        for name, found in sorted(buckets.items())
    }
    return times, sums.ERROR


def quantiles(buckets: Mapping[int, int]) -> tuple[float, float]:
    """Median and 95th percentile (nearest rank) of durations in buckets, in milliseconds: the
    middle of the bucket that holds it, which is at most `sums.ERROR` of it away."""
    total = sum(buckets.values())
    found = []
    for share in (0.5, 0.95):
        rank, seen = math.ceil(share * total), 0
        for bucket in sorted(buckets):
            seen += buckets[bucket]
            if seen >= rank:
                found.append(sums.middle(bucket))
                break
    return found[0], found[1]


def grain_of(length: timedelta) -> timedelta:
    """Buckets of a range: the finest that are at most 62."""
    return next((g for g in GRAINS if length <= g * MOST_POINTS), GRAINS[-1])


def _merged(rows: Iterable[Row]) -> list[Sum]:
    """One row a key."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in _KEY)
        into = found.get(key)
        if into is None:
            found[key] = dict(row)
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
    paid = [row for row in rows if row["currency"] and row["cost"]]
    priced = paid or [row for row in rows if row["currency"]]
    used = _sum_by(priced, lambda row: row["currency"], lambda row: row["calls"])
    currencies = sorted(used, key=lambda name: (-used[name], name))
    return _Sums(rows=rows, currency=next(iter(currencies), None), currencies=sorted(currencies))


def _by_status(rows: Iterable[Row]) -> dict[str, int]:
    return _sum_by(rows, lambda row: row["status"], lambda row: row["runs"])


def _success(ended: Iterable[Row]) -> float | None:
    by_status = _by_status(ended)
    total = sum(by_status.values())
    return round(by_status.get(RunStatus.CONFIRMED, 0) / total, 4) if total else None


def _ms(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else max(0, round(milliseconds))


def _times(count: int, took: Sequence[float], waited: Sequence[float]) -> told.StepTimes:
    return told.StepTimes(
        count=count,
        p50_ms=_ms(took[0]),
        p95_ms=_ms(took[1]),
        queue_p50_ms=_ms(waited[0]),
        queue_p95_ms=_ms(waited[1]),
    )


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
    """None when no price is known; calls in another currency are not in the sum, but nothing is
    nothing in each."""
    costs = [(row["cost"], row["currency"]) for row in rows if row["cost"] is not None]
    known = [cost for cost, its in costs if its == currency or not cost]
    return wire.money(sum(known, Decimal(0))) if known else None


def _costs(rows: Iterable[Sum]) -> dict[str, str | None]:
    """By currency, in which something was paid."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        if row["cost"] and row["currency"]:
            found[row["currency"]] += row["cost"]
    return {name: wire.money(cost) for name, cost in sorted(found.items())}


def _cost_sums(sums: _Sums, currency: str | None) -> dict[str, Any]:
    def split(column: str) -> dict[str, str | None]:
        return {name: _cost(rows, currency) for name, rows in _by(sums, column).items()}

    return {
        "total": _cost(sums.rows, currency),
        "by_model": split("model"),
        "by_kind": split("kind"),
        "by_profile": split("profile"),
    }


def _cost_by(sums: _Sums) -> told.CostBy:
    return told.CostBy(
        **_cost_sums(sums, sums.currency),
        currency=sums.currency,
        currencies=list(sums.currencies),
        by_currency={name: told.CostSums(**_cost_sums(sums, name)) for name in sums.currencies},
        unpriced_calls=sum(row["unpriced"] for row in sums.rows),
    )


def _wasted(rows: Sequence[Sum], currency: str | None) -> told.Wasted:
    return told.Wasted(
        tokens=sum(row["input"] + row["output"] for row in rows),
        cost=_cost(rows, currency) if rows else "0",
        calls=sum(row["calls"] for row in rows),
        costs=_costs(rows),
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


def _interrupts(stopped: Row) -> told.Interrupts:
    took = stopped["took"] or (None, None)
    return told.Interrupts(count=stopped["interrupts"], p50_ms=_ms(took[0]), p95_ms=_ms(took[1]))


async def _queue(reader: Reader) -> told.Queue:
    row = await reads.queue(reader)
    oldest = row["oldest"]
    return told.Queue(
        waiting=row["waiting"], oldest_seconds=None if oldest is None else max(0, round(oldest))
    )


def _series(
    scope: Scope, grain: timedelta, sums: _Sums, created: Iterable[Row], ended: Iterable[Row]
) -> list[told.Point]:
    """Every bucket of the range, also those in which nothing happened."""
    calls: dict[datetime, list[Sum]] = defaultdict(list)
    for row in sums.rows:
        calls[row["at"]].append(row)
    counts: dict[datetime, Counter[str]] = defaultdict(Counter)
    for row in created:
        counts[row["at"]]["started"] += row["runs"]
    for row in ended:
        counts[row["at"]][row["status"].lower()] = row["runs"]
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
        costs=_costs(rows),
        **counts,
    )
