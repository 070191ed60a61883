"""A claimed step as its parts share it, and how a part may settle."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Protocol

from activities.claim import Claimed
from activities.failures import Failure
from activities.hooks import Hook, committed, effect
from activities.items import PartState, Place
from activities.model.client import ModelCall
from activities.model.learned import Size
from activities.model.tokens import Usage
from activities.owning.watch import Watch
from activities.projection import CallClosing, CallOpening, close_call, open_call
from activities.record import RunRow
from activities.spending.budget import Refused, reserve
from activities.spending.metering import Meter, Need
from activities.steps.recording import Ear
from activities.tools import Tools
from deploy.database import Connection, Result
from workflows.budget import SECONDS
from workflows.kinds.kind import Item
from workflows.vocabulary import CallStatus, Reason, RunStatus, UsageSource


class PartEndCode(StrEnum):
    DONE = "done"
    STOPPED = "stopped"
    RETRY = "retry"
    LIMITED = "limited"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class PartEnd:
    """How a part settled. `failure` with RETRY; `reason` and `params` with LIMITED and FAILED."""

    code: PartEndCode
    failure: Failure | None = None
    reason: Reason | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def limited(part: PartState, reason: Reason, params: Mapping[str, Any]) -> PartEnd:
    """A limit of the run is in the way of this part's next token."""
    facts = {"part": part.plan.part, **params}
    return PartEnd(code=PartEndCode.LIMITED, reason=reason, params=facts)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a call asks for, as its row tells of it."""

    prompt_hash: str
    size: Size
    recipe: Mapping[str, Any]
    """The pieces of the request by their ids: with them it can be made again."""
    kept: int = 0
    """Items that its part has already."""


class Closer(Protocol):
    """What a step comes to when all its parts are stored."""

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
    later: bool = False
    """A sibling has to be tried again later: those that have not begun wait for that too."""
    aborted: bool = False
    """A sibling failed for good: no further call of this step."""
    overdue: bool = False
    """The run's time is up: nothing of this step goes on."""
    meter: Meter = field(default_factory=Meter)
    leave: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    """What ends with the step, as a child process does."""

    @cached_property
    def ear(self) -> Ear:
        open_parts = [part.plan for part in self.claimed.parts if not part.done]
        return Ear(tools=self.tools, run=self.claimed.run, open_parts=open_parts, leave=self.leave)

    def place(self, part: PartState, call_id: str) -> Place:
        """Where the items of this call belong."""
        claimed = self.claimed
        return Place(
            run_id=claimed.run.id,
            step_id=claimed.step_id,
            plan_id=claimed.plan_id,
            part=part.plan.part,
            call_id=call_id,
        )

    def opening(self, place: Place, need: Need, asked: Asked) -> CallOpening:
        claimed, days = self.claimed, self.tools.settings.body_retention_days
        return CallOpening(
            **vars(place),
            step_name=claimed.name,
            round=claimed.round,
            profile=need.profile,
            kind_version=claimed.kind.version,
            prompt_hash=asked.prompt_hash,
            need=need,
            size=asked.size,
            kept=asked.kept,
            recipe=asked.recipe if days else None,
            body_seconds=days * 86_400.0,
        )

    async def opens(self, opening: CallOpening) -> Refused | bool:
        """Commits a call's row, and reserves what it needs, before the request. Refused: a limit
        lets no call begin; False: the fence does not, and the step ends."""
        claimed = self.claimed

        async def work(connection: Connection) -> Refused | bool:
            fence = await claimed.lock(connection)
            if fence is None:
                self.watch.gone()
                return False
            run = fence.run
            if run.status != RunStatus.RUNNING or run.epoch != claimed.run.epoch:
                return await _unsent(connection, opening)
            if fence.refusal is not None or not fence.plan_in_force:
                return await _unsent(connection, opening)
            refused = await reserve(connection, run, opening.call_id, opening.need, self.meter)
            if refused is None:
                await open_call(connection, opening)
            return refused or True

        opened = await self.tools.in_turn(
            lambda: committed(
                Hook.OPEN_CALL, self.tools.pool, work, patience=float("inf"), waits=False
            )
        )
        if opened is not True:
            self.meter.forget(opening.call_id)
        if opened is False:
            self.watch.stop(Reason.INTERRUPTED)
        return opened

    async def settles(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """The transaction of all that a call brought."""
        return await committed(Hook.SETTLE, self.tools.pool, work, patience=float("inf"))

    async def requests(self, work: Awaitable[Result]) -> Result:
        """What the provider sees."""
        async with effect(Hook.REQUEST):
            return await work

    def out_of_time(self, part: PartState) -> PartEnd | None:
        if not self.overdue:
            return None
        params = {"limit": self.claimed.run.limits.get(SECONDS)}
        return limited(part, Reason.LIMIT_SECONDS, params)


async def _unsent(connection: Connection, opening: CallOpening) -> Literal[False]:
    """No request is sent, so nothing was used. Its row may be there, of a commit whose answer was
    lost before the run was stopped: nobody else would ever close it."""
    closing = CallClosing(
        call_id=opening.call_id,
        run_id=opening.run_id,
        status=CallStatus.CANCELLED,
        profile=opening.profile,
        end_cause=Reason.INTERRUPTED,
        usage=Usage(input=0, output=0),
        usage_source=UsageSource.ESTIMATED,
    )
    await close_call(connection, closing)
    return False
