"""What is not yet paid waits its turn; what was paid does not wait behind it."""

from __future__ import annotations

import asyncio

from activities.tools import TURNS, Tools
from tests.attempts import Shop
from tests.fake_llm import Reply
from tests.faults.kit import issues
from workflows.vocabulary import EventType


async def _take_all(tools: Tools) -> None:
    """As so many other steps do that read, cut, claim or judge. Each turn is free in a moment."""
    async with asyncio.timeout(15):
        for _ in range(TURNS):
            await tools.turns.acquire()


def _give_back(tools: Tools) -> None:
    for _ in range(TURNS):
        tools.turns.release()


async def test_a_reply_is_stored_and_its_call_closed_while_all_turns_are_taken(shop: Shop) -> None:
    shop.llm.queue(Reply(items=issues(1), stall_after=1))
    run_id, worker = await shop.run(), shop.worker()
    attempt = shop.attempt(worker, run_id)
    await shop.llm.wait_until(lambda: len(shop.llm.requests) == 1)
    await _take_all(worker)
    shop.llm.release()

    async def stored() -> bool:
        return await shop.calls(run_id) == [("SUCCEEDED", None)]

    await shop.until(stored, what="the commit of the reply")
    assert len(await shop.keys(run_id)) == 1
    assert await shop.steps(run_id) == [("review", "RUNNING", None)]
    _give_back(worker)
    assert (await attempt.ends()).code == "done"
    await _take_all(worker)  # none was kept


async def test_who_is_interrupted_while_waiting_for_a_turn_asks_for_nothing(shop: Shop) -> None:
    run_id, worker = await shop.run(), shop.worker()
    await _take_all(worker)
    attempt = shop.attempt(worker, run_id)
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    _give_back(worker)
    assert (await attempt.ends()).code in ("stale", "stopped")
    assert shop.llm.requests == []
    await _take_all(worker)
