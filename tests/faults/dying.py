"""Workers of one stack that die one after the other, each at the point it was told."""

from __future__ import annotations

import contextlib
import copy
import subprocess
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from temporalio.client import Client

from tests.eventually import eventually
from tests.fake_llm import FakeLLM
from tests.faults.kit import ended, nothing_repaid, worker_seen
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent

PATIENCE = 150
"""Seconds for anything to happen; nothing in a product is waited for that long."""
KILLED = 137


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Where a chain's own database and namespace are made."""

    postgres: PostgresServer
    temporal: TemporalServer
    client: Client


class Dying:
    """`points` in the order in which workers die; after the last of them one lives.

    `begins` starts the next worker, `dies` also waits for its death, `lives` starts the last one.
    """

    def __init__(self, stack: Stack, llm: FakeLLM, points: list[str]) -> None:
        self.stack, self.llm = stack, llm
        self.kills = len(points)
        self.left = deque(points)
        self.at = ""
        self.deaths: dict[str, float] = {}

    def begins(self) -> subprocess.Popen[bytes]:
        self.at = self.left.popleft() if self.left else ""
        return self.stack.worker(REDRAFT_FAULT=self.at)

    async def died(self, process: subprocess.Popen[bytes]) -> None:
        """It did, at its point and by itself."""
        try:
            assert await ended(process, seconds=PATIENCE, what="a worker") == KILLED
        except AssertionError as error:
            raise AssertionError(f"at {self.at}: {error}\n{self.stack.logs()}") from None
        self.deaths[self.at] = time.time()

    async def dies(self, times: int = 1) -> None:
        for _ in range(times):
            await self.died(self.begins())

    async def lives(self) -> subprocess.Popen[bytes]:
        """The last one, once it is known to the others."""
        assert not self.left, "all others died"
        now = self.begins()
        await worker_seen(self.stack, now, PATIENCE)
        return now

    async def asked(self, count: int) -> None:
        await self.llm.wait_requests(count, seconds=PATIENCE)

    async def command(self, run: Json, name: str, status: int = 202) -> None:
        code, answer = await self.stack.call("POST", f"/api/runs/{run['id']}/{name}", {})
        assert code == status, (code, answer)

    async def settled(self, run: Json) -> None:
        """Nothing of the run is open any more, whatever its status."""

        async def closed() -> bool:
            now = await self.stack.run(run["id"])
            return now["active_step"] is None and not now["stopping"]

        await eventually(closed, seconds=PATIENCE, what="a closed step")

    async def all_is_well(self, run: Json, *, failed: int = 0, side_by_side: int = 1) -> None:
        """It ended by itself; every kill cost at most the calls in flight; nothing twice."""
        stack = self.stack
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=PATIENCE)
        await consistent(stack, run["id"])
        calls = await stack.rows(run["id"], "calls")
        settled = sum(call["status"] in ("SUCCEEDED", "FAILED") for call in calls)
        assert len(self.llm.requests) <= settled + self.kills * side_by_side
        made = await stack.sql("SELECT round FROM revisions WHERE run_id = $1", run["id"])
        assert len(made) == len({row["round"] for row in made}), "a round was written twice"
        types = [event["type"] for event in await stack.events(run["id"])]
        assert types.count("run_awaiting_confirmation") == 1
        assert types.count("run_failed") == failed

    async def nothing_repaid(self, run: Json, *, schema: str = "") -> None:
        """Only where the model server saw no other run; of one step, where requests of another do
        not say which part they are of."""
        seen = copy.copy(self.llm)
        seen.requests = [one for one in self.llm.requests if schema in ("", one.schema)]
        await nothing_repaid(self.stack, seen, run["id"])


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Deaths one after the other, and what is done between them."""

    play: Callable[[Dying], Awaitable[None]]
    points: list[str]
    environment: dict[str, str]


@contextlib.asynccontextmanager
async def dying(servers: Servers, chain: Chain) -> AsyncIterator[Dying]:
    """A database, a namespace, a model server and an API of the chain's own."""
    environment, points = chain.environment, chain.points
    async with FakeLLM() as llm:
        stack = Stack(servers.postgres, servers.temporal, servers.client, llm.base_url, environment)
        stack.more["REDRAFT_BLOB_URL"] = stack.folder.as_uri()
        try:
            yield Dying(await stack.start(workers=0), llm, points)
        finally:
            await stack.stop()
