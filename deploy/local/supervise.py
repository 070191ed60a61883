"""One child under watch: asked by a real request, started again with growing delay, given up.

A child that ends, never answers, or stops answering is started again; more than five times within
a minute, and the stack ends with its last log lines instead of hiding a broken part.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.local.errors import PartFailed
from deploy.local.processes import Command, ProcessTable, Running, rotate, size_of, tail

_WINDOW = 60.0
_ASK_EVERY = 3.0
_FIRST_ASKS = (0.03, 0.25)


async def _nothing() -> None:
    return None


async def _nobody(pid: int, created: float) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Part:
    """How one part of the stack is run. Durations in seconds.

    `check` raises while the part does not answer. `patience`: silent for this long, it is taken
    for hung. `start_patience`: the same for its first answer. `delays`: before each new start
    within a minute; after the last of them the part is given up.
    """

    name: str
    command: Callable[[], Command]
    check: Callable[[], Awaitable[None]]
    prepare: Callable[[], Awaitable[None]] = _nothing
    reaped: Callable[[int, float], Awaitable[None]] = _nobody
    patience: float = 60.0
    start_patience: float = 120.0
    delays: tuple[float, ...] = (0.1, 0.5, 1.0, 2.0, 4.0)
    stop_signals: tuple[tuple[int, float], ...] = ((signal.SIGTERM, 5.0),)


class Child:
    """Keeps one part running; `watch` is its whole life, `ready` is set while it answers."""

    def __init__(self, part: Part, table: ProcessTable, say: Callable[[str], None]) -> None:
        self.part = part
        self.ready = asyncio.Event()
        self.running: Running | None = None
        self.restarts = 0
        self._table = table
        self._say = say
        self._recent: deque[float] = deque()
        self._before: int | None = None

    @property
    def answering(self) -> int | None:
        """The pid while it answers."""
        return self.running.pid if self.running and self.ready.is_set() else None

    async def watch(self) -> None:
        """Never returns; raises PartFailed when the part is given up."""
        while True:
            began = time.monotonic()
            await self.part.prepare()
            command = self.part.command()
            if self._before is None:
                self._before = size_of(command.log)
            self.running = self._table.spawn(command)
            trouble = await self._until_trouble(self.running, command.log)
            self.ready.clear()
            await self.end()
            await self._before_next(trouble, began, command.log)

    async def end(self, hurry: asyncio.Event | None = None) -> None:
        """Ends the process if it still runs: each signal with its patience, then SIGKILL."""
        running = self.running
        if running is None:
            return
        for number, seconds in self.part.stop_signals:
            if running.exited.is_set():
                break
            running.send(number)
            await running.wait(seconds, hurry)
            if hurry is not None and hurry.is_set():
                await running.wait(1.0)
        running.kill_group()
        await running.wait(5.0)
        self.running = None
        if running.created is not None:
            with contextlib.suppress(Exception):  # a notice for others; nothing here depends on it
                await asyncio.wait_for(self.part.reaped(running.pid, running.created), 2.0)

    async def _until_trouble(self, running: Running, log: Path) -> str:
        """Returns what went wrong, in words."""
        answered = time.monotonic()
        pause, longest = _FIRST_ASKS
        while True:
            error = await self._ask()
            now = time.monotonic()
            if running.exited.is_set():
                return running.ending
            if error is None:
                answered = now
                if not self.ready.is_set():
                    running.identify()
                    self.ready.set()
            patience = self.part.patience if self.ready.is_set() else self.part.start_patience
            if error is not None and now - answered > patience:
                return f"did not answer for {now - answered:.0f} s ({error})"
            rotate(log)
            if await running.wait(_ASK_EVERY if self.ready.is_set() else pause):
                return running.ending
            pause = min(pause * 1.3, longest)

    async def _ask(self) -> str | None:
        try:
            async with asyncio.timeout(5.0):
                await self.part.check()
        except TimeoutError:
            return "no answer within 5 s"
        except (OSError, ValueError) as error:
            return str(error) or type(error).__name__
        return None

    async def _before_next(self, trouble: str, began: float, log: Path) -> None:
        now = time.monotonic()
        self._recent.append(now)
        while self._recent and self._recent[0] < now - _WINDOW:
            self._recent.popleft()
        delays = self.part.delays
        if len(self._recent) > len(delays):
            raise PartFailed(
                f"{self.part.name} {trouble}. It was started again {len(delays)} times within a "
                f"minute, which did not help. {self._last_words(log)}"
            )
        self.restarts += 1
        delay = delays[len(self._recent) - 1]
        lived = now - began
        self._say(
            f"{self.part.name} {trouble} after {lived:.0f} s; starting it again "
            f"({len(self._recent)} of {len(delays)} in a minute)"
        )
        await asyncio.sleep(delay)

    def _last_words(self, log: Path) -> str:
        """What the part wrote since this `up` began; the log has earlier ones' before that."""
        before = self._before or 0
        # Smaller than it was: it was cut meanwhile, and all that is in it is new.
        said = tail(log, since=before if size_of(log) >= before else 0)
        if not said.strip():
            return f"It wrote nothing to {log} since this start."
        return f"What it wrote last to {log} since this start:\n{said}"
