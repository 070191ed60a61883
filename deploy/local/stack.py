"""The order in which the stack comes up and goes down, and what ends it.

What can start side by side does: Postgres with its schema, Temporal, the offline model; then
workers and API. Down in the other order, so that nothing loses what it still has to write.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from deploy.local import binaries, leftovers, ports, postgres, services, temporal
from deploy.local.data import DataDirectory, check_versions, write_versions
from deploy.local.errors import PartFailed
from deploy.local.options import ROOT, Options
from deploy.local.processes import ProcessTable, size_of, tail
from deploy.local.supervise import Child, Part

_LAST = {"Temporal": 1, "Offline model": 1, "Speech recogniser": 1, "Postgres": 2}
_DATABASE_ELSEWHERE = (
    "This database was given by --database-url or REDRAFT_DATABASE_URL. Without them the stack "
    "uses the one in its own data folder."
)


class Stack:
    """One `up`. The caller holds the data directory and runs this in the main thread's loop."""

    def __init__(self, options: Options, data: DataDirectory, say: Callable[[str], None]) -> None:
        self.options = options
        self.data = data
        self.wiring: services.Wiring
        self._say = say
        self._table = ProcessTable()
        self._ports = ports.Ports()
        self._children: list[tuple[Child, asyncio.Task[None]]] = []
        self._began = time.time()

    async def start(self) -> None:
        """Returns when everything answers. Raises Refused or PartFailed."""
        check_versions(self.data)
        self.data.environment_file.unlink(missing_ok=True)
        await leftovers.end_children(self.data)
        await leftovers.end_postgres(self.data.cluster)  # it may still hold the port we keep
        self.wiring = self._wire()
        write_versions(self.data)
        kept = self.data.read("state.json").get("ports") or {}
        self.data.note(ports={**kept, **self.wiring.ports_to_keep()})
        await self._together(self._database(), self._temporal(), self._models())
        parts = self.wiring.workers() + ([self.wiring.api()] if self.options.api else [])
        await self._together(*(self._up(part) for part in parts))
        self.note_live()

    async def serve(self) -> None:
        """Watches until a part is given up (PartFailed) or the caller cancels."""
        tasks = [task for _, task in self._children]
        seen: list[int | None] = []
        if not tasks:
            await asyncio.Event().wait()
        while True:
            done, _ = await asyncio.wait(tasks, timeout=1.0, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            if seen != (seen := [child.answering for child, _ in self._children]):
                with contextlib.suppress(OSError):  # a full disk must not end what still runs
                    self.note_live()

    async def stop(self, hurry: asyncio.Event) -> None:
        """API and workers, then model and Temporal, Postgres last; `hurry` shortens every wait."""
        for task in [task for _, task in self._children]:
            task.cancel()
        await asyncio.gather(*(task for _, task in self._children), return_exceptions=True)
        for place in range(3):
            group = [child for child, _ in self._children if _LAST.get(child.part.name, 0) == place]
            await asyncio.gather(*(child.end(hurry=hurry) for child in group))
        self.data.environment_file.unlink(missing_ok=True)
        (self.data.root / "live.json").unlink(missing_ok=True)

    def note_live(self) -> None:
        """Writes what runs where, for `status` and for the next start."""
        wiring = self.wiring
        self.data.write(
            "live.json",
            {
                **self.data.read("lock"),
                "began": self._began,
                "url": wiring.url if self.options.api else "",
                "web_url": wiring.web_url,
                "model": self.options.model_named,
                "temporal": {
                    "address": wiring.temporal_address,
                    "web_port": wiring.temporal.web_port if wiring.temporal else None,
                    "http_port": wiring.temporal.http_port if wiring.temporal else None,
                },
                "ports": {
                    "Postgres": wiring.postgres.port if wiring.postgres else None,
                    "Temporal": wiring.temporal.http_port if wiring.temporal else None,
                    "Offline model": wiring.model_port if self.options.offline_model else None,
                    "Speech recogniser": wiring.speech_port if self.options.speech else None,
                    "API": wiring.api_port if self.options.api else None,
                    **{
                        part.name: port
                        for part, port in zip(wiring.workers(), wiring.worker_ports, strict=True)
                    },
                },
                "children": [
                    {
                        "name": child.part.name,
                        "pid": child.running.pid,
                        "created": child.running.created,
                        "restarts": child.restarts,
                    }
                    for child, _ in self._children
                    if child.running and child.answering
                ],
            },
        )

    def _wire(self) -> services.Wiring:
        kept, asked = self._kept_ports(), self.options.port
        # Before any part takes its own: all others can give way, this one cannot.
        pages = None if asked is None else self._ports.exactly(asked, self.options.host)

        def port(name: str, wish: int) -> int:
            return self._ports.next_free(wish, kept=kept.get(name))

        database = None
        if not self.options.database_url:
            database = postgres.find(self.data, port("postgres", ports.POSTGRES))
        engine = None
        if not self.options.temporal_address:
            aside = temporal.move_other_version_aside(self.data)
            if aside:
                self._say(
                    "Temporal's file is of another version and was moved to "
                    f"{aside}; runs go on from their rows."
                )
            engine = temporal.Temporal(
                data=self.data,
                program=binaries.temporal_program(),
                port=port("temporal", ports.TEMPORAL),
                web_port=port("temporal_web", ports.TEMPORAL_WEB),
                http_port=port("temporal_http", ports.TEMPORAL_HTTP),
                metrics_port=port("temporal_metrics", ports.TEMPORAL_METRICS),
            )
        return services.choose(
            self.options, self.data, self._ports, database, engine, kept=kept, api_port=pages
        )

    def _kept_ports(self) -> dict[str, int]:
        """Of the last start over this folder, but for the one that is asked for the pages now."""
        noted = self.data.read("state.json").get("ports") or {}
        return {name: port for name, port in noted.items() if port != self.options.port}

    async def _database(self) -> None:
        database = self.wiring.postgres
        if database is not None:
            if not self.data.cluster.exists():
                self._say("Making the database …")
            await postgres.make_cluster(database, self._table)
            await self._up(database.part())
            await postgres.prepare_database(database)
        await self._migrate()

    async def _migrate(self) -> None:
        """Skipped where this very schema was applied to this very database before."""
        schema = _fingerprint(ROOT / "deploy" / "migrations")
        ours = self.wiring.postgres is not None
        if ours and self.data.read("state.json").get("schema") == schema:
            return
        command = self.wiring.migrate()
        before = size_of(command.log)
        code = await self._table.run(command)
        if code != 0:
            advice = "" if ours else f"\n{_DATABASE_ELSEWHERE}"
            raise PartFailed(
                f"The database could not be brought to this version's schema (exit code {code}). "
                f"The last lines of {command.log}:\n{tail(command.log, since=before)}{advice}"
            )
        if ours:
            self.data.note(schema=schema)

    async def _temporal(self) -> None:
        if self.wiring.temporal is not None:
            await self._up(self.wiring.temporal.part())

    async def _models(self) -> None:
        if self.options.speech:
            await self._up(self.wiring.speech())
        if self.options.offline_model:
            await self._up(self.wiring.model())

    async def _up(self, part: Part) -> None:
        """Starts a part and waits for its first answer."""
        child = Child(part, self._table, self._say)
        task = asyncio.create_task(child.watch(), name=part.name)
        self._children.append((child, task))
        ready = asyncio.create_task(child.ready.wait())
        try:
            while not ready.done():
                done, _ = await asyncio.wait(
                    {ready, task}, timeout=15.0, return_when=asyncio.FIRST_COMPLETED
                )
                if task in done:
                    task.result()
                if not done:
                    self._say(f"{part.name} is still starting (logs in {self.data.logs}) …")
        finally:
            ready.cancel()

    async def _together(self, *work: Coroutine[Any, Any, None]) -> None:
        """All of them; the first failure ends the wait and is what is raised."""
        tasks = [asyncio.create_task(one) for one in work]
        try:
            for done in asyncio.as_completed(tasks):
                await done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _fingerprint(folder: Path) -> str:
    """Of all files that make the schema, names included."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".sql"):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes())
    return digest.hexdigest()
