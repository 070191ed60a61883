"""Death proof in action: each second one leader closes or hands on what dead workers left, each
minute it sweeps.

An interrupted run must not keep an open step because its worker froze; a RUNNING one is handed on
by its own workflow, which also lets go of the dead activity.
"""

from __future__ import annotations

import asyncio
import logging
import time

import asyncpg
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from activities.checkpoint import abandon_open_step
from activities.death import living
from activities.hooks import Hook, committed, effect
from activities.presence import forget_old_workers
from activities.reconcile import Sweep
from activities.record import lock_run
from activities.tools import Tools
from deploy.database import AWAY, Connection, Row, prepare_connection
from worker.provision import RPC, provision
from worker.unclaimed import Search
from workflows.vocabulary import RunStatus, Signal, workflow_id

log = logging.getLogger("redraft.reaper")

LEADER_KEY = 0x5245_4150
LOOK_SECONDS = 1.0
TELL_AGAIN = 3.0
"""A workflow is told of the same dead worker at most this often."""


class Reaper:
    """In every worker; the session lock makes one of them the leader."""

    def __init__(self, tools: Tools, client: Client) -> None:
        self.tools, self.client = tools, client
        self.sweep = Sweep(tools, client)
        self.unclaimed = Search(tools, client)
        self.told: dict[tuple[str, str], float] = {}
        self.leading = False
        self.last_sweep = 0.0

    async def run(self) -> None:
        while True:
            try:
                await self._session()
            except AWAY as error:
                log.debug("reaper without database", extra={"error": type(error).__name__})
            except RPCError as error:
                log.warning("reaper without Temporal", extra={"error": error.status})
            except Exception:
                log.exception("reaper failed, goes on")
            self.leading = False
            await asyncio.sleep(LOOK_SECONDS)

    async def _session(self) -> None:
        """One connection of its own: its age is part of the proof."""
        connection = await asyncpg.connect(
            self.tools.settings.database_direct_url,
            timeout=5.0,
            command_timeout=10.0,
            statement_cache_size=0,  # a pooler may sit there too
        )
        try:
            await prepare_connection(connection)
            while True:
                await self._suspects()
                if not self.leading:
                    self.leading = await connection.fetchval(
                        "SELECT pg_try_advisory_lock($1)", LEADER_KEY
                    )
                if self.leading:
                    await self._lead(connection)
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            connection.terminate()

    async def _lead(self, connection: Connection) -> None:
        for row in await self._owned(connection):
            step_dead = row["step_id"] is not None and not await living(
                connection, self.tools.witness, row["step_id"], row["worker"]
            )
            if step_dead or await self.tools.witness.prove(connection, row["owner_worker"]):
                await self._hand_on(row)
        for left in await self.unclaimed.find(connection):
            await self._tell(left.run_id, left.epoch, left.worker, unclaimed=True)
        if time.monotonic() - self.last_sweep >= self.tools.settings.sweep_seconds:
            self.last_sweep = time.monotonic()
            await self._sweep(connection)

    async def _owned(self, connection: Connection) -> list[Row]:
        return await connection.fetch(
            """
            SELECT r.id, r.status, r.epoch, r.owner_worker, s.id AS step_id, s.worker
            FROM runs r LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
            WHERE r.owner_worker IS NOT NULL AND r.owner_worker <> $1
               OR r.owner_worker = $1 AND NOT s.id = ANY ($2::uuid[])
            """,
            self.tools.worker,
            sorted(self.tools.in_flight.steps),
        )

    async def _hand_on(self, row: Row) -> None:
        if row["status"] != RunStatus.RUNNING:
            await committed(Hook.CLOSE_DEAD, self.tools.pool, lambda c: self._close(c, row))
            return
        await self._tell(row["id"], row["epoch"], row["owner_worker"])

    async def _tell(self, run_id: str, epoch: int, worker: str, *, unclaimed: bool = False) -> None:
        """The run's workflow, which takes over; not again before it had time to."""
        key = (run_id, worker)
        if time.monotonic() - self.told.get(key, -TELL_AGAIN) < TELL_AGAIN:
            return
        self.told[key] = time.monotonic()
        try:
            async with effect(Hook.TELL_WORKFLOW):
                await self._unstick(run_id)
                await self.client.get_workflow_handle(workflow_id(run_id)).signal(
                    Signal.TAKE_OVER, {"epoch": epoch, "worker": worker, "unclaimed": unclaimed}
                )
        except RPCError as error:
            log.info("take-over not told", extra={"run_id": run_id, "error": error.status})

    async def _unstick(self, run_id: str) -> None:
        """Else the signal waits a second in the queue of the dead worker's cache."""
        await self.client.workflow_service.reset_sticky_task_queue(
            ResetStickyTaskQueueRequest(
                namespace=self.client.namespace,
                execution=WorkflowExecution(workflow_id=workflow_id(run_id)),
            ),
            timeout=RPC,
        )

    async def _close(self, connection: Connection, row: Row) -> None:
        run = await lock_run(connection, row["id"])
        if run is None or run.status == RunStatus.RUNNING:
            return
        if run.owner_worker != row["owner_worker"]:
            return
        await abandon_open_step(connection, run.id)
        log.info("step of a dead worker closed", extra={"run_id": run.id})

    async def _suspects(self) -> None:
        """Executions that this process's activities were told are gone."""
        while self.tools.suspects:
            await self.sweep.one(self.tools.suspects.pop())

    async def _sweep(self, connection: Connection) -> None:
        self.tools.searchable = await provision(self.client, self.tools.settings)
        swept = await self.sweep.all()
        await forget_old_workers(connection)
        self.told = {k: t for k, t in self.told.items() if time.monotonic() - t < 60}
        if swept.started or swept.ended or swept.woken:
            log.warning("sweep acted", extra=vars(swept))
