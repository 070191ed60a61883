"""A process that stood still reads what came meanwhile before it calls a provider silent."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from activities.model import patience
from activities.model.patience import Patience
from tests.fake_llm import FakeLLM, Reply
from tests.model_caller import EDITS, PATIENT, Caller
from workflows.vocabulary import Reason

FROZEN = 1.0
SHORT = replace(PATIENT, first_byte_timeout=0.5, silence_timeout=0.5)


def stand_still(seconds: float) -> None:
    """As a process does that is stopped: its loop too."""
    time.sleep(seconds)


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    """Its provider has a thread of its own: it writes while the caller stands still."""
    async with FakeLLM(thread=True) as llm:
        caller = Caller(llm)
        caller.hurry(SHORT)
        yield caller
        await caller.client.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(items=EDITS, before_headers=0.3),
        Reply(items=EDITS, before_first=0.3),
        Reply(items=EDITS, before_headers=0.1, before_first=0.2, per_chunk=0.02),
    ],
)
async def test_a_whole_reply_is_taken(caller: Caller, reply: Reply) -> None:
    asked = asyncio.create_task(caller.ask(reply))
    await caller.llm.wait_requests(1)
    stand_still(FROZEN)
    ended = await asked
    assert (ended.end.cause, ended.items) == (None, EDITS)


async def test_a_provider_that_stays_silent_is_left(caller: Caller) -> None:
    asked = asyncio.create_task(caller.ask(Reply(items=EDITS, stall_after=2)))
    await caller.llm.wait_requests(1)
    stand_still(FROZEN)
    assert (await asked).end.cause is Reason.STALL


async def _busy() -> None:
    """A loop that comes round late each time."""
    while True:
        stand_still(0.02)
        await asyncio.sleep(0)


async def test_a_loop_that_is_never_on_time_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "LOOK", 0.01)
    with pytest.raises(TimeoutError):
        async with Patience(asyncio.get_running_loop().time() + 0.02):
            await _busy()


async def test_who_moves_the_limit_is_waited_for() -> None:
    loop = asyncio.get_running_loop()
    async with Patience(loop.time() + 0.05) as limit:
        for _ in range(5):
            limit.reschedule(loop.time() + 0.05)
            await asyncio.sleep(0.02)
    limit.reschedule(loop.time())  # after the end it is of no use, and does no harm
    await asyncio.sleep(0.01)
