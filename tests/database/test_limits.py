"""What a run may use: reserved before each call, metered while it streams, stopped in time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.budget import read_timed, stop_timed
from api import queries
from tests.attempts import Attempt, Shop
from tests.fake_llm import Items, Reply, errors, good_reviewer
from tests.faults.kit import issues, planted
from workflows.vocabulary import EventType

PRICES = {"input": "1", "output": "4"}
THREE = ("facts", "claims", "gaps")
RESUMED = EventType.RUN_RESUMED


async def profile(shop: Shop, *names: str, output: int = 300, **values: Any) -> None:
    """Reviewers that ask for short replies; other columns as given."""
    await shop.reviewers(*(names or ("main",)))
    values = {"parameters": {"max_tokens": output}, **values}
    for column, value in values.items():
        await shop.pool.execute(f"UPDATE profiles SET {column} = $1", value)  # noqa: S608


async def raised(shop: Shop, run_id: str, **limits: Any) -> None:
    """The limits of a resume; the API checks them before."""
    await shop.pool.execute("UPDATE runs SET limits = $2 WHERE id = $1", run_id, limits)
    await shop.move(run_id, RESUMED)


async def stopped(shop: Shop, run_id: str) -> tuple[str, str | None, dict[str, Any]]:
    [found] = await shop.told(
        "SELECT status, reason_code, reason_params FROM runs WHERE id = $1", run_id
    )
    return found[0], found[1], found[2]


async def events(shop: Shop, run_id: str, type_: EventType) -> list[dict[str, Any]]:
    rows = await shop.told(
        "SELECT data FROM run_events WHERE run_id = $1 AND type = $2 ORDER BY seq", run_id, type_
    )
    return [row[0] for row in rows]


async def used(shop: Shop, run_id: str) -> int:
    [(tokens,)] = await shop.told(
        "SELECT tokens_input + tokens_output FROM runs WHERE id = $1", run_id
    )
    return int(tokens)


async def reservation(shop: Shop, run_id: str) -> int:
    """The largest of a review."""
    [(tokens,)] = await shop.told(
        """
        SELECT max(reserved_tokens) FROM model_calls
        WHERE run_id = $1 AND step_name = 'review'
        """,
        run_id,
    )
    return int(tokens)


async def reviewed(shop: Shop, run_id: str, *, epoch: int = 1) -> str:
    return (await shop.attempt(shop.worker(), run_id, epoch=epoch).ends()).code


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


async def test_a_cost_limit_reserves_the_longest_reply_at_its_price(shop: Shop) -> None:
    await profile(shop, prices=PRICES, output=1000)
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
    with pytest.raises(ApplicationError):
        await attempt.ends()
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


async def test_a_provider_that_is_away_for_longer_than_its_patience_ends_the_run(
    shop: Shop,
) -> None:
    await profile(shop)
    shop.llm.script(errors.server_error())
    run_id = await shop.run(1)
    await held_back(shop, shop.attempt(shop.worker(), run_id))
    patience = shop.settings.provider_patience
    assert patience == 3600
    await shop.pool.execute(
        "UPDATE runs SET failing_since = now() - make_interval(secs => $1), retry_at = now()",
        patience + 1,
    )
    await reviewed(shop, run_id)
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason, params) == (
        "FAILED",
        "provider_unavailable",
        {"code": "http_500", "tries": 2},
    )
    await shop.move(run_id, RESUMED)
    shop.llm.script(good_reviewer(errors=planted(1)))
    assert await reviewed(shop, run_id, epoch=2) == "done"


@pytest.mark.rule("stop_stays_with_part")
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (errors.content_filter(), "refusal"),
        (Reply(items=issues(1), finish_reason="length"), "spinning"),
    ],
    ids=["refusal", "spinning"],
)
async def test_a_guardrail_is_not_forgotten_by_whoever_goes_on_without_an_override(
    shop: Shop, reply: Reply, reason: str
) -> None:
    """A worker may die between the call's end and the run's; nobody asks the model again."""
    await profile(shop)
    shop.llm.script(reply)
    run_id = await shop.run(2)
    await reviewed(shop, run_id)
    asked = len(shop.llm.requests)
    assert asked <= 2
    status, code, params = await stopped(shop, run_id)
    assert (status, code, params["part"]) == ("FAILED", reason, "main")
    await shop.move(run_id, RESUMED)
    await reviewed(shop, run_id, epoch=2)
    assert (await stopped(shop, run_id))[:2] == ("FAILED", reason)
    assert len(shop.llm.requests) == asked
    assert [data["code"] for data in await events(shop, run_id, EventType.GUARDRAIL_STOP)] == [
        reason,
        reason,
    ]


async def test_two_replies_in_turn_are_seen_however_they_are_dressed(shop: Shop) -> None:
    await profile(shop)
    one, two = issues(2)
    replies = [
        [one],
        [two],
        [{**two, "problem": "2.  not what was said"}],
        [{**one, "problem": "a) not what\nwas said"}],
    ]
    shop.llm.queue(*(Reply(items=items, finish_reason="length") for items in replies))
    run_id = await shop.run(2)
    await reviewed(shop, run_id)
    assert (await stopped(shop, run_id))[:2] == ("FAILED", "spinning")
    assert len(shop.llm.requests) == 3
    assert await shop.keys(run_id) == ["E1x", "E2x"]


async def held_back(shop: Shop, attempt: Attempt) -> float:
    """Seconds after which the attempt asks to be tried again."""
    with pytest.raises(ApplicationError) as error:
        await attempt.ends()
    delay = error.value.next_retry_delay
    assert delay is not None
    return delay.total_seconds()


async def test_no_room_in_the_rate_limit_gives_the_slot_back_and_is_nobodys_failure(
    shop: Shop,
) -> None:
    await profile(shop, "facts", "claims", rate_limits={"requests_per_minute": 1})
    shop.llm.script(good_reviewer(errors=planted(2)))
    run_id = await shop.run(2)
    wait = await held_back(shop, shop.attempt(shop.worker(), run_id))
    assert 30 < wait <= 60
    assert len(shop.llm.requests) == 1, "the sibling finished"
    assert await shop.steps(run_id) == [("review", "FAILED", "rate_limited")]
    assert await shop.told(
        "SELECT status, last_error_code, failures, failing_since, retry_at > now() FROM runs"
    ) == [("RUNNING", "bucket", 0, None, True)]

    await shop.move(run_id, EventType.RUN_INTERRUPTED, RESUMED)
    assert await held_back(shop, shop.attempt(shop.worker(), run_id, epoch=2)) > 30
    assert len(shop.llm.requests) == 1, "a resume does not skip it"

    await shop.pool.execute("UPDATE rate_buckets SET updated_at = updated_at - interval '61 s'")
    await shop.pool.execute("UPDATE runs SET retry_at = now()")
    await held_back(shop, shop.attempt(shop.worker(), run_id, epoch=2))
    assert [request.part for request in shop.llm.requests] in (
        ["facts", "claims"],
        ["claims", "facts"],
    )


async def test_workers_share_a_rate_limit_and_come_after_those_who_wait_already(
    shop: Shop,
) -> None:
    await profile(shop, rate_limits={"requests_per_minute": 1})
    shop.llm.script(lambda _: Reply(hang=True))
    waits = []
    runs = [await shop.run(1) for _ in range(3)]
    shop.attempt(shop.worker(), runs[0])
    await shop.llm.wait_requests(1)
    for run_id in runs[1:]:
        waits.append(await held_back(shop, shop.attempt(shop.worker(), run_id)))
    assert waits[1] - waits[0] > 50
    assert len(shop.llm.requests) == 1
    shown = await queries.run(shop.pool, runs[1])
    assert shown is not None
    assert shown.phase is not None
    assert (shown.phase.code, list(shown.phase.params)) == ("rate_limited", ["next_at"])


async def test_what_a_reply_did_not_take_is_given_back_to_the_rate_limit(shop: Shop) -> None:
    await profile(shop, output=5000, rate_limits={"tokens_per_minute": 100_000})
    shop.llm.script(good_reviewer(errors=[]))
    run_id = await shop.run(1)
    assert await reviewed(shop, run_id) == "done"
    [(level,)] = await shop.told("SELECT level FROM rate_buckets")
    assert level > 100_000 - await used(shop, run_id) - 10
