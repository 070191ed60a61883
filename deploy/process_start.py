"""When a process began, which tells it from another one that got its pid later."""

from __future__ import annotations

import os
from pathlib import Path


def start_of(pid: int) -> float:
    """In seconds since the boot, where the system keeps them, for setting the clock moves what is
    counted from the epoch; else since the epoch. Raises psutil.NoSuchProcess."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(facts[19]) / os.sysconf("SC_CLK_TCK")
    except OSError:
        import psutil

        return psutil.Process(pid).create_time()
