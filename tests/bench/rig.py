"""The services of a bench and what they have used: one durable Postgres, one Temporal, one model
server, API and worker as processes of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg
import psutil

from deploy.database import prepare_connection
from deploy.local.postgres import _SETTINGS as EMBEDDED_SETTINGS
from tests.bench.documents import new_tag, run_body
from tests.bench.model import ModelServer
from tests.eventually import eventually
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack

Numbers = dict[str, float]
_DRIVER = "bench_driver"


class DurablePostgres(PostgresServer):
    """As `./redraft up` starts it (fsync, synchronous commit), with counters and commit times."""

    def settings(self) -> dict[str, str]:
        return {
            **EMBEDDED_SETTINGS,
            "max_connections": "300",
            "shared_preload_libraries": "pg_stat_statements",
            "pg_stat_statements.max": "2000",
            "track_commit_timestamp": "on",
        }


@dataclass(kw_only=True)
class Run:
    """A run under way and the tag by which the model server knows it."""

    id: str
    tag: str


@dataclass(kw_only=True)
class Rig:
    """What measures use. `small`: few samples, to try the tool."""

    postgres: DurablePostgres
    temporal: TemporalServer
    model: ModelServer
    stack: Stack
    own: asyncpg.Pool[asyncpg.Record]
    """Sessions of the driver, under a role of its own, so that its statements count apart."""
    small: bool

    def some(self, many: int, few: int) -> int:
        return few if self.small else many

    async def start_run(self, *, rounds: int = 5) -> Run:
        tag = new_tag()
        made = await self.stack.create(run_body(tag, rounds=rounds))
        return Run(id=made["id"], tag=tag)

    async def start_runs(self, count: int) -> list[Run]:
        """In tens, so that the driver is not what is waited for."""
        runs: list[Run] = []
        while len(runs) < count:
            few = min(10, count - len(runs))
            runs += await asyncio.gather(*(self.start_run() for _ in range(few)))
        return runs

    async def finish(self, *runs: Run, seconds: float = 300) -> None:
        """Until they wait for a person; looks at the rows, so that the API has nothing to do."""
        ids = [run.id for run in runs]

        async def all_wait() -> bool:
            found: bool = await self.own.fetchval(
                """
                SELECT count(*) = cardinality($1::uuid[]) FROM runs
                WHERE id = ANY ($1::uuid[]) AND status = 'AWAITING_CONFIRMATION'
                """,
                ids,
            )
            return found

        await eventually(all_wait, seconds=seconds, what=f"{len(runs)} finished runs")

    async def post(self, run: Run, act: str) -> float:
        """The time just before the request was sent. Waits for the answer."""
        asked = time.time()
        code, answer = await self.stack.call("POST", f"/api/runs/{run.id}/{act}", {})
        assert code == 202, (code, answer)
        return asked

    async def settled(self, run: Run) -> None:
        """An interrupted run has closed its step and calls."""

        async def closed() -> bool:
            now = await self.stack.run(run.id)
            return now["active_step"] is None and not now["stopping"]

        await eventually(closed, what="a closed step")

    async def cancel_all(self) -> None:
        """Ends every run, with the model at its quickest again."""
        await self.model.pace()
        await self.stack.settle()

    # what was used

    def cpu(self) -> Numbers:
        """CPU seconds so far, by part."""
        parts = {
            "worker": [process.pid for process in self.stack.workers],
            "api": [self.stack.api_process.pid] if self.stack.api_process else [],
            "postgres": [self.postgres.process.pid] if self.postgres.process else [],
            "temporal": [self.temporal.process.pid] if self.temporal.process else [],
            "model server": [self.model.process.pid] if self.model.process else [],
            "driver": [os.getpid()],
        }
        return {
            name: sum(_seconds(pid, tree=name == "postgres") for pid in pids)
            for name, pids in parts.items()
        }

    async def wal(self) -> float:
        """Bytes of the log of changes so far, of the whole cluster."""
        found = await self.own.fetchval("SELECT pg_current_wal_insert_lsn() - '0/0'")
        return float(found)

    async def statements(self) -> dict[str, tuple[int, float]]:
        """Of the stack's database since `forget_statements`: calls and milliseconds, by text."""
        rows = await self.own.fetch(
            """
            SELECT s.query, sum(s.calls)::int AS calls, sum(s.total_exec_time) AS ms
            FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
            WHERE d.datname = current_database() AND s.userid <> current_user::regrole
            GROUP BY s.query
            """
        )
        return {" ".join(row["query"].split()): (row["calls"], row["ms"]) for row in rows}

    async def forget_statements(self) -> None:
        await self.own.execute("SELECT pg_stat_statements_reset()")


def minus(after: Mapping[str, float], before: Mapping[str, float]) -> Numbers:
    return {name: value - before.get(name, 0.0) for name, value in after.items()}


def _seconds(pid: int, *, tree: bool) -> float:
    try:
        process = psutil.Process(pid)
        every = [process, *(process.children(recursive=True) if tree else [])]
    except psutil.Error:
        return 0.0
    total = 0.0
    for one in every:
        with contextlib.suppress(psutil.Error):
            used = one.cpu_times()
            total += used.user + used.system
            if one is process and tree:
                total += getattr(used, "children_user", 0.0) + getattr(used, "children_system", 0.0)
    return total


@contextlib.contextmanager
def _removed(server: Any) -> Iterator[None]:
    try:
        yield
    finally:
        server.remove()


@contextlib.asynccontextmanager
async def _own_sessions(stack: Stack) -> AsyncIterator[asyncpg.Pool[asyncpg.Record]]:
    url = stack.url.replace("//redraft@", f"//{_DRIVER}@")
    async with asyncpg.create_pool(url, min_size=1, max_size=2, init=prepare_connection) as pool:
        await pool.execute("CREATE EXTENSION pg_stat_statements")
        yield pool


@contextlib.asynccontextmanager
async def rig(*, small: bool = False) -> AsyncIterator[Rig]:
    """Everything started, warmed by a few runs, and gone afterwards."""
    postgres, temporal = DurablePostgres(), TemporalServer()
    with _removed(postgres), _removed(temporal):
        temporal.start()
        await asyncio.to_thread(postgres.make)
        postgres.start()
        await postgres.ready()
        await postgres.run(f"CREATE ROLE {_DRIVER} LOGIN SUPERUSER")
        await postgres.make_template()
        client = await temporal.ready()
        async with ModelServer() as model:
            stack = Stack(postgres, temporal, client, model.base_url, as_a_user=True)
            try:
                await stack.start()
                async with _own_sessions(stack) as own:
                    made = Rig(
                        postgres=postgres,
                        temporal=temporal,
                        model=model,
                        stack=stack,
                        own=own,
                        small=small,
                    )
                    for _ in range(made.some(5, 2)):
                        await made.finish(await made.start_run())
                    yield made
            finally:
                await stack.stop()
