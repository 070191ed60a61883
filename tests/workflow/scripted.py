"""The workflow of a run beside a row that the test writes: a real Temporal server, no database.

    async with scripted(client) as script:
        script.row = script.now("RUNNING", next_="round")
        handle = await script.start()

Its local activities say what `script.row` says, and tell in `script.asked` what they were asked.
`script.loads` set to an empty event holds every load until it is set.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.api.enums.v1 import EventType as History
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from tests.eventually import eventually
from tests.services import make_namespace
from workflows.contract import (
    CancelMove,
    ConcludeInput,
    HandMove,
    Loaded,
    Moved,
    Outcome,
    RunInput,
    TakeOver,
    WorkInput,
)
from workflows.review_run import ReviewRun
from workflows.vocabulary import MODEL_QUEUE, QUEUE, WORKFLOW_NAME, workflow_id

TASK_TIMEOUT = timedelta(seconds=3)
"""A load held longer than this lets the workflow hear what arrives meanwhile."""


@dataclass(kw_only=True)
class Script:
    """What the row says, how activities behave, and what they were asked."""

    client: Client
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    row: Loaded = field(default_factory=lambda: Script.now("RUNNING"))
    loads: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[Any] = field(default_factory=list)
    loaded: int = 0
    broken: int = 0
    """So many rounds fail for good."""
    away: int = 0
    """So many loads fail, as while the database is away."""
    deaf: asyncio.Event = field(default_factory=asyncio.Event)
    """Rounds end when it is set and by nothing else."""

    @staticmethod
    def now(status: str, *, epoch: int = 1, next_: str = "round", parking: float = 60.0) -> Loaded:
        return Loaded(status=status, epoch=epoch, next=next_, round=1, parking_seconds=parking)

    def of(self, kind: type[Any]) -> list[Any]:
        return [asked for asked in self.asked if isinstance(asked, kind)]

    @property
    def handle(self) -> Any:
        return self.client.get_workflow_handle(workflow_id(self.run_id))

    async def start(self) -> Any:
        return await self.client.start_workflow(
            WORKFLOW_NAME,
            RunInput(run_id=self.run_id),
            id=workflow_id(self.run_id),
            task_queue=QUEUE,
            task_timeout=TASK_TIMEOUT,
        )

    async def until_asked(self, kind: type[Any], count: int = 1, *, seconds: float = 20) -> None:
        async def enough() -> bool:
            return len(self.of(kind)) >= count

        await eventually(enough, seconds=seconds, what=f"{count} times {kind.__name__}")

    async def until_loaded(self, count: int) -> None:
        async def enough() -> bool:
            return self.loaded >= count

        await eventually(enough, what=f"{count} loads")

    async def heard(self, event: str) -> None:
        """Waits until the workflow has finished a task after this kind of event."""
        wanted = History.Value(f"EVENT_TYPE_WORKFLOW_{event}")

        async def handled() -> bool:
            kinds = [e.event_type async for e in self.handle.fetch_history_events()]
            rest = kinds[kinds.index(wanted) :] if wanted in kinds else []
            return History.EVENT_TYPE_WORKFLOW_TASK_COMPLETED in rest

        await eventually(handled, what=f"a task after {event}")

    @activity.defn(name="load")
    async def load(self, given: RunInput) -> Loaded:
        said = self.row  # read before it is held, as a slow database does
        self.loaded += 1
        if self.loaded <= self.away:
            raise ConnectionError("away")
        await self.loads.wait()
        return said

    @activity.defn(name="conclude")
    async def conclude(self, given: ConcludeInput) -> Moved:
        return self._moved(given, "AWAITING_CONFIRMATION")

    @activity.defn(name="move_by_hand")
    async def move_by_hand(self, given: HandMove) -> Moved:
        return self._moved(given, None)

    @activity.defn(name="cancel_run")
    async def cancel_run(self, given: CancelMove) -> Moved:
        return self._moved(given, "CANCELLED")

    @activity.defn(name="take_over")
    async def take_over(self, given: TakeOver) -> Moved:
        return self._moved(given, None)

    @activity.defn(name="round")
    async def round(self, given: WorkInput) -> Outcome:
        self.asked.append(given)
        if len(self.of(WorkInput)) <= self.broken:
            raise ApplicationError("broken", non_retryable=True)
        while not self.deaf.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.deaf.wait()
        self.row = replace(self.row, next="conclude")
        return Outcome(code="done")

    def _moved(self, given: Any, status: str | None) -> Moved:
        self.asked.append(given)
        if status is not None:
            next_ = "end" if status == "CANCELLED" else "wait"
            self.row = replace(self.row, status=status, next=next_)
        return Moved(moved=status is not None)

    @contextlib.asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        restrictions = SandboxRestrictions.default.with_passthrough_modules("workflows")
        workflows = Worker(
            self.client,
            task_queue=QUEUE,
            workflows=[ReviewRun],
            activities=[
                *(self.load, self.conclude, self.move_by_hand, self.cancel_run, self.take_over)
            ],
            workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
        )
        rounds = Worker(self.client, task_queue=MODEL_QUEUE, activities=[self.round])
        async with workflows, rounds:
            try:
                yield
            finally:
                self.loads.set()
                self.deaf.set()


@contextlib.asynccontextmanager
async def scripted(client: Client) -> AsyncIterator[Script]:
    """A script with its worker, in a namespace of its own."""
    config = client.config()
    config["namespace"] = await make_namespace(client)
    script = Script(client=Client(**config))
    script.loads.set()
    async with script.worker():
        yield script
