"""Workers killed at random moments of a run of five rounds with three reviewers side by side: while
they take over, a while after, at the n-th request or the k-th token that the model server sees.

`await thirty_kills(stack, llm, seed=1, kills=30)` on a stack without workers and with
`KILLED_OFTEN`; raises AssertionError where something was lost, paid again or left open.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, replace

from tests.fake_llm import FakeLLM, Player, Reply, Request, good_reviewer
from tests.faults.kit import ended, nothing_repaid, worker_seen
from tests.faults.rounds import all_five_rounds, five_rounds, replanted, three_reviewers
from tests.stack import Stack, consistent

KILLED_OFTEN = {"REDRAFT_HEARTBEAT_TIMEOUT": "4"}
"""Before a claim nobody is known to have the work: only the missing heartbeat tells."""
LONGEST_LIFE = 1.5
"""Seconds from a worker's first sign of life, or from its first request, to its death, at most."""
PATIENCE = 120.0
_CHUNKS = 24
"""Of a reply with two findings; so a reply lasts about that often its pace."""
_STEPS = 10


@dataclass(frozen=True, kw_only=True)
class Killed:
    """What the kills cost. `in_flight`: calls that were open at a kill, over all kills."""

    kills: int
    requests: int
    completed: int
    in_flight: int
    seconds: float


async def open_calls(stack: Stack) -> int:
    rows = await stack.sql("SELECT count(*) AS open FROM model_calls WHERE status = 'STARTED'")
    return int(rows[0]["open"])


async def nothing_lost(stack: Stack, llm: FakeLLM, run_id: str, in_flight: int) -> int:
    """What must hold of a run of five rounds when it is over; how many calls were completed."""
    await consistent(stack, run_id)
    await nothing_repaid(stack, llm, run_id)
    await all_five_rounds(stack, run_id)
    calls = await stack.rows(run_id, "calls")
    completed: int = sum(call["status"] == "SUCCEEDED" for call in calls)
    assert completed == _STEPS * 2, "three reviews and one refine a round, each completed once"
    assert len(llm.requests) <= completed + in_flight, (len(llm.requests), completed, in_flight)
    assert {call["status"] for call in calls} <= {"SUCCEEDED", "LOST"}
    assert sum(call["status"] == "LOST" for call in calls) <= in_flight
    return completed


async def _while_it_takes_over(
    stack: Stack, llm: FakeLLM, process: subprocess.Popen[bytes], dice: random.Random
) -> None:
    await worker_seen(stack, process)
    await asyncio.sleep(dice.uniform(0, LONGEST_LIFE))


async def _at_work(
    stack: Stack, llm: FakeLLM, process: subprocess.Popen[bytes], dice: random.Random
) -> None:
    await llm.wait_requests(len(llm.requests) + 1, seconds=PATIENCE)
    await asyncio.sleep(dice.uniform(0, LONGEST_LIFE))


async def _at_a_request(
    stack: Stack, llm: FakeLLM, process: subprocess.Popen[bytes], dice: random.Random
) -> None:
    """In the moment in which the model server has read it, before any byte goes back."""
    left, seen = dice.randint(1, 4), asyncio.Event()

    def count(event: str, _request: Request) -> None:
        nonlocal left
        left -= event == "request"
        if not left and not seen.is_set():
            os.kill(process.pid, signal.SIGKILL)
            seen.set()

    llm.on_event = count
    await seen.wait()
    llm.on_event = lambda _event, _request: None


async def _at_a_token(
    stack: Stack, llm: FakeLLM, process: subprocess.Popen[bytes], dice: random.Random
) -> None:
    first, tokens = len(llm.requests), dice.randint(1, 3 * _CHUNKS)

    def enough() -> bool:
        sent = sum(len(request.sent) for request in llm.requests[first:])
        return sent >= tokens * Reply().chunk_chars

    await llm.wait_until(enough, seconds=PATIENCE)


MOMENTS = (_while_it_takes_over, _at_work, _at_a_request, _at_a_token)


def _unequal(per_chunk: float) -> Player:
    """Reviewers that do not end together, so that a kill meets parts that are done."""
    plain = good_reviewer(errors=replanted())

    def play(request: Request) -> Reply:
        reply = plain(request)
        assert isinstance(reply, Reply)
        slower = {"facts": 0.4, "claims": 1.0, "gaps": 1.6}.get(request.part, 1.0)
        return replace(reply, per_chunk=per_chunk * slower)

    return play


async def thirty_kills(stack: Stack, llm: FakeLLM, *, seed: int, kills: int = 30) -> Killed:
    """A worker dies, the next one begins, so many times; then the run goes on to its end."""
    dice, began = random.Random(seed), time.monotonic()
    await three_reviewers(stack)
    # The run lasts longer than all the lives together, so that each kill finds it at work.
    llm.script(_unequal(kills * 2 * LONGEST_LIFE / (_STEPS * _CHUNKS)))
    run_id = (await stack.create(five_rounds()))["id"]
    first, in_flight = dice.randrange(len(MOMENTS)), 0
    for at in range(kills):
        now = stack.worker()
        how = MOMENTS[(first + at) % len(MOMENTS)]
        await asyncio.wait_for(how(stack, llm, now, dice), PATIENCE)
        os.kill(now.pid, signal.SIGKILL)
        await ended(now)
        in_flight += await open_calls(stack)
        assert (await stack.run(run_id))["status"] == "RUNNING", "killed while it was at work"
    llm.script(good_reviewer(errors=replanted()))
    last = stack.worker()
    await stack.until(run_id, "AWAITING_CONFIRMATION", seconds=PATIENCE)
    completed = await nothing_lost(stack, llm, run_id, in_flight)
    last.send_signal(signal.SIGTERM)
    await ended(last)
    return Killed(
        kills=kills,
        requests=len(llm.requests),
        completed=completed,
        in_flight=in_flight,
        seconds=time.monotonic() - began,
    )
