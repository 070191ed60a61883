"""The application in this process over a real database, and runs brought to where a test needs
them by the same moves that the engine makes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from activities import record
from api.app import create_app, state_in
from api.http.state import State
from deploy.database import Pool
from deploy.settings import Settings, load
from tests.eventually import eventually
from workflows.vocabulary import EventType, Reason, RunStatus

NOWHERE = "127.0.0.1:1"
"""An address where no Temporal answers: signals stay due."""
MINUTES: dict[str, Any] = {
    "kind": "minutes",
    "title": "Weekly",
    "body": "# Minutes\n\n- The box is bleu.\n",
    "sources": [{"name": "t", "media_type": "text/plain", "text": "Ana: the box is blue."}],
}


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One answer. `json` is {} where there is none."""

    status: int
    json: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def code(self) -> str | None:
        return self.json.get("code")

    def pointers(self) -> list[str]:
        return [error["pointer"] for error in self.json.get("errors", [])]


class Api:
    """A client of the application, and its pool."""

    def __init__(self, client: httpx2.AsyncClient, state: State) -> None:
        self.client, self.state = client, state

    @property
    def pool(self) -> Pool:
        return self.state.pool

    async def call(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> Answered:
        """`headers` are given with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if raw is not None:
            sent.setdefault("content-type", "application/json")
            response = await self.client.request(method, path, content=raw, headers=sent)
        else:
            response = await self.client.request(method, path, json=body, headers=sent)
        is_json = "json" in response.headers.get("content-type", "")
        found: dict[str, Any] = response.json() if is_json else {}
        return Answered(status=response.status_code, json=found, headers=response.headers)

    async def get(self, path: str, **headers: str) -> Answered:
        return await self.call("GET", path, None, raw=None, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Answered:
        return await self.call("POST", path, {} if body is None else body, raw=None, **headers)

    async def run(self, **fields: Any) -> dict[str, Any]:
        """A RUNNING run of a new document."""
        answer = await self.post("/api/runs", {**MINUTES, **fields})
        assert answer.status == 201, answer.json
        return answer.json

    async def waiting_run(self) -> dict[str, Any]:
        """A run that offers revision 1, which the engine made."""
        run = await self.run()
        await self._engine_revision(run)
        await self.engine_move(run["id"], EventType.RUN_AWAITING_CONFIRMATION, Reason.PASSED)
        return (await self.get(f"/api/runs/{run['id']}")).json

    async def _engine_revision(self, run: Mapping[str, Any]) -> None:
        """Revision 1 by the engine: now working and best."""
        async with self.pool.acquire() as connection, connection.transaction():
            step_id = await connection.fetchval("SELECT gen_random_uuid()")
            await record.insert_revision(
                connection,
                record.NewRevision(
                    document_id=run["document_id"],
                    body="# Minutes\n\n- The box is blue.\n",
                    base=0,
                    author="run",
                    run_id=run["id"],
                    step_id=step_id,
                    round=1,
                ),
            )
            await connection.execute(
                "UPDATE runs SET working_revision = 1, best_revision = 1, current_round = 1 "
                "WHERE id = $1",
                run["id"],
            )

    async def engine_move(self, run_id: str, event: EventType, reason: Reason | None) -> None:
        """A move that no person makes, by epoch."""
        async with self.pool.acquire() as connection, connection.transaction():
            row = await record.lock_run(connection, run_id)
            assert row is not None
            seq = await record.move(
                connection,
                run_id,
                record.Move(
                    event=event, actor="worker", from_=row.status, epoch=row.epoch, reason=reason
                ),
            )
            assert seq is not None

    async def failed_run(self, reason: Reason = Reason.INTERNAL) -> dict[str, Any]:
        run = await self.run()
        await self.engine_move(run["id"], EventType.RUN_FAILED, reason)
        return (await self.get(f"/api/runs/{run['id']}")).json

    async def run_in(self, status: RunStatus) -> dict[str, Any]:
        """A run in one of the statuses that are not final."""
        if status == RunStatus.AWAITING_CONFIRMATION:
            return await self.waiting_run()
        if status == RunStatus.FAILED:
            return await self.failed_run()
        run = await self.run()
        if status == RunStatus.INTERRUPTED:
            answer = await self.post(f"/api/runs/{run['id']}/interrupt")
            assert answer.status == 202, answer.json
            return answer.json
        return run

    async def events(self, run_id: str) -> list[dict[str, Any]]:
        page = await self.get(f"/api/runs/{run_id}/events?limit=200", accept="application/json")
        items: list[dict[str, Any]] = page.json["items"]
        return items

    async def types(self, run_id: str) -> list[str]:
        return [event["type"] for event in await self.events(run_id)]


def settings_for(database_url: str, **changes: Any) -> Settings:
    given = {
        "REDRAFT_DATABASE_URL": database_url,
        "TEMPORAL_ADDRESS": NOWHERE,
        **{name: str(value) for name, value in changes.items()},
    }
    return load(given)


@contextlib.asynccontextmanager
async def serving(settings: Settings, *, host: str = "127.0.0.1") -> AsyncIterator[Api]:
    """The application of these settings, with its lifespan, answering to `host`."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            yield Api(client, state_in(app))


async def with_profile(api: Api) -> Api:
    """Waits for the first profile, which the lifespan makes beside the first requests."""

    async def made() -> bool:
        return bool(await api.pool.fetchval("SELECT count(*) FROM profiles"))

    await eventually(made, what="the first profile")
    return api


async def emptied(api: Api) -> Api:
    """Nothing of an earlier test is left but the first profile."""
    content = ("documents", "idempotency_keys", "switches", "audit_events", "blob_deletions")
    for table in (*content, "workers"):
        await api.pool.execute(f"DELETE FROM {table}")  # noqa: S608
    await api.pool.execute("DELETE FROM profiles WHERE name <> 'default'")
    api.state.disk_full_at = None
    return api


def files(folder: Path) -> list[Path]:
    """Everything that a store has in its folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
