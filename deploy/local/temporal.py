"""The Temporal dev server as a part: one file, loopback only, tuned for one machine."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from deploy.local.ask import expect_ok
from deploy.local.data import DataDirectory, engine_versions
from deploy.local.processes import Command
from deploy.local.supervise import Part

NAMESPACE = "redraft"

_DYNAMIC = {
    # The only shard looks for work 20 times a second by default, which costs 50 ms a step.
    "history.transferProcessorMaxPollRPS": "1000",
    "history.timerProcessorMaxPollRPS": "1000",
    # A cancel reaches the worker at once instead of with its next heartbeat.
    "frontend.WorkerCommandsEnabled": "true",
    "system.enableCancelActivityWorkerCommand": "true",
    "matching.numTaskqueueReadPartitions": "1",
    "matching.numTaskqueueWritePartitions": "1",
    # A resume may follow the end of the last execution at once.
    "history.workflowIdReuseMinimalInterval": '"0s"',
}


@dataclass(frozen=True, kw_only=True)
class Temporal:
    """One server on its four fixed ports (three more are its own affair)."""

    data: DataDirectory
    program: Path
    port: int
    web_port: int
    http_port: int
    metrics_port: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def web_url(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    def command(self) -> Command:
        flags = {
            "--ip": "127.0.0.1",
            "--port": str(self.port),
            "--ui-port": str(self.web_port),
            "--http-port": str(self.http_port),
            "--metrics-port": str(self.metrics_port),
            "--db-filename": str(self.data.temporal_file),
            "--namespace": NAMESPACE,
            "--log-level": "error",
            "--log-format": "json",
        }
        argv = [str(self.program), "server", "start-dev", "--ui-disable-news-fetch"]
        argv += [word for pair in flags.items() for word in pair]
        for pragma in ("journal_mode=wal", "synchronous=1"):
            argv += ["--sqlite-pragma", pragma]
        for key, value in _DYNAMIC.items():
            argv += ["--dynamic-config-value", f"{key}={value}"]
        return Command(
            argv=tuple(argv),
            # No TEMPORAL_* of the caller, and no configuration file from home.
            environment={"PATH": os.defpath, "HOME": str(self.data.temporal_file.parent)},
            directory=self.data.temporal_file.parent,
            log=self.data.logs / "temporal.log",
        )

    async def answers(self) -> None:
        await expect_ok(self.http_port, f"/api/v1/namespaces/{NAMESPACE}")

    def part(self) -> Part:
        return Part(
            name="Temporal",
            command=self.command,
            check=self.answers,
            stop_signals=((signal.SIGTERM, 2.5),),
        )


def move_other_version_aside(data: DataDirectory) -> Path | None:
    """The server never migrates its file. Runs go on from rows; only old histories stay behind."""
    written, here = data.read("version.json").get("temporal", ""), engine_versions()["temporal"]
    if not data.temporal_file.exists() or written == here:
        return None
    aside = data.temporal_file.with_name(f"aside-{written or 'unknown'}-{int(time.time())}")
    aside.mkdir()
    for file in data.temporal_file.parent.glob("temporal.db*"):
        file.rename(aside / file.name)
    return aside
