"""Everything dies at once while four runs are at four different points, and comes back.

`await everything_dies(stack, llm, postgres, temporal, who)`: raises AssertionError where a run does
not go on by itself, or acts where it should wait.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import psutil

from tests.fake_llm import FakeLLM, Items, Reply, good_reviewer
from tests.faults.asked import of_run
from tests.faults.kit import ended, issues, nothing_repaid, planted, stored
from tests.services import PostgresServer, TemporalServer
from tests.stack import Json, Stack, consistent, minutes

EVERYTHING = ("api", "worker", "temporal", "postgres")
_PATIENCE = 120.0


@dataclass(frozen=True, kw_only=True)
class Mortals:
    """A stack without workers, on servers of its own."""

    stack: Stack
    llm: FakeLLM
    postgres: PostgresServer
    temporal: TemporalServer

    def kill(self, who: tuple[str, ...]) -> None:
        """kill -9, with all children, in one moment."""
        stack = self.stack
        processes = {
            "api": stack.api_process,
            "worker": stack.workers[-1],
            "temporal": self.temporal.process,
            "postgres": self.postgres.process,
        }
        dying = [process for name in who if (process := processes[name]) is not None]
        trees = [psutil.Process(p.pid) for p in dying if p.poll() is None]
        for one in [*trees, *(child for p in trees for child in p.children(recursive=True))]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        for dead in dying:
            dead.wait()

    async def restart(self, who: tuple[str, ...], **worker: str) -> None:
        """In an order that lets each begin before what it needs is there. `worker`: its settings
        beside those of the stack."""
        if "worker" in who:
            self.stack.worker(**worker)
        if "api" in who:
            self.stack.api()
        if "temporal" in who:
            self.temporal.start()
        if "postgres" in who:
            self.postgres.start()
        await self.postgres.ready()
        await self.temporal.ready()
        await self.stack.until_ready()


async def everything_dies(mortals: Mortals, who: tuple[str, ...] = EVERYTHING) -> None:
    """The worker dies by itself, between two steps of one run, and with it whoever is named."""
    stack, llm = mortals.stack, mortals.llm
    llm.script(good_reviewer(errors=planted(2)))
    worker = stack.worker(REDRAFT_FAULT="settle.committed:3")
    waiting = await stack.create(minutes(errors=0, title="Waiting"))
    await stack.until(waiting["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
    llm.queue(Reply(hang=True))
    interrupted = await stack.create(minutes(errors=2, title="Interrupted"))
    await llm.wait_requests(2, seconds=_PATIENCE)
    await _command(stack, interrupted, "interrupt")
    await llm.wait_gone(1, seconds=_PATIENCE)
    llm.queue(Reply(items=issues(2), stall_after=Items(1)))
    during = await stack.create(minutes(errors=2, title="During"))
    await stored(stack, during["id"], 1)
    between = await stack.create(minutes(errors=2, title="Between"))
    await ended(worker, seconds=_PATIENCE)
    mortals.kill(who)
    await mortals.restart(("worker", *who))
    for run in (during, between):
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
    assert (await stack.run(waiting["id"]))["status"] == "AWAITING_CONFIRMATION"
    assert (await stack.run(interrupted["id"]))["status"] == "INTERRUPTED"
    await _goes_on(mortals, waiting, interrupted)
    expected = {"Waiting": 1, "Interrupted": 1 + 3, "During": 1 + 3, "Between": 3}
    for run in (waiting, interrupted, during, between):
        await consistent(stack, run["id"])
        seen = of_run(llm, run)
        await nothing_repaid(stack, seen, run["id"])
        assert len(seen.requests) == expected[run["title"]], run["title"]


async def _goes_on(mortals: Mortals, waiting: Json, interrupted: Json) -> None:
    """Those that wait for a person still do what the person says."""
    stack = mortals.stack
    await _command(stack, interrupted, "resume")
    await stack.until(interrupted["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
    offered = (await stack.run(waiting["id"]))["offered_revision"]
    path = f"/api/runs/{waiting['id']}/confirm"
    code, answer = await stack.call("POST", path, {"revision": offered})
    assert (code, answer["status"]) == (200, "CONFIRMED")


async def _command(stack: Stack, run: Json, name: str) -> None:
    code, answer = await stack.call("POST", f"/api/runs/{run['id']}/{name}", {})
    assert code == 202, (code, answer)
