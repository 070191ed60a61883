"""A Postgres cluster on a disk that can be filled: a tmpfs of its own, where it may be mounted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.services import PostgresServer

SIZE = "2g"
_BALLAST = "ballast"
_PAGE = 4096


class SmallDiskPostgres(PostgresServer):
    """`begin` makes the cluster first where there is none. `lacking` says why the disk cannot be
    filled here; None when it can."""

    def __init__(self) -> None:
        super().__init__()
        self.home = self.folder
        self.lacking = self._mount(self.home / "disk")
        if self.lacking is None:
            self.folder = self.home / "disk"

    def settings(self) -> dict[str, str]:
        return {**super().settings(), "max_wal_size": "192MB", "min_wal_size": "32MB"}

    def begin(self) -> None:
        if not (self.folder / "data" / "PG_VERSION").exists():
            self.make()
        self.start()

    def fill(self) -> None:
        """Takes what is left, in ever smaller pieces: others write meanwhile."""
        at, piece = 0, 64 * 1024 * 1024
        with (self.folder / _BALLAST).open("wb") as file:
            while piece >= _PAGE:
                try:
                    os.posix_fallocate(file.fileno(), at, piece)
                    at += piece
                except OSError:
                    piece //= 2

    def empty(self) -> None:
        (self.folder / _BALLAST).unlink(missing_ok=True)

    def remove(self) -> None:
        super().remove()
        if self.lacking is None:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def _mount(self, disk: Path) -> str | None:
        mount = shutil.which("mount")
        if mount is None or os.geteuid() != 0:
            return "only root can make a small disk"
        disk.mkdir()
        done = subprocess.run(
            [mount, "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "redraft-faults", str(disk)],
            capture_output=True,
            text=True,
            check=False,
        )
        return None if done.returncode == 0 else f"no tmpfs: {done.stderr.strip()}"
