"""A request that is sent twice under one key does its thing once."""

from __future__ import annotations

import asyncio

import pytest

from tests.api.harness import MINUTES, Api
from tests.eventually import eventually


async def test_the_same_request_gets_the_same_answer(api: Api) -> None:
    first = await api.post("/api/runs", MINUTES, idempotency_key="k")
    again = await api.post("/api/runs", MINUTES, idempotency_key="k")
    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotent-replay"] == "true"
    assert "idempotent-replay" not in first.headers
    assert len((await api.get("/api/runs")).json["items"]) == 1


async def test_fields_in_another_order_are_the_same_request(api: Api) -> None:
    first = await api.post("/api/runs", MINUTES, idempotency_key="k")
    turned = dict(reversed(MINUTES.items()))
    assert (await api.post("/api/runs", turned, idempotency_key="k")).json == first.json


async def test_another_request_under_the_key_is_a_mismatch(api: Api) -> None:
    await api.post("/api/runs", MINUTES, idempotency_key="k")
    answer = await api.post("/api/runs", {**MINUTES, "title": "x"}, idempotency_key="k")
    assert (answer.status, answer.code) == (422, "idempotency_mismatch")


async def test_a_key_belongs_to_its_path(api: Api) -> None:
    run = await api.post("/api/runs", MINUTES, idempotency_key="k")
    path = f"/api/runs/{run.json['id']}/interrupt"
    assert (await api.post(path, idempotency_key="k")).status == 202
    again = await api.post(path, idempotency_key="k")
    assert (again.status, again.json["status"]) == (202, "INTERRUPTED")


async def test_requests_at_once_under_one_key_do_it_once(api: Api) -> None:
    answers = await asyncio.gather(
        *(api.post("/api/runs", MINUTES, idempotency_key="k") for _ in range(10))
    )
    assert {answer.status for answer in answers} <= {201, 409}
    assert {a.code for a in answers if a.status == 409} <= {"idempotency_in_progress"}
    assert len({a.json["id"] for a in answers if a.status == 201}) == 1
    assert len((await api.get("/api/runs")).json["items"]) == 1


async def test_while_the_first_is_under_way_the_second_is_told(api: Api) -> None:
    document = (await api.post("/api/documents", MINUTES)).json
    path = f"/api/documents/{document['id']}/runs"
    async with api.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT FROM documents FOR UPDATE")
        first = asyncio.create_task(api.post(path, idempotency_key="k"))
        await _until_waiting(api)
        second = await api.post(path, idempotency_key="k")
    assert (second.status, second.code) == (409, "idempotency_in_progress")
    assert (await first).status == 201


async def _until_waiting(api: Api) -> None:
    async def waiting() -> bool:
        sql = "SELECT true FROM pg_stat_activity WHERE wait_event_type = 'Lock' LIMIT 1"
        return bool(await api.pool.fetchval(sql))

    await eventually(waiting, what="a transaction that waits for a lock")


async def test_a_refusal_is_not_kept(api: Api) -> None:
    await api.call("PUT", "/api/switches", {"draining": True})
    assert (await api.post("/api/runs", MINUTES, idempotency_key="k")).status == 503
    await api.call("PUT", "/api/switches", {"draining": False})
    assert (await api.post("/api/runs", MINUTES, idempotency_key="k")).status == 201
    await api.call("PUT", "/api/switches", {"draining": True})
    again = await api.post("/api/runs", MINUTES, idempotency_key="k")
    assert (again.status, again.headers["idempotent-replay"]) == (201, "true")


async def test_after_a_day_a_key_is_free_again(api: Api) -> None:
    first = await api.post("/api/runs", MINUTES, idempotency_key="k")
    await api.pool.execute("UPDATE idempotency_keys SET created_at = now() - interval '25 hours'")
    again = await api.post("/api/runs", MINUTES, idempotency_key="k")
    assert again.status == 201
    assert again.json["id"] != first.json["id"]


async def test_what_was_deleted_is_not_replayed(api: Api) -> None:
    run = await api.post("/api/runs", {**MINUTES, "title": "CANARY-7F3A"}, idempotency_key="k")
    await api.call("DELETE", f"/api/documents/{run.json['document_id']}")
    body = {**MINUTES, "title": "CANARY-7F3A"}
    again = await api.post("/api/runs", body, idempotency_key="k")
    assert (again.status, again.code) == (404, "deleted")
    kept = await api.pool.fetch("SELECT idempotency_keys::text AS line FROM idempotency_keys")
    assert "CANARY" not in str([row["line"] for row in kept])


@pytest.mark.parametrize("key", ["", "x" * 256, "two words", "é"])
async def test_a_key_that_cannot_be_used_is_400(api: Api, key: str) -> None:
    response = await api.client.post(
        "/api/runs", json=MINUTES, headers={b"idempotency-key": key.encode()}
    )
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_request"
