"""Interrupts by the hundred: all of a full house at once, and each followed at once by a resume."""

from __future__ import annotations

import asyncio
import random
import time

from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, Request, good_reviewer
from tests.faults.asked import of_run, side_by_side
from tests.faults.kit import issues, nothing_repaid, planted
from tests.faults.rounds import REVIEWERS, three_reviewers
from tests.stack import Json, Stack, consistent, minutes

_PATIENCE = 180.0
STANDING_STILL = {
    "REDRAFT_FIRST_BYTE_TIMEOUT": "900",
    "REDRAFT_SILENCE_TIMEOUT": "900",
}
"""Nobody gives up a reply that does not come."""
PER_RUN = 8
"""Stops of one run: every stop costs calls, and twenty of one part are a guardrail's business."""


async def command(stack: Stack, run: Json, name: str) -> int:
    """Patient: hundreds at once wait for each other."""
    path = f"/api/runs/{run['id']}/{name}"
    return int((await stack.http.post(path, json={}, timeout=_PATIENCE)).status_code)


async def closed(stack: Stack) -> bool:
    rows = await stack.sql(
        """
        SELECT (SELECT count(*) FROM steps WHERE status = 'RUNNING')
             + (SELECT count(*) FROM model_calls WHERE status = 'STARTED') AS open
        """
    )
    return bool(rows[0]["open"] == 0)


async def stop_a_full_house(stack: Stack, llm: FakeLLM, *, runs: int) -> float:
    """Half of them before the first byte, half behind an item; each by two people at once.
    Seconds from the first command to the last connection's end."""
    llm.script(_hanging)
    made = [await stack.create(minutes(errors=2, title=f"Stop {at}")) for at in range(runs)]
    await llm.wait_requests(runs, seconds=_PATIENCE)
    await llm.wait_until(
        lambda: sum(bool(r.sent) for r in llm.requests) >= runs // 2, seconds=_PATIENCE
    )
    assert llm.in_flight == runs
    began = time.monotonic()
    answers = await asyncio.gather(
        *(command(stack, run, "interrupt") for run in made for _ in range(2))
    )
    await llm.wait_gone(runs, seconds=_PATIENCE)
    took = time.monotonic() - began
    assert sorted(answers) == [202] * runs + [409] * runs
    await eventually(lambda: closed(stack), seconds=_PATIENCE, what="closed steps and calls")
    rows = await stack.sql("SELECT status, end_cause, count(*) AS n FROM model_calls GROUP BY 1, 2")
    assert [tuple(row) for row in rows] == [("CANCELLED", "interrupted", runs)]
    assert len(llm.requests) == runs
    for run in made:
        assert (await stack.run(run["id"]))["status"] == "INTERRUPTED"
        await consistent(stack, run["id"])
    return took


def _hanging(request: Request) -> Reply:
    return Reply(hang=True) if request.number % 2 else Reply(items=issues(2), stall_after=Items(1))


async def stop_and_go(stack: Stack, llm: FakeLLM, *, seed: int, stops: int) -> None:
    """Each resume is sent the moment its interrupt is answered, at random points of runs with three
    reviewers: at any time one request of a part, none is lost, and every run ends by itself."""
    dice = random.Random(seed)
    await three_reviewers(stack)
    llm.script(good_reviewer(errors=planted(6)))
    llm.pace(per_chunk=0.2)
    made = [
        await stack.create(minutes(errors=6, title=f"Go {at}", profile=REVIEWERS))
        for at in range(-(-stops // PER_RUN))
    ]
    delays = [[dice.choice((0.0, dice.uniform(0, 0.8))) for _ in range(PER_RUN)] for _ in made]
    await asyncio.gather(
        *(_on_and_off(stack, run, each) for run, each in zip(made, delays, strict=True))
    )
    llm.pace()
    for run in made:
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=_PATIENCE)
        await consistent(stack, run["id"])
        seen = of_run(llm, run)
        assert side_by_side(seen.requests) == []
        await nothing_repaid(stack, seen, run["id"])
        types = [event["type"] for event in await stack.events(run["id"])]
        assert types.count("run_interrupted") == types.count("run_resumed") == PER_RUN
        assert len(await stack.rows(run["id"], "issues")) == 6
    assert sum(len(of_run(llm, run).requests) for run in made) == len(llm.requests)


async def _on_and_off(stack: Stack, run: Json, delays: list[float]) -> None:
    for delay in delays:
        await asyncio.sleep(delay)
        assert await command(stack, run, "interrupt") == 202
        assert await command(stack, run, "resume") == 202
