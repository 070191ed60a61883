"""Processes of an earlier stack that still run, or only seem to.

The caller holds the data directory, so whatever still works on it has lost its supervisor. A pid
alone proves nothing: it may be a zombie, or another process by now.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deploy.local.data import DataDirectory, same_processes
from deploy.process_start import start_of

if TYPE_CHECKING:
    import psutil


async def end_children(data: DataDirectory) -> None:
    """Ends what `live.json` names and is still the same process (macOS: no death signal there)."""
    live = data.read("live.json")
    if not live or not same_processes(live):
        return
    found = [_same(child) for child in live.get("children", [])]
    await _end([process for process in found if process], (signal.SIGTERM, signal.SIGKILL))


async def end_postgres(cluster: Path) -> None:
    """Waits for, then ends a left-over server of this cluster; removes its stale pid file."""
    pid_file = cluster / "postmaster.pid"
    try:
        pid = int(pid_file.read_text(encoding="ascii", errors="replace").splitlines()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return
    server = _server_of(pid, cluster)
    if server is None:
        pid_file.unlink(missing_ok=True)
        return
    # After a kill of its supervisor it is already shutting down: that is worth waiting for.
    if not await _gone([server], 5.0):
        await _end([server], (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL))


def _server_of(pid: int, cluster: Path) -> psutil.Process | None:
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or "postgres" not in process.name():
            return None
        return process if Path(process.cwd()).samefile(cluster) else None
    except (psutil.Error, OSError):
        return None


def _same(child: dict[str, Any]) -> psutil.Process | None:
    import psutil

    with contextlib.suppress(psutil.Error, KeyError):
        process = psutil.Process(child["pid"])
        began = start_of(process.pid), process.create_time()  # that is how older versions count
        if any(abs(one - child["created"]) < 0.05 for one in began):
            return process if process.status() != psutil.STATUS_ZOMBIE else None
    return None


async def _end(processes: Iterable[psutil.Process], signals: Iterable[int]) -> None:
    import psutil

    for number in signals:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        if await _gone(processes, 4.0):
            return


async def _gone(processes: Iterable[psutil.Process], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(_alive(process) for process in processes):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


def _alive(process: psutil.Process) -> bool:
    import psutil

    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
