"""A process of the place: started, stopped, killed, frozen; and whose death was whose fault."""

from __future__ import annotations

import asyncio
import contextlib
import math
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import psutil

Begin = Callable[[Mapping[str, str]], "subprocess.Popen[bytes]"]


@dataclass(kw_only=True)
class Blame:
    """A process that a fault took away between these two times (`time.time()`)."""

    pid: int
    how: str
    since: float
    until: float = math.inf


class Member:
    """`wanted` says whether it should run: whoever supervises starts what is wanted and gone."""

    def __init__(self, name: str, begin: Begin) -> None:
        self.name, self.begin = name, begin
        self.process: subprocess.Popen[bytes] | None = None
        self.wanted = False
        self.started_at = 0.0
        self.blames: list[Blame] = []

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    def start(self, **more: str) -> None:
        """Only from the main thread: the child dies with the thread that made it."""
        if not self.alive:
            self.process = self.begin(more)
            self.started_at = time.monotonic()
        self.wanted = True

    def blame(self, how: str) -> Blame:
        found = Blame(pid=self.pid, how=how, since=time.time())
        self.blames.append(found)
        return found

    async def kill(self) -> None:
        """kill -9, with all its children; reaped when this returns."""
        self.wanted = False
        if not self.alive:
            return
        self.strike()
        await self.reaped()

    def strike(self) -> None:
        """The same without waiting for its end."""
        self.wanted = False
        if self.alive:
            self.blame("killed")
            for process in self._tree():
                with contextlib.suppress(psutil.Error):
                    process.kill()

    def kill_now(self) -> None:
        """The process alone and without waiting, for who is in the middle of something."""
        self.wanted = False
        if self.alive and self.process is not None:
            self.blame("killed")
            self.process.kill()

    async def stop(self, how: int = signal.SIGTERM, patience: float = 30.0) -> bool:
        """An orderly end; False when it had to be killed after so many seconds."""
        self.wanted = False
        if not self.alive or self.process is None:
            return True
        self.blame("stopped")
        self.process.send_signal(how)
        if await self.reaped(patience):
            return True
        await self.kill()
        return False

    async def reaped(self, patience: float = 30.0) -> bool:
        if self.process is None:
            return True
        try:
            await asyncio.to_thread(self.process.wait, patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    @contextlib.contextmanager
    def frozen(self, *, beyond: bool) -> Iterator[None]:
        """SIGSTOP and SIGCONT, children included. `beyond`: longer than anybody waits, so that it
        counts as dead."""
        blame = self.blame("frozen") if beyond else None
        tree = self._tree()
        for process in tree:
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in reversed(tree):
                with contextlib.suppress(psutil.Error):
                    process.send_signal(signal.SIGCONT)
            if blame is not None:
                blame.until = time.time()

    def _tree(self) -> list[psutil.Process]:
        try:
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        except psutil.Error:
            return []
