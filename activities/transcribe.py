"""The step `transcribe`: a recording is heard part by part, each kept as soon as it is heard.

A part's lines, its call and its end are one transaction; a part that is stored is never asked for
again. The last one closes the step with a new version of the source: the transcript.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from activities.failures import Verdict
from activities.items import PartState, keep_items
from activities.model.learned import Size
from activities.model.recogniser import Heard
from activities.model.tokens import Usage
from activities.projection import CallClosing, PartAfter, close_call
from activities.record import Event, append_event
from activities.spending.budget import Refused
from activities.spending.calls import failed
from activities.spending.metering import Need
from activities.steps.parts import capped, done_without_call, handed_over, room
from activities.steps.recording import Piece, seconds_of, span_of, unless_stopped
from activities.steps.step import Asked, PartEnd, PartEndCode, Step, limited
from deploy.database import Connection, clean, new_id
from workflows.cutting import SILENT_LEVEL
from workflows.kinds.kind import Item
from workflows.spoken import Line, lines_of
from workflows.vocabulary import (
    Actor,
    CallStatus,
    EventType,
    Reason,
    UsageSource,
)

AT_ONCE = 2
"""Parts under way: while a server hears one, the next is decoded and sent."""
LONGEST_TEXT = 100_000
"""Characters of one part; five minutes of talk are about five thousand."""


async def hear_part(step: Step, part: PartState) -> PartEnd:
    """Asks until the part is stored or something stops it. Raises only what is a fault of ours."""
    last_cause: Reason | None = None
    piece: Piece | None = None
    while True:
        if (stop := await _forbidden(step, part, last_cause)) is not None:
            return stop
        if piece is None:
            piece = await unless_stopped(step.watch, step.ear.piece(part.plan))
            if piece is None:
                return PartEnd(code=PartEndCode.STOPPED)
        hearing = Hearing(step, part, piece)
        if hearing.silent:  # it would be asked, and paid, for inventions
            return await done_without_call(step, part, hearing.tell)
        if (wait := await room(step, 0)) is not None:
            return wait
        if not await hearing.open():
            return hearing.not_opened()
        heard = await hearing.ask()
        last_cause = Reason.GARBLED if heard and heard.reply and too_long(heard.reply) else None
        settled = await hearing.settle(heard, garbled=last_cause is not None)
        if settled is not None:
            return settled


async def _forbidden(step: Step, part: PartState, last_cause: Reason | None) -> PartEnd | None:
    """What keeps the part from a further request, as it does parts of any step."""
    if step.watch.stopping is not None or step.aborted:
        return PartEnd(code=PartEndCode.STOPPED)
    if step.overdue:
        return step.out_of_time(part) or PartEnd(code=PartEndCode.STOPPED)
    if step.watch.leaving:
        return await handed_over(step)
    return capped(part, last_cause)


def too_long(reply: Mapping[str, Any]) -> bool:
    segments = reply.get("segments")
    texts = [entry.get("text") for entry in segments or () if isinstance(entry, Mapping)]
    said = sum(len(str(text)) for text in (texts or [reply.get("text")]))
    return said > LONGEST_TEXT


class Hearing:
    """One request for one part: `open`, `ask`, `settle`, in this order, once each."""

    def __init__(self, step: Step, part: PartState, piece: Piece) -> None:
        self.step, self.part, self.piece = step, part, piece
        self.id = new_id()
        self.span = span_of(part.plan)
        self.language = step.claimed.work.material.language
        profile, seconds = step.claimed.profile, self.span.seconds
        self.need = Need(prompt=0, output=0, profile=profile, sound=seconds)
        self.place = step.place(part, self.id)
        self.refused: Refused | None = None

    @property
    def silent(self) -> bool:
        return max(self.piece.levels, default=0) <= SILENT_LEVEL

    async def open(self) -> bool:
        """Commits the row before the request; False when fence or limits refuse."""
        told = f"{self.need.profile.model}\n{self.language}\n".encode()
        plan = self.part.plan
        asked = Asked(
            prompt_hash=hashlib.sha256(told + self.piece.wav).hexdigest(),
            size=Size(tokens=0, wide=False),
            recipe={"step": str(self.step.claimed.name), "part": plan.part, **plan.spec},
        )
        opened = await self.step.opens(self.step.opening(self.place, self.need, asked))
        self.refused = opened if isinstance(opened, Refused) else None
        self.part.calls += opened is True
        return opened is True

    def not_opened(self) -> PartEnd:
        if self.refused is None or self.step.aborted:
            return PartEnd(code=PartEndCode.STOPPED)
        return limited(self.part, self.refused.reason, self.refused.params)

    async def ask(self) -> Heard | None:
        """None when it was stopped: the connection is closed then, and whoever recognises for us
        ends."""
        tools, profile = self.step.tools, self.step.claimed.profile
        if self.step.aborted or self.step.overdue:
            return None
        seconds, language = self.span.seconds, self.language
        return await self.step.requests(
            unless_stopped(
                self.step.watch,
                tools.model.hear(profile, self.piece.wav, seconds, language=language),
            )
        )

    async def settle(self, heard: Heard | None, *, garbled: bool = False) -> PartEnd | None:
        """Stores what came of it; None when the part is asked for once more."""
        lines: list[Line] = []
        verdict: PartEnd | None = PartEnd(code=PartEndCode.STOPPED)
        if heard is None:
            verdict = self.step.out_of_time(self.part) or verdict
        elif heard.failure is not None:
            again = heard.failure.verdict == Verdict.AGAIN
            verdict = None if again else failed(heard.failure, self.part)
        elif garbled:
            verdict = None
        else:
            verdict = PartEnd(code=PartEndCode.DONE)
            reply = heard.reply or {}  # it may be long, and the loop has other runs
            lines = await asyncio.to_thread(lines_of, reply, self.span, self.piece.levels)
        self._count(heard, garbled=garbled)
        items = [_item(number, line) for number, line in enumerate(lines, start=1)]
        closing = self._closing(heard, garbled=garbled, kept=len(items))
        done = verdict is not None and verdict.code == PartEndCode.DONE
        refused = await self.step.settles(lambda c: self._store(c, items, closing, done=done))
        self.step.meter.ends(self.id, None)
        if refused is not None:
            self.step.watch.stop(refused)
            return PartEnd(code=PartEndCode.STOPPED)
        if done:
            self.part.kept, self.part.done = items, True
        return verdict

    def _count(self, heard: Heard | None, *, garbled: bool) -> None:
        """A failed request made nothing and is not paid; the part's caps do not count it."""
        failure = heard.failure if heard is not None else None
        if failure is not None and failure.verdict in (Verdict.RETRY, Verdict.AGAIN):
            self.part.calls -= 1
        self.part.early_ends += garbled

    def _closing(self, heard: Heard | None, *, garbled: bool, kept: int) -> CallClosing:
        status, cause, error = CallStatus.SUCCEEDED, None, None
        if heard is None:
            status, cause = CallStatus.CANCELLED, self.step.watch.stopping or Reason.INTERRUPTED
        elif heard.failure is not None:
            status, cause, error = CallStatus.FAILED, heard.failure.cause, heard.failure.message
        elif garbled:
            status, cause = CallStatus.FAILED, Reason.GARBLED
        counted, seconds = heard.usage if heard else None, heard.billed_seconds if heard else None
        # Whoever let go of a request may be billed for it all the same.
        paid = heard is None or heard.failure is None
        source = UsageSource.ESTIMATED if paid else UsageSource.UNKNOWN
        if counted is not None or seconds is not None:
            source = UsageSource.REPORTED
        text = "" if heard is None or heard.reply is None or garbled else _text(heard.reply)
        return CallClosing(
            call_id=self.id,
            run_id=self.step.claimed.run.id,
            status=status,
            profile=self.need.profile if paid else None,
            end_cause=cause,
            usage=counted or Usage(input=0, output=0),
            usage_source=source,
            sound=(self.span.seconds if seconds is None else seconds) if paid else None,
            http_status=heard.http_status if heard else None,
            provider_request_id=heard.request_id if heard else None,
            error=error,
            items_kept=kept,
            text=text,
            facts={"seconds": self.span.seconds},
        )

    async def _store(
        self, connection: Connection, items: list[Item], closing: CallClosing, *, done: bool
    ) -> Reason | None:
        """The transaction. Why the fence refused the result, if it did; the call is closed in any
        case."""
        claimed = self.step.claimed
        fence = await claimed.lock(connection)
        if fence is None:
            self.step.watch.gone()
            return Reason.INTERRUPTED
        refused = fence.refusal
        finished = refused is None and done and claimed.may_commit(fence)
        if finished and items:
            await keep_items(connection, self.place, items)
        if done and not finished:
            lost = refused or Reason.INTERRUPTED
            closing = replace(
                closing, status=CallStatus.CANCELLED, end_cause=lost, items_kept=0, text=""
            )
        await close_call(connection, closing, None if refused else self._after(finished=finished))
        if finished:
            await self.tell(connection)
        return refused or (Reason.INTERRUPTED if done and not finished else None)

    def _after(self, *, finished: bool) -> PartAfter:
        """Counters and end of the part. Anything heard ends a row of provider failures."""
        return PartAfter(
            plan_id=self.place.plan_id,
            part=self.place.part,
            calls=self.part.calls,
            early_ends=self.part.early_ends,
            barren=0,
            mark=None,
            finished=finished,
            result={},
            replied=finished,
            stop=None,
        )

    async def tell(self, connection: Connection) -> None:
        """How far the recording is heard, in seconds."""
        parts = self.step.claimed.parts
        done = [one.plan for one in parts if one.done or one is self.part]
        await append_event(
            connection,
            self.step.claimed.run.id,
            Event(
                type=EventType.PROGRESS,
                actor=Actor.WORKER,
                data={
                    "step_id": self.step.claimed.step_id,
                    "step": str(self.step.claimed.name),
                    "done_seconds": seconds_of(done),
                    "total_seconds": seconds_of([one.plan for one in parts]),
                },
            ),
        )


def _item(number: int, line: Line) -> Item:
    speaker = None if line.speaker is None else clean(line.speaker)
    told = replace(line, text=clean(line.text), speaker=speaker)
    return Item(key=str(number), payload=told.payload())


def _text(reply: Mapping[str, Any]) -> str:
    """The reply as it is kept with its call."""
    return json.dumps(reply, ensure_ascii=False, default=str)[:LONGEST_TEXT]
