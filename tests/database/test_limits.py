"""What a run may use: reserved before each call, metered while it streams, stopped in time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from activities.spending.budget import read_timed, read_used, stop_timed
from tests.attempts import Shop
from tests.fake_llm import Items, Reply, errors, good_reviewer
from tests.faults.kit import issues, planted
from tests.limited import (
    RESUMED,
    events,
    held_back,
    profile,
    raised,
    reservation,
    reviewed,
    stopped,
    used,
)
from workflows.vocabulary import EventType

PRICES = {"input": "1", "output": "4"}
THREE = ("facts", "claims", "gaps")


@pytest.mark.rule("reserve_before_call")
async def test_parts_side_by_side_reserve_before_they_call_and_never_take_more_than_the_limit(
    shop: Shop,
) -> None:
    await profile(shop, *THREE)
    shop.llm.script(good_reviewer(errors=planted(3)))
    free = await shop.run(3, kind="minutes")
    assert await reviewed(shop, free) == "done"
    one, asked = await reservation(shop, free), len(shop.llm.requests)

    limit = int(2.5 * one)
    run_id = await shop.run(3, kind="minutes", limits={"max_tokens": limit})
    shop.llm.script(lambda _: Reply(items=issues(3), stall_after=Items(1)))
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.llm.wait_requests(asked + 2)
    await shop.kept(run_id, 2)
    shop.llm.release()
    assert (await attempt.ends()).code == "stale"

    assert len(shop.llm.requests) == asked + 2
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason) == ("INTERRUPTED", "limit_tokens")
    assert params["limit"] == limit < params["needed"]
    assert (params["step"], params["round"]) == ("review", 1)
    assert params["used"] == await used(shop, run_id) <= limit
    assert (await shop.steps(run_id))[-1] == ("review", "FAILED", "limit_tokens")
    done = await shop.told(
        """
        SELECT count(*) FROM step_parts p JOIN step_plans s ON s.id = p.plan_id
        WHERE s.run_id = $1 AND p.done_at IS NOT NULL
        """,
        run_id,
    )
    assert done == [(2,)], "siblings settle first, and what they brought stays"
    assert await shop.keys(run_id) == ["E1x", "E1x", "E2x", "E2x", "E3x", "E3x"]

    shop.llm.script(good_reviewer(errors=planted(3)))
    await raised(shop, run_id)
    assert await reviewed(shop, run_id, epoch=2) == "done"
    reviews = [r for r in shop.llm.requests[asked:] if r.schema == "redraft_review"]
    assert len(reviews) == 3, "only the part that was refused is asked"


async def test_a_part_waits_for_what_its_siblings_have_reserved_and_may_not_use(
    shop: Shop,
) -> None:
    """Each asks for far longer replies than it gets, so all fit one after the other."""
    await profile(shop, *THREE, output=6000)
    run_id = await shop.run(3, kind="minutes", max_rounds=1, limits={"max_tokens": 15_000})
    shop.llm.script({"redraft_refine": good_reviewer(errors=planted(3))})
    shop.llm.queue(*[Reply(before_first=0.2, items=issues(3))] * 3, schema="redraft_review")
    assert await reviewed(shop, run_id) == "done"
    assert len([r for r in shop.llm.requests if r.schema == "redraft_review"]) == 3
    assert shop.llm.most_in_flight == 2
    assert await used(shop, run_id) <= 15_000


async def test_a_call_counts_from_its_row_on_whatever_becomes_of_it(shop: Shop) -> None:
    await profile(shop, *THREE)
    run_id = await shop.run(3, kind="minutes", limits={"max_calls": 2})
    shop.llm.script(good_reviewer(errors=planted(3)))
    assert await reviewed(shop, run_id) == "stale"
    assert len(shop.llm.requests) == 2
    assert (await stopped(shop, run_id))[:2] == ("INTERRUPTED", "limit_calls")
    [warning] = await events(shop, run_id, EventType.BUDGET_WARNING)
    assert warning == {"code": "limit_calls", "limit": 2, "used": 2}
    await raised(shop, run_id, max_calls=4)
    assert await reviewed(shop, run_id, epoch=2) == "done"
    assert len(await shop.calls(run_id)) == len(shop.llm.requests) == 4
    warnings = await events(shop, run_id, EventType.BUDGET_WARNING)
    assert [warning["limit"] for warning in warnings] == [2, 4]


@pytest.mark.parametrize(
    "prices", [PRICES, {"input": "1", "output": "1", "reasoning": "4"}], ids=["text", "thinking"]
)
async def test_a_cost_limit_reserves_the_longest_reply_at_its_price(
    shop: Shop, prices: dict[str, str]
) -> None:
    """What of it will be thinking nobody knows before."""
    await profile(shop, prices=prices, output=1000)
    run_id = await shop.run(1, limits={"max_cost": "0.004"})
    shop.llm.script(good_reviewer(errors=planted(1)))
    assert await reviewed(shop, run_id) == "stale"
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason, shop.llm.requests) == ("INTERRUPTED", "limit_cost", [])
    assert (params["limit"], params["used"]) == ("0.004", "0")
    assert float(params["needed"]) > 0.004
    await raised(shop, run_id, max_cost="1")
    assert await reviewed(shop, run_id, epoch=2) == "done"
    [(cost, reserved)] = await shop.told(
        """
        SELECT r.cost = (SELECT sum(cost) FROM model_calls), (SELECT min(reserved_cost) > 0.004
        FROM model_calls) FROM runs r
        """
    )
    assert (cost, reserved) == (True, True)


async def test_a_price_that_became_unknown_interrupts_before_the_next_call(shop: Shop) -> None:
    await profile(shop, prices=PRICES)
    run_id = await shop.run(1, limits={"max_cost": "1"})
    shop.llm.script(good_reviewer(errors=planted(1)))

    async def gone(_: Any) -> Reply:
        await shop.pool.execute("UPDATE profiles SET prices = NULL")
        return Reply(items=issues(1))

    shop.llm.script({"redraft_review": gone})
    assert await reviewed(shop, run_id) == "stale"
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason) == ("INTERRUPTED", "price_unknown")
    assert (params["profile"], params["step"]) == ("default", "refine")
    assert [request.schema for request in shop.llm.requests] == ["redraft_review"]


async def test_a_price_in_another_currency_is_unknown_to_a_limit(shop: Shop) -> None:
    await profile(shop, prices=PRICES)
    run_id = await shop.run(1, limits={"max_cost": "1"})

    async def elsewhere(_: Any) -> Reply:
        other = {**PRICES, "currency": "JPY"}
        await shop.pool.execute("UPDATE profiles SET prices = $1", other)
        return Reply(items=issues(1))

    shop.llm.script({"redraft_review": elsewhere})
    assert await reviewed(shop, run_id) == "stale"
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason) == ("INTERRUPTED", "price_unknown")
    assert (params["paid"], params["currency"]) == ("USD", "JPY"), "and says why"
    assert len(shop.llm.requests) == 1


async def test_a_limit_is_in_its_own_money_before_anything_was_paid(shop: Shop) -> None:
    """A thousand yen are no thousand dollars, though no call says so yet."""
    await profile(shop, prices=PRICES)
    run_id = await shop.run(1, limits={"max_cost": "1000"}, currency="JPY")
    shop.llm.script(good_reviewer(errors=planted(1)))
    assert await reviewed(shop, run_id) == "stale"
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason, shop.llm.requests) == ("INTERRUPTED", "price_unknown", [])
    assert (params["paid"], params["currency"]) == ("JPY", "USD")
    await raised(shop, run_id)
    assert await reviewed(shop, run_id, epoch=2) == "done"
    assert await shop.told("SELECT cost > 0, currency FROM runs") == [(True, "USD")]


async def test_what_two_profiles_cost_in_two_currencies_is_never_added(shop: Shop) -> None:
    await profile(shop, prices=PRICES)
    await shop.pool.execute(
        """
        INSERT INTO profiles (name, version, model, base_url, prices, parameters, actor)
        SELECT 'yen', 1, model, base_url, $1, parameters, actor FROM profiles
        WHERE name = 'default' ORDER BY version DESC LIMIT 1
        """,
        {**PRICES, "currency": "JPY"},
    )
    run_id = await shop.run(1, max_rounds=1)
    errors_planted = good_reviewer(errors=planted(1))

    async def elsewhere(_: Any) -> Reply:
        await shop.pool.execute("UPDATE runs SET profile = 'yen'")
        return Reply(items=issues(1))

    shop.llm.script({"redraft_review": elsewhere, "redraft_refine": errors_planted})
    assert await reviewed(shop, run_id) == "done"
    paid = await shop.told("SELECT currency, cost > 0 FROM model_calls ORDER BY started_at")
    assert paid == [("USD", True), ("JPY", True)]
    assert await shop.told("SELECT cost, currency FROM runs") == [(None, None)]

    async with shop.pool.acquire() as connection:
        used_now = await read_used(connection, run_id)
    assert used_now.currencies == ("JPY", "USD")
    assert "max_cost" not in used_now.closed


@pytest.mark.rule("metered_in_the_stream")
@pytest.mark.parametrize("thinking", ["", "hm " * 3000], ids=["text", "thinking"])
async def test_a_reply_longer_than_what_is_left_is_cut_in_the_stream(
    shop: Shop, thinking: str
) -> None:
    """The server ignores the number of tokens that it was asked for."""
    await profile(shop, output=200)
    shop.llm.queue(Reply(hang=True))
    free = await shop.run(1)
    probe = shop.attempt(shop.worker(), free)
    await shop.llm.wait_requests(1)
    room = await reservation(shop, free)
    probe.shut_down()
    first = json.dumps(issues(1)[0])
    endless = Reply(
        text='{"items":[' + first + ',{"category":"' + "word " * 20_000,
        thinking=thinking,
        per_chunk=0.002,
    )
    shop.llm.queue(endless)
    run_id = await shop.run(1, limits={"max_tokens": room + 100})
    assert await reviewed(shop, run_id) == "stale"
    await shop.llm.wait_gone(2)
    assert (await stopped(shop, run_id))[:2] == ("INTERRUPTED", "limit_tokens")
    assert await shop.calls(run_id) == [("CANCELLED", "limit_tokens")]
    if not thinking:
        assert await shop.keys(run_id) == ["E1x"]
        assert await used(shop, run_id) < room + 300


async def test_time_that_is_up_stops_the_call_in_flight(shop: Shop) -> None:
    await profile(shop)
    shop.llm.queue(Reply(items=issues(2), stall_after=Items(1)))
    run_id = await shop.run(2, limits={"max_seconds": 2})
    assert await reviewed(shop, run_id) == "stale"
    assert shop.llm.requests[0].outcome == "gone"
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason, params["limit"]) == ("INTERRUPTED", "limit_seconds", 2)
    assert await shop.calls(run_id) == [("CANCELLED", "limit_seconds")]
    assert await shop.steps(run_id) == [("review", "FAILED", "limit_seconds")]
    assert await shop.keys(run_id) == ["E1x"]
    [(seconds,)] = await shop.told("SELECT seconds_running FROM runs WHERE id = $1", run_id)
    assert 2 <= seconds < 10
    await raised(shop, run_id, max_seconds=int(seconds) + 60)
    shop.llm.script(good_reviewer(errors=planted(2)))
    assert await reviewed(shop, run_id, epoch=2) == "done"


async def test_only_time_in_running_counts_over_all_its_stretches(shop: Shop) -> None:
    run_id = await shop.run(1, limits={"max_seconds": 100})
    shift = "UPDATE runs SET running_since = running_since - make_interval(secs => $1)"
    await shop.pool.execute(shift, 50.0)
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    assert await timed(shop) == []
    await shop.move(run_id, RESUMED)
    await shop.pool.execute(shift, 20.0)
    assert await timed(shop) == []
    await shop.pool.execute(shift, 15.0)
    assert await timed(shop) == [(run_id, 2, False)], "it is near"
    await stop(shop)
    assert await timed(shop) == [], "and that was told"
    [warning] = await events(shop, run_id, EventType.BUDGET_WARNING)
    assert (warning["code"], warning["limit"]) == ("limit_seconds", 100)


async def timed(shop: Shop) -> list[tuple[Any, ...]]:
    async with shop.pool.acquire() as connection:
        return [tuple(row) for row in await read_timed(connection)]


async def stop(shop: Shop) -> list[bool]:
    """As the leader of all workers does it each second."""
    async with shop.pool.acquire() as connection, connection.transaction():
        return [await stop_timed(connection, row) for row in await read_timed(connection)]


async def test_time_goes_on_while_a_run_waits_for_a_retry(shop: Shop) -> None:
    await profile(shop)
    shop.llm.queue(errors.rate_limited(retry_after=3600))
    run_id = await shop.run(1, limits={"max_seconds": 600})
    attempt = shop.attempt(shop.worker(), run_id)
    await held_back(attempt)
    assert await stop(shop) == []
    await shop.pool.execute("UPDATE runs SET running_since = running_since - interval '600 s'")
    assert await stop(shop) == [True]
    assert (await stopped(shop, run_id))[:2] == ("INTERRUPTED", "limit_seconds")
    assert await shop.told("SELECT retry_at > now(), move_seq = event_seq FROM runs") == [
        (True, True)
    ]


async def test_a_run_that_moved_on_is_not_stopped_for_its_former_time(shop: Shop) -> None:
    run_id = await shop.run(1, limits={"max_seconds": 10})
    await shop.pool.execute("UPDATE runs SET running_since = running_since - interval '20 s'")
    async with shop.pool.acquire() as connection:
        [row] = await read_timed(connection)
        await shop.move(run_id, EventType.RUN_INTERRUPTED)
        await raised(shop, run_id, max_seconds=1000)
        async with connection.transaction():
            assert not await stop_timed(connection, row)
    assert (await stopped(shop, run_id))[0] == "RUNNING"
