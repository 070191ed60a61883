"""What the rows of a profile's calls teach: how its server counts, how it wants to be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from activities.claim import abandon_step
from activities.failures import SENTENCES
from activities.model import tokens
from activities.model.learned import UNTAUGHT, Learned
from activities.model.profile import newest
from activities.record import lock_run
from tests.attempts import Shop
from tests.fake_llm import FakeLLM, Items, Reply, Request, errors, good_reviewer
from tests.faults.kit import issues, planted
from workflows.vocabulary import EventType, Reason

CHINESE = "我们决定星期五发货，预算是二十五万欧元。"
ENGLISH = "We decided to ship on Friday; the budget is 250,000 Euros."


def twice(text: str) -> int:
    """A vocabulary that needs two tokens where ours needs one."""
    return 2 * tokens.count(text)


@pytest_asyncio.fixture
async def other(shop: Shop) -> AsyncIterator[FakeLLM]:
    """The shop's profile asks a server that counts so."""
    good = good_reviewer(errors=planted(1))
    async with FakeLLM(good, count_tokens=twice) as llm:
        shop.llm = llm
        await shop.reviewers("main")
        yield llm


async def learned(shop: Shop) -> Learned:
    async with shop.pool.acquire() as connection:
        profile = await newest(connection, "default")
    assert profile is not None
    return profile.learned


async def review(shop: Shop) -> str:
    run_id = await shop.run(1)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    return run_id


async def test_estimates_are_corrected_by_what_the_provider_counted_before(
    shop: Shop, other: FakeLLM
) -> None:
    assert await learned(shop) == UNTAUGHT
    await review(shop)
    assert (await learned(shop)).narrow == UNTAUGHT.narrow, "two calls may have been counted oddly"
    await review(shop)
    taught = await learned(shop)
    assert taught.narrow.input == pytest.approx(2.0, rel=0.05)
    assert taught.wide == UNTAUGHT.wide
    assert taught.count(ENGLISH) == pytest.approx(twice(ENGLISH), rel=0.1)
    other.queue(Reply(items=issues(1), usage="none"))
    await review(shop)
    estimated = await shop.told(
        """
        SELECT tokens_input, reserved_tokens - tokens_input FROM model_calls
        WHERE usage_source = 'estimated'
        """
    )
    billed = other.requests[4].billed
    assert len(estimated) == 1
    assert estimated[0][0] == pytest.approx(billed.input, rel=0.05)
    assert estimated[0][1] % 1000 == 0, "beside it the longest reply is reserved, and no more"
    reported = await shop.told(
        "SELECT sum(tokens_input) FROM model_calls WHERE usage_source = 'reported'"
    )
    exact = sum(request.billed.input for at, request in enumerate(other.requests) if at != 4)
    assert reported == [(exact,)]


async def test_a_lost_reply_is_estimated_as_its_server_counts(shop: Shop, other: FakeLLM) -> None:
    await review(shop)
    await review(shop)
    await shop.pool.execute(  # as replies of some length taught
        "UPDATE model_calls SET tokens_output = 120, tokens_reasoning = 0, estimated_output = 60"
    )
    many = issues(30)
    other.queue(Reply(items=many, stall_after=Items(29)))
    run_id = await shop.run(1)
    attempt = shop.attempt(shop.worker(), run_id)
    await other.wait_requests(5)
    await other.wait_until(lambda: "E29x" in other.requests[4].sent)
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    attempt.tell()
    await attempt.ends()
    [(output,)] = await shop.told(
        "SELECT tokens_output FROM model_calls WHERE status = 'CANCELLED'"
    )
    assert output == pytest.approx(other.requests[4].billed.output, rel=0.05)


async def test_only_what_a_vocabulary_may_explain_teaches_and_each_script_and_model_for_itself(
    shop: Shop, other: FakeLLM
) -> None:
    await review(shop)
    await review(shop)
    for counted, expected in (("3", 3.0), ("30", 1.0), ("0.3", 1.0)):  # a fault; a prompt cut
        await shop.pool.execute(
            "UPDATE model_calls SET wide = true, tokens_input = estimated_input * $1::numeric",
            Decimal(counted),
        )
        taught = await learned(shop)
        assert taught.wide.input == pytest.approx(expected, rel=0.01)
        assert taught.count(CHINESE) == pytest.approx(tokens.count(CHINESE) * expected, abs=2)
        assert taught.count(ENGLISH) == tokens.count(ENGLISH)
    await shop.pool.execute("UPDATE profiles SET model = 'another'")
    assert await learned(shop) == UNTAUGHT


