"""A run's limits in its rows: what is used and reserved, what a call may take, the time that is up.

Everything that writes works inside a transaction whose caller has locked the run row. Runs without
limits cost no statement here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from activities.record import Event, Move, RunRow, append_event, lock_run, move
from activities.spending.metering import Meter, Need
from deploy.database import Connection, Pool, Row, reading
from workflows import budget, pricing
from workflows.budget import CALLS, COST, SECONDS, TOKENS, Amounts
from workflows.vocabulary import Actor, EventType, Reason, RunStatus

LATE = 2.0
"""Seconds after its time was up in which an attempt stops itself before somebody else does."""
_ZERO = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class Used:
    """What a run has used, and what its open calls have reserved on top of that."""

    closed: Amounts
    reserved: Amounts
    warned: Mapping[str, Any]
    currencies: tuple[str, ...]
    """Of what was paid and is reserved, else of the cost limit; amounts in several have no sum, so
    `closed` has no cost."""
    known: bool
    """The call that was named has its row already: the answer of its commit was lost."""

    @property
    def all(self) -> dict[str, Decimal]:
        return {name: used + self.reserved.get(name, _ZERO) for name, used in self.closed.items()}


async def read_used(connection: Connection, run_id: str, call_id: str | None = None) -> Used:
    """Sums over the run's calls; a call counts from its row on, a cost that nobody knows is 0."""
    row = await connection.fetchrow(
        """
        SELECT r.calls, r.tokens_input + r.tokens_output AS tokens, r.warned,
               CASE WHEN r.limits ? 'max_cost' THEN r.currency END AS meant,
               c.cost, c.open_tokens, c.open_cost, c.currencies, c.known,
               r.seconds_running + coalesce(
                   extract(epoch FROM clock_timestamp() - r.running_since), 0)::float AS seconds
        FROM runs r, LATERAL (
            SELECT coalesce(sum(m.cost), 0) AS cost,
                   coalesce(sum(m.reserved_tokens) FILTER (WHERE m.status = 'STARTED'), 0)
                       AS open_tokens,
                   coalesce(sum(m.reserved_cost) FILTER (WHERE m.status = 'STARTED'), 0)
                       AS open_cost,
                   coalesce(array_agg(DISTINCT m.currency) FILTER (WHERE m.currency IS NOT NULL
                       AND (m.cost > 0 OR m.status = 'STARTED' AND m.reserved_cost > 0)), '{}')
                       AS currencies,
                   coalesce(bool_or(m.id = $2::uuid), false) AS known
            FROM model_calls m WHERE m.run_id = r.id) c
        WHERE r.id = $1
        """,
        run_id,
        call_id,
    )
    assert row is not None, "the caller holds the row's lock"
    paid = {COST: Decimal(row["cost"])} if len(row["currencies"]) < 2 else {}
    return Used(
        closed={
            CALLS: Decimal(row["calls"]),
            TOKENS: Decimal(row["tokens"]),
            SECONDS: Decimal(str(row["seconds"])),
            **paid,
        },
        reserved={TOKENS: Decimal(row["open_tokens"]), COST: Decimal(row["open_cost"])},
        warned=row["warned"],
        currencies=tuple(row["currencies"] or filter(None, [row["meant"]])),
        known=row["known"],
    )


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why no call may begin now; the facts go into rows and events."""

    reason: Reason
    params: Mapping[str, Any]


async def reserve(
    connection: Connection, run: RunRow, call_id: str, need: Need, meter: Meter
) -> Refused | None:
    """None: the call fits beside everything closed and reserved, and may get its row."""
    limits = budget.read(run.limits)
    if not limits:
        return None
    used = await read_used(connection, run.id, call_id)
    if used.known:
        return None
    cost = need.cost
    foreign = _foreign(used, need)
    if COST in limits and (cost is None or foreign):
        told = {"limit": budget.plain(COST, limits[COST]), "profile": need.profile.name}
        return Refused(reason=Reason.PRICE_UNKNOWN, params={**told, **foreign})
    mine = {CALLS: Decimal(1), TOKENS: Decimal(need.tokens), COST: cost or _ZERO}
    more = meter.more
    before = {name: amount + more.get(name, _ZERO) for name, amount in used.all.items()}
    over = budget.refusal(limits, before, mine)
    if over is not None:
        return Refused(reason=over.reason, params=over.params)
    after = {name: amount + mine.get(name, _ZERO) for name, amount in used.all.items()}
    meter.begins(call_id, need, limits, after)
    now = {**used.closed, CALLS: after[CALLS]}
    await _warn(connection, run.id, limits, used.warned, now)
    return None


def _foreign(used: Used, need: Need) -> dict[str, str]:
    """What was paid in and what the call is priced in, where those have no sum; {} = they have.

    An amount in another money counts for nothing against what was used: nobody knows a rate."""
    own = pricing.currency(need.profile.prices) or ""
    others = [one for one in used.currencies if one != own]
    if len(used.currencies) < 2 and (need.cost in (None, _ZERO) or not others):
        return {}
    return {"paid": ", ".join(used.currencies), "currency": own}


async def warn(connection: Connection, run_id: str, limits: Mapping[str, Any]) -> None:
    """Tells of each limit that is near, once for each value it has."""
    read = budget.read(limits)
    if read:
        used = await read_used(connection, run_id)
        await _warn(connection, run_id, read, used.warned, used.closed)


async def _warn(
    connection: Connection, run_id: str, limits: Amounts, warned: Mapping[str, Any], used: Amounts
) -> None:
    near = budget.near(limits, warned, used)
    if not near:
        return
    told = {name: budget.plain(name, limits[name]) for name in near}
    await connection.execute(
        "UPDATE runs SET warned = warned || $2::jsonb WHERE id = $1", run_id, told
    )
    for name, amount in near.items():
        data = {
            "code": str(budget.REASONS[name]),
            "limit": told[name],
            "used": budget.plain(name, amount),
        }
        await append_event(
            connection,
            run_id,
            Event(type=EventType.BUDGET_WARNING, actor=Actor.WORKER, data=data),
        )


async def used_now(connection: Connection, run_id: str, reason: Reason) -> dict[str, Any]:
    """What is used of the limit that stops a run, now that its calls are closed."""
    name = next((name for name, code in budget.REASONS.items() if code == reason), None)
    if name is None:
        return {}
    used = await read_used(connection, run_id)
    return {"used": budget.plain(name, used.closed[name])} if name in used.closed else {}


# the time of a run


async def time_is_up(pool: Pool, run: RunRow) -> None:
    """Returns when the run has been RUNNING for as long as it may; never without such a limit."""
    limit = budget.read(run.limits).get(SECONDS)
    if limit is None:
        await asyncio.Event().wait()
        return
    while True:
        spent = await reading(pool, lambda c: _seconds(c, run.id), patience=float("inf"))
        if spent >= limit:
            return
        await asyncio.sleep(float(limit - spent) + 0.01)


async def _seconds(connection: Connection, run_id: str) -> Decimal:
    seconds = await connection.fetchval(
        """
        SELECT seconds_running + coalesce(
            extract(epoch FROM clock_timestamp() - running_since), 0)::float
        FROM runs WHERE id = $1
        """,
        run_id,
    )
    return Decimal(str(seconds or 0.0))


async def read_timed(connection: Connection) -> list[Row]:
    """RUNNING runs whose time is nearly up and was not told of, or is up and nobody stops them: no
    step is at work, or its attempt is late."""
    return await connection.fetch(
        """
        SELECT t.id, t.epoch, t.seconds >= t.most AS up
        FROM (SELECT r.id, r.epoch, r.limits, r.warned, (r.limits ->> 'max_seconds')::float AS most,
                     r.seconds_running + extract(epoch FROM now() - r.running_since)::float
                         AS seconds
              FROM runs r WHERE r.status = 'RUNNING' AND r.limits ? 'max_seconds') t
        WHERE t.seconds >= t.most + $1
           OR t.seconds >= t.most AND NOT EXISTS (
               SELECT FROM steps s WHERE s.run_id = t.id AND s.status = 'RUNNING')
           OR t.seconds >= 0.8 * t.most
              AND t.warned -> 'max_seconds' IS DISTINCT FROM t.limits -> 'max_seconds'
        """,
        LATE,
    )


async def stop_timed(connection: Connection, row: Row) -> bool:
    """Warns, or interrupts a run whose time is up, by the epoch that was read. Its step, if one is
    still open, is closed by its attempt, or by whoever proves that one dead. Raises
    LockNotAvailableError for a run that somebody holds."""
    run = await lock_run(connection, row["id"], waits=False)
    if run is None or run.status != RunStatus.RUNNING or run.epoch != row["epoch"]:
        return False
    limits = budget.read(run.limits)
    used = await read_used(connection, run.id)
    await _warn(connection, run.id, limits, used.warned, used.closed)
    if SECONDS not in limits or not row["up"]:
        return False
    over = budget.refusal({SECONDS: limits[SECONDS]}, used.closed, {})
    if over is None:
        return False
    seq = await move(
        connection,
        run.id,
        Move(
            event=EventType.RUN_INTERRUPTED,
            actor=Actor.SYSTEM,
            from_=RunStatus.RUNNING,
            epoch=row["epoch"],
            reason=over.reason,
            params=over.params,
            by_person=True,  # workers hear of it, and its workflow too
        ),
    )
    return seq is not None
