"""Local activities: load the row, and the moves a workflow may make. All conditional, by epoch.

Temporal may run any of them twice (it drops a task's markers when a signal arrives meanwhile), so
each names the status and epoch it was decided on and does nothing under another.
"""

from __future__ import annotations

import asyncio

import asyncpg
from temporalio import activity

from activities.claim import abandon_step
from activities.hooks import Hook, committed
from activities.owning.death import LOOKS_APART, living
from activities.record import Move, RunRow, insert_comment, lock_run, move, read_run
from activities.steps.loaded import loaded
from activities.steps.outcomes import loop_over
from activities.tools import Tools
from deploy.database import Connection, clean
from workflows.contract import (
    CancelMove,
    ConcludeInput,
    HandMove,
    Loaded,
    Moved,
    Next,
    RunInput,
    TakeOver,
)
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import (
    FINAL,
    GUARDRAILS,
    LIMITS,
    Actor,
    EventType,
    Reason,
    RunStatus,
    Signal,
)

ASKING = GUARDRAILS | LIMITS | {Reason.PRICE_UNKNOWN}
"""Stops that need more than a resume: an override, another limit, a price."""


class Checkpoint:
    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @activity.defn(name="load")
    async def load(self, given: RunInput) -> Loaded:
        """The row as it is now and what comes next; END when it is gone."""
        async with self.tools.pool.acquire() as connection:
            run = await read_run(connection, given.run_id)
        if run is None:
            return Loaded(status="DELETED", epoch=0, next=Next.END)
        return loaded(self.tools, run)

    @activity.defn(name="conclude")
    async def conclude(self, given: ConcludeInput) -> Moved:
        """The loop ended: the best revision waits for a person."""

        async def work(connection: Connection) -> bool:
            run = await lock_run(connection, given.run_id)
            if run is None or run.status != RunStatus.RUNNING or run.epoch != given.epoch:
                return False
            if run.outcome is None:
                await loop_over(connection, run.id, Reason.ROUND_LIMIT)
            seq = await move(
                connection,
                run.id,
                Move(
                    event=EventType.RUN_AWAITING_CONFIRMATION,
                    actor=Actor.WORKER,
                    from_=RunStatus.RUNNING,
                    epoch=given.epoch,
                    reason=Reason(run.outcome or Reason.ROUND_LIMIT),
                    params={"offered_revision": run.best_revision},
                ),
            )
            return seq is not None

        return Moved(moved=await committed(Hook.CONCLUDE, self.tools.pool, work))

    @activity.defn(name="move_by_hand")
    async def move_by_hand(self, given: HandMove) -> Moved:
        """A command from Temporal Web or another program, valid only for the row it was made on."""
        event, reason = _by_hand(given)
        actor, said = clean(given.actor) or Actor.TEMPORAL, clean(given.reason or "")

        async def work(connection: Connection) -> Moved:
            run = await lock_run(connection, given.run_id)
            if run is None or run.epoch != given.epoch or run.status != given.loaded_status:
                return Moved(moved=False, code="moved_on")
            if run.status not in MOVED_BY_EVENT[event][0]:
                return Moved(moved=False, code="refused")
            if given.command == Signal.RESUME and run.reason_code in ASKING:
                return Moved(moved=False, code="needs_override")
            if given.command == Signal.RESUME and await _draining(connection):
                return Moved(moved=False, code="draining")
            params = {"by": "signal"}
            if said:
                params["comment_id"] = await insert_comment(connection, run, said, actor=actor)
            seq = await move(
                connection,
                run.id,
                Move(
                    event=event,
                    actor=actor,
                    from_=run.status,
                    epoch=given.epoch,
                    reason=reason,
                    params=params,
                ),
            )
            return Moved(moved=seq is not None, code="" if seq is not None else "refused")

        try:
            moved = await committed(Hook.BY_HAND, self.tools.pool, work)
        except asyncpg.UniqueViolationError:
            return Moved(moved=False, code="run_active")  # another run of the document
        if moved.moved:
            self._hint(given.run_id)
        return moved

    def _hint(self, run_id: str) -> None:
        """An activity of this run in this process need not wait for the poll."""
        for watch in self.tools.in_flight.of_run(run_id):
            watch.look.set()

    @activity.defn(name="cancel_run")
    async def cancel_run(self, given: CancelMove) -> Moved:
        """Temporal Web's request for cancellation."""

        async def work(connection: Connection) -> bool:
            run = await lock_run(connection, given.run_id)
            if run is None or run.status in FINAL:
                return False
            seq = await move(
                connection,
                run.id,
                Move(
                    event=EventType.RUN_CANCELLED,
                    actor=Actor.TEMPORAL,
                    from_=run.status,
                    epoch=run.epoch,
                    params={"by": "cancel_request"},
                ),
            )
            return seq is not None

        moved = Moved(moved=await committed(Hook.CANCEL, self.tools.pool, work))
        self._hint(given.run_id)
        return moved

    @activity.defn(name="take_over")
    async def take_over(self, given: TakeOver) -> Moved:
        """Closes what a dead worker left, if owner and epoch are unchanged and it is dead now."""
        async with self.tools.pool.acquire() as connection:
            if not await self._dead(connection, given):
                await asyncio.sleep(LOOKS_APART + 0.1)
                if not await self._dead(connection, given):
                    return Moved(moved=False, code="alive")

        async def work(connection: Connection) -> bool:
            run = await lock_run(connection, given.run_id)
            if run is not None and run.owner_worker is None and run.epoch == given.epoch:
                return await _left_by(connection, run, given)
            if run is None or run.owner_worker != given.worker or run.epoch != given.epoch:
                return False
            if run.status != RunStatus.RUNNING or not await self._dead(connection, given):
                return False
            await abandon_open_step(connection, run.id)
            return True

        return Moved(moved=await committed(Hook.TAKE_OVER, self.tools.pool, work))

    async def _dead(self, connection: Connection, given: TakeOver) -> bool:
        step = await connection.fetchrow(
            "SELECT id, worker FROM steps WHERE run_id = $1 AND status = 'RUNNING'", given.run_id
        )
        if step is not None and step["worker"] == given.worker:
            return not await living(connection, self.tools.witness, step["id"], given.worker)
        return await self.tools.witness.prove(connection, given.worker)


