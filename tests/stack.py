"""Redraft's own processes for a test: API and workers beside a FakeLLM, a database and a namespace
of their own.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
from temporalio.client import Client

from deploy.database import prepare_connection
from tests import nursery
from tests.eventually import eventually
from tests.services import PostgresServer, TemporalServer, end, free_port, make_namespace, spawn
from workflows.vocabulary import workflow_id

Json = dict[str, Any]

TRANSCRIPT = "\n".join(f"Ana: line {n}, we ship the blue box on Friday." for n in range(1, 21))


def minutes(errors: int = 1, **more: Any) -> Json:
    """The body of a `POST /api/runs` with words E1x.. that only a FakeLLM player calls wrong."""
    lines = "\n".join(f"- We ship E{n}x on Friday." for n in range(1, errors + 1))
    lines = lines or "- We ship the blue box on Friday."
    return {
        "kind": "minutes",
        "title": "Weekly",
        "body": f"# Minutes\n\n## Decisions\n\n{lines}\n",
        "sources": [{"name": "transcript", "media_type": "text/plain", "text": TRANSCRIPT}],
        **more,
    }


class Stack:
    """`await start()`, then `call`, `row`, `worker`, ...; `await stop()` ends what it started."""

    def __init__(
        self,
        postgres: PostgresServer,
        temporal: TemporalServer,
        client: Client,
        model_url: str,
        environment: Mapping[str, str] | None = None,
        *,
        as_a_user: bool = False,
    ) -> None:
        """`as_a_user`: each process imports for itself, where it matters how long that takes."""
        self.as_a_user = as_a_user
        self.postgres, self.temporal, self.client = postgres, temporal, client
        self.model_url = model_url
        self.more = dict(environment or {})
        self.folder = Path(tempfile.mkdtemp(prefix="redraft-stack-"))
        self.url, self.namespace = "", ""
        self.api_port = free_port()
        self.api_process: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        # A connection is not kept as long as the server keeps it, or both end it in one moment.
        self.http = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.api_port}",
            timeout=20,
            trust_env=False,
            limits=httpx2.Limits(keepalive_expiry=2),
        )

    async def start(self, *, workers: int = 1, api: bool = True) -> Stack:
        self.url, self.namespace = await asyncio.gather(
            self.postgres.clone(), make_namespace(self.client)
        )
        for _ in range(workers):
            self.worker()
        if api:
            self.api()
            await self.until_ready()
        return self

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REDRAFT_", "OPENAI_"))}
        return {
            **kept,
            "REDRAFT_DATABASE_URL": self.url,
            "REDRAFT_API_PORT": str(self.api_port),
            "REDRAFT_SHUTDOWN_GRACE": "1",
            "TEMPORAL_ADDRESS": self.temporal.address,
            "TEMPORAL_NAMESPACE": self.namespace,
            "OPENAI_BASE_URL": self.model_url,
            "OPENAI_API_KEY": "sk-test",
            "REDRAFT_MODEL": "fake",
            **self.more,
        }

    def api(self) -> subprocess.Popen[bytes]:
        self.api_process = self._begin("api", self.folder / "api.log", self.environment())
        return self.api_process

    def worker(self, **more: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"worker{len(self.workers)}.log"
        process = self._begin("worker", log, {**self.environment(), **more})
        self.workers.append(process)
        return process

    def _begin(
        self, program: str, log: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        if self.as_a_user:
            return spawn([sys.executable, "-m", program], log=log, environment=environment)
        return nursery.begin(program, log=log, environment=environment)

    async def until_ready(self) -> None:
        async def ready() -> bool:
            assert self.api_process is not None
            if self.api_process.poll() is not None:
                raise RuntimeError(self.logs())
            try:
                return (await self.http.get("/readyz")).status_code == 200
            except httpx2.HTTPError:
                return False

        await eventually(ready, seconds=120, what="the API")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """kill -9, reaped, so that nobody mistakes a zombie for a process."""
        end(process, signal.SIGKILL)

    async def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        try:
            answer = await self.http.request(method, path, json=body, headers=dict(headers or {}))
        except httpx2.RemoteProtocolError:
            if method != "GET":
                raise
            # The server ended a kept connection in the moment in which we used it.
            answer = await self.http.request(method, path, headers=dict(headers or {}))
        is_json = "json" in answer.headers.get("content-type", "")
        return answer.status_code, answer.json() if is_json else answer.text

    async def create(self, body: Json | None = None) -> Json:
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        code, run = await self.call("POST", "/api/runs", body or minutes(), headers)
        assert code == 201, (code, run)
        assert isinstance(run, dict)
        return run

    async def run(self, run_id: str) -> Json:
        code, run = await self.call("GET", f"/api/runs/{run_id}")
        assert code == 200, (code, run)
        assert isinstance(run, dict)
        return run

    async def rows(self, run_id: str, what: str) -> list[Json]:
        """All steps, items, calls, issues or events, in order."""
        found: list[Json] = []
        cursor = ""
        while True:
            path = f"/api/runs/{run_id}/{what}?limit=200{cursor}"
            code, page = await self.call("GET", path, None, {"Accept": "application/json"})
            assert code == 200, (code, page)
            found += page["items"]
            if not page["next_cursor"]:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    async def events(self, run_id: str) -> list[Json]:
        return await self.rows(run_id, "events")

    async def until(self, run_id: str, *statuses: str, seconds: float = 20) -> Json:
        async def look() -> Json | None:
            run = await self.run(run_id)
            return run if run["status"] in statuses else None

        try:
            return await eventually(look, seconds=seconds, what=f"{statuses} of {run_id}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from None

    async def sql(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.url)
        try:
            await prepare_connection(connection)
            return await connection.fetch(statement, *values)
        finally:
            await connection.close()

    def workflow(self, run_id: str) -> Any:
        handle: Any = self.client_of_namespace().get_workflow_handle(workflow_id(run_id))
        return handle

    def client_of_namespace(self) -> Client:
        config = self.client.config()
        config["namespace"] = self.namespace
        return Client(**config)

    async def settle(self) -> None:
        """Cancels what a test left and waits until nothing is at work."""
        active = "'RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION', 'FAILED'"
        rows = await self.sql(f"SELECT id FROM runs WHERE status IN ({active})")  # noqa: S608
        for row in rows:
            await self.call("POST", f"/api/runs/{row['id']}/cancel")

        async def idle() -> bool:
            [row] = await self.sql(
                "SELECT (SELECT count(*) FROM steps WHERE status = 'RUNNING')"
                " + (SELECT count(*) FROM model_calls WHERE status = 'STARTED') AS open"
            )
            return bool(row["open"] == 0)

        await eventually(idle, seconds=20, what="an idle stack")

    def logs(self) -> str:
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}"
            for path in sorted(self.folder.glob("*.log"))
        )

    async def stop(self) -> None:
        await self.http.aclose()
        for process in [*self.workers, *([self.api_process] if self.api_process else [])]:
            end(process, signal.SIGKILL)
        await self.postgres.drop(self.url)
        shutil.rmtree(self.folder, ignore_errors=True)


async def consistent(stack: Stack, run_id: str) -> None:
    """What must hold after any fault: no gaps, no open rows, the checkpoint equals the rows."""
    run = await stack.run(run_id)
    steps = await stack.rows(run_id, "steps")
    calls = await stack.rows(run_id, "calls")
    events = await stack.events(run_id)
    assert [step["seq"] for step in steps] == list(range(1, len(steps) + 1)), steps
    assert not [step for step in steps if step["status"] == "RUNNING"], steps
    assert not [call for call in calls if call["status"] == "STARTED"], calls
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert run["event_seq"] == len(events)
    code, page = await stack.call("GET", f"/api/documents/{run['document_id']}/revisions")
    assert code == 200, page
    numbers = sorted(revision["number"] for revision in page["items"])
    assert numbers == list(range(len(numbers))), numbers
    reviews = [s for s in steps if s["name"] == "review" and s["status"] == "SUCCEEDED"]
    assert run["current_round"] == len(reviews), (run, steps)
    finished = [e["round"] for e in events if e["type"] == "round_finished"]
    assert len(finished) == len(set(finished)), finished
