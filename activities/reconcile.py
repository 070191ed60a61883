"""The sweep: rows and workflows held against each other. Signals that are due are sent, RUNNING
rows without a workflow get one, executions that somebody ended are told to their row.

It reads the row first and describes the workflow after it (visibility lags); every write is by the
epoch that was read. Recordings come first, then drafts, then rounds: others wait for them longest.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from activities.hooks import Hook, committed, effect
from activities.owning.death import living
from activities.record import Move, acknowledge, lock_run, move
from activities.spending.bodies import forget_bodies
from activities.tools import Tools
from deploy.database import Connection, Row
from workflows.starting import Start, start_options
from workflows.vocabulary import (
    WORKFLOW_NAME,
    Actor,
    EventType,
    Reason,
    RunStatus,
    Signal,
    workflow_id,
)

log = logging.getLogger("redraft.reconcile")

RPC = timedelta(seconds=10)
QUIET_SECONDS = 20.0
"""A RUNNING row that made no progress for this long is held against its workflow."""
ASLEEP_SECONDS = 60.0
"""An open workflow with nobody at work for this long is woken."""
WAKES = 3
"""After so many wakes in vain the workflow is replaced."""
BATCH = 200
_STATUS = WorkflowExecutionStatus


@dataclass(frozen=True, kw_only=True)
class Swept:
    """Counts of one sweep."""

    signalled: int = 0
    started: int = 0
    ended: int = 0
    woken: int = 0


class Sweep:
    def __init__(self, tools: Tools, client: Client) -> None:
        self.tools, self.client = tools, client

    @activity.defn(name="reconcile")
    async def reconcile(self) -> None:
        """The backstop's activity: the same sweep as the workers' own."""
        await self.all()

    async def all(self) -> Swept:
        """One sweep. Raises what the database raises; trouble with one run is logged."""
        signalled = await self._send_due()
        counts = {"started": 0, "ended": 0, "woken": 0}
        for row in await self._quiet():
            try:
                done = await self._hold(row)
            except RPCError as error:
                log.warning("run not swept", extra={"run_id": row["id"], "error": error.status})
                continue
            except asyncpg.LockNotAvailableError:
                log.warning("run not swept, somebody holds it", extra={"run_id": row["id"]})
                continue
            if done is not None:
                counts[done] += 1
        await forget_bodies(self.tools.pool, self.tools.settings.body_retention_days)
        return Swept(signalled=signalled, **counts)

    async def one(self, run_id: str) -> None:
        """The same for one run, at once: its activity was told that the execution is gone."""
        for row in await self._quiet(run_id):
            await self._hold(row)

    async def _send_due(self) -> int:
        rows = await self.tools.pool.fetch(
            """
            SELECT r.id, r.status, r.kind, r.document_id, d.title, r.current_round, r.score,
                   r.move_seq
            FROM runs r JOIN documents d ON d.id = r.document_id
            WHERE r.move_seq > r.signalled_seq
            ORDER BY array_position(ARRAY['transcribe', 'draft'], r.stage), r.id LIMIT $1
            """,
            BATCH,
        )
        sent = 0
        for row in rows:
            try:
                await self._signal(row)
            except RPCError as error:
                log.warning("signal stays due", extra={"run_id": row["id"], "error": error.status})
                continue
            sent += 1
            with contextlib.suppress(asyncpg.LockNotAvailableError):  # due, so sent again
                async with self.tools.pool.acquire() as connection:
                    await acknowledge(connection, row["id"], row["move_seq"])
        return sent

    async def _signal(self, row: Row) -> None:
        if row["status"] == RunStatus.RUNNING:
            await self._start(row)
            return
        name = Signal.INTERRUPT if row["status"] == RunStatus.INTERRUPTED else Signal.DECIDE
        try:
            handle = self.client.get_workflow_handle(workflow_id(row["id"]))
            async with effect(Hook.SIGNAL):
                await handle.signal(name, {"seq": row["move_seq"]}, rpc_timeout=RPC)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise

    async def _start(self, row: Row, *, replace: bool = False) -> None:
        """Wakes an open workflow or starts one."""
        start = Start(
            run_id=row["id"],
            kind=row["kind"],
            document_id=row["document_id"],
            title=row["title"],
            round=row["current_round"],
            score=row["score"],
            seq=row["move_seq"],
        )
        async with effect(Hook.START):
            await self.client.start_workflow(
                WORKFLOW_NAME,
                **start_options(start, searchable=self.tools.searchable, replace=replace),
                rpc_timeout=RPC,
            )

    async def _quiet(self, run_id: str | None = None) -> list[Row]:
        """RUNNING rows without a due signal that made no progress for a while, or this one."""
        return await self.tools.pool.fetch(
            """
            SELECT r.id, r.epoch, r.kind, r.document_id, d.title, r.current_round, r.score,
                   r.move_seq, r.woken, r.retry_at > now() AS retries,
                   extract(epoch FROM now() - r.last_progress_at)::float AS quiet
            FROM runs r JOIN documents d ON d.id = r.document_id
            WHERE r.status = 'RUNNING' AND r.move_seq <= r.signalled_seq
              AND (r.id = $3 OR $3::uuid IS NULL
                   AND r.last_progress_at < now() - make_interval(secs => $1))
            ORDER BY array_position(ARRAY['transcribe', 'draft'], r.stage), r.last_progress_at
            LIMIT $2
            """,
            QUIET_SECONDS,
            BATCH,
            run_id,
        )

    async def _hold(self, row: Row) -> str | None:
        """What was done about one row, if anything."""
        try:
            handle = self.client.get_workflow_handle(workflow_id(row["id"]))
            described = await handle.describe(rpc_timeout=RPC)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            await self._start(row)
            return "started"
        if described.status in (_STATUS.COMPLETED, _STATUS.CONTINUED_AS_NEW, None):
            await self._start(row)
            return "started"
        if described.status == _STATUS.RUNNING:
            failing = described.raw_description.pending_workflow_task.attempt > WAKES
            return await self._wake(row, failing=failing)
        return await self._tell_row(row, described.status)

    async def _tell_row(self, row: Row, status: WorkflowExecutionStatus) -> str | None:
        event, reason = EventType.RUN_FAILED, Reason.INTERNAL
        if status == _STATUS.TERMINATED:
            reason = Reason.WORKFLOW_TERMINATED
        if status == _STATUS.CANCELED:
            event = EventType.RUN_CANCELLED

        async def work(connection: Connection) -> bool:
            run = await lock_run(connection, row["id"])
            if run is None or run.status != RunStatus.RUNNING or run.epoch != row["epoch"]:
                return False
            seq = await move(
                connection,
                run.id,
                Move(
                    event=event,
                    actor=Actor.SYSTEM,
                    from_=RunStatus.RUNNING,
                    epoch=row["epoch"],
                    reason=reason if event == EventType.RUN_FAILED else None,
                    params={"workflow": status.name.lower()},
                ),
            )
            return seq is not None

        moved = await committed(Hook.TELL_ROW, self.tools.pool, work)
        for watch in self.tools.in_flight.of_run(row["id"]):
            watch.look.set()
        return "ended" if moved else None

    async def _wake(self, row: Row, *, failing: bool) -> str | None:
        """An open workflow that nobody works for; a wedged one is replaced in one call."""
        if row["quiet"] < ASLEEP_SECONDS or row["retries"] or await self._at_work(row["id"]):
            return None
        async with effect(Hook.WOKEN):
            await self.tools.pool.execute(
                "UPDATE runs SET woken = woken + 1 WHERE id = $1", row["id"]
            )
        await self._start(row, replace=failing or row["woken"] >= WAKES)
        log.warning(
            "run woken",
            extra={"run_id": row["id"], "woken": row["woken"] + 1, "replaced": failing},
        )
        return "woken"

    async def _at_work(self, run_id: str) -> bool:
        """A living owner, or a RUNNING step of a living worker."""
        async with self.tools.pool.acquire() as connection:
            row = await connection.fetchrow(
                """
                SELECT r.owner_worker, s.id AS step_id, s.worker
                FROM runs r LEFT JOIN steps s ON s.run_id = r.id AND s.status = 'RUNNING'
                WHERE r.id = $1
                """,
                run_id,
            )
            if row is None:
                return False
            if row["step_id"] is not None:
                return await living(connection, self.tools.witness, row["step_id"], row["worker"])
            if row["owner_worker"] is None:
                return False
            if row["owner_worker"] == self.tools.worker:
                return bool(self.tools.in_flight.of_run(run_id))
            return not await self.tools.witness.prove(connection, row["owner_worker"])
