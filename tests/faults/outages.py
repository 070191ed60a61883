"""A server is away for a while with runs in flight at all points, and nothing else is restarted.

`await outage(stack, llm, server, seconds=20, runs=10)`: raises AssertionError where a request was
made that would not have been made without it, or where somebody would have to act.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.faults.asked import of_run
from tests.faults.kit import nothing_repaid, planted
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent, minutes

_PATIENCE = 180.0
_EACH = 3
"""Requests of a run whose review finds something once: review, refine, review."""


async def outage(
    stack: Stack,
    llm: FakeLLM,
    server: PostgresServer | TemporalServer,
    *,
    seconds: float,
    runs: int = 10,
) -> None:
    llm.script(good_reviewer(errors=planted(3)))
    # Slow enough that the runs are at different points when it begins, and some still when it ends.
    llm.pace(per_chunk=0.05, before_first=0.2)
    before = len(llm.requests)
    made = []
    for at in range(runs):
        made.append(await stack.create(minutes(errors=3, title=f"{server.port} {at}")))
        await asyncio.sleep(0.25)
    await llm.wait_requests(before + runs, seconds=_PATIENCE)
    server.stop(signal.SIGKILL if isinstance(server, TemporalServer) else signal.SIGQUIT)
    await asyncio.sleep(seconds)
    server.start()
    await server.ready()
    for run in made:
        await eventually(_done(stack, run), seconds=_PATIENCE, what=f"the end of {run['title']}")
    assert len(llm.requests) - before == runs * _EACH
    for run in made:
        await consistent(stack, run["id"])
        await nothing_repaid(stack, of_run(llm, run), run["id"])
        steps = await stack.rows(run["id"], "steps")
        assert {step["status"] for step in steps} == {"SUCCEEDED"}, steps
    assert not [line for line in stack.logs().splitlines() if " ERROR " in line]


def _done(stack: Stack, run: Json) -> Callable[[], Awaitable[bool]]:
    async def done() -> bool:
        with contextlib.suppress(Exception):  # the API says 503 for a moment, or nothing at all
            return bool((await stack.run(run["id"]))["status"] == "AWAITING_CONFIRMATION")
        return False

    return done
