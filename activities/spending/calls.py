"""One model call from its row to its close.

The stream is the only thing that may be cancelled; what follows it (items, call, part) is always
stored, in one transaction that looks at the rows first and begins with the reply's last byte:
nothing is verified before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from activities.failures import Failure, Verdict, prompt_cut
from activities.items import ItemWriter, PartState, keep_items
from activities.model.client import CallEnd, Manner, ModelCall, output_limit, prompt_hash
from activities.model.learned import Size
from activities.model.limits import give_back
from activities.projection import CallClosing, PartAfter, close_call
from activities.spending.budget import Refused
from activities.spending.ending import as_stored, closing_of
from activities.spending.metering import Metered, Need
from activities.steps.spinning import fingerprint, noted, repeats
from activities.steps.step import Asked, PartEnd, PartEndCode, Step, limited
from deploy.database import Connection, new_id
from workflows.kinds.kind import Item, Prompt
from workflows.vocabulary import GUARDRAILS, Reason

_NOTHING_MADE = frozenset({Verdict.RETRY, Verdict.AGAIN})
"""Where nothing was received nothing was made and paid: the part's caps do not count it."""
_FREED_BY_SIBLINGS = frozenset({Reason.LIMIT_TOKENS, Reason.LIMIT_COST})


@dataclass(frozen=True, kw_only=True)
class _Result:
    """What one call brought, as the transaction stores it."""

    end: CallEnd | None
    pending: list[Item]
    verdict: PartEnd | None
    counters: tuple[int, int, int]
    """calls, early_ends, barren after this call"""
    mark: str | None
    """What the part keeps of a reply, to know it again."""
    closing: CallClosing

    @property
    def done(self) -> bool:
        return self.verdict is not None and self.verdict.code == PartEndCode.DONE


