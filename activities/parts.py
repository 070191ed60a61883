"""One part of a step: call, keep, continue, until it is done or something stops it.

The stream is the only thing that may be cancelled; what follows it (items, call, part) is always
stored, in one transaction that looks at the rows first.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from activities.claim import Claimed
from activities.failures import Failure, Verdict
from activities.items import ItemWriter, PartState, Place, keep_items, may_keep
from activities.model import tokens
from activities.model.client import CallEnd, ModelCall, prompt_hash
from activities.projection import (
    CallClosing,
    CallOpening,
    close_call,
    open_call,
)
from activities.record import RunRow, lock_document_of, lock_run
from deploy.database import Connection, new_id, transaction
from workflows.kinds.kind import Item, Prompt
from workflows.vocabulary import CallStatus, Reason, RunStatus, UsageSource

if TYPE_CHECKING:
    from activities.tools import Tools
    from activities.watch import Watch

EARLY_ENDS_CAP = 5
CALLS_CAP = 20
BARREN_CAP = 3


class PartEndCode(StrEnum):
    DONE = "done"
    STOPPED = "stopped"
    RETRY = "retry"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class PartEnd:
    """How a part settled. `failure` with RETRY; `reason` and `params` with FAILED."""

    code: PartEndCode
    failure: Failure | None = None
    reason: Reason | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


class Closer(Protocol):
    """Closes the step when its last part commits; asked inside that transaction."""

    writes_revision: bool

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        """The heavy part, outside the transaction, for these items."""
        ...

    async def close(self, connection: Connection, run: RunRow) -> None:
        """Result, checkpoint, issues, revision, events and the step row."""
        ...


@dataclass(kw_only=True, eq=False)
class Step:
    """A claimed step with what its parts share."""

    tools: Tools
    watch: Watch
    claimed: Claimed
    closer: Closer
    calls: dict[str, ModelCall] = field(default_factory=dict)
    """Open calls by id, for live text."""
    aborted: bool = False
    """A sibling failed for good: no further call of this step."""


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


async def run_part(step: Step, part: PartState) -> PartEnd:
    """Calls until the part is done. Raises only what is a fault of ours."""
    last_cause: Reason | None = None
    while True:
        if step.watch.stopping is not None or step.aborted:
            return PartEnd(code=PartEndCode.STOPPED)
        stop = capped(part, last_cause)
        if stop is not None:
            return stop
        prompt = await asyncio.to_thread(
            step.claimed.kind.prompt, step.claimed.work, part.plan, tuple(part.kept)
        )
        call = _Call(step=step, part=part, prompt=prompt)
        if not await call.open():
            return PartEnd(code=PartEndCode.STOPPED)
        end = await call.stream()
        settled, last_cause = await call.settle(end), end.cause if end else None
        if settled is not None:
            return settled


def _normal(text: str) -> str:
    """Hash of a reply regardless of white space, so that a repeated one is known again."""
    return hashlib.sha256(re.sub(r"\s+", "", text).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(kw_only=True, eq=False)
class _Call:
    """One model call from its row to its close."""

    step: Step
    part: PartState
    prompt: Prompt
    id: str = field(default_factory=new_id)
    call: ModelCall | None = None
    writer: ItemWriter | None = None

    async def open(self) -> bool:
        """Commits the row before the request; False when the fence refuses."""
        claimed, profile = self.step.claimed, self.step.claimed.profile
        opening = CallOpening(
            call_id=self.id,
            run_id=claimed.run.id,
            step_id=claimed.step_id,
            plan_id=claimed.plan_id,
            step_name=claimed.name,
            round=claimed.round,
            part=self.part.plan.part,
            profile=profile,
            kind_version=claimed.kind.version,
            prompt_hash=prompt_hash(profile, self.prompt),
            prompt_tokens=tokens.count(self.prompt.system) + tokens.count(self.prompt.user),
            max_output_tokens=self.prompt.max_output_tokens,
        )

        async def work(connection: Connection) -> bool:
            run = await lock_run(connection, claimed.run.id)
            if run is None or run.status != RunStatus.RUNNING or run.epoch != claimed.run.epoch:
                self.step.watch.deleted = run is None
                return False
            if not await may_keep(connection, run.status, claimed.step_id):
                return False
            await open_call(connection, opening)
            return True

        if not await transaction(self.step.tools.pool, work, patience=float("inf")):
            self.step.watch.stop(Reason.INTERRUPTED)
            return False
        self.part.calls += 1
        return True

    async def stream(self) -> CallEnd | None:
        """The request; None when it was stopped."""
        step, claimed = self.step, self.step.claimed
        place = Place(
            run_id=claimed.run.id,
            step_id=claimed.step_id,
            plan_id=claimed.plan_id,
            part=self.part.plan.part,
            call_id=self.id,
        )
        self.writer = ItemWriter(
            pool=step.tools.pool,
            watch=step.watch,
            place=place,
            kind=claimed.kind,
            work=claimed.work,
            part=self.part,
        )
        self.call = step.tools.model.start(
            claimed.profile, self.prompt, on_item=self.writer.offer, on_text=lambda _: None
        )
        step.calls[self.id] = self.call
        storing = asyncio.create_task(self.writer.run())
        streaming: asyncio.Task[object] = asyncio.create_task(self.call.run())
        step.watch.streams.add(streaming)
        try:
            if step.watch.stopping is not None or step.aborted:
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
            storing.cancel()

    async def settle(self, end: CallEnd | None) -> PartEnd | None:
        """Stores everything the call brought; None when the part goes on with another call."""
        assert self.writer is not None and self.call is not None, "settled after it streamed"
        pending = await self.writer.take_pending()
        verdict = self._verdict(end, pending)
        if verdict is not None and verdict.code == PartEndCode.DONE:
            items = {part.plan.part: list(part.kept) for part in self.step.claimed.parts}
            items[self.part.plan.part] = [*self.part.kept, *pending]
            await self.step.closer.prepare(items)
        counters = self._counters(end)
        closing = self._closing(end)
        settled = await transaction(
            self.step.tools.pool,
            lambda c: self._store(c, pending, closing, counters, verdict, end),
            patience=float("inf"),
        )
        self.part.calls, self.part.early_ends, self.part.barren = counters
        if settled:
            self.part.kept.extend(pending)
            self.part.done = verdict is not None and verdict.code == PartEndCode.DONE
            return verdict
        self.step.watch.stop(Reason.SUPERSEDED)
        return PartEnd(code=PartEndCode.STOPPED)

    def _verdict(self, end: CallEnd | None, pending: list[Item]) -> PartEnd | None:
        assert self.writer is not None and self.call is not None, "settled after it streamed"
        if end is None:
            return PartEnd(code=PartEndCode.STOPPED)
        if end.failure is not None:
            return _failed(end.failure)
        claimed, fresh = self.step.claimed, self.writer.kept
        if end.cause is None:
            expected = claimed.kind.expected(claimed.work, self.part.plan)
            have = {item.key for item in (*self.part.kept, *pending)}
            if expected is None or have.issuperset(expected):
                return PartEnd(code=PartEndCode.DONE)
        spinning = end.cause is None or (
            end.cause != Reason.GARBLED and _normal(self.call.text) in self.part.reply_hashes
        )
        if spinning and not fresh:
            facts = {"part": self.part.plan.part, "calls": self.part.calls}
            return PartEnd(code=PartEndCode.FAILED, reason=Reason.SPINNING, params=facts)
        return None

    def _counters(self, end: CallEnd | None) -> tuple[int, int, int]:
        """calls, early_ends, barren after this call."""
        assert self.writer is not None, "settled after it streamed"
        part = self.part
        if end is not None and end.failure is not None and end.failure.verdict == Verdict.RETRY:
            return part.calls - 1, part.early_ends, part.barren  # nothing was made, nothing paid
        if end is None or end.failure is not None:
            return part.calls, part.early_ends, part.barren
        barren = 0 if self.writer.kept else part.barren + 1
        return part.calls, part.early_ends + (end.cause is not None), barren

    def _closing(self, end: CallEnd | None) -> CallClosing:
        assert self.writer is not None and self.call is not None, "settled after it streamed"
        call, claimed = self.call, self.step.claimed
        status, cause, error = CallStatus.SUCCEEDED, None, None
        if end is None:
            status = CallStatus.CANCELLED
            cause = self.step.watch.stopping or Reason.INTERRUPTED
        elif end.failure is not None:
            status, cause, error = CallStatus.FAILED, end.failure.cause, end.failure.message
        elif end.cause is not None:
            status, cause = CallStatus.FAILED, end.cause
        usage, source = call.usage, UsageSource.REPORTED
        if usage is None and (call.http_status == 200 or call.text):
            usage = tokens.estimate_usage(self.prompt, call.text)
            source = UsageSource.ESTIMATED
        elif usage is None:
            source = UsageSource.UNKNOWN
        return CallClosing(
            call_id=self.id,
            run_id=claimed.run.id,
            status=status,
            profile=claimed.profile,
            end_cause=cause,
            finish_reason=end.finish_reason if end else None,
            usage=usage,
            usage_source=source,
            http_status=call.http_status,
            provider_request_id=call.provider_request_id,
            first_token_ms=call.first_token_ms,
            error=error,
            items_kept=self.writer.kept,
            items_dropped=self.writer.dropped.total(),
            text=call.text,
            facts={"dropped": dict(self.writer.dropped)} if self.writer.dropped else {},
        )

    async def _store(
        self,
        connection: Connection,
        pending: list[Item],
        closing: CallClosing,
        counters: tuple[int, int, int],
        verdict: PartEnd | None,
        end: CallEnd | None,
    ) -> bool:
        """The transaction. False when the fence refused the result; the call is closed anyway."""
        claimed, done = self.step.claimed, verdict is not None and verdict.code == PartEndCode.DONE
        if done and self.step.closer.writes_revision:
            await lock_document_of(connection, claimed.run.id)
        run = await lock_run(connection, claimed.run.id)
        if run is None:
            self.step.watch.deleted = True
            return False
        if done and await self._committed_before(connection):
            return True
        mine = await may_keep(connection, run.status, claimed.step_id)
        if mine and pending:
            assert self.writer is not None, "settled after it streamed"
            await keep_items(connection, self.writer.place, pending)
        await close_call(connection, closing)
        if not mine:
            return False
        await self._count(connection, counters, done=done, end=end)
        if not done:
            return True
        if not await may_commit(connection, run, claimed):
            return False
        await finish_part(
            connection, claimed.plan_id, self.part.plan.part, dict(end.extras if end else {})
        )
        if await open_parts(connection, claimed.plan_id) == 0:
            await self.step.closer.close(connection, run)
        return True

    async def _committed_before(self, connection: Connection) -> bool:
        """The answer of the commit was lost and this is the second try."""
        found: bool = await connection.fetchval(
            """
            SELECT p.done_at IS NOT NULL AND c.status = 'SUCCEEDED'
            FROM step_parts p, model_calls c
            WHERE p.plan_id = $1 AND p.part = $2 AND c.id = $3
            """,
            self.step.claimed.plan_id,
            self.part.plan.part,
            self.id,
        )
        return bool(found)

    async def _count(
        self,
        connection: Connection,
        counters: tuple[int, int, int],
        *,
        done: bool,
        end: CallEnd | None,
    ) -> None:
        assert self.call is not None, "settled after it streamed"
        replied = end is not None and end.failure is None
        await connection.execute(
            """
            UPDATE step_parts SET calls = $3, early_ends = $4, barren = $5,
                reply_hashes = CASE WHEN $6::text IS NULL OR $6 = ANY (reply_hashes)
                    THEN reply_hashes ELSE reply_hashes || $6 END
            WHERE plan_id = $1 AND part = $2
            """,
            self.step.claimed.plan_id,
            self.part.plan.part,
            *counters,
            _normal(self.call.text) if replied else None,
        )
        if replied:
            self.part.reply_hashes.append(_normal(self.call.text))
        if self.call.text:
            await connection.execute(
                """
                UPDATE runs SET failures = 0, failing_since = NULL, last_error_code = NULL
                WHERE id = $1 AND (failures > 0 OR failing_since IS NOT NULL)
                """,
                self.step.claimed.run.id,
            )


def _failed(failure: Failure) -> PartEnd:
    if failure.verdict == Verdict.RETRY:
        return PartEnd(code=PartEndCode.RETRY, failure=failure)
    facts = {"code": failure.code, "http_status": failure.http_status}
    return PartEnd(code=PartEndCode.FAILED, reason=failure.cause, params=facts, failure=failure)


async def may_commit(connection: Connection, run: RunRow, claimed: Claimed) -> bool:
    """Own step RUNNING (asked before), epoch equal, the plan in force and about the working text."""
    if run.epoch != claimed.run.epoch or run.working_revision != claimed.input_revision:
        return False
    in_force: bool = await connection.fetchval(
        "SELECT voided_at IS NULL FROM step_plans WHERE id = $1", claimed.plan_id
    )
    return in_force


async def finish_part(
    connection: Connection, plan_id: str, part: str, result: dict[str, Any]
) -> None:
    await connection.execute(
        "UPDATE step_parts SET done_at = now(), result = $3 WHERE plan_id = $1 AND part = $2",
        plan_id,
        part,
        result,
    )


async def open_parts(connection: Connection, plan_id: str) -> int:
    """Counted after the run's lock was taken, or two siblings each see the other open."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM step_parts WHERE plan_id = $1 AND done_at IS NULL", plan_id
    )
    return count
