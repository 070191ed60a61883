"""One part of a step: call, keep, continue, until it is done or something stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from activities import failures
from activities.hooks import Hook, committed
from activities.items import PartState
from activities.model.client import Manner
from activities.model.learned import Size, size_of
from activities.model.limits import take
from activities.spending.calls import PartCall
from activities.steps.step import PartEnd, PartEndCode, Step, limited
from deploy.database import Connection
from workflows.kinds.kind import Prompt
from workflows.vocabulary import Reason

EARLY_ENDS_CAP = 5
CALLS_CAP = 20
BARREN_CAP = 3
Tell = Callable[[Connection], Awaitable[None]]
SHORT_WAIT = 1.5
"""Waits up to this are done in the slot: timers below a second do not exist in Temporal."""


def capped(part: PartState, last_cause: Reason | None) -> PartEnd | None:
    """The guardrail that forbids a further call of this part, if any."""
    reason: Reason | None = None
    if part.barren >= BARREN_CAP:
        reason = Reason.SPINNING
    if part.early_ends >= EARLY_ENDS_CAP or part.calls >= CALLS_CAP:
        reason = Reason.CALL_LIMIT
    if part.stop is not None:
        reason = Reason(part.stop)
    if reason is None:
        return None
    if last_cause == Reason.GARBLED and not part.kept:
        reason = Reason.INVALID_REPLY
    facts = {"part": part.plan.part, "calls": part.calls, "early_ends": part.early_ends}
    return PartEnd(code=PartEndCode.FAILED, reason=reason, params=facts)


def _prompt(step: Step, part: PartState) -> tuple[Prompt, Size]:
    """The request for what is missing, and how long it is."""
    work = replace(step.claimed.work, refused=part.refused)
    prompt = step.claimed.kind.prompt(work, part.plan, tuple(part.kept))
    return prompt, size_of(prompt)


async def run_part(step: Step, part: PartState) -> PartEnd:
    """Calls until the part is done. Raises only what is a fault of ours."""
    last_cause: Reason | None = None
    manner: Manner | None = None
    while True:
        if step.watch.stopping is not None or step.aborted:
            return PartEnd(code=PartEndCode.STOPPED)
        if step.overdue:
            return step.out_of_time(part) or PartEnd(code=PartEndCode.STOPPED)
        if step.watch.leaving:
            return await handed_over(step)
        if not part.refused and _has_all(step, part):
            return await done_without_call(step, part)
        stop = capped(part, last_cause)
        if stop is not None:
            return stop
        async with step.tools.turns:
            prompt, size = await asyncio.to_thread(_prompt, step, part)
        call = PartCall(step, part, prompt, size, manner)
        if (wait := await room(step, call.need.tokens)) is not None:
            return wait
        if not await _opened(step, call):
            return _not_opened(step, part, call)
        end = await call.stream()
        manner = end.again if end else None
        settled, last_cause = await call.settle(end), end.cause if end else None
        if settled is not None:
            return settled


def _has_all(step: Step, part: PartState) -> bool:
    """Nothing is missing, though no call ended so: the last one was cut behind the last item, or
    its worker died there. A further call would be paid for nothing."""
    expected = step.claimed.kind.expected(step.claimed.work, part.plan)
    return expected is not None and {item.key for item in part.kept}.issuperset(expected)


async def done_without_call(step: Step, part: PartState, tell: Tell | None = None) -> PartEnd:
    """The part ends; `tell` belongs to its transaction."""
    refused = await step.settles(lambda c: _store_done(step, part, c, tell))
    if refused is not None:
        step.watch.stop(refused)
        return PartEnd(code=PartEndCode.STOPPED)
    part.done = True
    return PartEnd(code=PartEndCode.DONE)


async def _store_done(
    step: Step, part: PartState, connection: Connection, tell: Tell | None
) -> Reason | None:
    claimed = step.claimed
    fence = await claimed.lock(connection)
    if fence is None:
        step.watch.gone()
        return Reason.INTERRUPTED
    if fence.refusal is not None or not claimed.may_commit(fence):
        return fence.refusal or Reason.INTERRUPTED
    await connection.execute(
        """
        UPDATE step_parts SET done_at = coalesce(done_at, now()), result = coalesce(result, '{}')
        WHERE plan_id = $1 AND part = $2
        """,
        claimed.plan_id,
        part.plan.part,
    )
    if tell is not None:
        await tell(connection)
    return None


async def _opened(step: Step, call: PartCall) -> bool:
    """A limit has refused a call only when no sibling holds a reservation that it may not use."""
    while True:
        ended = step.meter.ended
        if await call.open():
            return True
        if step.aborted or step.overdue or not call.may_fit_later:
            return False
        if not await step.meter.room(ended):
            return False


def _not_opened(step: Step, part: PartState, call: PartCall) -> PartEnd:
    if call.refused is None or step.aborted:
        return PartEnd(code=PartEndCode.STOPPED)
    return limited(part, call.refused.reason, call.refused.params)


async def room(step: Step, size: int) -> PartEnd | None:
    """Takes room for a call from the profile's rate limits. A moment is waited for here; longer
    than that the slot is given back."""
    profile = step.claimed.profile
    while profile.rate_limits and step.watch.stopping is None and not step.overdue:
        seconds = await committed(
            Hook.TAKE,
            step.tools.pool,
            lambda connection: take(connection, profile, size),
            patience=float("inf"),
        )
        if seconds <= 0:
            break
        if seconds > SHORT_WAIT:
            return PartEnd(code=PartEndCode.RETRY, failure=failures.no_room(seconds))
        await step.watch.pause(seconds + 0.01)
    return None


async def handed_over(step: Step) -> PartEnd:
    """A call begun now would be cut when the grace is over; those of siblings may finish in it."""
    if not step.watch.streams:
        step.watch.stop(Reason.HANDED_OVER)
    await step.watch.stopped.wait()
    return PartEnd(code=PartEndCode.STOPPED)
