"""The signal after a move, at a real Temporal server; without one the move stays due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType as History
from temporalio.client import Client, WorkflowHandle

from tests.api.harness import MINUTES, Api, serving, settings_for, with_profile
from tests.services import PostgresServer, TemporalServer, make_namespace
from workflows.vocabulary import workflow_id

Handle = WorkflowHandle[object, object]


@pytest_asyncio.fixture
async def namespace(temporal_client: Client) -> str:
    return await make_namespace(temporal_client)


@pytest_asyncio.fixture
async def joined(
    postgres: PostgresServer, temporal: TemporalServer, namespace: str
) -> AsyncIterator[Api]:
    """An API beside a Temporal server, without any worker."""
    url = await postgres.clone()
    settings = settings_for(url, TEMPORAL_ADDRESS=temporal.address, TEMPORAL_NAMESPACE=namespace)
    async with serving(settings) as served:
        yield await with_profile(served)
    await postgres.drop(url)


async def handle_of(temporal: TemporalServer, namespace: str, run_id: str) -> Handle:
    client = await Client.connect(temporal.address, namespace=namespace)
    return client.get_workflow_handle(workflow_id(run_id))


async def signals_of(handle: Handle) -> list[str]:
    return [
        event.workflow_execution_signaled_event_attributes.signal_name
        async for event in handle.fetch_history_events()
        if event.event_type == History.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    ]


async def test_each_move_wakes_the_workflow_and_is_acknowledged(
    joined: Api, temporal: TemporalServer, namespace: str
) -> None:
    run = (await joined.post("/api/runs", MINUTES, idempotency_key="k")).json
    path = f"/api/runs/{run['id']}"
    assert run["signal_due"] is False
    assert (await joined.post("/api/runs", MINUTES, idempotency_key="k")).json == run
    assert (await joined.post(f"{path}/interrupt")).json["signal_due"] is False
    assert (await joined.post(f"{path}/resume")).json["signal_due"] is False
    assert (await joined.post(f"{path}/cancel")).json["signal_due"] is False
    handle = await handle_of(temporal, namespace, run["id"])
    assert await signals_of(handle) == ["resume", "interrupt", "resume", "decide"]
    seqs = await joined.pool.fetchrow("SELECT move_seq, signalled_seq FROM runs")
    assert seqs is not None
    assert tuple(seqs) == (4, 4)


async def test_the_workflow_says_what_it_is_without_the_text(
    joined: Api, temporal: TemporalServer, namespace: str
) -> None:
    run = await joined.run(title="Weekly " + "x" * 200)
    handle = await handle_of(temporal, namespace, run["id"])
    described = await handle.describe()
    summary = await described.static_summary()
    assert summary is not None
    assert summary.startswith("minutes: Weekly")
    assert len(summary) <= 100
    assert await described.memo() == {"document_id": run["document_id"], "kind": "minutes"}
    history = (await handle.fetch_history()).to_json()
    assert "bleu" not in history


@pytest.mark.rule("signal_with_start")
async def test_a_move_of_a_run_whose_workflow_is_gone_is_acknowledged(
    joined: Api, temporal: TemporalServer, namespace: str
) -> None:
    run = await joined.run()
    handle = await handle_of(temporal, namespace, run["id"])
    await handle.terminate()
    assert (await joined.post(f"/api/runs/{run['id']}/interrupt")).json["signal_due"] is False
    assert (await joined.post(f"/api/runs/{run['id']}/resume")).json["signal_due"] is False
    described = await (await handle_of(temporal, namespace, run["id"])).describe()
    assert described.close_time is None


async def test_deletion_tells_the_workflow(
    joined: Api, temporal: TemporalServer, namespace: str
) -> None:
    run = await joined.run()
    answer = await joined.call("DELETE", f"/api/documents/{run['document_id']}")
    assert answer.status == 204
    handle = await handle_of(temporal, namespace, run["id"])
    assert await signals_of(handle) == ["resume", "decide"]


async def test_an_unknown_namespace_leaves_the_move_due(
    postgres: PostgresServer, temporal: TemporalServer
) -> None:
    url = await postgres.clone()
    settings = settings_for(url, TEMPORAL_ADDRESS=temporal.address, TEMPORAL_NAMESPACE="nowhere")
    async with serving(settings) as served:
        await with_profile(served)
        assert (await served.run())["signal_due"] is True
        assert await _due(served)
    await postgres.drop(url)


async def _due(served: Api) -> bool:
    return bool(await served.pool.fetchval("SELECT bool_and(move_seq > signalled_seq) FROM runs"))


async def test_without_temporal_the_command_stands_and_nobody_waits(api: Api) -> None:
    run = await api.run()
    assert run["signal_due"] is True
    began = time.monotonic()
    answer = await api.post(f"/api/runs/{run['id']}/interrupt")
    assert (answer.status, answer.json["signal_due"]) == (202, True)
    assert time.monotonic() - began < 5
    assert await _due(api)


async def test_a_server_that_says_nothing_is_waited_for_a_second_once(
    postgres: PostgresServer,
) -> None:
    """Something that accepts and never answers: a frozen server, a wrong port."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    url = await postgres.clone()
    async with server, serving(settings_for(url, TEMPORAL_ADDRESS=f"127.0.0.1:{port}")) as served:
        await with_profile(served)
        began = time.monotonic()
        run = await served.run()
        first = time.monotonic() - began
        assert run["signal_due"] is True
        assert 0.9 < first < 10
        began = time.monotonic()
        assert (await served.post(f"/api/runs/{run['id']}/interrupt")).status == 202
        assert time.monotonic() - began < first
    await postgres.drop(url)
