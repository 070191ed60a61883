"""A place of its own for faults: Postgres, Temporal, a model server, one API and some workers,
every connection between them through a relay.

`async with Place(folder) as place:` starts all; `up` waits until everything runs and answers again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import asyncpg
import httpx2
from temporalio.client import Client

from deploy.database import AWAY, prepare_connection
from deploy.local.processes import rotate
from tests.eventually import eventually
from tests.fake_llm import FakeLLM
from tests.faults.kit.members import Blame, Member
from tests.faults.kit.model import Ledger, Reviewer
from tests.faults.kit.small_disk import SmallDiskPostgres
from tests.faults.relay import Relay
from tests.services import TemporalServer, free_port, spawn

PATIENCE = 180.0
"""Seconds in which everything must be up again."""
SETTINGS = {
    "REDRAFT_HEARTBEAT_TIMEOUT": "12",
    "REDRAFT_SWEEP_SECONDS": "5",
    "REDRAFT_SHUTDOWN_GRACE": "2",
    "REDRAFT_SILENCE_TIMEOUT": "10",
    "REDRAFT_FIRST_BYTE_TIMEOUT": "20",
    "REDRAFT_MODEL": "fake",
    "TEMPORAL_NAMESPACE": "redraft",
}


class Place:
    """`members` are its processes by name, `wires` its relays, `llm` the model server."""

    def __init__(
        self, folder: Path, *, workers: int = 2, environment: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.more = dict(environment or {})
        self.postgres, self.temporal = SmallDiskPostgres(), TemporalServer()
        self.ledger = Ledger()
        self.reviewer = Reviewer()
        self.llm = FakeLLM(self.reviewer)
        self.members: dict[str, Member] = {}
        self.wires: dict[str, Relay] = {}
        self.worker_names = [f"worker-{n}" for n in range(workers)]
        self.api_port, self.url = free_port(), ""
        self.exits: list[str] = []
        self._generation = 0
        self._stack = contextlib.AsyncExitStack()
        self._asking: asyncpg.Connection[asyncpg.Record] | None = None
        self._asked = asyncio.Lock()

    @property
    def workers(self) -> list[Member]:
        return [self.members[name] for name in self.worker_names]

    @property
    def blames(self) -> list[Blame]:
        return [blame for member in self.members.values() for blame in member.blames]

    # starting and ending

    async def __aenter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        self._stack.callback(self.postgres.remove)
        self._stack.callback(self.temporal.remove)
        self._member("postgres", self._begin_postgres).start()
        self._member("temporal", self._begin_temporal).start()
        await self.postgres.ready(60)
        await self.postgres.make_template()
        self.url = await self.postgres.clone()
        await self.temporal.ready(60)
        self.ledger.attach(self.llm, self.reviewer.spoiled)
        await self._stack.enter_async_context(self.llm)
        for name in (*self.worker_names, "api"):
            await self._wire(f"{name} postgres", self.postgres.port)
            await self._wire(f"{name} temporal", self.temporal.port)
            self._member(name, self._beginning(name)).start()
        await self._wire("client", self.api_port)
        self.http = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.wires['client'].port}", timeout=30, trust_env=False
        )
        self._stack.push_async_callback(self.http.aclose)
        self._stack.push_async_callback(self._end)
        await self.up()
        await self._profile()
        caring = asyncio.create_task(self._supervise())
        self._stack.callback(caring.cancel)

    async def _profile(self) -> None:
        """Three reviewers side by side, and a price, so that costs can be held against calls."""
        await self.sql(
            """
            INSERT INTO profiles (name, version, model, prices, prompts, actor)
            VALUES ('default', 2, 'fake', $1, $2, 'local')
            """,
            {"currency": "USD", "tables": [{"input": "1.25", "output": "10"}]},
            {"reviewers": ["facts", "claims", "gaps"]},
        )

    async def _end(self) -> None:
        for name in ("api", *self.worker_names):
            await self.members[name].kill()
        if self._asking is not None:
            self._asking.terminate()

    def _member(self, name: str, begin: Any) -> Member:
        self.members[name] = Member(name, begin)
        return self.members[name]

    async def _wire(self, name: str, port: int) -> None:
        self.wires[name] = await self._stack.enter_async_context(Relay(port))

    def _begin_postgres(self, _more: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.postgres.begin()
        assert self.postgres.process is not None
        return self.postgres.process

    def _begin_temporal(self, _more: Mapping[str, str]) -> subprocess.Popen[bytes]:
        self.temporal.start()
        assert self.temporal.process is not None
        return self.temporal.process

    def _beginning(self, name: str) -> Any:
        module = "api" if name == "api" else "worker"

        def begin(more: Mapping[str, str]) -> subprocess.Popen[bytes]:
            log = self.folder / f"{name}.log"
            rotate(log)
            argv = [sys.executable, "-m", module]
            return spawn(argv, log=log, environment={**self.environment(name), **more})

        return begin

    def environment(self, name: str) -> dict[str, str]:
        """Of one process; its key tells the model server who asks."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REDRAFT_", "OPENAI_"))}
        self._generation += 1
        port = self.wires[f"{name} postgres"].port
        database = self.url.rsplit("/", 1)[1]
        return {
            **kept,
            "REDRAFT_DATABASE_URL": f"postgresql://redraft@127.0.0.1:{port}/{database}",
            "REDRAFT_API_PORT": str(self.api_port),
            "TEMPORAL_ADDRESS": f"127.0.0.1:{self.wires[f'{name} temporal'].port}",
            "OPENAI_BASE_URL": self.llm.base_url,
            "OPENAI_API_KEY": f"sk-{name}-{self._generation}",
            **SETTINGS,
            **self.more,
        }

    # health

    async def _supervise(self) -> None:
        """Starts again what ended by itself, as any supervisor does; notes it."""
        while True:
            for member in self.members.values():
                if member.wanted and not member.alive and member.process is not None:
                    code = member.process.returncode
                    self.exits.append(f"{member.name} ended with {code} at {time.time():.1f}")
                    member.blame(f"exit {code}")
                    member.start()
            for folder in (self.folder, self.postgres.folder, self.temporal.folder):
                for log in folder.glob("*.log"):
                    rotate(log)
            await asyncio.sleep(1.0)

    async def up(self) -> None:
        """Waits until every process runs and answers. Raises AssertionError after PATIENCE."""
        for member in self.members.values():
            if not member.wanted:
                member.start()
        await self.postgres.ready(PATIENCE)
        await self.temporal.ready(PATIENCE)
        await eventually(self._answers, seconds=PATIENCE, what="the API")
        await eventually(self._all_seen, seconds=PATIENCE, what="the workers")

    async def _answers(self) -> bool:
        try:
            return (await self.http.get("/readyz")).status_code == 200
        except httpx2.HTTPError:
            return False

    async def _all_seen(self) -> bool:
        rows = await self.sql(
            "SELECT pid FROM workers WHERE goodbye_at IS NULL AND seen_at > now() - interval '5 s'"
        )
        return {row["pid"] for row in rows} >= {member.pid for member in self.workers}

    # asking

    async def sql(self, statement: str, *values: Any) -> Sequence[asyncpg.Record]:
        """Past the relays; waits while Postgres is away. Raises what it raised after PATIENCE."""
        give_up = time.monotonic() + PATIENCE
        async with self._asked:
            while True:
                try:
                    return await (await self._connection()).fetch(statement, *values)
                except AWAY:
                    if self._asking is not None:
                        self._asking.terminate()
                        self._asking = None
                    if time.monotonic() > give_up:
                        raise
                    await asyncio.sleep(0.2)

    async def _connection(self) -> asyncpg.Connection[asyncpg.Record]:
        if self._asking is None or self._asking.is_closed():
            made = await asyncpg.connect(self.url, timeout=5, command_timeout=30)
            await prepare_connection(made)
            self._asking = made
        return self._asking

    async def temporal_client(self) -> Client:
        return await self.temporal.ready(PATIENCE)

    def tail(self, name: str, characters: int = 20_000) -> str:
        """The last words of a process."""
        folder = {"postgres": self.postgres.folder, "temporal": self.temporal.folder}
        log = folder.get(name, self.folder) / f"{name}.log"
        try:
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - characters))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def keep_logs(self, where: Path) -> None:
        for name in self.members:
            (where / f"{name}.log").write_text(self.tail(name, 400_000), encoding="utf-8")


def own_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="redraft-faults-"))


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
