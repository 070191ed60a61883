"""What a running activity knows about being stopped.

Whoever hears of a change (notification, the poll of rows, Temporal's cancel) makes the activity
look at its row; only the row makes it stop. Stopping cancels what streams, never a commit.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

from activities.record import RunRow
from workflows.vocabulary import Reason


@dataclass(kw_only=True, eq=False)
class Watch:
    """One activity in this process. `step_id` is set while it holds a RUNNING step."""

    run_id: str
    epoch: int
    step_id: str | None = None
    stopping: Reason | None = None
    deleted: bool = False
    doubted: bool = False
    """The last poll did not show the own step RUNNING; two in a row make it stop."""
    look: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    streams: set[asyncio.Task[object]] = field(default_factory=set)
    step: object = None
    """The step under way, for heartbeat details."""
    leaving: bool = False
    """The worker was told to end: what is under way may finish, nothing new is begun."""
    left: RunRow | None = None
    """The run as the last commit left it: the next claim prepares by that, once."""
    released: bool = False
    """The last commit ended this piece of work and gave up the ownership of the run."""
    told: bool = False
    """Temporal cancelled, timed out or forgot this attempt."""

    def stop(self, reason: Reason) -> None:
        """The first reason stands. Streams end; parts then store what they have."""
        if self.stopping is None:
            self.stopping = reason
        self.stopped.set()
        for stream in self.streams:
            stream.cancel()

    def gone(self) -> None:
        """The run was deleted: a stop, not a failure."""
        self.deleted = True
        self.stop(Reason.INTERRUPTED)

    async def pause(self, seconds: float) -> None:
        """Waits, at most this long, until told to stop."""
        try:
            await asyncio.wait_for(self.stopped.wait(), seconds)
        except TimeoutError:
            return


class InFlight:
    """All watches of this process, and the ids of the steps it holds.

    `steps` is written to the worker's row each second from the event loop: a step that is missing
    there is dead even though its process lives.
    """

    def __init__(self) -> None:
        self.watches: set[Watch] = set()
        self.steps: set[str] = set()
        self.shown = -math.inf
        """When, by the monotonic clock, the worker's row was last written by its own beat."""

    def of_run(self, run_id: str) -> list[Watch]:
        return [watch for watch in self.watches if watch.run_id == run_id]
