"""One attempt of an activity: beats, looks at the row when told to, hands over at shutdown.

A cancellation, timeout or not-found is a reason to look, never a reason to stop by itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.claim import Claimed, NotClaimed, claim
from activities.draft import DraftCloser
from activities.hooks import Hook, committed
from activities.model import tokens
from activities.owning.ownership import leave
from activities.owning.watch import Watch
from activities.projection import StepClosing, close_step
from activities.record import lock_run
from activities.refine import RefineCloser
from activities.review import ReviewCloser
from activities.spending.lost import lose_calls
from activities.steps.execute import RetryLater, execute, wait_or_give_up
from activities.steps.loaded import loaded
from activities.steps.missing import code_of
from activities.steps.parts import SHORT_WAIT
from activities.steps.recording import seconds_of
from activities.steps.step import Closer, Step
from activities.steps.transcript import TranscriptCloser
from activities.steps.upcoming import step_of
from activities.tools import Tools
from deploy.database import AWAY, Connection
from workflows.contract import Outcome, WorkInput
from workflows.failures import FailureType
from workflows.vocabulary import Reason, RunStatus, StepName, StepStatus

log = logging.getLogger("redraft.attempt")

FIRST_BEAT = 1.0
"""Seconds."""
HAND_OVER_WAIT = 4.0
"""Seconds after a hand-over is asked for in which calls and step must be closed."""


async def attempt(tools: Tools, given: WorkInput, names: Sequence[StepName]) -> Outcome:
    """Carries the steps of this piece of work; raises only ApplicationError."""
    watch = Watch(run_id=given.run_id, epoch=given.epoch)
    tools.in_flight.watches.add(watch)
    body = asyncio.create_task(_steps(tools, watch, given, names))
    aside = [
        asyncio.create_task(_beat(tools, watch)),
        asyncio.create_task(_hand_over(tools, watch)),
        asyncio.create_task(_look(tools, watch)),
    ]
    try:
        return await _until_done(tools, watch, body)
    except RetryLater as wait:
        raise _again(FailureType.RETRY_LATER, wait.seconds) from None
    except ApplicationError:
        raise
    except Exception as error:
        facts = {"run_id": given.run_id, "round": given.round}
        seconds = await _record_fault(tools, watch, error)
        if (code := code_of(error)) is not None:  # its words may be a document's
            log.warning("run lacks what it needs", extra={**facts, "code": code})
            raise _again(FailureType.INTERNAL, seconds) from None
        log.exception("activity failed", extra=facts)
        raise _again(FailureType.INTERNAL, seconds) from error
    finally:
        for task in aside:
            task.cancel()
        tools.in_flight.watches.discard(watch)
        if not (watch.deleted or watch.released):
            await leave(tools, given.run_id)


def _again(type_: FailureType, seconds: float) -> ApplicationError:
    return ApplicationError(
        str(type_), type=type_, next_retry_delay=timedelta(seconds=max(seconds, 0.001))
    )


async def _until_done(tools: Tools, watch: Watch, body: asyncio.Task[Outcome]) -> Outcome:
    while True:
        try:
            await asyncio.wait({body})
            break
        except asyncio.CancelledError:
            details = activity.cancellation_details()
            if details is not None and details.worker_shutdown:
                watch.stop(Reason.HANDED_OVER)
                await asyncio.wait({body}, timeout=HAND_OVER_WAIT)
                body.cancel()
                break
            watch.told = True
            watch.look.set()
    if watch.stopping == Reason.HANDED_OVER:
        if body.done() and not body.cancelled() and body.exception() is not None:
            log.warning("hand-over met a fault", extra={"run_id": watch.run_id})
        raise _again(FailureType.HANDED_OVER, 0.001)
    return body.result()


async def _steps(
    tools: Tools, watch: Watch, given: WorkInput, names: Sequence[StepName]
) -> Outcome:
    steps = items = 0
    round_, began = given.round, time.monotonic()
    while True:
        if watch.leaving:
            watch.stop(Reason.HANDED_OVER)
            return Outcome(code="stopped", steps=steps, items=items)
        got = await claim(tools, watch, round_, names)
        if isinstance(got, NotClaimed):
            if got.code == "later":
                if got.seconds > SHORT_WAIT:
                    raise RetryLater(got.seconds)
                await watch.pause(got.seconds + 0.01)
                continue
            return Outcome(code=got.code, steps=steps, items=items)
        got.goes_on = time.monotonic() - began < tools.settings.rounds_within
        step = Step(tools=tools, watch=watch, claimed=got, closer=_closer(got))
        watch.step = step
        await execute(step)
        steps, items = steps + 1, items + sum(len(part.kept) for part in got.parts)
        if watch.stopping is not None:
            return Outcome(code="stopped", steps=steps, items=items)
        if watch.released:
            row = loaded(tools, got.left) if got.left is not None else None
            return Outcome(code="done", steps=steps, items=items, row=row)
        round_ = _next_round(got) or round_


def _next_round(claimed: Claimed) -> int:
    """The round of the next step where that is known; only the claim decides whether it is ours."""
    step = step_of(claimed.left) if claimed.left is not None else None
    return step[0] if step is not None and claimed.goes_on else 0


def _closer(claimed: Claimed) -> Closer:
    if claimed.name == StepName.REVIEW:
        return ReviewCloser(claimed)
    if claimed.name == StepName.REFINE:
        return RefineCloser(claimed)
    if claimed.name == StepName.TRANSCRIBE:
        return TranscriptCloser(claimed)
    return DraftCloser(claimed)


def _details(step: Step) -> dict[str, object]:
    """Counts and ids for Temporal Web; never text."""
    claimed = step.claimed
    told: dict[str, object] = {}
    if claimed.name == StepName.TRANSCRIBE:
        done = seconds_of([part.plan for part in claimed.parts if part.done])
        told["seconds"] = f"{done:.0f}/{seconds_of([part.plan for part in claimed.parts]):.0f}"
    return {
        "round": claimed.round,
        "step": str(claimed.name),
        "attempt": claimed.attempt,
        "parts": f"{sum(part.done for part in claimed.parts)}/{len(claimed.parts)}",
        "items": sum(len(part.kept) for part in claimed.parts),
        "tokens": sum(tokens.count(call.text) for call in step.calls.values()),
        **told,
    }


async def _beat(tools: Tools, watch: Watch) -> None:
    """For liveness only, by timer; counts and ids, never text. Each beat costs the server as much
    as a few statements, so what is over at once has none."""
    each = tools.settings.heartbeat_timeout / 3
    await asyncio.sleep(min(FIRST_BEAT, each))
    while True:
        activity.heartbeat(_details(watch.step) if isinstance(watch.step, Step) else {})
        await asyncio.sleep(each)


async def _look(tools: Tools, watch: Watch) -> None:
    """Reads the own row whenever somebody says so; the row decides."""
    while True:
        await watch.look.wait()
        watch.look.clear()
        try:
            row = await tools.pool.fetchrow(
                "SELECT status, epoch FROM runs WHERE id = $1", watch.run_id
            )
        except AWAY:
            await asyncio.sleep(0.5)
            watch.look.set()
            continue
        judge(watch, row["status"] if row else None, row["epoch"] if row else 0)
        if watch.told and watch.stopping is None:
            watch.told = False
            tools.suspects.add(watch.run_id)  # told to end, but not by the row: by whom?


def judge(watch: Watch, status: str | None, epoch: int) -> None:
    """Stops the activity if the row is gone, not RUNNING, or under another epoch."""
    if status is None:
        watch.gone()
    elif status != RunStatus.RUNNING or epoch != watch.epoch:
        watch.stop(Reason.INTERRUPTED)


async def _hand_over(tools: Tools, watch: Watch) -> None:
    """At SIGTERM calls may finish for a while; then what exists is stored and the slot given up."""
    await activity.wait_for_worker_shutdown()
    watch.leaving = True
    await watch.pause(tools.settings.shutdown_grace)
    watch.stop(Reason.HANDED_OVER)


async def _record_fault(tools: Tools, watch: Watch, error: BaseException) -> float:
    """A fault of ours: visible as waiting_retry, after the patience FAILED(internal); at once where
    nobody but a person can bring what is missing."""
    seconds, code = 5.0, code_of(error)

    async def work(connection: Connection) -> float:
        run = await lock_run(connection, watch.run_id)
        if run is None or run.status != RunStatus.RUNNING or run.epoch != watch.epoch:
            return seconds
        step = await connection.fetchrow(
            """
            SELECT id, worker = $2 AND epoch = $3 AND NOT id = ANY ($4::uuid[]) AS mine
            FROM steps WHERE run_id = $1 AND status = 'RUNNING'
            """,
            run.id,
            tools.worker,
            watch.epoch,
            sorted(tools.in_flight.steps),
        )
        if step is not None and not step["mine"]:
            return seconds  # somebody is at work: our fault is not the run's
        if step is not None:
            await lose_calls(connection, run.id, step["id"], Reason.INTERNAL)
            closing = StepClosing(
                run_id=run.id,
                step_id=step["id"],
                status=StepStatus.FAILED,
                reason=Reason.INTERNAL,
                params={"error": type(error).__name__},
            )
            await close_step(connection, closing)
        delay = await wait_or_give_up(
            connection,
            run,
            patience=tools.settings.provider_patience if code is None else 0.0,
            code=code or Reason.INTERNAL,
            least=1.0,
            gives_up=Reason.INTERNAL,
        )
        return seconds if delay is None else delay

    try:
        return await committed(Hook.FAULT, tools.pool, work, patience=10.0)
    except Exception:
        log.exception("fault not recorded", extra={"run_id": watch.run_id})
        return seconds
