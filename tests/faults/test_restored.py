"""Postgres is set back to an earlier moment while Temporal, workers and API live on in the future
(issue 4.1d, PROTOCOL 10). Temporal forgotten is in `test_temporal_away`.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from tests.api.streams import frames
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.kit import PATIENT, issues, own_postgres, planted, stored
from tests.faults.rows import children_of, left_of
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent, minutes

SOON = {**PATIENT, "REDRAFT_SWEEP_SECONDS": "2"}


@pytest_asyncio.fixture
async def beside(
    temporal: TemporalServer, temporal_client: Client, llm: FakeLLM
) -> AsyncIterator[tuple[Stack, PostgresServer]]:
    async with own_postgres() as cluster:
        stack = Stack(cluster, temporal, temporal_client, llm.base_url, SOON)
        yield await stack.start(), cluster
        await stack.stop()


def _copy(source: Path, target: Path) -> None:
    """With owners and modes; the target is replaced."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    for one in (source, *source.rglob("*")):
        facts, there = one.stat(), target / one.relative_to(source)
        shutil.chown(there, facts.st_uid, facts.st_gid)
        there.chmod(facts.st_mode)


async def _keep(cluster: PostgresServer, kept: Path) -> None:
    """A cold copy: what a backup of this moment holds."""
    cluster.stop(signal.SIGINT)
    await asyncio.to_thread(_copy, cluster.folder / "data", kept)
    cluster.start()
    await cluster.ready()


async def _restore(cluster: PostgresServer, kept: Path) -> None:
    cluster.stop(signal.SIGQUIT)
    await asyncio.to_thread(_copy, kept, cluster.folder / "data")
    cluster.start()
    await cluster.ready()


async def _stalled(stack: Stack, llm: FakeLLM) -> Json:
    """A run whose review stands still behind one stored item of two."""
    llm.queue(Reply(items=issues(2), stall_after=Items(1)), schema="redraft_review")
    run = await stack.create(minutes(errors=2))
    await stored(stack, run["id"], 1)
    return run


async def _move(stack: Stack, run: Json, command: str, body: Json | None = None) -> Json:
    async def answered() -> Json | None:
        code, told = await stack.call("POST", f"/api/runs/{run['id']}/{command}", body or {})
        return told if code in (200, 202) else None

    return await eventually(answered, seconds=30, what=command)


@pytest.mark.timeout(400)
async def test_rows_of_an_earlier_moment_go_on_and_the_future_writes_nothing(
    beside: tuple[Stack, PostgresServer], llm: FakeLLM, tmp_path: Path
) -> None:
    stack, cluster = beside
    llm.script(good_reviewer(errors=planted(2)))
    offered = await stack.create(minutes(errors=0))
    await stack.until(offered["id"], "AWAITING_CONFIRMATION", seconds=60)
    stopped = await _stalled(stack, llm)
    await _move(stack, stopped, "interrupt")
    await llm.wait_gone(1, seconds=30)
    ended, going = await _stalled(stack, llm), await _stalled(stack, llm)
    await _keep(cluster, tmp_path / "kept")
    runs = [offered, stopped, ended, going]
    kept = {*await children_of(stack, [run["id"] for run in runs])}

    later = await _future(stack, llm, runs)
    future = {*await children_of(stack, [run["id"] for run in (*runs, later)])} - kept
    ahead = len(await stack.events(ended["id"]))
    asked = len(llm.requests)
    await _restore(cluster, tmp_path / "kept")
    llm.release()  # replies that were asked for in the future arrive
    await _late_signals(stack, runs)
    await _reset_is_told(stack, ended, ahead)

    await stack.sql("UPDATE runs SET last_progress_at = now() - interval '30 s'")  # no need to wait
    for run in (ended, going):
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
    assert (await stack.run(stopped["id"]))["status"] == "INTERRUPTED"
    await _move(stack, stopped, "resume")
    await stack.until(stopped["id"], "AWAITING_CONFIRMATION", seconds=60)
    await _move(stack, offered, "confirm", {"revision": 0})
    for run in runs:
        await consistent(stack, run["id"])
    again = llm.requests[asked:]
    assert len(again) == 3 * 3
    continued = [[item["quote"] for item in request.already] for request in again]
    assert [quotes for quotes in continued if quotes] == [["E1x"]] * 3
    await _without_row(stack, later)
    assert await left_of(stack, [later["id"], later["document_id"], *sorted(future)]) == []
    assert [line for line in stack.logs().splitlines() if " ERROR " in line] == []


async def _future(stack: Stack, llm: FakeLLM, runs: list[Json]) -> Json:
    """What the restored rows will know nothing of: every run moved, and one more was made."""
    offered, stopped, ended, going = runs
    await _move(stack, offered, "confirm", {"revision": 0})
    await _move(stack, going, "interrupt")
    await llm.wait_gone(2, seconds=30)
    late = Reply(items=issues(2)[1:], extra={"score": 50}, stall_after=Items(0))
    llm.queue(late, schema="redraft_review")
    await _move(stack, going, "resume")
    await llm.wait_requests(5, seconds=30)
    await _move(stack, stopped, "resume")
    llm.release(3)
    for run in (stopped, ended):
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await _move(stack, ended, "confirm", {"revision": 1})
    return await _stalled(stack, llm)


async def _late_signals(stack: Stack, runs: list[Json]) -> None:
    """With numbers that no row has reached; they wake, and the row says what to do."""
    for run in runs:
        for name in ("interrupt", "resume", "decide"):
            with contextlib.suppress(RPCError):  # its execution ended in the future
                await stack.workflow(run["id"]).signal(name, {"seq": 1000})


async def _without_row(stack: Stack, run: Json) -> None:
    async def ended() -> bool:
        described = await stack.workflow(run["id"]).describe()
        return bool(described.status == WorkflowExecutionStatus.COMPLETED)

    await eventually(ended, seconds=30, what="the end of a workflow without a row")
    assert (await stack.call("GET", f"/api/runs/{run['id']}"))[0] == 404


async def _reset_is_told(stack: Stack, run: Json, seen: int) -> None:
    """A stream that knows events of the future is told where the run stands now."""
    headers = {"Last-Event-ID": str(seen), "Accept": "text/event-stream"}
    path = f"/api/runs/{run['id']}/events"
    async with stack.http.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        first = await anext(frames(response))
    assert first.event == "reset"
    assert first.data["event_seq"] < seen
