"""Carries a claimed step to its end: parts side by side, then one of four endings.

Done, stopped, to be tried later, or failed for good.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

from activities import transcribe
from activities.failures import NO_ROOM, Failure
from activities.hooks import Hook, committed
from activities.items import PartState
from activities.projection import StepClosing, close_step, write_partial
from activities.record import Event, Move, RunRow, append_event, lock_run, move
from activities.spending import budget
from activities.steps.closing import close_done
from activities.steps.parts import run_part
from activities.steps.recut import TOO_LONG, mark_plan
from activities.steps.step import PartEnd, PartEndCode, Step
from deploy.database import AWAY, Connection
from workflows.budget import SECONDS
from workflows.kinds.kind import FOLLOWS
from workflows.transitions import INTERRUPTED_REASONS
from workflows.vocabulary import (
    GUARDRAILS,
    Actor,
    EventType,
    Reason,
    RunStatus,
    StepName,
    StepStatus,
)

FOREVER = float("inf")
LONGEST_DELAY = 60.0
PARTS_AT_ONCE = 8
AT_ONCE = 0.01
MOVED_BY = {True: EventType.RUN_INTERRUPTED, False: EventType.RUN_FAILED}
"""By whether the reason asks a person only."""


class RetryLater(Exception):
    """Give the slot back and come again in `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"retry in {seconds:.1f} s")
        self.seconds = seconds


async def execute(step: Step) -> None:
    """Raises RetryLater, or what is a fault of ours. The step row is closed in every other case."""
    claimed, watch = step.claimed, step.watch
    watch.step_id = claimed.step_id
    aside = [asyncio.create_task(_live_text(step))]
    if SECONDS in claimed.run.limits:
        aside.append(asyncio.create_task(_clock(step)))
    try:
        ends = await _settle_parts(step)
        await _end(step, ends)
    finally:
        for task in aside:
            task.cancel()
        watch.step_id = None
        step.tools.in_flight.steps.discard(claimed.step_id)
        await step.leave.aclose()


async def _clock(step: Step) -> None:
    """When the run's time is up, nothing of this step goes on; what exists is stored."""
    await budget.time_is_up(step.tools.pool, step.claimed.run)
    step.overdue = True
    for stream in list(step.watch.streams):
        stream.cancel()


async def _live_text(step: Step) -> None:
    """Partial text at most once a second, without event; beat details beside it."""
    written: dict[str, int] = {}
    count = step.claimed.profile.learned.output
    while True:
        await asyncio.sleep(1.0)
        for call_id, call in list(step.calls.items()):
            arrived = len(call.received)
            if arrived == written.get(call_id, 0):
                continue
            thought = await asyncio.to_thread(count, call.thinking) if call.thinking else 0
            try:
                async with step.tools.pool.acquire() as connection:
                    await write_partial(connection, call_id, call.reply, thought)
            except AWAY:
                continue  # the next second tries again; the items are what counts
            written[call_id] = arrived


async def _settle_parts(step: Step) -> list[PartEnd]:
    """First those that need no other; then, when all of them are done, what is made from them."""
    first = [part for part in step.claimed.parts if not part.plan.spec.get(FOLLOWS)]
    ends = await _side_by_side(step, first)
    last = [part for part in step.claimed.parts if part not in first]
    if last and all(end.code == PartEndCode.DONE for end in ends):
        gathered = tuple((part.plan, tuple(part.kept)) for part in first)
        step.claimed.work = replace(step.claimed.work, gathered=gathered)
        ends += await _side_by_side(step, last)
    return ends


async def _side_by_side(step: Step, parts: Sequence[PartState]) -> list[PartEnd]:
    """Siblings of a part that may be tried again, or that a limit stopped, finish; those of one
    that failed for good end.

    A long source has many parts: so many are under way at a time, and none begins any more after
    one that has to wait or that a limit stopped.
    """
    hears = step.claimed.name == StepName.TRANSCRIBE
    gate = asyncio.Semaphore(transcribe.AT_ONCE if hears else PARTS_AT_ONCE)
    tasks = [asyncio.create_task(_in_turn(gate, step, part)) for part in parts if not part.done]
    waiting = set(tasks)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if any(task.exception() or task.result().code == PartEndCode.FAILED for task in done):
            step.aborted = True
            for stream in list(step.watch.streams):
                stream.cancel()
    return [task.result() for task in tasks]


async def _in_turn(gate: asyncio.Semaphore, step: Step, part: PartState) -> PartEnd:
    async with gate:
        if step.later:
            return PartEnd(code=PartEndCode.STOPPED)
        hears = step.claimed.name == StepName.TRANSCRIBE
        end = await (transcribe.hear_part if hears else run_part)(step, part)
        step.later = step.later or end.code in (PartEndCode.RETRY, PartEndCode.LIMITED)
        return end


async def _end(step: Step, ends: Sequence[PartEnd]) -> None:
    """No ends: another attempt had stored every part and died before this."""
    if all(end.code == PartEndCode.DONE for end in ends) and await close_done(step):
        step.watch.left, step.watch.released = step.claimed.left, step.claimed.ends_work
        return
    final = [end for end in ends if end.code in (PartEndCode.FAILED, PartEndCode.LIMITED)]
    final.sort(key=lambda end: end.code)  # of both, failed
    retry = max(
        (end.failure for end in ends if end.failure and end.code == PartEndCode.RETRY),
        key=_patience,
        default=None,
    )
    if step.watch.stopping is not None:
        await committed(
            Hook.STOPPED, step.tools.pool, lambda c: _close_stopped(step, c), patience=FOREVER
        )
    elif final:
        await committed(
            Hook.FAIL, step.tools.pool, lambda c: _fail(step, final[0], retry, c), patience=FOREVER
        )
    elif retry is not None:
        delay = await committed(
            Hook.LATER, step.tools.pool, lambda c: _try_later(step, retry, c), patience=FOREVER
        )
        if delay is not None:
            raise RetryLater(delay)


def _patience(failure: Failure) -> tuple[bool, float]:
    """Of several, a provider's failure counts, then the longest wait."""
    return failure.code != NO_ROOM, failure.retry_after or 0.0


async def _close_stopped(step: Step, connection: Connection) -> None:
    run = await lock_run(connection, step.claimed.run.id)
    if run is None:
        step.watch.deleted = True
        return
    await close_step(
        connection,
        StepClosing(
            run_id=run.id,
            step_id=step.claimed.step_id,
            status=StepStatus.FAILED,
            reason=step.watch.stopping or Reason.INTERRUPTED,
        ),
    )


def _is_mine(run: RunRow, step: Step) -> bool:
    return run.status == RunStatus.RUNNING and run.epoch == step.claimed.run.epoch


async def _fail(step: Step, end: PartEnd, retry: Failure | None, connection: Connection) -> None:
    """Closes the step and, in the same transaction and only while both are ours, fails the run; a
    limit interrupts it. What siblings were told to wait is kept for a resume."""
    run = await lock_run(connection, step.claimed.run.id)
    if run is None:
        return
    reason = end.reason or Reason.INTERNAL
    params = {**end.params, **await budget.used_now(connection, run.id, reason)}
    closed = await close_step(
        connection,
        StepClosing(
            run_id=run.id,
            step_id=step.claimed.step_id,
            status=StepStatus.FAILED,
            reason=reason,
            params=params,
        ),
    )
    if not closed or not _is_mine(run, step):
        return
    if retry is not None and retry.retry_after:
        await _come_again(connection, run.id, retry.retry_after)
    if reason in GUARDRAILS:
        await append_event(
            connection,
            run.id,
            Event(
                type=EventType.GUARDRAIL_STOP,
                actor=Actor.WORKER,
                data={**params, "code": str(reason), "told": params.get("code")},
            ),
        )
    if params.get("code") in TOO_LONG:
        await mark_plan(connection, step.claimed.plan_id)
    if reason == Reason.INVALID_REPLY:  # a resume, with another profile, begins to count again
        await reset_counters(connection, step.claimed.plan_id, params["part"])
    await move(
        connection,
        run.id,
        Move(
            event=MOVED_BY[reason in INTERRUPTED_REASONS],
            actor=Actor.WORKER,
            from_=RunStatus.RUNNING,
            epoch=run.epoch,
            reason=reason,
            params={"step": str(step.claimed.name), "round": step.claimed.round, **params},
        ),
    )


async def reset_counters(connection: Connection, plan_id: str, part: str) -> None:
    """The part begins to count again; its items stay."""
    await connection.execute(
        """
        UPDATE step_parts SET calls = 0, early_ends = 0, barren = 0, reply_hashes = '{}'
        WHERE plan_id = $1 AND part = $2
        """,
        plan_id,
        part,
    )


async def _try_later(step: Step, failure: Failure, connection: Connection) -> float | None:
    """Closes the step and stores when to come again, so that a resume does not skip the wait.

    Seconds to wait, or None when the run is not ours any more or the patience is used up.
    """
    run = await lock_run(connection, step.claimed.run.id)
    if run is None:
        return None
    closed = await close_step(
        connection,
        StepClosing(
            run_id=run.id,
            step_id=step.claimed.step_id,
            status=StepStatus.FAILED,
            reason=failure.cause,
            params={"code": failure.code, "http_status": failure.http_status},
        ),
    )
    if not closed or not _is_mine(run, step):
        return None
    if failure.code == NO_ROOM:  # nobody failed: the provider's patience does not run
        return await _come_again(connection, run.id, failure.retry_after or 0.0, NO_ROOM)
    return await wait_or_give_up(
        connection,
        run,
        patience=step.tools.settings.provider_patience,
        code=failure.code,
        least=failure.retry_after or 0.0,
        gives_up=Reason.PROVIDER_UNAVAILABLE,
        at_once_after=step.claimed.falls_back_after,
    )


async def wait_or_give_up(
    connection: Connection,
    run: RunRow,
    *,
    patience: float,
    code: str,
    least: float,
    gives_up: Reason,
    at_once_after: int | None = None,
) -> float | None:
    """Counts one failure in a row; the delay before the next try, None after a move to FAILED.

    With so many failures in a row as `at_once_after` another provider is asked next: it need not
    wait for what the first one asked for.
    """
    row = await connection.fetchrow(
        """
        UPDATE runs SET failures = failures + 1, last_error_code = $2,
            failing_since = coalesce(failing_since, now())
        WHERE id = $1
        RETURNING failures, extract(epoch FROM now() - failing_since)::float AS failing_for
        """,
        run.id,
        code,
    )
    assert row is not None, "the caller holds the row's lock"
    if row["failing_for"] >= patience:
        await move(
            connection,
            run.id,
            Move(
                event=EventType.RUN_FAILED,
                actor=Actor.WORKER,
                from_=RunStatus.RUNNING,
                epoch=run.epoch,
                reason=gives_up,
                params={"code": code, "tries": row["failures"]},
            ),
        )
        return None
    backoff = min(LONGEST_DELAY, 2.0 ** min(row["failures"] - 1, 6)) * random.uniform(1.0, 1.25)
    delay: float = AT_ONCE if row["failures"] == at_once_after else max(least, backoff)
    return await _come_again(connection, run.id, delay)


async def _come_again(
    connection: Connection, run_id: str, seconds: float, code: str | None = None
) -> float:
    """Nothing of the run is tried before then, by whomever."""
    await connection.execute(
        """
        UPDATE runs SET retry_at = now() + make_interval(secs => $2),
            last_error_code = coalesce($3, last_error_code)
        WHERE id = $1
        """,
        run_id,
        seconds,
        code,
    )
    return seconds