async def _left_by(connection: Connection, run: RunRow, given: TakeOver) -> bool:
    """Whether the dead worker still holds the activity of a run that nobody owns: it was given it
    and never claimed it; or the run was taken over before, and who did it died before the workflow
    heard of it. The workflow would wait for its heartbeat to time out."""
    step = await connection.fetchrow(
        "SELECT worker, status FROM steps WHERE run_id = $1 ORDER BY seq DESC LIMIT 1", run.id
    )
    if run.status != RunStatus.RUNNING or (step is not None and step["status"] == "RUNNING"):
        return False
    return given.unclaimed or (step is not None and step["worker"] == given.worker)


async def abandon_open_step(connection: Connection, run_id: str) -> None:
    """Step, calls and ownership of a dead worker. The caller has locked the run."""
    step = await connection.fetchrow(
        "SELECT id, worker FROM steps WHERE run_id = $1 AND status = 'RUNNING'", run_id
    )
    if step is not None:
        await abandon_step(connection, run_id, step["id"], step["worker"], Reason.WORKER_LOST)
    await connection.execute("UPDATE runs SET owner_worker = NULL WHERE id = $1", run_id)


async def _draining(connection: Connection) -> bool:
    found = await connection.fetchval("SELECT value FROM switches WHERE name = 'draining'")
    return found is True


def _by_hand(given: HandMove) -> tuple[EventType, Reason | None]:
    if given.command == Signal.RESUME:
        return EventType.RUN_RESUMED, None
    return EventType.RUN_INTERRUPTED, Reason.OPERATOR
