"""Killed at each named point around commits and external effects (scenarios 9 and 13).

Each worker of a chain dies at one point, the next one finds what it left and dies at the next
one.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio
from temporalio.client import Client

from tests.fake_llm import FakeLLM, Items, Reply, errors, good_reviewer
from tests.faults.kit import PATIENT, ended, issues, nothing_repaid, planted
from tests.services import PostgresServer, TemporalServer, spawn
from tests.stack import Json, Stack, consistent, minutes

QUICK = {"REDRAFT_HEARTBEAT_TIMEOUT": "4"}
"""Before a claim nobody is known to have the work: only the missing heartbeat tells."""
BY_PROOF = {"take over"}
"""Here the heartbeat is not waited for, or a claim would be faster than the reaper."""
PATIENCE = 100

CHAINS = {
    "review": [
        "claim.written",
        "claim.committed",
        "open_call.written",
        "open_call.committed",
        "request.before",
        "items.written",
        "items.committed",
        "request.after",
        "settle.written",
        "settle.committed",
    ],
    "refine": [
        "settle.committed",
        "items.committed",
        "request.after",
        "settle.written",
        "settle.committed",
    ],
    "take over": ["request.before", "tell_workflow.after", "take_over.written", "release.before"],
    "end": ["release.after", "conclude.written", "conclude.committed"],
}


@pytest_asyncio.fixture(scope="module")
async def one_api(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client, model_port: int
) -> AsyncIterator[Stack]:
    """One API for all chains; workers are the tests' own."""
    stack = Stack(postgres, temporal, temporal_client, f"http://127.0.0.1:{model_port}/v1", QUICK)
    yield await stack.start(workers=0)
    await stack.stop()


@pytest_asyncio.fixture
async def hooked(one_api: Stack) -> AsyncIterator[Stack]:
    yield one_api
    for process in one_api.workers:
        one_api.kill(process)
    for row in await one_api.sql("SELECT id FROM runs WHERE status IN ('RUNNING', 'INTERRUPTED')"):
        await one_api.call("POST", f"/api/runs/{row['id']}/cancel")


def _warm(stack: Stack, fault: str, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
    log = stack.folder / f"worker{len(stack.workers)}.log"
    environment = {**stack.environment(), **more, "REDRAFT_FAULT": fault}
    argv = [sys.executable, "-m", "tests.faults.warm"]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # inherited: it may come early
    stack.workers.append(spawn(argv, log=log, environment=environment))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    return stack.workers[-1]


async def _die_at(stack: Stack, points: list[str], more: Mapping[str, str] = QUICK) -> None:
    """A worker for each point; the next one warms up meanwhile. The last one stays."""
    following = _warm(stack, points[0], more)
    for at, point in enumerate(points):
        now = following
        now.send_signal(signal.SIGUSR1)
        following = _warm(stack, "".join(points[at + 1 : at + 2]), more)
        try:
            assert await ended(now, seconds=PATIENCE, what=point) == 137
        except AssertionError as error:
            raise AssertionError(f"{point}: {error}\n{stack.logs()}") from None
    following.send_signal(signal.SIGUSR1)


async def _all_is_well(stack: Stack, llm: FakeLLM, run: Json, kills: int) -> None:
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=PATIENCE)
    await consistent(stack, run["id"])
    await nothing_repaid(stack, llm, run["id"])
    calls = await stack.rows(run["id"], "calls")
    completed = [call for call in calls if call["status"] == "SUCCEEDED"]
    assert len(llm.requests) <= len(completed) + kills
    made = await stack.sql("SELECT round FROM revisions WHERE run_id = $1", run["id"])
    assert len(made) == len({row["round"] for row in made}), "a round was written twice"
    types = [event["type"] for event in await stack.events(run["id"])]
    assert types.count("run_awaiting_confirmation") == 1
    assert types.count("run_failed") == 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chain", CHAINS)
async def test_a_kill_at_any_point_costs_at_most_the_call_in_flight(
    hooked: Stack, llm: FakeLLM, chain: str
) -> None:
    wrong = 4 if chain in ("review", "refine") else 0
    llm.script(good_reviewer(errors=planted(wrong)))
    llm.pace(per_chunk=0.01)
    run = await hooked.create(minutes(errors=wrong))
    await _die_at(hooked, CHAINS[chain], PATIENT if chain in BY_PROOF else QUICK)
    await _all_is_well(hooked, llm, run, len(CHAINS[chain]))


@pytest.mark.timeout(600)
async def test_a_kill_while_an_interrupt_is_carried_out_leaves_nothing_open(
    hooked: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(2)))
    llm.queue(Reply(items=issues(2), stall_after=Items(1)), schema="redraft_review")
    run = await hooked.create(minutes(errors=2))
    dying = hooked.worker(REDRAFT_FAULT="stopped.written")
    await llm.wait_requests(1, seconds=PATIENCE)
    assert (await hooked.call("POST", f"/api/runs/{run['id']}/interrupt", {}))[0] == 202
    assert await ended(dying, seconds=PATIENCE) == 137
    await _die_at(hooked, ["close_dead.written", "close_dead.committed"])
    assert (await hooked.run(run["id"]))["status"] == "INTERRUPTED"
    assert (await hooked.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    await _all_is_well(hooked, llm, run, 3)


@pytest.mark.timeout(600)
async def test_a_kill_around_a_failed_call_neither_forgets_nor_doubles_it(
    hooked: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(1)))
    llm.queue(errors.server_error(), errors.server_error(), errors.server_error())
    run = await hooked.create(minutes(errors=1))
    await _die_at(hooked, ["later.written", "later.committed"])
    await _all_is_well(hooked, llm, run, 3)
