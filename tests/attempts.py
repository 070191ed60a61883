"""Attempts of activities inside the test's process: real Postgres, real model server, no Temporal.

    worker = shop.worker()                    # an identity of its own; `await shop.shows(worker)`
    run_id = await shop.run(errors=2)         #   makes it beat and hold its lock, as processes do
    attempt = shop.attempt(worker, run_id)    # one activity; `attempt.tell()` is Temporal's cancel
    outcome = await attempt.ends()

Nothing polls, listens or reaps here unless a test does it: what is tested is the fence alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import asyncpg
from temporalio.activity import ActivityCancellationDetails
from temporalio.testing import ActivityEnvironment

from activities.model.client import ModelClient
from activities.owning.death import Identity, Witness
from activities.owning.presence import Presence
from activities.record import Move, lock_run, move
from activities.round import Rounds
from activities.tools import Tools
from deploy.database import Connection, Pool, new_id, open_pool, prepare_connection
from deploy.settings import Settings
from tests import read_rows
from tests.eventually import eventually
from tests.fake_llm import FakeLLM
from tests.stack import TRANSCRIPT
from worker.identity import own_identity
from worker.presence import keep_present, life_lock
from workflows.contract import Outcome, WorkInput
from workflows.kinds import load_kinds
from workflows.vocabulary import EventType

HERE = own_identity()


class Attempt:
    """One attempt of the activity `round`, as Temporal would start it."""

    def __init__(self, tools: Tools, given: WorkInput) -> None:
        self.tools = tools
        self.environment = ActivityEnvironment()
        self.task: asyncio.Task[Outcome] = asyncio.create_task(
            self.environment.run(Rounds(tools).round, given)
        )

    async def ends(self, seconds: float = 15) -> Outcome:
        """How it ends by itself, within this time; raises what it raised. A wait with a timeout
        would cancel it, and then it only looks."""
        await asyncio.wait({self.task}, timeout=seconds)
        assert self.task.done(), f"still at work after {seconds} s"
        return self.task.result()

    def tell(self) -> None:
        """Temporal cancels it, says that it timed out, or has forgotten it."""
        self.environment.cancel(ActivityCancellationDetails(cancel_requested=True))

    def shut_down(self) -> None:
        """SIGTERM reached its worker."""
        self.environment.worker_shutdown()


class Shop:
    """Workers, runs and attempts on one database; `close` ends what is left of them."""

    def __init__(self, pool: Pool, settings: Settings, llm: FakeLLM) -> None:
        self.pool, self.settings, self.llm = pool, settings, llm
        self.tools: list[Tools] = []
        self.attempts: list[Attempt] = []
        self._ends = contextlib.AsyncExitStack()

    def worker(
        self, identity: Identity = HERE, *, pool: Pool | None = None, rounds_within: float = 0.0
    ) -> Tools:
        """A worker of this process (or another machine's), with its own list and witness. Its
        attempts end with their round, unless they are to begin further ones for so many seconds."""
        mine = replace(identity, nonce=new_id()[-8:])
        own = replace(self.settings, shutdown_grace=0.0, rounds_within=rounds_within)
        made = Tools(
            settings=own,
            pool=self.pool if pool is None else pool,
            kinds=load_kinds(),
            model=ModelClient(own, {"OPENAI_API_KEY": "sk-test"}),
            presence=Presence(identity=mine),
            witness=Witness(mine),
        )
        self.tools.append(made)
        return made

    async def shows(self, tools: Tools) -> Tools:
        """Until the end of the test this worker writes its row each second and holds its lock."""
        await self._ends.enter_async_context(showing(tools))
        return tools

    async def run(self, errors: int = 1, **values: Any) -> str:
        """A RUNNING run of a text that says E1x, E2x, … beside a transcript; its id."""
        body = "\n".join(f"- We ship E{n}x on Friday." for n in range(1, errors + 1))
        document = await read_rows.add_document(self.pool, f"# Minutes\n\n{body}\n")
        await read_rows.insert(
            self.pool,
            "sources",
            id=new_id(),
            document_id=document,
            name="transcript",
            media_type="text/plain",
            text=TRANSCRIPT,
            sha256=hashlib.sha256(TRANSCRIPT.encode()).hexdigest(),
            position=0,
            actor="local",
        )
        if not await self.told("SELECT 1 FROM profiles"):
            await self.reviewers("main")
        row = {"kind": "text", "queued_at": datetime.now(UTC), **values}
        return await read_rows.add_run(self.pool, document, **row)

    async def own_pool(self, name: str, *, size: int, lock_wait: float) -> Pool:
        """A worker's connections, apart from those of the test; closed when its attempts ended."""
        pool = await open_pool(self.settings, name=name, size=size, lock_wait=lock_wait)
        self._ends.push_async_callback(pool.close)
        return pool

    @contextlib.asynccontextmanager
    async def locked(self, run_id: str) -> AsyncIterator[Connection]:
        """A transaction that holds the run's lock for as long as the test likes."""
        async with standing_still(self.settings) as connection:
            await lock_run(connection, run_id)
            yield connection

    @contextlib.asynccontextmanager
    async def document_locked(self) -> AsyncIterator[None]:
        """Nobody stores a revision until it ends."""
        async with standing_still(self.settings) as connection:
            await connection.execute("SELECT id FROM documents FOR NO KEY UPDATE")
            yield

    async def reviewers(self, *names: str) -> None:
        """A new version of the profile: from now on these look side by side."""
        await self.pool.execute(
            """
            INSERT INTO profiles (name, version, model, base_url, prompts, actor)
            SELECT 'default', 1 + count(*), 'fake', $1, $2, 'local' FROM profiles
            """,
            self.llm.base_url,
            {"reviewers": list(names)},
        )

    def attempt(self, tools: Tools, run_id: str, *, epoch: int = 1, round_: int = 1) -> Attempt:
        made = Attempt(tools, WorkInput(run_id=run_id, epoch=epoch, round=round_))
        self.attempts.append(made)
        return made

    async def move(self, run_id: str, *events: EventType) -> None:
        """A person's moves, each in a transaction of its own."""
        for event in events:
            async with self.pool.acquire() as connection, connection.transaction():
                await moved(connection, run_id, event)

    async def told(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows as tuples."""
        return [tuple(row) for row in await self.pool.fetch(statement, *values)]

    async def steps(self, run_id: str) -> list[tuple[str, str, str | None]]:
        """(name, status, reason) in order."""
        return await self.told(
            "SELECT name, status, reason_code FROM steps WHERE run_id = $1 ORDER BY seq", run_id
        )

    async def calls(self, run_id: str) -> list[tuple[str, str | None]]:
        """(status, end cause) in order."""
        return await self.told(
            "SELECT status, end_cause FROM model_calls WHERE run_id = $1 ORDER BY started_at, id",
            run_id,
        )

    async def keys(self, run_id: str) -> list[str]:
        """Quotes of all kept issues."""
        rows = await self.told(
            """
            SELECT i.payload ->> 'quote' FROM step_items i JOIN step_plans p ON p.id = i.plan_id
            WHERE p.run_id = $1 AND p.name = 'review' ORDER BY 1
            """,
            run_id,
        )
        return [row[0] for row in rows]

    async def until(
        self, look: Callable[[], Awaitable[bool]], *, seconds: float = 15, what: str
    ) -> None:
        await eventually(look, seconds=seconds, what=what)

    async def kept(self, run_id: str, count: int) -> None:
        """Waits until so many items are committed."""

        async def enough() -> bool:
            return len(await self.keys(run_id)) >= count

        await eventually(enough, what=f"{count} kept items")

    async def close(self) -> None:
        for attempt in self.attempts:
            attempt.shut_down()
            attempt.task.cancel()
        await asyncio.gather(*(attempt.task for attempt in self.attempts), return_exceptions=True)
        await self._ends.aclose()
        for tools in self.tools:
            await tools.model.close()


@contextlib.asynccontextmanager
async def showing(tools: Tools) -> AsyncIterator[None]:
    """This worker lives: a fresh row each second, its lock held from a thread of its own."""
    lock = life_lock(tools)
    lock.start()
    beating = asyncio.create_task(keep_present(tools))
    await asyncio.to_thread(lock.held.wait, 15)
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.to_thread(lock.stop)


@contextlib.asynccontextmanager
async def standing_still(settings: Settings) -> AsyncIterator[Connection]:
    """A transaction on a session that Postgres does not end for its silence, as it does ours."""
    connection = await asyncpg.connect(settings.database_url)
    try:
        await prepare_connection(connection)
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


async def moved(connection: Connection, run_id: str, event: EventType) -> None:
    """A person's move inside a transaction."""
    run = await lock_run(connection, run_id)
    assert run is not None
    seq = await move(
        connection, run_id, Move(event=event, actor="ana", from_=run.status, by_person=True)
    )
    assert seq is not None, (run.status, event)


async def blocked(pool: Pool, count: int = 1) -> None:
    """Waits until so many sessions of this database wait for somebody's lock; those that only show
    a call's text do not count."""

    async def waiting() -> bool:
        found = await pool.fetchval(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
              AND query NOT LIKE '%partial_text%'
            """
        )
        return bool(found >= count)

    await eventually(waiting, what=f"{count} blocked sessions")
