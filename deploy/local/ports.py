"""Free ports on loopback: a fixed wish for each, the next free one if it is taken.

Between looking and listening another stack could take the same port. On Linux each stack therefore
holds a name in the abstract socket namespace for every port it chose; it vanishes with the process.
"""

from __future__ import annotations

import errno
import socket
import sys

from deploy.local.errors import Refused

API = 8430
TEMPORAL_WEB = 8431
TEMPORAL = 8432
TEMPORAL_HTTP = 8433
TEMPORAL_METRICS = 8434
POSTGRES = 8435
MODEL = 8436
SPEECH = 8437
WORKER_HEALTH = 8440
_TRIES = 400


class Ports:
    """Ports chosen for one stack; they stay ours until the process ends."""

    def __init__(self) -> None:
        self._names: list[socket.socket] = []

    def next_free(self, wish: int, host: str = "127.0.0.1", *, kept: int | None = None) -> int:
        """The one of the last start where it is free still: links and joined terminals hold it."""
        if kept is not None and _can_listen(host, kept) and self._reserve(kept):
            return kept
        for port in range(wish, min(wish + _TRIES, 65536)):
            if _can_listen(host, port) and self._reserve(port):
                return port
        raise Refused(f"No free port between {wish} and {wish + _TRIES - 1} on {host}.")

    def exactly(self, port: int, host: str) -> int:
        """Raises Refused where the port is taken or not ours to open."""
        if not _can_listen(host, port) or not self._reserve(port):
            raise Refused(
                f"Port {port} on {host} is taken. Give another one with --port, "
                "or leave it out: then the next free one is used."
            )
        return port

    def _reserve(self, port: int) -> bool:
        if not sys.platform.startswith("linux"):
            return True
        name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            name.bind(f"\0redraft-port-{port}")
        except OSError:
            name.close()
            return False
        self._names.append(name)
        return True


def _can_listen(host: str, port: int) -> bool:
    """Listens for a moment, the way the child will: old connections in TIME_WAIT do not matter."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
            return True
    except socket.gaierror as error:
        raise Refused(f"--host {host}: {error.strerror}") from error
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise Refused(f"--host {host}: this machine has no such address") from error
        return False
