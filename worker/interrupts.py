"""Row status -> cancel in flight: a notification as a hint, one query a second as the truth."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import asyncpg

from activities.attempt import judge
from activities.owning.watch import Watch
from activities.tools import Tools
from deploy.database import AWAY, Connection, Pool, prepare_connection
from workflows.vocabulary import MOVES_CHANNEL, Reason

log = logging.getLogger("redraft.interrupts")

POLL_SECONDS = 1.0


async def watch_rows(tools: Tools) -> None:
    """One query a second over all runs in flight here."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        watches = list(tools.in_flight.watches)
        if watches:
            try:
                await check(tools.pool, watches)
            except AWAY as error:
                log.debug("rows not read", extra={"error": type(error).__name__})


async def check(rows_of: Pool | Connection, watches: Sequence[Watch]) -> None:
    """Stops what its row says is stopped, or whose step somebody else has closed."""
    held = {watch: watch.step_id for watch in watches}
    rows = await rows_of.fetch(
        """
        SELECT r.id, r.status, r.epoch, s.id AS step_id
        FROM runs r LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
        WHERE r.id = ANY ($1::uuid[])
        """,
        list({watch.run_id for watch in watches}),
    )
    found = {row["id"]: row for row in rows}
    for watch, step_id in held.items():
        row = found.get(watch.run_id)
        judge(watch, row["status"] if row else None, row["epoch"] if row else 0)
        if row is not None and step_id is not None:
            _doubt(watch, step_id, row["step_id"])


def _doubt(watch: Watch, held: str, running: str | None) -> None:
    """Two looks in a row: between a commit and the return of its answer one may be wrong."""
    if running == held or watch.step_id != held:
        watch.doubted = False
    elif watch.doubted:
        watch.stop(Reason.SUPERSEDED)
    else:
        watch.doubted = True


async def listen(tools: Tools) -> None:
    """Looks at a run the moment a person's move of it commits. Lost notifications cost a second.

    The look has this connection to itself: those of the pool may all be waiting for commits.
    """
    while True:
        try:
            await _listen_once(tools)
        except AWAY as error:
            log.debug("not listening", extra={"error": type(error).__name__})
        await asyncio.sleep(0.5)


async def _listen_once(tools: Tools) -> None:
    hints: asyncio.Queue[str] = asyncio.Queue()
    connection = await asyncpg.connect(
        tools.settings.database_direct_url,
        timeout=5.0,
        command_timeout=5.0,
        statement_cache_size=0,
    )
    try:
        await prepare_connection(connection)
        await connection.add_listener(
            MOVES_CHANNEL, lambda _c, _p, _ch, payload: hints.put_nowait(str(payload))
        )
        connection.add_termination_listener(lambda _c: hints.put_nowait(""))
        while run_id := await hints.get():
            watches = tools.in_flight.of_run(run_id)
            if watches:
                await check(connection, watches)
    finally:
        connection.terminate()
