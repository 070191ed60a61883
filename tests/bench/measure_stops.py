"""Interrupt and resume: from the operator's request to what the model server sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from tests.bench.documents import long_text
from tests.bench.figures import At, Figure, Target
from tests.bench.rig import Rig, Run

CYCLES = 12
"""Interrupts of one run; 20 calls of one part stop it."""
TOKENS = 0.2
"""Seconds between two chunks of a call under way."""
_FAST = (Target(bound=20), Target(bound=250, at=At.P99))
_POLLED = (Target(bound=1500, at=At.MAX),)


async def interrupt(rig: Rig) -> AsyncIterator[Figure]:
    """One and fifty in flight, then the same with parts of the way taken away."""
    gone, _ = await _cycles(rig, rig.some(60, 4))
    yield Figure(name="interrupt 1 in flight", unit="ms", samples=gone, targets=_FAST)
    many = rig.some(50, 5)
    gone = await _among_many(rig, many, rig.some(100, 5))
    yield Figure(name=f"interrupt {many} in flight", unit="ms", samples=gone, targets=_FAST)
    few = rig.some(20, 3)
    runs = await _in_flight(rig, few)
    rig.temporal.stop()
    gone = await _one_by_one(rig, runs)
    rig.temporal.start()
    await _temporal_back(rig)
    yield Figure(name="interrupt without Temporal", unit="ms", samples=gone, targets=_FAST)
    await _cut_notifications(rig)
    gone = await _one_by_one(rig, await _in_flight(rig, few))
    yield Figure(name="interrupt without notifications", unit="ms", samples=gone, targets=_POLLED)
    runs = await _in_flight(rig, few)
    rig.temporal.stop()
    gone = await _one_by_one(rig, runs)
    rig.temporal.start()
    await _temporal_back(rig)
    yield Figure(name="interrupt without either", unit="ms", samples=gone, targets=_POLLED)
    await _mend_notifications(rig)


async def resume(rig: Rig) -> AsyncIterator[Figure]:
    """Of a run that was interrupted and has settled."""
    _, resumed = await _cycles(rig, rig.some(60, 4))
    targets = (Target(bound=35), Target(bound=300, at=At.P99))
    yield Figure(name="resume", unit="ms", samples=resumed, targets=targets)


async def _cycles(rig: Rig, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds to the client's leaving, and from resume to the next request, by turns."""
    gone: list[float] = []
    resumed: list[float] = []
    await rig.model.pace(hang=True)
    while len(gone) < count:
        run = await rig.start_run()
        call = await rig.model.call(run.tag, 1)
        for _ in range(min(CYCLES, count - len(gone))):
            asked = await rig.post(run, "interrupt")
            gone.append((await rig.model.gone(call) - asked) * 1000)
            await rig.settled(run)
            await asyncio.sleep(0.2)  # the workflow has gone to sleep, too
            number = len(rig.model.of[run.tag]) + 1
            asked = await rig.post(run, "resume")
            call = await rig.model.call(run.tag, number)
            resumed.append((call.at - asked) * 1000)
        await rig.post(run, "cancel")
        await rig.model.gone(call)
    await rig.cancel_all()
    return gone, resumed


async def _in_flight(rig: Rig, count: int) -> list[Run]:
    """Runs whose first call is streaming."""
    await rig.model.pace(text=long_text(), per_chunk=TOKENS)
    runs = await rig.start_runs(count)
    for run in runs:
        await rig.model.call(run.tag, 1)
    return runs


async def _one_by_one(rig: Rig, runs: list[Run]) -> list[float]:
    gone = []
    for run in runs:
        call = rig.model.of[run.tag][-1]
        asked = await rig.post(run, "interrupt")
        gone.append((await rig.model.gone(call) - asked) * 1000)
    return gone


async def _among_many(rig: Rig, many: int, count: int) -> list[float]:
    """Each interrupted run goes on, so that always as many stream; ten rest in between."""
    runs = await _in_flight(rig, many)
    gone: list[float] = []
    at = 0
    while len(gone) < count:
        few = [runs[(at + n) % many] for n in range(min(10, many))]
        at += len(few)
        gone += await _one_by_one(rig, few)
        await asyncio.gather(*(rig.settled(run) for run in few))
        numbers = [len(rig.model.of[run.tag]) + 1 for run in few]
        await asyncio.gather(*(rig.post(run, "resume") for run in few))
        for run, number in zip(few, numbers, strict=True):
            await rig.model.call(run.tag, number)
    await rig.cancel_all()
    return gone[:count]


async def _temporal_back(rig: Rig) -> None:
    await rig.temporal.ready()
    await rig.stack.until_ready()
    await rig.cancel_all()


async def _cut_notifications(rig: Rig) -> None:
    """In this database `pg_notify` does nothing, for every session from now on."""
    database = rig.stack.url.rsplit("/", 1)[1]
    await rig.stack.sql(
        "CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''"
    )
    await rig.postgres.run(f"ALTER DATABASE {database} SET search_path = public, pg_catalog")
    await _new_sessions(rig)


async def _mend_notifications(rig: Rig) -> None:
    database = rig.stack.url.rsplit("/", 1)[1]
    await rig.postgres.run(f"ALTER DATABASE {database} RESET search_path")
    await rig.stack.sql("DROP FUNCTION public.pg_notify(text, text)")
    await _new_sessions(rig)


async def _new_sessions(rig: Rig) -> None:
    database = rig.stack.url.rsplit("/", 1)[1]
    await rig.cancel_all()
    await rig.postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608
        f"WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    )
    await asyncio.sleep(2.0)
    await rig.stack.until_ready()
