"""Work that a worker was given and died with before it claimed it: no row names it, Temporal does.

Such a run has no owner and no step, and Temporal would wait for the heartbeat that never comes. The
activity's worker is read from the execution's description; its death is proved like any other.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client
from temporalio.service import RPCError

from activities.tools import Tools
from deploy.database import Connection, Row
from worker.provision import RPC
from workflows.vocabulary import workflow_id

WAITS_SECONDS = 2.0
"""A run without owner is looked at when it stood still for this long; a claim takes less."""
FIRST_AGAIN, LONGEST_AGAIN = 5.0, 60.0
"""Seconds until one that waits for a free worker is looked at again; doubled each time."""
AT_ONCE = 20


@dataclass(frozen=True, kw_only=True)
class Left:
    """A RUNNING run whose worker is dead; `unclaimed`: before it claimed the step."""

    run_id: str
    epoch: int
    worker: str
    unclaimed: bool = False


class Search:
    """Remembers whom it looked at, so that a long queue costs Temporal little."""

    def __init__(self, tools: Tools, client: Client) -> None:
        self.tools, self.client = tools, client
        self._seen: dict[str, tuple[float, float]] = {}
        """By run: when it is looked at again, and how long that waits."""

    async def find(self, connection: Connection) -> list[Left]:
        """What dead workers hold unclaimed. Raises what the database raises."""
        now = time.monotonic()
        self._seen = {k: seen for k, seen in self._seen.items() if now - seen[0] < LONGEST_AGAIN}
        rows = await self._waiting(connection)
        holders = await asyncio.gather(*(self._holder(row["id"]) for row in rows))
        found = []
        for row, holder in zip(rows, holders, strict=True):
            _, waited = self._seen.get(row["id"], (now, FIRST_AGAIN / 2))
            wait = min(2 * waited, LONGEST_AGAIN)
            self._seen[row["id"]] = (now + wait, wait)
            if holder is not None and await self.tools.witness.prove(connection, holder):
                found.append(
                    Left(run_id=row["id"], epoch=row["epoch"], worker=holder, unclaimed=True)
                )
        return found

    async def _waiting(self, connection: Connection) -> list[Row]:
        now = time.monotonic()
        return await connection.fetch(
            """
            SELECT r.id, r.epoch FROM runs r
            WHERE r.status = 'RUNNING' AND r.owner_worker IS NULL
              AND (r.retry_at IS NULL OR r.retry_at < now())
              AND greatest(r.last_progress_at, r.queued_at) < now() - make_interval(secs => $1)
              AND NOT r.id = ANY ($2::uuid[])
              AND NOT EXISTS (SELECT FROM steps s WHERE s.run_id = r.id AND s.status = 'RUNNING')
            ORDER BY array_position(ARRAY['transcribe', 'draft'], r.stage), r.last_progress_at
            LIMIT $3
            """,
            WAITS_SECONDS,
            [run_id for run_id, (due, _) in self._seen.items() if due > now],
            AT_ONCE,
        )

    async def _holder(self, run_id: str) -> str | None:
        """The worker that Temporal believes to be at work for this run."""
        try:
            handle = self.client.get_workflow_handle(workflow_id(run_id))
            described = await handle.describe(rpc_timeout=RPC)
        except RPCError:
            return None  # the sweep asks what became of it
        for pending in described.raw_description.pending_activities:
            if pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED:
                return pending.last_worker_identity
        return None
