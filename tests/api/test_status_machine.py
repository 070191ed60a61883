"""Random steps of operators, faults and time, against the table of moves (issue 4.1f).

With a fixed seed here; `REDRAFT_LONG=minutes` takes a new seed for each round and says which.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, precondition, rule
from temporalio.client import Client

from tests.api.status_machine import Command, World
from tests.fake_llm import FakeLLM, Items, errors
from tests.faults.kit import cut_listeners, freeze, thaw
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack, consistent
from workflows.vocabulary import RunStatus

Result = TypeVar("Result")
LONG = float(os.environ.get("REDRAFT_LONG", "0"))
STUMBLES: dict[str, dict[str, Any]] = {
    "cut": {"cut_after": Items(1)},
    "stall": {"stall_after": Items(1)},
    "error": {"status": 500, "error": errors.server_error().error},
    "refused": {"status": 401, "error": errors.bad_key().error},
    "slow": {"before_first": 0.6},
}
PERSONS = ("interrupt", "resume", "interrupt", "resume", "confirm", "edit", "start")
ENDS = ("reject", "cancel", "delete", "rework")


@pytest_asyncio.fixture
async def own(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client, llm: FakeLLM
) -> AsyncIterator[Stack]:
    """A stack whose worker may be killed; dead ones are found by proof, not by a timeout."""
    stack = Stack(postgres, temporal, temporal_client, llm.base_url)
    yield await stack.start()
    await stack.stop()


class Machine(RuleBasedStateMachine):
    """The rules. They run in a thread of their own, their work in the tests' loop."""

    stack: Stack
    llm: FakeLLM
    loop: asyncio.AbstractEventLoop
    kills: list[str]
    """One word for each worker that may still be killed, in all histories together."""

    def __init__(self) -> None:
        super().__init__()
        self.world = self.wait(World.of(self.stack, self.llm))
        self.wait(self.world.create())

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(240)

    @rule(name=st.sampled_from(PERSONS), fits=st.sampled_from((True, True, False)))
    def person(self, name: str, fits: bool) -> None:
        self.wait(command(self.world, name, fits))

    @precondition(lambda self: not self.world.deleted)
    @rule(name=st.sampled_from(ENDS), fits=st.sampled_from((True, False)))
    def end(self, name: str, fits: bool) -> None:
        self.wait(command(self.world, name, fits))

    @precondition(lambda self: self.world.last is not None)
    @rule()
    def again(self) -> None:
        self.wait(self.world.repeat())

    @precondition(lambda self: self.world.deleted)
    @rule()
    def another(self) -> None:
        self.wait(self.world.create())

    @rule(name=st.sampled_from(sorted(STUMBLES)))
    def model_stumbles(self, name: str) -> None:
        self.world.journal.append(f"the next reply: {name}")
        self.world.model.stumbles.append(STUMBLES[name])

    @rule(seconds=st.sampled_from((0.05, 0.2, 0.5)))
    def time_passes(self, seconds: float) -> None:
        self.world.journal.append(f"{seconds} s")
        self.wait(asyncio.sleep(seconds))
        self.wait(self.world.look())

    @rule(name=st.sampled_from(("deaf", "frozen")))
    def trouble(self, name: str) -> None:
        self.wait(disturb(self.world, name))

    @precondition(lambda self: bool(self.kills))
    @rule()
    def worker_dies(self) -> None:
        self.wait(disturb(self.world, self.kills.pop()))

    def teardown(self) -> None:
        self.wait(rest(self.world))


