"""The signal that follows a move: it wakes the workflow, the row alone decides.

Nothing here can fail a command: while Temporal is away the move stays due in its row and the
workers' sweep sends it. An answer waits for Temporal one second at most, and not at all for a while
after Temporal did not answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities import record
from api.http import metrics
from deploy.database import AWAY, Pool
from deploy.settings import Settings
from deploy.temporal import connect
from workflows.starting import Start, start_options
from workflows.vocabulary import WORKFLOW_NAME, Signal, workflow_id

log = logging.getLogger("redraft.api.signals")

INLINE_SECONDS = 1.0
COOL_SECONDS = 5.0
BACKGROUND_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class Due:
    """A signal that a committed move owes. `keep` is False when the run's row is gone."""

    run_id: str
    signal: Signal
    seq: int
    kind: str = ""
    title: str = ""
    document_id: str = ""
    round: int = 0
    score: int | None = None
    keep: bool = True


class Signals:
    """Sends what is due; one per process. `close` waits for nothing."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings, self._pool = settings, pool
        self._client: Client | None = None
        self._under_way: set[asyncio.Task[bool]] = set()
        self._cool_until = 0.0

    async def client(self) -> Client:
        if self._client is None:
            self._client = await connect(self._settings, lazy=True)
        return self._client

    async def server_version(self) -> str | None:
        """Of the Temporal server; None when it does not answer within half a second."""
        try:
            async with asyncio.timeout(0.5):
                client = await self.client()
                info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
        except (RPCError, RuntimeError, TimeoutError):
            return None
        return info.server_version or None

    async def send(self, due: Sequence[Due]) -> bool:
        """Whether Temporal took all of them in time; the rest goes on in the background."""
        if not due:
            return True
        tasks = [self._start(one) for one in due]
        if time.monotonic() < self._cool_until:
            return False
        done, late = await asyncio.wait(tasks, timeout=INLINE_SECONDS)
        if late:
            self._cool_until = time.monotonic() + COOL_SECONDS
        return not late and all(task.result() for task in done)

    def _start(self, due: Due) -> asyncio.Task[bool]:
        task = asyncio.create_task(self._deliver(due))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def _deliver(self, due: Due) -> bool:
        try:
            async with asyncio.timeout(BACKGROUND_SECONDS):
                await self._tell(due)
                if due.keep:
                    await record.acknowledge(_one(self._pool), due.run_id, due.seq)
        except (RPCError, RuntimeError, TimeoutError) as error:
            return self._failed(due, error)
        except AWAY as error:
            return self._failed(due, error)
        except Exception as error:  # the move is committed: nothing here may fail the command
            log.exception("signal failed", extra={"run_id": due.run_id})
            return self._failed(due, error)
        self._cool_until = 0.0
        metrics.count_signal("taken")
        return True

    def _failed(self, due: Due, error: Exception) -> bool:
        """Said once while Temporal is away, not with every command."""
        metrics.count_signal("due")
        cooling = time.monotonic() < self._cool_until
        self._cool_until = time.monotonic() + COOL_SECONDS
        log.log(
            logging.DEBUG if cooling else logging.WARNING,
            "signal stays due",
            extra={"run_id": due.run_id, "signal": due.signal, "error": type(error).__name__},
        )
        return False

    async def _tell(self, due: Due) -> None:
        client = await self.client()
        if due.signal == Signal.RESUME:
            await self._wake_or_start(client, due)
            return
        try:
            await client.get_workflow_handle(workflow_id(due.run_id)).signal(
                due.signal,
                {"seq": due.seq},
                rpc_timeout=timedelta(seconds=BACKGROUND_SECONDS),
            )
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise

    async def _wake_or_start(self, client: Client, due: Due) -> None:
        start = Start(
            run_id=due.run_id,
            kind=due.kind,
            document_id=due.document_id,
            title=due.title,
            round=due.round,
            score=due.score,
            seq=due.seq,
        )
        patience = timedelta(seconds=BACKGROUND_SECONDS)
        try:
            await client.start_workflow(WORKFLOW_NAME, **start_options(start), rpc_timeout=patience)
        except RPCError as error:
            # A namespace without our search attributes must not keep a run from starting.
            if error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            log.warning("search attributes refused", extra={"run_id": due.run_id})
            options = start_options(start, searchable=False)
            await client.start_workflow(WORKFLOW_NAME, **options, rpc_timeout=patience)

    async def close(self) -> None:
        for task in tuple(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


def _one(pool: Pool) -> Any:
    """A pool runs single statements as a connection does; `record` is typed for connections."""
    return pool
