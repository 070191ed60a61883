"""What activities are given once per process: pools, settings, kinds, the model client.

Captured on the activity instances; never travels in an input.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg

from activities.owning.death import Witness
from activities.owning.presence import Presence
from activities.owning.watch import InFlight
from deploy.database import Pool, Result
from deploy.settings import Settings
from workflows.kinds.kind import Kind

if TYPE_CHECKING:
    from activities.model.client import ModelClient

TURNS = 4
"""So many steps at once do what is not yet paid or already stored: reading, cutting, claiming,
wording a request, judging a result. A busy worker thus lets work wait before its request, not a
reply before its commit, where a dead worker loses it."""
HELD_AGAIN = 2.0
"""Seconds at most until a run that somebody holds is tried again."""


@dataclass(kw_only=True)
class Tools:
    """`searchable`: the namespace knows our search attributes (found out at start)."""

    settings: Settings
    pool: Pool
    kinds: dict[str, Kind]
    model: ModelClient
    presence: Presence
    witness: Witness
    in_flight: InFlight = field(default_factory=InFlight)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TURNS))
    """Never held over a request, a wait or another turn; storing what came in needs none."""
    searchable: bool = False
    suspects: set[str] = field(default_factory=set)
    """Runs whose execution may have been ended from outside; the sweep looks at them at once."""
    unreleased: set[str] = field(default_factory=set)
    """Runs that an attempt of this process has not given up yet (`activities.owning.ownership`)."""

    @property
    def worker(self) -> str:
        """This process's id as rows name it."""
        return str(self.presence.identity)

    async def in_turn(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """A short transaction, in a turn. Whoever's run somebody holds waits outside of it for the
        next try: as many held runs as there are turns would let no other one begin."""
        delay = 0.05
        while True:
            async with self.turns:
                try:
                    return await work()
                except asyncpg.LockNotAvailableError:
                    pass
            await asyncio.sleep(delay)
            delay = min(delay * 1.7, HELD_AGAIN)
