"""Opens a step: plan, fence, own row. One transaction under the run's lock (PROTOCOL 4).

The row decides: not RUNNING, another epoch, another piece of work -> nothing is written and the
workflow loads. A living holder is waited for; only the proved dead are superseded.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from activities.hooks import Hook, committed, effect
from activities.items import PartState, new_parts, read_parts
from activities.model.profile import Profile
from activities.owning.death import living
from activities.owning.fence import Fence, lock_fence
from activities.owning.presence import write_presence
from activities.owning.watch import Watch
from activities.projection import StepClosing, close_step
from activities.record import Event, RunRow, append_event, lock_run
from activities.spending.lost import lose_calls
from activities.steps.fallback import Chosen, choose, tell_change
from activities.steps.material import StepMaterial, read_step
from activities.steps.missing import KindMissing
from activities.steps.opening import StepOpening, open_step, read_due, read_there
from activities.steps.recording import cut_recording, profile_of
from activities.steps.recut import Pieces, cut_plan, in_pieces, read_marked
from activities.steps.upcoming import step_of
from activities.tools import Tools
from deploy.database import Connection, Row, new_id, reading
from workflows.kinds.kind import Kind, PartPlan, Work
from workflows.vocabulary import Actor, EventType, Reason, RunStatus, StepName, StepStatus

log = logging.getLogger("redraft.claim")

OLD_EPOCH_WAIT = 5.0
"""Seconds a step of an older epoch is waited for, then superseded."""
WAIT_LOOKS = 0.3
SHOWN_LATELY = 1.5
"""Seconds in which the worker's own row needs no writing: all claims of a worker would wait for one
another at it. Asked inside the transaction, which does not outlive a worker that stands still."""


@dataclass(kw_only=True)
class Claimed:
    """A step this activity holds, with everything it is made from."""

    run: RunRow
    step_id: str
    plan_id: str
    name: StepName
    round: int
    attempt: int
    input_revision: int | None
    parts: list[PartState]
    work: Work
    kind: Kind
    profile: Profile
    falls_back_after: int | None = None
    """See `activities.steps.fallback`."""
    goes_on: bool = False
    """The same activity begins the next round, if there is one."""
    left: RunRow | None = None
    """The run as the commit of the step left it."""
    ends_work: bool = False
    """That commit left this activity nothing to claim, and the run without an owner."""

    async def lock(self, connection: Connection, *, document: bool = False) -> Fence | None:
        """Locks the run and says what may still be written for this step; None: deleted."""
        return await lock_fence(
            connection,
            self.run.id,
            step_id=self.step_id,
            plan_id=self.plan_id,
            document=document,
        )

    def may_commit(self, fence: Fence) -> bool:
        """Whether a result may still be stored; whether anything may be was asked before. A
        recording is heard whatever text a person gives meanwhile."""
        heard = self.name == StepName.TRANSCRIBE
        revision = fence.run.working_revision if heard else self.input_revision
        return fence.lets_commit(epoch=self.run.epoch, input_revision=revision)


@dataclass(frozen=True, kw_only=True)
class NotClaimed:
    """stale, done, deleted, stopped: the workflow loads. later: `seconds` to wait first."""

    code: str
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class _Held:
    """A step that may have to be waited for."""

    step_id: str
    worker: str
    older_epoch: bool


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    run: RunRow
    round: int
    name: StepName
    plan_id: str | None
    material: StepMaterial
    kind: Kind
    chosen: Chosen
    parts: tuple[PartPlan, ...]
    """Of a new plan; or the open ones of a plan whose parts did not fit, and their `pieces`."""
    pieces: Pieces = ()


def _refusal(
    run: RunRow | None, watch: Watch, round_: int, names: Sequence[StepName]
) -> NotClaimed | None:
    if run is None:
        return NotClaimed(code="deleted")
    if run.status != RunStatus.RUNNING or run.epoch != watch.epoch:
        return NotClaimed(code="stale")
    step = step_of(run)
    if step is None or step[0] != round_ or step[1] not in names:
        return NotClaimed(code="done")
    if run.retry_in is not None and run.retry_in > 0:
        return NotClaimed(code="later", seconds=run.retry_in)
    return None


async def claim(
    tools: Tools, watch: Watch, round_: int, names: Sequence[StepName]
) -> Claimed | NotClaimed:
    """The next step of this round, or why there is none for us. Waits for a living holder."""
    held_since: dict[str, float] = {}
    superseded: set[str] = set()
    while True:
        if watch.stopping is not None:
            return NotClaimed(code="stopped")
        prepared = await _prepare(tools, watch, round_, names)
        if isinstance(prepared, NotClaimed):
            return prepared
        step_id = new_id()
        tools.in_flight.steps.add(step_id)  # before the row exists, or it is born dead
        got: Claimed | NotClaimed | _Held | None = None
        try:
            got = await _claim_once(tools, watch, prepared, step_id, frozenset(superseded))
        finally:
            if not isinstance(got, Claimed):
                tools.in_flight.steps.discard(step_id)
        if isinstance(got, (Claimed, NotClaimed)):
            return got
        if isinstance(got, _Held):
            since = held_since.setdefault(got.step_id, time.monotonic())
            if got.older_epoch and time.monotonic() - since > OLD_EPOCH_WAIT:
                superseded.add(got.step_id)
                continue
            await watch.pause(WAIT_LOOKS)


async def _prepare(
    tools: Tools, watch: Watch, round_: int, names: Sequence[StepName]
) -> _Prepared | NotClaimed:
    """Reads texts and makes the cut outside the transaction; the claim checks it still fits."""

    async def read(connection: Connection) -> _Prepared | NotClaimed:
        left, watch.left = watch.left, None
        run, plans = (left, {}) if left else await read_due(connection, watch.run_id)
        refusal = _refusal(run, watch, round_, names)
        if refusal is not None or run is None:
            return refusal or NotClaimed(code="deleted")
        step = step_of(run)
        assert step is not None, "a refusal covers it"
        name = step[1]
        chosen = await choose(connection, run.id, profile_of(run, name))
        plan = plans.get(step)
        material = await read_step(connection, run, step, plan=plan, profile=chosen.profile)
        if material is None:
            return NotClaimed(code="deleted")
        kind = tools.kinds.get(run.kind)
        if kind is None:
            raise KindMissing
        return _Prepared(
            run=run,
            round=round_,
            name=name,
            plan_id=plan["id"] if plan is not None else None,
            material=material,
            kind=kind,
            chosen=chosen,
            parts=await read_marked(connection, plan["id"]) if plan and plan["recut"] else (),
        )

    async with effect(Hook.PREPARE), tools.turns:
        prepared = await reading(tools.pool, read, patience=float("inf"))
    if isinstance(prepared, NotClaimed) or (prepared.plan_id and not prepared.parts):
        return prepared
    if prepared.name == StepName.TRANSCRIBE:
        spans = await cut_recording(tools, watch, prepared.run)
        return NotClaimed(code="stopped") if spans is None else replace(prepared, parts=spans)
    kind, work = prepared.kind, prepared.material.work
    async with tools.turns:
        if prepared.parts:
            pieces = await asyncio.to_thread(in_pieces, kind, work, prepared.parts)
            return replace(prepared, pieces=pieces)
        parts = await asyncio.to_thread(kind.parts, work)
        return replace(prepared, parts=parts)


async def _claim_once(
    tools: Tools, watch: Watch, prepared: _Prepared, step_id: str, superseded: frozenset[str]
) -> Claimed | NotClaimed | _Held | None:
    """None: the row moved on between reading and locking; read again."""

    async def work(connection: Connection) -> Claimed | NotClaimed | _Held | None:
        run = await lock_run(connection, watch.run_id)
        refusal = _refusal(run, watch, prepared.round, (prepared.name,))
        if refusal is not None or run is None:
            return refusal or NotClaimed(code="deleted")
        there = await read_there(connection, run.id, prepared.round, prepared.name)
        plan_id, attempt, fresh = there["plan_id"], there["attempt"], False
        if there["step_id"] != step_id:  # else the answer of a commit was lost
            if _moved_on(run, prepared, plan_id):
                return None
            held = await _holder(tools, connection, run, there, superseded)
            if held is not None:
                return held
            fresh = plan_id is None
            plan_id = plan_id or new_id()
            if prepared.pieces:
                await cut_plan(connection, plan_id, prepared.pieces)
            opening = StepOpening(
                run_id=run.id,
                epoch=run.epoch,
                step_id=step_id,
                plan_id=plan_id,
                name=prepared.name,
                round=prepared.round,
                input_revision=prepared.material.input_revision,
                sources=prepared.material.sources,
                worker=tools.worker,
                cut=prepared.parts if fresh else None,
            )
            attempt = await open_step(connection, opening)
            await tell_change(connection, run.id, step_id, prepared.chosen)
        if time.monotonic() - tools.in_flight.shown > SHOWN_LATELY:
            await write_presence(
                connection, tools.presence, frozenset(tools.in_flight.steps | {step_id})
            )
        return Claimed(
            run=run,
            step_id=step_id,
            plan_id=plan_id,
            name=prepared.name,
            round=prepared.round,
            attempt=attempt,
            input_revision=prepared.material.input_revision,
            parts=new_parts(prepared.parts) if fresh else await read_parts(connection, plan_id),
            work=prepared.material.work,
            kind=prepared.kind,
            profile=prepared.chosen.profile,
            falls_back_after=prepared.chosen.falls_back_after,
        )

    return await tools.in_turn(
        lambda: committed(Hook.CLAIM, tools.pool, work, patience=float("inf"), waits=False)
    )


def _moved_on(run: RunRow, prepared: _Prepared, plan_id: str | None) -> bool:
    """Another plan is in force than was prepared for, or, where none is, another text."""
    if plan_id != prepared.plan_id:
        return True
    return plan_id is None and run.working_revision != prepared.material.input_revision


async def _holder(
    tools: Tools, connection: Connection, run: RunRow, there: Row, superseded: frozenset[str]
) -> _Held | None:
    """A living holder of the run's RUNNING step; a dead one is closed here."""
    step_id, worker = there["step_id"], there["worker"]
    if step_id is None:
        return None
    reason = Reason.WORKER_LOST
    if step_id in superseded:
        reason = Reason.SUPERSEDED
    elif await living(connection, tools.witness, step_id, worker):
        return _Held(step_id=step_id, worker=worker, older_epoch=there["epoch"] != run.epoch)
    await abandon_step(connection, run.id, step_id, worker, reason)
    return None


async def abandon_step(
    connection: Connection, run_id: str, step_id: str, worker: str, reason: Reason
) -> None:
    """Closes a step and its calls for a worker that will not do it any more."""
    await lose_calls(connection, run_id, step_id, reason)
    closed = await close_step(
        connection,
        StepClosing(
            run_id=run_id,
            step_id=step_id,
            status=StepStatus.FAILED,
            reason=reason,
            actor=Actor.SYSTEM,
        ),
    )
    if closed and reason == Reason.WORKER_LOST:
        await append_event(
            connection,
            run_id,
            Event(
                type=EventType.WORKER_LOST,
                actor=Actor.SYSTEM,
                data={"worker": worker, "step_id": step_id},
            ),
        )
