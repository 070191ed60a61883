"""The process: without its database, with a read-only one, and its end while streams are open."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time

import httpx2
import pytest

from deploy.migrations import HEAD
from tests.api.harness import MINUTES, Api, serving, settings_for
from tests.eventually import eventually
from tests.services import free_port

UNREACHABLE = "postgresql://nobody@127.0.0.1:1/none"


def environment() -> dict[str, str]:
    """Of a child: none of our settings, and it may keep its bytecode (or it starts slowly)."""
    dropped = ("REDRAFT_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)}


async def test_without_its_database_it_lives_and_says_unavailable() -> None:
    async with serving(settings_for(UNREACHABLE)) as served:
        assert (await served.get("/healthz")).status == 200
        ready = await served.get("/readyz")
        assert (ready.status, ready.json["problems"]) == (503, ["database_away"])
        for answer in (await served.get("/api/runs"), await served.post("/api/runs", MINUTES)):
            assert (answer.status, answer.code) == (503, "unavailable")
            assert answer.headers["retry-after"]
            assert "127.0.0.1" not in str(answer.json)
        assert (await served.get("/api/version")).json["schema"] is None


async def test_a_read_only_database_refuses_and_reads_on(api: Api) -> None:
    url = f"{api.state.settings.database_url}?options=-c%20default_transaction_read_only%3Don"
    async with serving(settings_for(url)) as served:
        ready = await served.get("/readyz")
        assert (ready.status, ready.json["problems"]) == (503, ["database_read_only"])
        answer = await served.post("/api/runs", MINUTES)
        assert (answer.status, answer.code) == (503, "unavailable")
        assert (await served.get("/api/runs")).json["items"] == []


async def test_a_schema_that_is_behind_is_red(api: Api) -> None:
    await api.pool.execute("UPDATE alembic_version SET version_num = '0000'")
    try:
        ready = await api.get("/readyz")
    finally:
        await api.pool.execute("UPDATE alembic_version SET version_num = $1", HEAD)
    assert (ready.status, ready.json["problems"]) == (503, ["schema_behind"])
    assert (await api.get("/readyz")).status == 200


async def test_a_full_disk_is_red_for_a_while(api: Api) -> None:
    await api.pool.execute(
        """
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no space at /var/lib/secret' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON documents EXECUTE FUNCTION full_disk()
        """
    )
    try:
        answer = await api.post("/api/runs", MINUTES)
    finally:
        await api.pool.execute("DROP FUNCTION full_disk CASCADE")
    assert (answer.status, answer.code) == (507, "disk_full")
    assert "secret" not in str(answer.json)
    ready = await api.get("/readyz")
    assert (ready.status, ready.json["problems"]) == (503, ["disk_full"])
    api.state.disk_full_at = time.monotonic() - 60
    assert (await api.get("/readyz")).status == 200


async def test_a_fault_of_ours_says_nothing_of_what_it_met(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    await api.pool.execute("ALTER TABLE documents ADD CHECK (title <> 'CANARY-7F3A')")
    try:
        answer = await api.post("/api/runs", {**MINUTES, "title": "CANARY-7F3A"})
    finally:
        await api.pool.execute("ALTER TABLE documents DROP CONSTRAINT documents_title_check")
    assert (answer.status, answer.code) == (500, "internal")
    assert "CANARY" not in str(answer.json)
    assert "CANARY" not in caplog.text
    assert "request failed" in caplog.text


async def test_told_to_end_it_ends_in_order_though_a_stream_is_open(api: Api) -> None:
    run = await api.run()
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "api",
        env={
            **environment(),
            "REDRAFT_DATABASE_URL": api.state.settings.database_url,
            "REDRAFT_API_PORT": str(port),
            "TEMPORAL_ADDRESS": "127.0.0.1:1",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=20) as client:

            async def ready() -> bool:
                try:
                    return (await client.get("/readyz")).status_code == 200
                except httpx2.TransportError:
                    return False

            await eventually(ready, seconds=60, what="the API")
            large = await client.post("/api/runs", content=b"x" * 6_000_000)
            assert (large.status_code, large.json()["code"]) == (413, "too_large")
            path = f"/api/runs/{run['id']}/events"
            async with client.stream("GET", path) as stream:
                lines = stream.aiter_lines()
                assert await anext(lines) == "retry: 2000"
                process.send_signal(signal.SIGTERM)
                async for _ in lines:
                    pass
        out, _ = await asyncio.wait_for(process.communicate(), 10)
        assert process.returncode == 0
        assert out == b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_an_open_door_is_refused_at_start() -> None:
    given = {**environment(), "REDRAFT_DATABASE_URL": UNREACHABLE, "REDRAFT_API_HOST": "0.0.0.0"}
    done = subprocess.run(
        [sys.executable, "-m", "api"], env=given, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert b"set REDRAFT_API_KEY" in done.stderr
