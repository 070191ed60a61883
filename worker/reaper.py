"""Death proof in action: each second one leader closes or hands on what dead workers left, each
minute it sweeps.

An interrupted run must not keep an open step because its worker froze; a RUNNING one is handed on
by its own workflow, which also lets go of the dead activity.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

import asyncpg
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from activities.blobs import remove_owed, remove_unsettled
from activities.checkpoint import abandon_open_step
from activities.hooks import Hook, committed, effect
from activities.owning.death import living
from activities.owning.ownership import leave_rest
from activities.owning.presence import forget_old_workers
from activities.reconcile import Sweep
from activities.record import lock_run
from activities.spending.budget import read_timed, stop_timed
from activities.tools import Tools
from deploy.database import AWAY, Connection, Row, prepare_connection
from worker.provision import RPC, provision
from worker.unclaimed import Left, Search
from workflows.vocabulary import RunStatus, Signal, workflow_id

log = logging.getLogger("redraft.reaper")

LEADER_KEY = 0x5245_4150
LOOK_SECONDS = 1.0
STANDS_STILL = 30.0
"""Seconds without a statement after which the database ends a reaper's session. A leader that is
frozen, or whose machine lost its power, would stay the leader for as long as its connection does:
hours, in which nobody sweeps, keeps time or proves a death."""
TELL_AGAIN = 5.0
"""Seconds until a workflow is told of the same dead worker again, doubled each time: under load it
needs a while, and each further signal makes it begin anew."""
TELL_AT_ONCE = 10


class Reaper:
    """In every worker; the session lock makes one of them the leader."""

    def __init__(self, tools: Tools, client: Client) -> None:
        self.tools, self.client = tools, client
        self.sweep = Sweep(tools, client)
        self.unclaimed = Search(tools, client)
        self.told: dict[tuple[str, str], tuple[float, float]] = {}
        """By run and worker: when it was told, and for how long that has to do."""
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
            await connection.execute(
                "SELECT set_config('idle_session_timeout', $1, false)", f"{STANDS_STILL * 1000:.0f}"
            )
            while True:
                await leave_rest(self.tools)
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
        left: list[Left] = []
        for row in await self._owned(connection):
            step_dead = row["step_id"] is not None and not await living(
                connection, self.tools.witness, row["step_id"], row["worker"]
            )
            if step_dead or await self.tools.witness.prove(connection, row["owner_worker"]):
                left += await self._hand_on(row)
        left += await self.unclaimed.find(connection)
        for at in range(0, len(left), TELL_AT_ONCE):
            await asyncio.gather(*map(self._tell, left[at : at + TELL_AT_ONCE]))
        for row in await read_timed(connection):
            await self._time_is_up(row)
        await remove_owed(connection, self.tools.settings.blob_url)
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
            ORDER BY array_position(ARRAY['transcribe', 'draft'], r.stage), r.id
            """,
            self.tools.worker,
            sorted(self.tools.in_flight.steps),
        )

    async def _time_is_up(self, row: Row) -> None:
        """Waits for nobody's lock, as `_hand_on`: who holds one run keeps no other one from being
        looked after; the next look tries it again."""
        with contextlib.suppress(asyncpg.LockNotAvailableError):
            if await committed(
                Hook.OVERDUE, self.tools.pool, lambda c: stop_timed(c, row), collisions=0
            ):
                log.info("run interrupted, its time is up", extra={"run_id": row["id"]})

    async def _hand_on(self, row: Row) -> list[Left]:
        """A run that is not RUNNING is closed here; another one is its workflow's to take over."""
        if row["status"] == RunStatus.RUNNING:
            return [Left(run_id=row["id"], epoch=row["epoch"], worker=row["owner_worker"])]
        with contextlib.suppress(asyncpg.LockNotAvailableError):
            await committed(
                Hook.CLOSE_DEAD, self.tools.pool, lambda c: self._close(c, row), collisions=0
            )
        return []

    async def _tell(self, left: Left) -> None:
        """The run's workflow; not again before it had time to take over."""
        key, now = (left.run_id, left.worker), time.monotonic()
        before, pause = self.told.get(key, (now - TELL_AGAIN, TELL_AGAIN / 2))
        if now - before < pause:
            return
        self.told[key] = (now, 2 * pause)
        facts = {"epoch": left.epoch, "worker": left.worker, "unclaimed": left.unclaimed}
        try:
            async with effect(Hook.TELL_WORKFLOW):
                if pause < TELL_AGAIN:
                    await self._unstick(left.run_id)
                handle = self.client.get_workflow_handle(workflow_id(left.run_id))
                await handle.signal(Signal.TAKE_OVER, facts)
        except RPCError as error:
            log.info("take-over not told", extra={"run_id": left.run_id, "error": error.status})

    async def _unstick(self, run_id: str) -> None:
        """Else the signal waits a second in the queue of the dead worker's cache."""
        await self.client.workflow_service.reset_sticky_task_queue(
            ResetStickyTaskQueueRequest(
                namespace=self.client.namespace,
                execution=WorkflowExecution(workflow_id=workflow_id(run_id)),
            ),
            timeout=RPC,
        )

    async def _close(self, connection: Connection, row: Row) -> bool:
        run = await lock_run(connection, row["id"], waits=False)
        if run is None or run.status == RunStatus.RUNNING:
            return False
        if run.owner_worker != row["owner_worker"]:
            return False
        await abandon_open_step(connection, run.id)
        log.info("step of a dead worker closed", extra={"run_id": run.id})
        return True

    async def _suspects(self) -> None:
        """Executions that this process's activities were told are gone."""
        while self.tools.suspects:
            await self.sweep.one(self.tools.suspects.pop())

    async def _sweep(self, connection: Connection) -> None:
        self.tools.searchable = await provision(self.client, self.tools.settings)
        swept = await self.sweep.all()
        await forget_old_workers(connection)
        await remove_unsettled(connection, self.tools.settings.blob_url)
        self.told = {k: t for k, t in self.told.items() if time.monotonic() - t[0] < t[1] + 60}
        if swept.started or swept.ended or swept.woken:
            log.warning("sweep acted", extra=vars(swept))
