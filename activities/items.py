"""The ledger: items of a part are kept the moment they are complete, and never asked for again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from activities.hooks import Hook, committed
from activities.owning.fence import lock_fence
from activities.owning.watch import Watch
from activities.record import Event, append_event
from deploy.database import Connection, Pool, new_id
from workflows.kinds.kind import Item, Kind, PartPlan, Refused, RefusedItem, Work
from workflows.vocabulary import Actor, EventType

BATCH_SECONDS = 0.03
"""Items that arrive within this time are stored together."""
MOST_TOLD = 40
"""Refused items that a model is told of."""


@dataclass(kw_only=True)
class PartState:
    """One part as the ledger has it; counters as of the claim, then kept by the part's runner."""

    plan: PartPlan
    kept: list[Item]
    calls: int = 0
    early_ends: int = 0
    barren: int = 0
    reply_hashes: list[str] = field(default_factory=list)
    stop: str | None = None
    """The guardrail that stopped it: no further call until a person overrides that."""
    done: bool = False
    result: dict[str, object] | None = None
    refused: tuple[RefusedItem, ...] = ()
    """What the model is told that could not be kept. Of this process only: after a death the
    part just goes on, and may be asked again once more."""
    asked_again: bool = False


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where items belong: the own step, its plan, the part and the call they came with."""

    run_id: str
    step_id: str
    plan_id: str
    part: str
    call_id: str


async def keep_items(connection: Connection, place: Place, items: Sequence[Item]) -> list[str]:
    """Inserts what is not there yet and tells of it; the keys that are new.

    The caller has locked the run and found its own step RUNNING.
    """
    rows = await connection.fetch(
        """
        INSERT INTO step_items (id, plan_id, part, key, position, payload, step_id, call_id)
        SELECT n.id, $1, $2, n.key, kept.count + n.position, n.payload, $3, $4
        FROM unnest($5::uuid[], $6::text[], $7::jsonb[]) WITH ORDINALITY
                 AS n (id, key, payload, position),
             (SELECT count(*) AS count FROM step_items WHERE plan_id = $1 AND part = $2) kept
        ON CONFLICT (plan_id, part, key) DO NOTHING
        RETURNING key
        """,
        place.plan_id,
        place.part,
        place.step_id,
        place.call_id,
        [new_id() for _ in items],
        [item.key for item in items],
        [dict(item.payload) for item in items],
    )
    keys = [row["key"] for row in rows]
    if keys:
        await append_event(
            connection,
            place.run_id,
            Event(
                type=EventType.ITEM_KEPT,
                actor=Actor.WORKER,
                data={
                    "step_id": place.step_id,
                    "part": place.part,
                    "call_id": place.call_id,
                    "keys": keys,
                },
            ),
        )
    return keys


@dataclass(kw_only=True, eq=False)
class ItemWriter:
    """Takes the items of one call as they arrive and stores them in small batches.

    `kept` counts what this call added, `dropped` what was refused, by code, `dropped_keys` which.
    `take_pending` hands the rest to the transaction that closes the call.
    """

    pool: Pool
    watch: Watch
    place: Place
    kind: Kind
    work: Work
    part: PartState
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    dropped_keys: dict[str, list[str]] = field(default_factory=dict)
    refused: list[RefusedItem] = field(default_factory=list)
    pending: list[Item] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def offer(self, payload: Mapping[str, Any]) -> None:
        """Called by the stream for each complete item; never waits."""
        known = [*self.part.kept, *self.pending]
        item = self.kind.accept(self.work, self.part.plan, payload, known)
        if isinstance(item, Refused):
            self._drop(item.code, item.key)
            if len(self.refused) < MOST_TOLD:
                self.refused.append(RefusedItem(payload=dict(payload), code=item.code))
        elif any(other.key == item.key for other in known):
            self._drop("duplicate", item.key)
        else:
            self.pending.append(item)
            self.kept += 1
            self.wake.set()

    def _drop(self, code: str, key: str) -> None:
        self.dropped[code] += 1
        named = self.dropped_keys.setdefault(code, [])
        if key and key not in named and len(named) < MOST_TOLD:
            named.append(key)

    async def run(self) -> None:
        """Stores batches until cancelled; a batch under way is finished first."""
        while True:
            await self.wake.wait()
            await asyncio.sleep(BATCH_SECONDS)
            await asyncio.shield(asyncio.ensure_future(self._flush()))

    async def _flush(self) -> None:
        async with self.busy:
            self.wake.clear()
            batch = list(self.pending)
            if not batch:
                return
            if await committed(
                Hook.ITEMS, self.pool, lambda c: self._store(c, batch), patience=float("inf")
            ):
                self.part.kept.extend(batch)
                del self.pending[: len(batch)]

    async def _store(self, connection: Connection, batch: Sequence[Item]) -> bool:
        place = self.place
        step, plan = place.step_id, place.plan_id
        fence = await lock_fence(connection, place.run_id, step_id=step, plan_id=plan)
        if fence is None:
            self.watch.gone()
            return False
        refused = fence.refusal
        if refused is not None:
            self.watch.stop(refused)
            return False
        await keep_items(connection, self.place, batch)
        return True

    async def take_pending(self) -> list[Item]:
        """What no batch has stored; waits for the one under way."""
        async with self.busy:
            rest, self.pending = self.pending, []
            return rest


def new_parts(plans: Sequence[PartPlan]) -> list[PartState]:
    """The parts of a plan that was frozen just now: nothing is kept of them yet."""
    return [PartState(plan=plan, kept=[]) for plan in plans]


async def read_parts(connection: Connection, plan_id: str) -> list[PartState]:
    """The parts of a plan with what is kept of each."""
    rows = await connection.fetch(
        """
        SELECT part, key, spec, calls, early_ends, barren, reply_hashes, stop, result,
               done_at IS NOT NULL AS done
        FROM step_parts WHERE plan_id = $1 ORDER BY position
        """,
        plan_id,
    )
    items = await read_items(connection, plan_id)
    return [
        PartState(
            plan=PartPlan(part=row["part"], key=row["key"], spec=row["spec"]),
            kept=items.get(row["part"], []),
            calls=row["calls"],
            early_ends=row["early_ends"],
            barren=row["barren"],
            reply_hashes=list(row["reply_hashes"]),
            stop=row["stop"],
            done=row["done"],
            result=row["result"],
        )
        for row in rows
    ]


async def read_items(connection: Connection, plan_id: str) -> dict[str, list[Item]]:
    """The ledger of a plan by part, in the order in which items were kept."""
    rows = await connection.fetch(
        "SELECT part, key, payload FROM step_items WHERE plan_id = $1 ORDER BY part, position",
        plan_id,
    )
    found: dict[str, list[Item]] = {}
    for row in rows:
        found.setdefault(row["part"], []).append(Item(key=row["key"], payload=row["payload"]))
    return found
