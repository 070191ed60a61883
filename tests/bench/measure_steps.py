"""What a step costs beside its model call, what it leaves behind, and how soon it is committed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Any

import httpx2

from tests.bench.documents import STEPS, new_tag, run_body
from tests.bench.figures import At, Figure, Target, quantile
from tests.bench.model import Call
from tests.bench.rig import Rig, Run, minus

_EACH_SECOND = (
    "SELECT pg_try_advisory_lock($1)",
    "SELECT r.id, r.status, r.epoch, ",
)
"""How the statements begin that run whether or not a step does."""
_RESET = ("CLOSE ALL", "UNLISTEN *", "RESET ALL")
"""Sent together with `SELECT pg_advisory_unlock_all()`: one round trip."""


async def overhead(rig: Rig) -> AsyncIterator[Figure]:
    """One run at a time, a model that answers at once."""
    bare = await _bare_calls(rig, rig.some(100, 10))
    count = rig.some(20, 2)
    await rig.forget_statements()
    cpu, wal = rig.cpu(), await rig.wal()
    runs = [await _timed(rig) for _ in range(count)]
    cpu, wal = minus(rig.cpu(), cpu), await rig.wal() - wal
    asked = await rig.statements()
    bare_ms = quantile(bare, 0.5)
    within, between = _gaps(rig, [run for run, _ in runs])
    yield Figure(
        name="overhead per step",
        unit="ms",
        samples=[seconds * 1000 / STEPS - bare_ms for _, seconds in runs],
        targets=(Target(bound=8),),
        details={"bare call ms": round(bare_ms, 2)},
    )
    yield Figure(name="overhead reply to request, same round", unit="ms", samples=within)
    yield Figure(name="overhead reply to request, next round", unit="ms", samples=between)
    yield cpu_per_step("overhead CPU per step", cpu, count * STEPS)
    yield _round_trips(asked, count * STEPS)
    yield Figure(name="overhead WAL per run", unit="KB", samples=[wal / count / 1024])


async def commit(rig: Rig) -> AsyncIterator[Figure]:
    """From the last byte of a reply to the commit that keeps it, by the database's own time."""
    await rig.model.pace(before_first=0.05)
    runs = [await rig.start_run() for _ in range(rig.some(10, 2))]
    await rig.finish(*runs)
    alone = Target(bound=20, at=At.P99)
    yield await _to_commit(rig, "commit 10 runs, 50 ms a call", runs, alone)
    await rig.model.pace(before_first=1.0)
    runs = await rig.start_runs(rig.some(50, 5))
    await rig.finish(*runs)
    yield await _to_commit(rig, "commit 50 runs, 1 s a call", runs, alone)
    seconds, count = (8.0, 50) if not rig.small else (1.0, 5)
    await rig.model.pace(before_first=seconds)
    runs = []
    for _ in range(count):  # people do not all start at once
        runs.append(await rig.start_run())
        await asyncio.sleep(seconds / count)
    await rig.finish(*runs)
    yield await _to_commit(rig, f"commit {count} runs, {seconds:.0f} s a call", runs, alone)
    await rig.model.pace()


async def _timed(rig: Rig) -> tuple[Run, float]:
    """A run from its POST to the commit that lets it wait for a person."""
    began = time.time()
    run = await rig.start_run()
    await rig.finish(run)
    ended: float = await rig.own.fetchval(
        """
        SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float FROM run_events
        WHERE run_id = $1 AND type = 'run_awaiting_confirmation'
        """,
        run.id,
    )
    return run, ended - began


async def _bare_calls(rig: Rig, count: int) -> list[float]:
    """Milliseconds of the same calls from here, with the same client, opened anew each time."""
    given = run_body(new_tag())
    messages = [{"role": "user", "content": given["body"] + given["sources"][0]["text"]}]
    body = {"model": "fake", "stream": True, "messages": messages}
    took = []
    limits = httpx2.Limits(max_keepalive_connections=0)
    async with httpx2.AsyncClient(trust_env=False, limits=limits, timeout=20) as client:
        for _ in range(count):
            began = time.perf_counter()
            async with client.stream(
                "POST", f"{rig.model.base_url}/chat/completions", json=body
            ) as response:
                async for _ in response.aiter_raw():
                    pass
            took.append((time.perf_counter() - began) * 1000)
    return took


def _gaps(rig: Rig, runs: list[Run]) -> tuple[list[float], list[float]]:
    """Milliseconds from a reply's end to the next request: review to refine, refine to review."""
    within: list[float] = []
    between: list[float] = []
    for run in runs:
        calls = rig.model.of[run.tag]
        assert len(calls) == STEPS, f"{len(calls)} calls of a run that makes {STEPS}"
        for place, (one, other) in enumerate(pairwise(calls)):
            (between if place % 2 else within).append((other.at - _done(one)) * 1000)
    return within, between


def _done(call: Call) -> float:
    assert call.done_at is not None, "the run has ended"
    return call.done_at


def cpu_per_step(name: str, cpu: Mapping[str, float], steps: int) -> Figure:
    """The engine's parts summed; the model server and the driver beside them."""
    parts = {part: round(seconds * 1000 / steps, 2) for part, seconds in cpu.items()}
    ours = sum(value for part, value in parts.items() if part not in ("model server", "driver"))
    return Figure(name=name, unit="ms", samples=[ours], details={"by part, ms": parts})


def _round_trips(asked: Mapping[str, tuple[int, float]], steps: int) -> Figure:
    """Each statement is one; what runs every second anyway is left out."""
    own = {
        text: used
        for text, used in asked.items()
        if text not in _RESET and text != "SELECT $1" and not text.startswith(_EACH_SECOND)
    }
    most = sorted(own.items(), key=lambda entry: -entry[1][0])
    listed: dict[str, Any] = {
        text[:160]: {"per step": round(calls / steps, 2), "ms": round(ms / calls, 3)}
        for text, (calls, ms) in most
    }
    return Figure(
        name="overhead round trips per step",
        unit="",
        samples=[sum(calls for calls, _ in own.values()) / steps],
        details={
            "database ms per step": round(sum(ms for _, ms in own.values()) / steps, 2),
            "statements": listed,
        },
    )


async def _to_commit(rig: Rig, name: str, runs: list[Run], target: Target) -> Figure:
    """A closed call is not written again, so its row is as old as the commit that closed it."""
    samples = []
    for run in runs:
        rows = await rig.own.fetch(
            """
            SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float AS at
            FROM model_calls WHERE run_id = $1 ORDER BY started_at
            """,
            run.id,
        )
        calls = rig.model.of[run.tag]
        assert len(rows) == len(calls) == STEPS, (len(rows), len(calls))
        pairs = zip(rows, calls, strict=True)
        samples += [(row["at"] - _done(call)) * 1000 for row, call in pairs]
    return Figure(
        name=name,
        unit="ms",
        samples=samples,
        targets=(target,),
        details={"mean": round(fmean(samples), 2)},
    )
