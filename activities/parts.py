"""One part of a step: call, keep, continue, until it is done or something stops it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from activities.calls import PartCall
from activities.items import PartState
from activities.model import tokens
from activities.model.client import Manner
from activities.step import PartEnd, PartEndCode, Step
from workflows.kinds.kind import Prompt
from workflows.vocabulary import Reason

EARLY_ENDS_CAP = 5
CALLS_CAP = 20
BARREN_CAP = 3


def capped(part: PartState, last_cause: Reason | None) -> PartEnd | None:
    """The guardrail that forbids a further call of this part, if any."""
    reason: Reason | None = None
    if part.barren >= BARREN_CAP:
        reason = Reason.SPINNING
    if part.early_ends >= EARLY_ENDS_CAP or part.calls >= CALLS_CAP:
        reason = Reason.CALL_LIMIT
    if reason is None:
        return None
    if last_cause == Reason.GARBLED and not part.kept:
        reason = Reason.INVALID_REPLY
    facts = {"part": part.plan.part, "calls": part.calls, "early_ends": part.early_ends}
    return PartEnd(code=PartEndCode.FAILED, reason=reason, params=facts)


def _prompt(step: Step, part: PartState) -> tuple[Prompt, int]:
    """The request for what is missing, and its tokens."""
    work = replace(step.claimed.work, refused=part.refused)
    prompt = step.claimed.kind.prompt(work, part.plan, tuple(part.kept))
    return prompt, tokens.count_prompt(prompt)


async def run_part(step: Step, part: PartState) -> PartEnd:
    """Calls until the part is done. Raises only what is a fault of ours."""
    last_cause: Reason | None = None
    manner: Manner | None = None
    while True:
        if step.watch.stopping is not None or step.aborted:
            return PartEnd(code=PartEndCode.STOPPED)
        if step.watch.leaving:
            return await _handed_over(step)
        stop = capped(part, last_cause)
        if stop is not None:
            return stop
        prompt, size = await asyncio.to_thread(_prompt, step, part)
        call = PartCall(step, part, prompt, size, manner)
        if not await call.open():
            return PartEnd(code=PartEndCode.STOPPED)
        end = await call.stream()
        manner = end.again if end else None
        settled, last_cause = await call.settle(end), end.cause if end else None
        if settled is not None:
            return settled


async def _handed_over(step: Step) -> PartEnd:
    """A call begun now would be cut when the grace is over; those of siblings may finish in it."""
    if not step.watch.streams:
        step.watch.stop(Reason.HANDED_OVER)
    await step.watch.stopped.wait()
    return PartEnd(code=PartEndCode.STOPPED)
