"""Gives up a run at the end of an attempt: the own ownership only, and only between two steps.

What does not succeed at once, since the database is away or somebody holds the run, this process
tries again each second: else a run that waits for a person stays its own for as long as it lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

import asyncpg

from activities.hooks import Hook, committed
from activities.record import lock_run
from activities.tools import Tools
from deploy.database import AWAY, Connection

log = logging.getLogger("redraft.ownership")

PATIENCE = 2.0
"""Seconds in which the end of an attempt waits for it."""


async def leave(tools: Tools, run_id: str) -> None:
    """At the end of an attempt, whoever tells that to end meanwhile."""
    tools.unreleased.add(run_id)
    giving = asyncio.create_task(give_up(tools, run_id, patience=PATIENCE))
    until = time.monotonic() + PATIENCE
    while not giving.done() and (left := until - time.monotonic()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({giving}, timeout=left)
    giving.cancel()


async def leave_rest(tools: Tools) -> None:
    """What attempts of this process could not give up. Of a run that another one of them is at work
    for, that one's end decides. Who calls this has the dead of all workers to look after: it waits
    for nobody's lock, and a run that is held keeps no other one waiting."""
    for run_id in sorted(tools.unreleased):
        if tools.in_flight.of_run(run_id):
            tools.unreleased.discard(run_id)
            continue
        with contextlib.suppress(asyncpg.LockNotAvailableError):
            if not await give_up(tools, run_id, waits=False):
                return


async def give_up(tools: Tools, run_id: str, *, patience: float = 0.0, waits: bool = True) -> bool:
    """Whether it is known that this process does not own the run between two steps. Raises
    LockNotAvailableError for a run that somebody holds, unless it `waits`.

    Does not wait for the disk: the next round would, and what a crash forgets the sweep sees.
    """

    async def work(connection: Connection) -> None:
        # or a step that begins now would not be seen
        await lock_run(connection, run_id, waits=waits)
        await connection.execute(
            """
            UPDATE runs r SET owner_worker = NULL
            WHERE r.id = $1 AND r.owner_worker = $2 AND NOT EXISTS (
                SELECT FROM steps s WHERE s.run_id = r.id AND s.status = 'RUNNING')
              AND set_config('synchronous_commit', 'off', true) = 'off'
            """,
            run_id,
            tools.worker,
        )

    try:
        await committed(
            Hook.RELEASE, tools.pool, work, patience=patience, collisions=8 if waits else 0
        )
    except AWAY as error:
        if not waits and isinstance(error, asyncpg.LockNotAvailableError):
            raise
        log.warning("owner not cleared, tried again", extra={"run_id": run_id})
        return False
    tools.unreleased.discard(run_id)
    return True