async def command(world: World, name: str, fits: bool) -> None:
    """A command about the newest run; one that does not fit names an older number."""
    seen, document = world.runs[-1], f"/api/documents/{world.document}"
    place, row = f"/api/runs/{seen.id}", seen.row
    number = row["working_revision"] or 0
    wrong = 0 if number else None
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "interrupt": (f"{place}/interrupt", {}),
        "resume": (f"{place}/resume", {"override_guardrail": True}),
        "confirm": (f"{place}/confirm", {"revision": row["offered_revision"] or 0}),
        "reject": (f"{place}/reject", {}),
        "rework": (f"{place}/rework", {"comments": [{"text": "again"}]}),
        "cancel": (f"{place}/cancel", {}),
        "start": (f"{document}/runs", {}),
        "edit": (f"{document}/revisions", {"base_revision": number, "body": "# E1x E2x\n"}),
        "delete": (document, {}),
    }
    path, body = bodies[name]
    if name == "resume" and not fits:
        body = {**body, "body": "# E1x E2x\n", "base_revision": wrong or 0}
    elif name in ("confirm", "edit") and not fits:
        body["revision" if name == "confirm" else "base_revision"] = 0
    about = None if name in ("start", "edit", "delete") else seen.id
    await world.send(
        Command(name=name, path=path, body=body, run_id=about, key=uuid.uuid4().hex, fits=fits)
    )


async def disturb(world: World, name: str) -> None:
    """Deaf: notifications are lost. Frozen: the worker stands still. Killed: another begins."""
    stack, worker = world.stack, world.stack.workers[-1]
    world.journal.append(name)
    if name == "deaf":
        await cut_listeners(stack)
    elif name == "frozen":
        freeze(worker)
        await asyncio.sleep(0.7)
        thaw(worker)
    else:
        stack.kill(worker)
        stack.worker()
    await world.look()


async def rest(world: World) -> None:
    """The model is well, stopped runs are resumed: all come to a person or to their end."""
    try:
        world.model.stumbles.clear()
        if not world.deleted:
            await _bring_to_rest(world)
    except BaseException:
        note(world.says("journal:"))
        raise
    finally:
        world.llm.release()
        await world.watcher.close()


async def _bring_to_rest(world: World) -> None:
    stack, seen = world.stack, world.runs[-1]
    for _ in range(3):
        world.llm.release()
        await stack.until(
            seen.id, *(status for status in RunStatus if status != RunStatus.RUNNING), seconds=90
        )
        await world.look()
        if seen.status not in (RunStatus.INTERRUPTED, RunStatus.FAILED):
            break
        await command(world, "resume", True)
    await world.look()
    assert seen.status not in (RunStatus.INTERRUPTED, RunStatus.FAILED), world.says("no rest")
    for run in world.runs:
        await consistent(stack, run.id)
    calls = await stack.sql(
        "SELECT c.id FROM model_calls c JOIN runs r ON r.id = c.run_id WHERE r.document_id = $1",
        world.document,
    )
    if not any(line.startswith("delete") for line in world.journal):
        asked = len(world.llm.requests) - world.asked_before
        assert asked <= len(calls), world.says(f"{asked} requests, {len(calls)} calls")
    await stack.call("POST", f"/api/runs/{seen.id}/cancel")


async def explore(stack: Stack, llm: FakeLLM, *, examples: int, steps: int, kills: int) -> None:
    """So many random histories. The first that breaks the model is raised with its journal."""
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=not LONG,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    given: dict[str, Any] = {"stack": stack, "llm": llm, "loop": asyncio.get_running_loop()}
    given["kills"] = ["killed"] * kills
    test = get_state_machine_test(type("Machine", (Machine,), given), settings=how)
    if LONG:
        number = random.randrange(2**32)
        sys.stderr.write(f"seed {number}\n")
        test = seed(number)(test)
    await asyncio.to_thread(test)


@pytest.mark.timeout(300 + LONG * 90)
async def test_random_steps_never_leave_the_table_of_moves(own: Stack, llm: FakeLLM) -> None:
    end = time.monotonic() + LONG * 60
    if not LONG:
        await explore(own, llm, examples=4, steps=14, kills=2)
    while time.monotonic() < end:
        await explore(own, llm, examples=10, steps=30, kills=10)
