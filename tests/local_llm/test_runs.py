"""Whole runs of Redraft against a real model: API, worker, Temporal and rows as they are."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import StartStack
from tests.eventually import eventually
from tests.local_llm import accounts, meetings
from tests.local_llm.server import LocalServer
from tests.local_llm.telling import Telling
from tests.local_llm.witness import Witness
from tests.stack import Json, Stack, consistent

LONG = meetings.LIMITS["max_seconds"] + 600.0
"""Seconds until a run has ended by itself, or its own time limit has stopped it; the room beside
the limit is for a busy machine. On a quiet one each run takes some minutes."""
A_SECOND = 1.0
pytestmark = pytest.mark.timeout(2 * LONG)
SLOW = {
    "REDRAFT_FIRST_BYTE_TIMEOUT": "1800",
    "REDRAFT_SILENCE_TIMEOUT": "600",
    "REDRAFT_CALL_TIMEOUT": "3600",
}


@pytest_asyncio.fixture
async def stack(start_stack: StartStack, witness: Witness) -> Stack:
    stack = await start_stack({"OPENAI_BASE_URL": witness.base_url, **SLOW})
    for profile in (meetings.TOLD_PROFILE, meetings.OWN_PROFILE):
        code, answer = await stack.call("POST", "/api/profiles", profile)
        assert code == 201, answer
    return stack


async def interrupted(
    stack: Stack, run_id: str, server: LocalServer, when: Callable[[], Awaitable[Any]]
) -> float:
    """Interrupts in the middle of a reply; seconds from the answer to a free server. The step and
    its calls are then closed as what they are."""
    await eventually(when, seconds=LONG, what="the middle of a reply")
    code, answer = await stack.call("POST", f"/api/runs/{run_id}/interrupt", {})
    assert code == 202, answer
    began = time.monotonic()

    async def free() -> bool:
        return await server.busy() == 0

    await eventually(free, seconds=120, what="free slots")
    took = time.monotonic() - began

    async def closed() -> bool:
        run = await stack.run(run_id)
        return run["active_step"] is None and not run["stopping"]

    await eventually(closed, seconds=60, what="a closed step")
    [step] = await stack.rows(run_id, "steps")
    assert (step["status"], step["reason"]["code"]) == ("FAILED", "interrupted")
    for call in await stack.rows(run_id, "calls"):
        assert (call["status"], call["end_cause"]) == ("CANCELLED", "interrupted")
        assert call["usage_source"] != "reported"
    return took


async def to_the_end(stack: Stack, run_id: str, telling: Telling) -> Json:
    """Resumes an interrupted run and waits until it ends by itself. A guardrail is overridden once;
    a second one stands."""
    code, answer = await stack.call("POST", f"/api/runs/{run_id}/resume", {})
    assert code == 202, answer
    run = await stack.until(run_id, *STOPPED, seconds=LONG)
    telling.say(f"the run ended by itself: {await accounts.is_a_right_end(stack, run)}")
    if run["guardrail"]:
        body = {"override_guardrail": True}
        code, answer = await stack.call("POST", f"/api/runs/{run_id}/resume", body)
        assert code == 202, answer
        run = await stack.until(run_id, *STOPPED, seconds=LONG)
        ended = await accounts.is_a_right_end(stack, run)
        telling.say(f"with that guardrail overridden once it ended again: {ended}")
    return run


STOPPED = ("AWAITING_CONFIRMATION", "FAILED", "INTERRUPTED")


async def settled(stack: Stack, run: Json, witness: Witness, telling: Telling) -> None:
    """The accounts of a run that ended, and what is told of it."""
    calls = await accounts.each_request_has_its_row(stack, run["id"], witness.exchanges)
    forms = accounts.each_reply_is_in_form(witness.exchanges)
    assert forms, "no request was answered"
    await consistent(stack, run["id"])
    ended = Counter(call["end_cause"] or "whole" for call in calls)
    sources = Counter(call["usage_source"] for call in calls)
    telling.say(f"{len(calls)} requests, each with its row; asked by: {_counted(forms)}")
    telling.say(f"they ended: {_counted(ended)}; their usage is: {_counted(sources)}")
    telling.say(f"tokens of the run: {_counted(run['tokens'])}")
    await telling.run(stack, run)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


async def test_what_was_kept_is_not_asked_for_again_after_an_interrupt(
    stack: Stack, server: LocalServer, witness: Witness, telling: Telling
) -> None:
    telling.head("A tiny meeting, whose review the prompt tells the model to copy")
    run_id = (await stack.create(meetings.tiny()))["id"]

    async def one_kept() -> bool:
        return bool(await stack.rows(run_id, "items"))

    took = await interrupted(stack, run_id, server, one_kept)
    telling.say(f"interrupted in the middle of a reply: the slot was free after {took:.2f} s")
    kept = await stack.rows(run_id, "items")
    run = await to_the_end(stack, run_id, telling)
    assert took < A_SECOND
    assert (await stack.rows(run_id, "items"))[: len(kept)] == kept
    block = re.search("<<<ALREADY .+<<<END ALREADY", str(witness.exchanges[1].asked["messages"]))
    assert block is not None
    for item in kept:
        assert item["payload"]["quote"] in block[0]
    assert len(witness.exchanges) > 2
    await settled(stack, run, witness, telling)


async def test_a_piece_of_the_real_sample_with_our_own_prompts_ends_by_itself(
    stack: Stack, server: LocalServer, witness: Witness, telling: Telling
) -> None:
    telling.head("A piece of the sample of ./redraft up, in windows, with Redraft's own prompts")
    run_id = (await stack.create(meetings.piece()))["id"]

    async def under_way() -> bool:
        return any(len(exchange.pieces) > 20 for exchange in witness.exchanges)

    took = await interrupted(stack, run_id, server, under_way)
    telling.say(f"interrupted while several parts were asked for: free after {took:.2f} s")
    run = await to_the_end(stack, run_id, telling)
    await settled(stack, run, witness, telling)