class PartCall:
    """`open`, `stream`, `settle`, in this order, once each."""

    def __init__(
        self,
        step: Step,
        part: PartState,
        prompt: Prompt,
        size: Size,
        manner: Manner | None = None,
    ) -> None:
        self.step, self.part, self.prompt, self.size = step, part, prompt, size
        self.id = new_id()
        claimed = step.claimed
        limit, profile = output_limit(claimed.profile, prompt), claimed.profile
        sent = profile.learned.input(size.tokens, wide=size.wide)
        self.need = Need(prompt=sent, output=limit, profile=profile)
        self.refused: Refused | None = None
        """Why a limit let no call begin."""
        self.lacking = False
        """It ended by itself, brought something, and items that must be there are missing."""
        self.metered = Metered(step.meter, self.id, self.need)
        self.said: list[Mapping[str, Any]] = []
        self.writer = ItemWriter(
            pool=step.tools.pool,
            watch=step.watch,
            place=step.place(part, self.id),
            kind=claimed.kind,
            work=replace(claimed.work, refused=part.refused),
            part=part,
        )
        self.call: ModelCall = step.tools.model.start(
            claimed.profile,
            prompt,
            on_item=self._take,
            on_text=self.metered.text,
            manner=manner,
        )
        self.metered.call = self.call

    async def open(self) -> bool:
        """Commits the row before the request; False when fence or limits refuse."""
        asked = Asked(
            prompt_hash=prompt_hash(self.need.profile, self.prompt),
            size=self.size,
            recipe=self._recipe(),
            kept=len(self.part.kept),
        )
        opened = await self.step.opens(self.step.opening(self.writer.place, self.need, asked))
        self.refused = opened if isinstance(opened, Refused) else None
        self.part.calls += opened is True
        return opened is True

    @property
    def may_fit_later(self) -> bool:
        """A limit refused it for what siblings have reserved and may not use."""
        return self.refused is not None and self.refused.reason in _FREED_BY_SIBLINGS

    def _recipe(self) -> dict[str, Any]:
        claimed = self.step.claimed
        return {
            **self.prompt.recipe,
            "kind": claimed.kind.name,
            "input_revision": claimed.input_revision,
            "schema": self.prompt.schema_name,
        }

    def _take(self, payload: Mapping[str, Any]) -> None:
        self.said.append(payload)
        self.writer.offer(payload)

    async def stream(self) -> CallEnd | None:
        """The request; None when it was stopped."""
        return await self.step.requests(self._stream())

    async def _stream(self) -> CallEnd | None:
        step = self.step
        step.calls[self.id] = self.call
        aside = [asyncio.create_task(self.writer.run())]
        if step.meter.limits:
            aside.append(asyncio.create_task(self.metered.thinking()))
        streaming: asyncio.Task[object] = asyncio.create_task(self.call.run())
        self.metered.cut = streaming.cancel
        step.watch.streams.add(streaming)
        try:
            if step.watch.stopping is not None or step.aborted or step.overdue:
                streaming.cancel()
            await asyncio.wait({streaming})
            if streaming.cancelled():
                return None
            end = streaming.result()
            assert isinstance(end, CallEnd), "a call that was not cancelled says how it ended"
            return end
        finally:
            streaming.cancel()
            step.watch.streams.discard(streaming)
            step.calls.pop(self.id, None)
            for task in aside:
                task.cancel()

    async def settle(self, end: CallEnd | None) -> PartEnd | None:
        """Stores everything the call brought; None when the part goes on with another call."""
        pending = await self.writer.take_pending()
        if end is not None and end.failure is None and self.call.cut_prompt(self.need.prompt):
            failure = prompt_cut(self.call.http_status)
            end = replace(end, cause=failure.cause, failure=failure)
        replied = end is not None and end.failure is None
        counts = self.call.usage is None and bool(self.call.received)  # tokens of a long text
        result = _Result(
            end=end,
            pending=pending,
            verdict=self._verdict(end, pending),
            counters=self._counters(end),
            mark=noted(self.part.reply_hashes, self._mark(end)) if end and replied else None,
            closing=await asyncio.to_thread(self._closing, end) if counts else self._closing(end),
        )
        refused = await self.step.settles(lambda c: self._store(c, result))
        self.step.meter.ends(self.id, result.closing.usage)
        self.part.calls, self.part.early_ends, self.part.barren = result.counters
        if result.mark is not None:
            self.part.reply_hashes.append(result.mark)
        if refused is None:
            self.part.kept.extend(pending)
            self.part.done = result.done
            return result.verdict
        self.step.watch.stop(refused)
        return PartEnd(code=PartEndCode.STOPPED)

    def _verdict(self, end: CallEnd | None, pending: list[Item]) -> PartEnd | None:
        if end is None:
            return self._stopped()
        if end.again is not None:
            return None
        if end.failure is not None:
            return failed(end.failure, self.part)
        claimed, fresh = self.step.claimed, self.writer.kept
        if end.cause is None:
            expected = claimed.kind.expected(claimed.work, self.part.plan)
            have = {item.key for item in (*self.part.kept, *pending)}
            if self._asks_again(pending):
                return None
            if expected is None or have.issuperset(expected) or self._settles(pending):
                return PartEnd(code=PartEndCode.DONE)
        spinning = end.cause is None and not fresh
        if end.cause != Reason.GARBLED:
            known = self.part.reply_hashes
            spinning = spinning or repeats(known, self._mark(end), len(self.said), fresh)
        if spinning:
            facts = {"part": self.part.plan.part, "calls": self.part.calls}
            return PartEnd(code=PartEndCode.FAILED, reason=Reason.SPINNING, params=facts)
        self.lacking = end.cause is None
        return None

    def _asks_again(self, pending: list[Item]) -> bool:
        """Whether the model is told what could not be kept of its answer: once a part."""
        part, refused = self.part, tuple(self.writer.refused)
        if part.asked_again or not refused:
            return False
        work = replace(self.writer.work, refused=refused)
        if self.step.claimed.kind.ask_again(work, part.plan, [*part.kept, *pending]):
            part.asked_again, part.refused = True, refused
        return part.asked_again

    def _settles(self, pending: list[Item]) -> bool:
        claimed, part = self.step.claimed, self.part
        kept = [*part.kept, *pending]
        return claimed.kind.settles(claimed.work, part.plan, kept, self.writer.kept)

    def _mark(self, end: CallEnd) -> str:
        """A reply that the model did not end itself may go on otherwise: its text counts."""
        whole = end.cause in (None, Reason.LENGTH)
        return fingerprint(self.call.text, self.said if whole else ())

    def _stopped(self) -> PartEnd:
        """Nobody let the request end: a person, a limit, a sibling that failed."""
        if self.step.watch.stopping is not None:
            return PartEnd(code=PartEndCode.STOPPED)
        if (over := self.metered.over) is not None:
            return limited(self.part, over.reason, over.params)
        return self.step.out_of_time(self.part) or PartEnd(code=PartEndCode.STOPPED)

    def _counters(self, end: CallEnd | None) -> tuple[int, int, int]:
        part = self.part
        if end is not None and end.failure is not None and end.failure.verdict in _NOTHING_MADE:
            if self.call.received:  # half a reply and an error: it was paid like one that was cut
                return part.calls, part.early_ends + 1, part.barren
            return part.calls - 1, part.early_ends, part.barren
        if end is None or end.failure is not None:
            return part.calls, part.early_ends, part.barren
        barren = 0 if self.writer.kept else part.barren + 1
        early = end.cause is not None or self.lacking
        return part.calls, part.early_ends + early, barren

    def _closing(self, end: CallEnd | None) -> CallClosing:
        stopped_by = self.step.watch.stopping or self._stopped().reason or Reason.INTERRUPTED
        return closing_of(self.call, end, self.writer, self.need, stopped_by=stopped_by)

    async def _store(self, connection: Connection, result: _Result) -> Reason | None:
        """The transaction. Why the fence refused the result, if it did: the call is closed in any
        case, since it was paid."""
        claimed = self.step.claimed
        fence = await claimed.lock(connection)
        if fence is None:
            self.step.watch.gone()
            return Reason.INTERRUPTED
        refused = fence.refusal
        finished = refused is None and result.done and claimed.may_commit(fence)
        if refused is None and result.pending:
            await keep_items(connection, self.writer.place, result.pending)
        lost = (refused or Reason.INTERRUPTED) if result.done and not finished else None
        unkept = 0 if refused is None else len(result.pending)
        closing = as_stored(result.closing, lost=lost, unkept=unkept)
        after = self._after(result, finished=finished) if refused is None else None
        closed = await close_call(connection, closing, after)
        if closed and (usage := result.closing.usage) is not None:
            unused = self.need.tokens - usage.input - usage.output
            await give_back(connection, claimed.profile, unused)
        return refused or (Reason.INTERRUPTED if result.done and not finished else None)

    def _after(self, result: _Result, *, finished: bool) -> PartAfter:
        """Counters and end of the part. Anything received ends a row of provider failures."""
        calls, early_ends, barren = result.counters
        stop = result.verdict.reason if result.verdict is not None else None
        return PartAfter(
            plan_id=self.step.claimed.plan_id,
            part=self.part.plan.part,
            calls=calls,
            early_ends=early_ends,
            barren=barren,
            mark=result.mark,
            finished=finished,
            result=result.end.extras if result.end else {},
            replied=bool(self.call.text),
            stop=stop if stop in GUARDRAILS else None,
        )


def failed(failure: Failure, part: PartState) -> PartEnd:
    if failure.verdict == Verdict.RETRY:
        return PartEnd(code=PartEndCode.RETRY, failure=failure)
    facts = {
        "code": failure.code,
        "http_status": failure.http_status,
        "part": part.plan.part,
        "calls": part.calls,
    }
    return PartEnd(code=PartEndCode.FAILED, reason=failure.cause, params=facts, failure=failure)