async def test_what_a_server_could_read_before_is_forgotten_when_it_reads_less(
    shop: Shop, other: FakeLLM
) -> None:
    for _ in range(3):
        await review(shop)
    sizes = [(20_000, 20_000)] * 4 + [(8_000, 4_096), (9_000, 4_090)]
    for offset, (sent, counted) in enumerate(sizes):
        await shop.pool.execute(
            """
            UPDATE model_calls SET wide = false, estimated_input = $2, tokens_input = $3
            WHERE id = (SELECT id FROM model_calls ORDER BY started_at LIMIT 1 OFFSET $1)
            """,
            *(offset, sent, counted),
        )
    taught = await learned(shop)
    assert (taught.longest, taught.newest) == (20_000, ((9_000, 4_090), (8_000, 4_096)))
    assert taught.surely_cut(4_094, sent=11_000, wide=False), "it was started again with less"
    assert not taught.surely_cut(2_500, sent=11_000, wide=False), "it left out what it had cached"
    await shop.pool.execute(
        """
        UPDATE model_calls SET status = 'FAILED', error = $1 || ' It says: 4096'
        WHERE id = (SELECT id FROM model_calls ORDER BY started_at DESC LIMIT 1 OFFSET 1)
        """,
        SENTENCES["context_too_long"],
    )
    assert (await learned(shop)).longest == 4_090, "it said itself that it reads no more"


async def test_another_worker_knows_from_rows_which_form_a_server_takes(shop: Shop) -> None:
    good = good_reviewer(errors=planted(1))

    def picky(request: Request) -> Any:
        if request.body.get("response_format", {}).get("type") is not None:
            return errors.status(400, message="response_format is not supported")
        return good(request)

    shop.llm.script(picky)
    await review(shop)
    assert len(shop.llm.requests) == 4, "two are refused"
    await review(shop)
    assert len(shop.llm.requests) == 6, "a worker of its own, and none is refused"
    await shop.reviewers("main")
    await review(shop)
    assert len(shop.llm.requests) == 10, "a new version may mean another server"
    await shop.pool.execute("UPDATE model_calls SET started_at = started_at - interval '25 hours'")
    await review(shop)
    assert len(shop.llm.requests) == 14, "after a day it is tried again"


async def test_a_death_behind_a_refused_form_repeats_nothing_that_is_stored(shop: Shop) -> None:
    """The worker that goes on may be refused once more, which costs a row and no token."""
    refused = errors.status(400, message="response_format json_schema is not supported")
    first, rest = Reply(items=issues(1), finish_reason="length"), Reply(items=issues(2)[1:])
    shop.llm.script({"redraft_review": [first, refused, errors.hang(), refused, rest]})
    run_id = await shop.run(2)
    dead = shop.attempt(shop.worker(), run_id)
    await shop.llm.wait_requests(3)
    async with shop.pool.acquire() as connection, connection.transaction():
        assert await lock_run(connection, run_id) is not None
        [(step, worker)] = await shop.told("SELECT id, worker FROM steps")
        await abandon_step(connection, run_id, step, worker, Reason.WORKER_LOST)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    reviews = shop.llm.of("redraft_review")
    assert [request.already_keys("quote") for request in reviews[1:]] == [["E1x"]] * 4
    forms = [request.body["response_format"]["type"] for request in reviews]
    assert forms == ["json_schema", "json_schema", "json_object", "json_schema", "json_object"]
    assert await shop.keys(run_id) == ["E1x", "E2x"]
    calls = await shop.told(
        """
        SELECT number, status, coalesce(tokens_output, 0) > 0 FROM model_calls
        WHERE step_name = 'review' ORDER BY number
        """
    )
    assert calls == [
        (1, "FAILED", True),
        (2, "FAILED", False),
        (3, "LOST", False),
        (4, "FAILED", False),
        (5, "SUCCEEDED", True),
    ]
    assert await shop.told("SELECT calls FROM runs") == [(len(shop.llm.requests),)]
    [(counted, early)] = await shop.told(
        """
            SELECT s.calls, s.early_ends FROM step_parts s JOIN step_plans p ON p.id = s.plan_id
            WHERE p.name = 'review'
            """
    )
    assert (counted, early) == (3, 1), "refused ones are no calls of the part"
    dead.task.cancel()
