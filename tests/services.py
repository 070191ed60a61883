"""Postgres and Temporal for a test session: real servers on free ports, gone with the session.

Postgres runs without fsync (tests that need durability start the local stack). Every process gets a
death signal, so a killed test run leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

import asyncpg
from temporalio.client import Client

from deploy.local import accounts, binaries
from deploy.local.data import DataDirectory
from deploy.local.processes import _tie_to_parent
from deploy.local.temporal import Temporal
from deploy.migrations.__main__ import migrate

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = "template_redraft"


def free_port() -> int:
    """One that stays free until a server takes it: below those that the system gives to outgoing
    connections, and by chance, since other test processes look for theirs at the same time."""
    while True:
        port = 16_000 + secrets.randbelow(16_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def spawn(
    argv: list[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    directory: Path = ROOT,
    account: accounts.Account | None = None,
    death_signal: int = signal.SIGKILL,
    pass_fds: Collection[int] = (),
) -> subprocess.Popen[bytes]:
    """A child that dies with this process; its words go to `log`."""
    with log.open("ab") as out:
        return subprocess.Popen(
            argv,
            cwd=directory,
            env=dict(environment if environment is not None else os.environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            pass_fds=pass_fds,
            preexec_fn=_tie_to_parent(death_signal),  # noqa: PLW1509
        )


def end(process: subprocess.Popen[bytes], how: int = signal.SIGTERM, patience: float = 15) -> None:
    """Ends a child and reaps it."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class PostgresServer:
    """One cluster with trust authentication on a loopback port."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="redraft-pg-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.account = accounts.for_postgres(self.folder / "data")
        self.programs = binaries.for_account(self.account, self.folder)
        self.process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        data = self.folder / "data"
        data.mkdir()
        if self.account is not None:
            os.chown(data, self.account.uid, self.account.gid)
        words = "-U redraft -A trust -E UTF8 --no-sync --locale-provider=builtin"
        words += " --builtin-locale=C.UTF-8 --locale=C --lc-ctype=C.UTF-8"
        made = spawn(
            [str(self.programs / "initdb"), "-D", str(data), *words.split()],
            log=self.folder / "initdb.log",
            directory=data,
            account=self.account,
        )
        if made.wait(60) != 0:
            raise RuntimeError((self.folder / "initdb.log").read_text())

    def settings(self) -> dict[str, str]:
        return {
            "fsync": "off",
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "300",
            "log_min_error_statement": "panic",
        }

    def start(self) -> None:
        data = self.folder / "data"
        flags = [f"--{name}={value}" for name, value in self.settings().items()]
        self.process = spawn(
            [str(self.programs / "postgres"), "-D", str(data), "-p", str(self.port), *flags],
            log=self.folder / "postgres.log",
            directory=data,
            account=self.account,
            death_signal=signal.SIGINT,
        )

    async def ready(self, seconds: float = 30) -> None:
        give_up = time.monotonic() + seconds
        while True:
            try:
                connection = await asyncpg.connect(self.url("postgres"), timeout=2)
                await connection.close()
                return
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(0.02)

    def stop(self, how: int = signal.SIGINT) -> None:
        if self.process is not None:
            end(self.process, how)

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        return f"postgresql://redraft@127.0.0.1:{self.port}/{database}"

    async def make_template(self) -> None:
        await self.run(f"CREATE DATABASE {TEMPLATE}")
        await migrate(self.url(TEMPLATE))

    async def run(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def clone(self) -> str:
        """A fresh migrated database; its URL."""
        name = f"t_{uuid.uuid4().hex[:12]}"
        await self.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return self.url(name)

    async def drop(self, url: str) -> None:
        await self.run(f"DROP DATABASE IF EXISTS {url.rsplit('/', 1)[1]} WITH (FORCE)")


class TemporalServer:
    """The dev server with the local stack's own flags, on a file."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="redraft-temporal-"))
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        data = DataDirectory(self.folder)
        data.temporal_file.parent.mkdir(parents=True, exist_ok=True)
        self.server = Temporal(
            data=data,
            program=binaries.temporal_program(),
            port=self.port,
            web_port=free_port(),
            http_port=free_port(),
            metrics_port=free_port(),
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        command = self.server.command()
        self.process = spawn(
            list(command.argv),
            log=self.folder / "temporal.log",
            environment=command.environment,
            directory=command.directory,
        )

    async def ready(self, seconds: float = 30) -> Client:
        give_up = time.monotonic() + seconds
        while True:
            try:
                return await Client.connect(self.address, namespace="redraft")
            except RuntimeError:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(0.05)

    def stop(self, how: int = signal.SIGKILL) -> None:
        if self.process is not None:
            end(self.process, how)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


async def make_namespace(client: Client) -> str:
    """A namespace of its own for a stack of processes, so that queues do not mix."""
    from google.protobuf.duration_pb2 import Duration
    from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest

    name = f"t-{uuid.uuid4().hex[:12]}"
    kept = Duration()
    kept.FromSeconds(86400)
    request: Any = RegisterNamespaceRequest(
        namespace=name, workflow_execution_retention_period=kept
    )
    await client.workflow_service.register_namespace(request)
    return name


@contextlib.asynccontextmanager
async def own_postgres() -> AsyncIterator[PostgresServer]:
    """A running cluster with a migrated template database; it may be stopped and started again."""
    server = PostgresServer()
    try:
        server.make()
        server.start()
        await server.ready()
        await server.make_template()
        yield server
    finally:
        server.remove()


@contextlib.asynccontextmanager
async def own_temporal() -> AsyncIterator[TemporalServer]:
    """A Temporal server that may be stopped, frozen, killed and forgotten."""
    server = TemporalServer()
    try:
        server.start()
        await server.ready()
        yield server
    finally:
        server.remove()
