"""A worker's id, which describes itself: machine, boot, pid namespace, pid, start time."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import uuid
from pathlib import Path

import psutil

from activities.owning.death import Identity
from deploy.process_start import start_of


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def machine_name() -> str:
    """Differs between hosts even if they were cloned from one image: name, id and address."""
    facts = f"{socket.gethostname()}|{_read('/etc/machine-id')}|{uuid.getnode()}"
    return hashlib.sha256(facts.encode()).hexdigest()[:16]


def boot_name() -> str:
    return _read("/proc/sys/kernel/random/boot_id") or f"{psutil.boot_time():.0f}"


def pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"


def own_identity() -> Identity:
    pid = os.getpid()
    return Identity(
        machine=machine_name(),
        boot=boot_name(),
        pid_ns=pid_namespace(),
        pid=pid,
        started=round(start_of(pid), 2),
        nonce=secrets.token_hex(4),
    )
