"""What tests of faults share: small faults by hand, and what must hold after any of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Request
from tests.stack import Json, Stack

PATIENT = {"REDRAFT_HEARTBEAT_TIMEOUT": "300"}
"""Whoever waits for a heartbeat to time out with this does not pass a test in time."""


def issues(count: int) -> list[Json]:
    """What a reviewer says about the words E1x, E2x, … of `tests.stack.minutes`."""
    return [
        {
            "category": "wrong_fact",
            "severity": "major",
            "quote": f"E{n}x",
            "problem": "not what was said",
            "suggestion": "the blue box",
            "evidence": ["T1"],
        }
        for n in range(1, count + 1)
    ]


def planted(count: int) -> list[tuple[str, str]]:
    """The same, as `good_reviewer` takes them."""
    return [(f"E{n}x", "blue") for n in range(1, count + 1)]


def freeze(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGSTOP)


def thaw(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGCONT)


async def ended(
    process: subprocess.Popen[bytes], *, seconds: float = 60, what: str = "a process"
) -> int:
    """Waits until a process ended by itself; its exit code. It is reaped."""

    async def code() -> tuple[int] | None:
        found = process.poll()
        return None if found is None else (found,)

    return (await eventually(code, seconds=seconds, what=f"the end of {what}"))[0]


async def frozen(process: subprocess.Popen[bytes], *, seconds: float = 60) -> None:
    """Waits until a process stopped itself at a named point."""

    async def stopped() -> bool:
        stat = await asyncio.to_thread(_stat, process.pid)
        return stat.rpartition(")")[2].split()[0] == "T"

    await eventually(stopped, seconds=seconds, what=f"process {process.pid} to stop")


def _stat(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read()


async def cut_listeners(stack: Stack) -> None:
    """Ends the connections that listen for moves; they come back after half a second."""
    await stack.sql(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query ILIKE 'listen%'
        """
    )


async def stored(stack: Stack, run_id: str, count: int, *, seconds: float = 60) -> None:
    """Waits until so many items of a run are committed."""

    async def enough() -> bool:
        return len(await stack.rows(run_id, "items")) >= count

    await eventually(enough, seconds=seconds, what=f"{count} stored items")


async def worker_seen(stack: Stack, process: subprocess.Popen[bytes], seconds: float = 60) -> str:
    """Waits until a worker wrote its row; its id."""

    async def found() -> str | None:
        rows = await stack.sql("SELECT id FROM workers WHERE pid = $1", process.pid)
        return rows[0]["id"] if rows else None

    try:
        return await eventually(found, seconds=seconds, what=f"worker {process.pid}")
    except AssertionError as error:
        raise AssertionError(f"{error}; its exit: {process.poll()}\n{stack.logs()}") from None


async def holder(stack: Stack, run_id: str) -> subprocess.Popen[bytes]:
    """The worker process that holds the run's RUNNING step."""

    async def found() -> subprocess.Popen[bytes] | None:
        rows = await stack.sql(
            """
            SELECT w.pid FROM steps s JOIN workers w ON w.id = s.worker
            WHERE s.run_id = $1 AND s.status = 'RUNNING'
            """,
            run_id,
        )
        pids = [row["pid"] for row in rows]
        return next((p for p in stack.workers if p.pid in pids), None)

    return await eventually(found, seconds=60, what="the holder of the step")


async def nothing_repaid(stack: Stack, llm: FakeLLM, run_id: str) -> None:
    """Each request has its own call row; what was stored before it is not asked for again."""
    calls = await stack.sql(
        """
        SELECT c.id, c.plan_id, c.step_name, c.part, c.started_at,
               (SELECT min(s.ended_at) FROM steps s
                WHERE s.plan_id = c.plan_id AND s.status = 'SUCCEEDED') AS plan_done_at
        FROM model_calls c WHERE c.run_id = $1 ORDER BY c.started_at
        """,
        run_id,
    )
    items = await stack.sql(
        """
        SELECT i.plan_id, i.part, i.payload, i.created_at FROM step_items i
        JOIN step_plans p ON p.id = i.plan_id WHERE p.run_id = $1
        """,
        run_id,
    )
    unused = list(calls)
    for request in llm.requests:
        name = request.schema.removeprefix("redraft_")
        mine = [
            call
            for call in unused
            if call["step_name"] in (name, "draft")
            and call["part"] == (request.part or "main")
            and call["started_at"].timestamp() <= request.at
        ]
        assert mine, (request.number, request.schema, "a request without a call row of its own")
        call = mine[-1]
        unused.remove(call)
        done_at = call["plan_done_at"]
        assert done_at is None or call["started_at"] <= done_at, (request.number, "asked when done")
        kept = [
            item["payload"]
            for item in items
            if (item["plan_id"], item["part"]) == (call["plan_id"], call["part"])
            and item["created_at"] < call["started_at"]
        ]
        missing = [item for item in kept if _key(item) not in map(_key, request.already)]
        assert not missing, (request.number, missing, request.already)


def _key(item: object) -> object:
    assert isinstance(item, dict), item
    return item.get("quote") or item.get("find") or item.get("day") or item.get("key")


def paid(llm: FakeLLM) -> list[Request]:
    """Requests that were answered whole."""
    return [request for request in llm.requests if request.outcome == "done"]
