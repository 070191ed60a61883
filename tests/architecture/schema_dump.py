"""The schema as `pg_dump` tells it, without what differs from machine to machine.

`python -m tests.architecture.schema_dump` starts the embedded Postgres in a temporary folder,
migrates it and prints the dump.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.local import postgres
from deploy.local.binaries import wheel_programs
from deploy.local.data import DataDirectory
from deploy.local.ports import POSTGRES, Ports
from deploy.local.processes import ProcessTable
from deploy.migrations.__main__ import migrate

START_SECONDS = 60.0
_NOISE = re.compile(r"^(--.*|SET .*;|SELECT pg_catalog\.set_config.*;|\\(un)?restrict .*)$")


def dump(url: str) -> str:
    """The normalised dump of a migrated database; the address is the owner's."""
    done = subprocess.run(
        [str(wheel_programs() / "pg_dump"), "--schema-only", "--no-owner", f"--dbname={url}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 0:
        raise RuntimeError(f"pg_dump: {done.stderr.strip()}")
    return normalised(done.stdout)


def normalised(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if not _NOISE.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


async def fresh_dump() -> str:
    """From an empty cluster of our own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="redraft-schema-") as folder:
        data = _data_directory(Path(folder))
        table = ProcessTable()
        server = await postgres.prepare(data, Ports().next_free(POSTGRES + 500), table)
        running = table.spawn(server.server())
        try:
            async with asyncio.timeout(START_SECONDS):
                await _answers(server)
            await postgres.prepare_database(server)
            await migrate(server.url(postgres.OWNER))
            return await asyncio.to_thread(dump, server.url(postgres.OWNER))
        finally:
            running.send(2)
            if not await running.wait(5.0):
                running.kill_group()


def _data_directory(folder: Path) -> DataDirectory:
    folder.chmod(0o711)  # as root, the account of Postgres must pass through
    data = DataDirectory(folder / "data")
    data.create()
    return data


async def _answers(server: postgres.Postgres) -> None:
    while True:
        try:
            return await server.answers()
        except OSError:
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(fresh_dump()))
