"""What a call may take of a run's limits, and what its reply takes while it arrives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from activities.model.profile import Profile
from activities.model.tokens import Usage
from workflows import pricing
from workflows.budget import COST, TOKENS, Amounts, Over

if TYPE_CHECKING:
    from activities.model.client import ModelCall

COUNTED_AGAIN = 64
"""Bytes behind which a reply that is longer than it should be is counted again."""
THINKING_SECONDS = 0.5
LOOK_SECONDS = 1.0
_ZERO = Decimal(0)


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, kw_only=True)
class Need:
    """The most a call may take: its prompt, as estimated, and the longest reply it asks for; or the
    seconds of sound that are heard."""

    prompt: int
    output: int
    profile: Profile
    sound: float | None = None

    @property
    def tokens(self) -> int:
        return self.prompt + self.output

    @property
    def cost(self) -> Decimal | None:
        return self.cost_of(self.output)

    def cost_of(self, output: int) -> Decimal | None:
        if self.sound is not None:
            return pricing.sound(self.profile.prices, seconds=self.sound, at=_today())
        return pricing.most(self.profile.prices, input=self.prompt, output=output, at=_today())

    def beyond(self, received: int) -> dict[str, Decimal]:
        """What a reply of so many tokens takes beyond what was reserved for it."""
        more = max(received - self.output, 0)
        cost = (self.cost_of(received) or _ZERO) - (self.cost or _ZERO) if more else _ZERO
        return {TOKENS: Decimal(more), COST: cost}


@dataclass(kw_only=True, eq=False)
class Meter:
    """What the open calls of one step received, held against what is left of the run's limits.

    A step's parts run in one process and a run has one step at a time, so this sees all of them.
    """

    limits: Amounts = field(default_factory=dict)
    left: dict[str, Decimal] = field(default_factory=dict)
    """Of each limit behind everything closed and reserved, as of the last look at the rows."""
    open: dict[str, Need] = field(default_factory=dict)
    beyond: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    """By call, what it received beyond its reservation."""
    ended: int = 0
    freed: asyncio.Event = field(default_factory=asyncio.Event)

    def begins(self, call_id: str, need: Need, limits: Amounts, used: Amounts) -> None:
        """A call got its row; `used` is what is closed and reserved, this call's part too."""
        self.open[call_id] = need
        self.limits = {name: limits[name] for name in (TOKENS, COST) if name in limits}
        self.left = {name: limit - used[name] for name, limit in self.limits.items()}

    def over(self, call_id: str, received: int) -> Over | None:
        """The limit that this call passes with so many tokens of reply, if any."""
        need = self.open.get(call_id)
        if need is None or received <= need.output:
            return None
        self.beyond[call_id] = need.beyond(received)
        more = self.more
        for name, left in self.left.items():
            if more[name] > left:
                limit = self.limits[name]
                needed = limit - left + more[name]
                return Over(name=name, limit=limit, used=limit - left, needed=needed)
        return None

    @property
    def more(self) -> dict[str, Decimal]:
        """What all open calls together received beyond their reservations."""
        return {
            name: sum((by[name] for by in self.beyond.values()), _ZERO) for name in (TOKENS, COST)
        }

    def forget(self, call_id: str) -> None:
        """It did not begin after all."""
        self.open.pop(call_id, None)

    def ends(self, call_id: str, usage: Usage | None) -> None:
        """What the call did not use of its reservation is free again."""
        self.ended += 1
        self.freed.set()
        need = self.open.pop(call_id, None)
        self.beyond.pop(call_id, None)
        if need is None or usage is None:
            return
        cost = pricing.price(need.profile.prices, **vars(usage), at=_today())
        unused = {
            TOKENS: Decimal(need.tokens - usage.input - usage.output),
            COST: (need.cost or _ZERO) - (cost or _ZERO),
        }
        self.left = {name: left + unused[name] for name, left in self.left.items()}

    async def room(self, before: int) -> bool:
        """Whether a call that was refused may fit now: a sibling ended since `ended` was `before`,
        or one does within a second, or is still open then. False: nothing else is reserved."""
        if self.ended != before:
            return True
        if not self.open:
            return False
        self.freed.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.freed.wait(), LOOK_SECONDS)
        return True


class Metered:
    """One reply as it arrives: cut when it takes more than is left, whatever it was asked for."""

    def __init__(self, meter: Meter, call_id: str, need: Need) -> None:
        self.meter, self.call_id, self.need = meter, call_id, need
        self.over: Over | None = None
        self.call: ModelCall | None = None
        self.cut: Callable[[], object] = lambda: None
        self._unread = need.output

    def text(self, text: str) -> None:
        """Counts only where it may matter: a token is a byte at least."""
        self._unread -= len(text.encode("utf-8", "replace"))
        if self._unread < 0 and self.meter.limits:
            self._count()

    async def thinking(self) -> None:
        """What a model thinks aloud is paid for too, and no text tells of it."""
        while self.call is not None:
            await asyncio.sleep(THINKING_SECONDS)
            if len(self.call.thinking.encode("utf-8", "replace")) > self.need.output:
                self._count()

    def _count(self) -> None:
        assert self.call is not None, "nothing arrives without a call"
        received = self.need.profile.learned.output(self.call.received)
        self._unread = max(self.need.output - received, COUNTED_AGAIN)
        self.over = self.over or self.meter.over(self.call_id, received)
        if self.over is not None:
            self.cut()
