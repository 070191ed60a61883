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
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError, RPCStatusCode

from activities import record
from api import metrics
from deploy.database import AWAY, Pool
from deploy.settings import Settings
from workflows.contract import RunInput
from workflows.vocabulary import QUEUE, WORKFLOW_NAME, RunStatus, Signal, workflow_id

log = logging.getLogger("redraft.api.signals")

INLINE_SECONDS = 1.0
COOL_SECONDS = 5.0
BACKGROUND_SECONDS = 15.0
TASK_TIMEOUT = timedelta(seconds=5)
SUMMARY_LENGTH = 100

_STATUS = SearchAttributeKey.for_keyword("RedraftStatus")
_KIND = SearchAttributeKey.for_keyword("RedraftKind")
_DOCUMENT = SearchAttributeKey.for_keyword("RedraftDocument")
_ROUND = SearchAttributeKey.for_int("RedraftRound")
_SCORE = SearchAttributeKey.for_int("RedraftScore")


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


async def connect(settings: Settings) -> Client:
    """A client that reaches out at its first call. TLS and keys come from TEMPORAL_* variables."""
    given: dict[str, Any] = dict(ClientConfig.load_client_connect_config(disable_file=True))
    given |= {
        "target_host": settings.temporal_address,
        "namespace": settings.temporal_namespace,
        "lazy": True,
    }
    return await Client.connect(**given)


def search_attributes(due: Due) -> TypedSearchAttributes:
    """Of a run that starts or goes on."""
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(_STATUS, str(RunStatus.RUNNING)),
        SearchAttributePair(_KIND, due.kind),
        SearchAttributePair(_DOCUMENT, due.document_id),
        SearchAttributePair(_ROUND, due.round),
    ]
    if due.score is not None:
        pairs.append(SearchAttributePair(_SCORE, due.score))
    return TypedSearchAttributes(pairs)


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= SUMMARY_LENGTH else line[: SUMMARY_LENGTH - 1] + "…"


class Signals:
    """Sends what is due; one per process. `close` waits for nothing."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings, self._pool = settings, pool
        self._client: Client | None = None
        self._under_way: set[asyncio.Task[bool]] = set()
        self._cool_until = 0.0

    async def client(self) -> Client:
        if self._client is None:
            self._client = await connect(self._settings)
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
        try:
            await self._signal_with_start(client, due, search_attributes(due))
        except RPCError as error:
            # A namespace without our search attributes must not keep a run from starting.
            if error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            log.warning("search attributes refused", extra={"run_id": due.run_id})
            await self._signal_with_start(client, due, None)

    async def _signal_with_start(
        self, client: Client, due: Due, attributes: TypedSearchAttributes | None
    ) -> None:
        await client.start_workflow(
            WORKFLOW_NAME,
            RunInput(run_id=due.run_id),
            id=workflow_id(due.run_id),
            task_queue=QUEUE,
            task_timeout=TASK_TIMEOUT,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            memo={"document_id": due.document_id, "kind": due.kind},
            search_attributes=attributes,
            static_summary=_shortened(f"{due.kind}: {due.title}"),
            static_details=f"Run `{due.run_id}` of document `{due.document_id}`",
            start_signal=Signal.RESUME,
            start_signal_args=[{"seq": due.seq}],
            rpc_timeout=timedelta(seconds=BACKGROUND_SECONDS),
        )

    async def close(self) -> None:
        for task in tuple(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


def _one(pool: Pool) -> Any:
    """A pool runs single statements as a connection does; `record` is typed for connections."""
    return pool
