"""Redraft's own processes for tests, forked from one that has imported everything.

Imports are most of what a start costs, and the tests start some hundreds. A nursery is a process
that imported a program (`worker`, `api`) and nothing else of it has run; each child goes on with
that program's `main` under the variables it is given, in a session of its own, and dies with the
nursery, which dies with the tests. Where there is no fork to trust (not Linux), and where how a
program is started is what a test is about, `tests.services.spawn` starts it as a user does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deploy.local.processes import _tie_to_parent
from tests.services import end, spawn

BEYOND = {
    "api": (
        "api.app",
        "uvicorn.lifespan.on",
        "uvicorn.protocols.http.auto",
        "anyio._backends._asyncio",
    ),
    "worker": (),
}
"""What a program imports after its start."""


class Child(subprocess.Popen[bytes]):
    """A process that a nursery made: its pid, and what can be done to it as to one of our own."""

    def __init__(self, nursery: Nursery, pid: int, argv: list[str]) -> None:
        self._child_created = False  # by `Popen`, which would wait for it as for its own
        self.args, self.pid, self.returncode = argv, pid, None
        self.stdin = self.stdout = self.stderr = None
        self._nursery = nursery

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ask(look=self.pid)
        found: int | None = self.returncode
        return found

    def wait(self, timeout: float | None = None) -> int:
        give_up = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if give_up is not None and time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            time.sleep(0.005)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:  # not reaped: the pid is still its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)


class Nursery:
    """`begin(log=…, environment=…)`; `close()` ends it with all its children."""

    def __init__(self, program: str) -> None:
        self.program = program
        self._ours, theirs = socket.socketpair()
        self._said = self._ours.makefile("r", encoding="utf-8")
        self._turn = threading.Lock()
        self._log = Path(tempfile.mkstemp(prefix=f"redraft-nursery-{program}-", suffix=".log")[1])
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            argv = [sys.executable, "-m", "tests.nursery", program, str(theirs.fileno())]
            self.process = spawn(argv, log=self._log, pass_fds=(theirs.fileno(),))

    def begin(self, *, log: Path, environment: Mapping[str, str]) -> Child:
        """A child that runs the program; its words go to `log`."""
        pid = self.ask(begin={"log": str(log), "environment": dict(environment)})
        return Child(self, pid, [sys.executable, "-m", self.program])

    def ask(self, **what: Any) -> Any:
        with self._turn:
            self._ours.sendall(json.dumps(what).encode() + b"\n")
            answer = self._said.readline()
        if not answer:
            raise RuntimeError(f"the nursery is gone: {self._log.read_text(errors='replace')}")
        return json.loads(answer)

    def close(self) -> None:
        self._said.close()
        self._ours.close()
        end(self.process, signal.SIGKILL)
        self._log.unlink(missing_ok=True)


_nurseries: dict[str, Nursery] = {}


def begin(program: str, *, log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """`worker` or `api`, begun; the first of its kind waits for the imports."""
    if not sys.platform.startswith("linux"):
        return spawn([sys.executable, "-m", program], log=log, environment=environment)
    if program not in _nurseries:
        _nurseries[program] = Nursery(program)
        atexit.register(_nurseries[program].close)
    return _nurseries[program].begin(log=log, environment=environment)


# What follows runs in the nursery.


def _serve(program: str, asked: socket.socket) -> Callable[[], int] | None:
    """Answers until the tests are gone; in a child what it has to run is returned."""
    tie = _tie_to_parent(signal.SIGKILL)
    for line in _lines(asked):
        what = json.loads(line)
        if "look" in what:
            answer = _look(what["look"])
        else:
            answer = os.fork()
            if answer == 0:
                if tie is not None:
                    tie()
                asked.close()
                return _born(program, **what["begin"])
        asked.sendall(json.dumps(answer).encode() + b"\n")
    return None


def _lines(asked: socket.socket) -> Iterator[bytes]:
    """One after the other; nothing is read ahead, which a child would have too."""
    line = b""
    while byte := asked.recv(65536):
        line += byte
        if line.endswith(b"\n"):
            yield line
            line = b""


def _look(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _born(program: str, *, log: str, environment: dict[str, str]) -> Callable[[], int]:
    os.setsid()
    words = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for number in (1, 2):
        os.dup2(words, number)
    os.close(words)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program]
    main: Callable[[], int] = importlib.import_module(f"{program}.__main__").main
    return main


def _nursery(program: str, number: int) -> int:
    for name in (f"{program}.__main__", "workflows.kinds", *BEYOND[program]):
        importlib.import_module(name)
    importlib.import_module("workflows.kinds").load_kinds()
    if threading.active_count() > 1:
        raise RuntimeError("an import started a thread: no child of this process is safe")
    gc.collect()
    gc.freeze()
    run = _serve(program, socket.socket(fileno=number))
    return 0 if run is None else run()


if __name__ == "__main__":
    sys.exit(_nursery(sys.argv[1], int(sys.argv[2])))
