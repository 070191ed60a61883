"""The schema as `pg_dump` tells it, without what differs from machine to machine.

`python -m tests.architecture.schema_dump` starts the embedded Postgres in a temporary folder,
migrates it and prints the dump.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

from deploy.local.binaries import wheel_programs
from deploy.migrations.__main__ import migrate
from tests.services import PostgresServer

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
    """From an empty cluster of our own with the roles of a deployment; it is gone afterwards."""
    server = PostgresServer()
    try:
        server.make()
        server.start()
        await server.ready()
        await server.run("CREATE ROLE redraft_owner LOGIN")
        await server.run("CREATE ROLE redraft_app LOGIN")
        await server.run("CREATE DATABASE fresh OWNER redraft_owner")
        url = server.url("fresh").replace("redraft@", "redraft_owner@")
        await migrate(url)
        return await asyncio.to_thread(dump, url)
    finally:
        server.remove()


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(fresh_dump()))
