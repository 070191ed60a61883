"""How long is waited for a provider, by a process that may have stood still meanwhile.

A worker that was frozen, or whose machine slept, finds its timers overdue and the replies that came
meanwhile unread, and no event loop promises that it reads first. So a limit that has passed is
looked at once more after a moment in which the loop came round on time: what had arrived is read by
then and has moved the limit.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

LOOK = 0.25
"""Seconds from a limit that passed to the look at it; a look that is later than this again proves
nothing."""
MOST_LOOKS = 20
"""A loop that never comes round on time must not wait for ever."""


class Patience:
    """`asyncio.timeout_at(when)`, believed a look later; `when` is a time of the running loop.

    Leaving raises TimeoutError if the limit ended what was inside.
    """

    def __init__(self, when: float) -> None:
        self._when = when
        self._looks = 0
        self._timeout = asyncio.Timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Patience:
        await self._timeout.__aenter__()
        self._wait_until(self._when)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(exc_type, exc, trace)

    def reschedule(self, when: float) -> None:
        """Wait until then; nothing when that has passed already, or it has ended."""
        if self._timeout.expired() or (self._looks and when <= self._when):
            return
        self._when, self._looks = when, 0
        self._wait_until(when)

    def _wait_until(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._passed, when)

    def _passed(self, due: float) -> None:
        now = asyncio.get_running_loop().time()
        on_time = self._looks > 0 and now - due < LOOK
        if on_time or self._looks >= MOST_LOOKS:
            self._timeout.reschedule(now)
            return
        self._looks += 1
        self._wait_until(now + LOOK)
