"""Processes tied to this one: own session, own log file, and a signal from the kernel if we die.

Linux sends the death signal when the *thread* that forked ends, so everything is spawned from the
main thread. macOS has no such signal; there `data.py`'s list of children finds left-overs.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.local.accounts import Account
from deploy.process_start import start_of

_PR_SET_PDEATHSIG = 1
_LOG_LIMIT = 8 * 1024 * 1024
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to run and where its words go; `death_signal` is sent to it when we die."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path
    log: Path
    account: Account | None = None
    death_signal: int = signal.SIGKILL


class Running:
    """A started process; `exited` is set once it was reaped."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.created: float | None = None
        self.exited = asyncio.Event()

    @property
    def pid(self) -> int:
        return self.process.pid

    def identify(self) -> None:
        """Notes when it was made, as `start_of` says it, which tells it from a reused pid."""
        import psutil

        with contextlib.suppress(psutil.Error):
            self.created = start_of(self.pid)

    @property
    def ending(self) -> str:
        """How it ended, for people."""
        code = self.process.returncode
        if code is not None and code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def kill_group(self) -> None:
        """Ends it and whatever it started itself; only before it was reaped."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    async def wait(self, seconds: float, hurry: asyncio.Event | None = None) -> bool:
        """True once it ended; False after that many seconds, or as soon as `hurry` is set."""
        waiting = [asyncio.ensure_future(self.exited.wait())]
        if hurry is not None:
            waiting.append(asyncio.ensure_future(hurry.wait()))
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        return self.exited.is_set()


class ProcessTable:
    """Spawns and reaps; one per event loop, which must be the main thread's."""

    def __init__(self) -> None:
        self._running: set[Running] = set()
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self.reap)

    def spawn(self, command: Command) -> Running:
        account = command.account
        command.log.parent.mkdir(parents=True, exist_ok=True)
        with command.log.open("ab") as log:
            process = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=command.directory,
                env=dict(command.environment),
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                # Safe here: the supervisor has one thread.
                preexec_fn=_tie_to_parent(command.death_signal),  # noqa: PLW1509
            )
        running = Running(process)
        self._running.add(running)
        return running

    def reap(self) -> None:
        for running in list(self._running):
            if running.process.poll() is not None:
                self._running.discard(running)
                running.exited.set()

    async def run(self, command: Command) -> int:
        """Runs it to its end and returns the exit code; a cancelled wait ends it."""
        running = self.spawn(command)
        try:
            await running.exited.wait()
        finally:
            running.kill_group()
        return int(running.process.returncode)


def _tie_to_parent(number: int) -> Callable[[], None] | None:
    libc, parent = _LIBC, os.getpid()
    if libc is None:
        return None

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # it died between fork and prctl: no signal would come
            os._exit(1)

    return tie


def size_of(log: Path) -> int:
    """In bytes; 0 where there is none yet."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def tail(log: Path, lines: int = 12, *, since: int = 0) -> str:
    """The last lines of a log that were written after its first `since` bytes, or nothing."""
    try:
        with log.open("rb") as file:
            file.seek(max(since, log.stat().st_size - 16384))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def rotate(log: Path, limit: int = _LOG_LIMIT) -> None:
    """Keeps one older part. The child appends to the same open file, so it is copied and cut."""
    try:
        if log.stat().st_size <= limit:
            return
        with log.open("rb") as source, log.with_suffix(".1.log").open("wb") as older:
            source.seek(-limit, os.SEEK_END)
            older.write(source.read(limit))
        os.truncate(log, 0)
    except OSError:
        # A full disk is when a log grows most: cutting it is what matters.
        with contextlib.suppress(OSError):
            if log.stat().st_size > 2 * limit:
                os.truncate(log, 0)
