"""Guardrails and the profile's rate limit: who is stopped, who waits, and who may go on."""

from __future__ import annotations

import pytest

from activities.checkpoint import Checkpoint
from activities.steps.parts import EARLY_ENDS_CAP
from api import queries
from tests.attempts import Shop
from tests.fake_llm import Chars, Reply, errors, good_reviewer
from tests.faults.kit import issues, planted
from tests.limited import RESUMED, events, held_back, profile, reviewed, stopped, used
from tests.read_rows import add_run, insert
from workflows.contract import HandMove
from workflows.vocabulary import EventType


async def test_a_provider_that_is_away_for_longer_than_its_patience_ends_the_run(
    shop: Shop,
) -> None:
    await profile(shop)
    shop.llm.script(errors.server_error())
    run_id = await shop.run(1)
    await held_back(shop.attempt(shop.worker(), run_id))
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


async def test_half_an_item_and_an_error_count_against_the_part_like_any_reply_that_was_cut(
    shop: Shop,
) -> None:
    """It was paid, and brought nothing: the patience with a provider is not for that."""
    await profile(shop)
    shop.llm.script(Reply(items=issues(1), error_frame_after=Chars(20)))
    run_id, worker = await shop.run(1), shop.worker()
    for _ in range(EARLY_ENDS_CAP):
        await held_back(shop.attempt(worker, run_id))
        await shop.pool.execute("UPDATE runs SET retry_at = NULL")
    await reviewed(shop, run_id)
    status, reason, params = await stopped(shop, run_id)
    assert (status, reason, params["early_ends"]) == ("FAILED", "call_limit", EARLY_ENDS_CAP)
    assert len(shop.llm.requests) == EARLY_ENDS_CAP


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


async def test_no_room_in_the_rate_limit_gives_the_slot_back_and_is_nobodys_failure(
    shop: Shop,
) -> None:
    await profile(shop, "facts", "claims", rate_limits={"requests_per_minute": 1})
    shop.llm.script(good_reviewer(errors=planted(2)))
    run_id = await shop.run(2)
    wait = await held_back(shop.attempt(shop.worker(), run_id))
    assert 30 < wait <= 60
    assert len(shop.llm.requests) == 1, "the sibling finished"
    assert await shop.steps(run_id) == [("review", "FAILED", "rate_limited")]
    assert await shop.told(
        "SELECT status, last_error_code, failures, failing_since, retry_at > now() FROM runs"
    ) == [("RUNNING", "bucket", 0, None, True)]

    await shop.move(run_id, EventType.RUN_INTERRUPTED, RESUMED)
    assert await held_back(shop.attempt(shop.worker(), run_id, epoch=2)) > 30
    assert len(shop.llm.requests) == 1, "a resume does not skip it"

    await shop.pool.execute("UPDATE rate_buckets SET updated_at = updated_at - interval '61 s'")
    await shop.pool.execute("UPDATE runs SET retry_at = now()")
    await held_back(shop.attempt(shop.worker(), run_id, epoch=2))
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
        waits.append(await held_back(shop.attempt(shop.worker(), run_id)))
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


@pytest.mark.parametrize(
    ("reason", "draining", "code"),
    [
        ("operator", False, ""),
        ("operator", True, "draining"),
        ("limit_tokens", False, "needs_override"),
        ("price_unknown", False, "needs_override"),
    ],
)
async def test_a_resume_by_hand_passes_no_limit_and_no_draining(
    shop: Shop, reason: str, draining: bool, code: str
) -> None:
    run_id = await add_run(shop.pool, status="INTERRUPTED", reason_code=reason)
    await shop.pool.execute("DELETE FROM switches")
    await insert(shop.pool, "switches", name="draining", value=draining, actor="ana")
    asked = HandMove(run_id=run_id, command="resume", loaded_status="INTERRUPTED", epoch=1)
    moved = await Checkpoint(shop.worker()).move_by_hand(asked)
    await shop.pool.execute("DELETE FROM switches")
    assert (moved.moved, moved.code) == (not code, code)
    assert (await stopped(shop, run_id))[0] == ("INTERRUPTED" if code else "RUNNING")
