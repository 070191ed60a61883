"""Deleting a document removes every row of it, whatever its run is doing."""

from __future__ import annotations

import asyncio

import pytest

from deploy.database import new_id
from tests import read_rows as rows
from tests.api.harness import Api
from workflows.vocabulary import RunStatus

OF_A_DOCUMENT = ["documents", "sources", "revisions", "comments", "blobs", "runs", "step_plans"]
OF_A_DOCUMENT += ["step_parts", "steps", "model_calls", "issues", "run_events"]


async def left(api: Api) -> dict[str, int]:
    """Rows by table, where there are any."""
    found = {}
    for table in OF_A_DOCUMENT:
        found[table] = await api.pool.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608
    return {table: number for table, number in found.items() if number}


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.AWAITING_CONFIRMATION])
async def test_every_row_goes_and_everything_is_not_found(api: Api, status: RunStatus) -> None:
    run = await api.run_in(status)
    path = f"/api/documents/{run['document_id']}"
    assert (await api.call("DELETE", path)).status == 204
    assert await left(api) == {}
    for answer in (
        await api.get(path),
        await api.get(f"{path}/revisions/0"),
        await api.get(f"/api/runs/{run['id']}"),
        await api.get(f"/api/runs/{run['id']}/steps"),
        await api.post(f"/api/runs/{run['id']}/cancel"),
        await api.post(f"{path}/runs"),
        await api.call("DELETE", path),
    ):
        assert (answer.status, answer.code) == (404, "not_found")


async def test_a_live_run_is_told_and_what_lives_outside_is_owed(api: Api) -> None:
    run = await api.run()
    step = await rows.add_step(api.pool, run["id"])
    await rows.add_call(api.pool, run["id"], step, provider_response_id="resp_1")
    await api.pool.execute(
        "INSERT INTO blobs (id, document_id, uri, name, media_type, bytes, sha256) "
        "VALUES ($1, $2, 'file:///a', 'a', 'audio/wav', 1, 'h')",
        new_id(),
        run["document_id"],
    )
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with api.pool.acquire() as connection:
        await connection.add_listener("redraft_moves", lambda *told: heard.put_nowait(str(told[3])))
        answer = await api.call("DELETE", f"/api/documents/{run['document_id']}")
        assert answer.status == 204
        assert await asyncio.wait_for(heard.get(), 5) == run["id"]
        await connection.reset()
    owed = await api.pool.fetch("SELECT what, uri, profile FROM blob_deletions ORDER BY what")
    assert [tuple(row) for row in owed] == [
        ("blob", "file:///a", None),
        ("response", "resp_1", "default"),
    ]
    assert await left(api) == {}
    audit = await api.pool.fetchrow("SELECT actor, action, object_id FROM audit_events")
    assert audit is not None
    assert tuple(audit) == ("local", "document_deleted", run["document_id"])


async def test_deletion_among_commands_never_fails_inside(api: Api) -> None:
    for _ in range(5):
        run = await api.run()
        document, path = f"/api/documents/{run['document_id']}", f"/api/runs/{run['id']}"
        answers = await asyncio.gather(
            api.post(f"{path}/interrupt"),
            api.call("DELETE", document),
            api.post(f"{document}/revisions", {"base_revision": 0, "body": "# A"}),
            api.post(f"{path}/cancel"),
            api.call("DELETE", document),
        )
        assert {answer.status for answer in answers} <= {201, 202, 204, 404, 409}
        assert sorted(a.status for a in (answers[1], answers[4])) == [204, 404]
    assert await left(api) == {}
