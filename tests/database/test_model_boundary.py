"""The boundary to models in rows: a row for each request, the fallback, what was said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from temporalio.exceptions import ApplicationError

from activities.claim import abandon_step
from activities.model import tokens
from activities.record import lock_run
from activities.spending.bodies import forget_bodies
from activities.spending.lost import lose_calls
from api import queries
from tests.attempts import Shop
from tests.eventually import eventually
from tests.fake_llm import Chars, FakeLLM, Items, Reply, Request, errors, good_reviewer
from tests.faults.kit import issues, planted
from workflows.vocabulary import EventType, Reason


async def _events(shop: Shop, run_id: str, type_: EventType) -> list[dict[str, Any]]:
    page = await queries.events_page(shop.pool, run_id)
    assert page is not None
    return [event.model_dump() for event in page.items if event.type == type_]


async def test_a_form_that_is_refused_costs_a_row_and_no_call_of_the_part(shop: Shop) -> None:
    good = good_reviewer(errors=planted(1))

    def picky(request: Request) -> Any:
        asked = request.body.get("response_format", {}).get("type")
        if asked is not None:
            return errors.status(400, message=f"response_format {asked} is not supported")
        return good(request)

    shop.llm.script(picky)
    run_id = await shop.run(1)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    again = ("FAILED", "provider_refused")
    done = ("SUCCEEDED", None)
    assert await shop.calls(run_id) == [again, again, done, done]
    assert len(shop.llm.requests) == 4
    rows = await shop.told(
        """
        SELECT number, http_status, tokens_input, tokens_output, http_status = 200 OR error <> ''
        FROM model_calls WHERE run_id = $1 AND step_name = 'review' ORDER BY number
        """,
        run_id,
    )
    billed = shop.llm.requests[2].billed
    assert rows == [
        (1, 400, 0, 0, True),
        (2, 400, 0, 0, True),
        (3, 200, billed.input, billed.output, True),
    ]
    counted = await shop.told("SELECT calls, early_ends FROM step_parts ORDER BY position")
    assert counted == [(1, 0), (1, 0)]
    totals = "SELECT calls, tokens_input, tokens_output, failures FROM runs WHERE id = $1"
    assert await shop.told(totals, run_id) == [
        (4, shop.llm.billed.input, shop.llm.billed.output, 0)
    ]
    ended = await _events(shop, run_id, EventType.CALL_ENDED)
    assert [event.get("form_refused", False) for event in ended] == [True, True, False, False]


@pytest_asyncio.fixture
async def backup(shop: Shop) -> AsyncIterator[FakeLLM]:
    """A second model server, and a first profile that falls back to it after two errors."""
    async with FakeLLM(good_reviewer(errors=planted(1))) as other:
        for name, url, fallback in (
            ("default", shop.llm.base_url, {"profile": "backup", "after": 2}),
            ("backup", other.base_url, None),
        ):
            await shop.pool.execute(
                """
                INSERT INTO profiles (name, version, model, base_url, prompts, fallback, actor)
                VALUES ($1, 1, 'fake', $2, $3, $4, 'local')
                """,
                *(name, url, {"reviewers": ["main"]}, fallback),
            )
        yield other


async def _fails(shop: Shop, run_id: str) -> ApplicationError:
    with pytest.raises(ApplicationError) as failed:
        await shop.attempt(shop.worker(), run_id).ends()
    return failed.value


async def test_after_so_many_errors_the_fallback_answers_in_sight_of_all(
    shop: Shop, backup: FakeLLM
) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(errors.server_error(503), errors.server_error(503, retry_after=600))
    backup.queue(Reply(items=issues(1), stall_after=Items(1)))
    run_id = await shop.run(1)
    await _fails(shop, run_id)
    second = await _fails(shop, run_id)
    assert second.next_retry_delay is not None
    assert second.next_retry_delay.total_seconds() < 1, "the other server asked for no pause"
    attempt = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    run = await queries.run(shop.pool, run_id)
    assert run is not None
    assert run.profile.name == "default"
    assert run.fallback is not None
    assert (run.fallback.name, run.fallback.version) == ("backup", 1)
    backup.release()
    assert (await attempt.ends()).code == "done"
    used = await shop.told("SELECT step_name, profile, status FROM model_calls ORDER BY started_at")
    assert used == [
        ("review", "default", "FAILED"),
        ("review", "default", "FAILED"),
        ("review", "backup", "SUCCEEDED"),
        ("refine", "default", "SUCCEEDED"),
    ]
    changes = await _events(shop, run_id, EventType.PROFILE_CHANGED)
    told = [(event["from"], event["to"], event["reason"]) for event in changes]
    assert told == [("default", "backup", "fallback"), ("backup", "default", "fallback_over")]
    assert (changes[0]["errors"], changes[0]["code"]) == (2, "http_503")
    after = await queries.run(shop.pool, run_id)
    assert after is not None
    assert after.fallback is None


async def test_a_resume_asks_the_first_provider_again(shop: Shop, backup: FakeLLM) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(errors.server_error(503), errors.server_error(503))
    run_id = await shop.run(1)
    await _fails(shop, run_id)
    await _fails(shop, run_id)
    await shop.move(run_id, EventType.RUN_INTERRUPTED, EventType.RUN_RESUMED)
    assert (await shop.attempt(shop.worker(), run_id, epoch=2).ends()).code == "done"
    assert (len(shop.llm.requests), len(backup.requests)) == (4, 0)


async def test_without_a_fallback_nobody_else_is_asked(shop: Shop, backup: FakeLLM) -> None:
    await shop.pool.execute("UPDATE profiles SET fallback = NULL")
    shop.llm.script(errors.server_error(503))
    run_id = await shop.run(1)
    await _fails(shop, run_id)
    await _fails(shop, run_id)
    assert not backup.requests
    assert await _events(shop, run_id, EventType.PROFILE_CHANGED) == []


async def _bodies(shop: Shop) -> list[tuple[Any, ...]]:
    return await shop.told("SELECT reply, recipe FROM model_call_bodies ORDER BY call_id")


async def test_what_was_said_is_kept_as_received_and_the_prompt_as_recipe(shop: Shop) -> None:
    shop.llm.script(good_reviewer(errors=planted(1)))
    shop.llm.queue(Reply(items=issues(1), text="Well:\n" + Reply(items=issues(1)).content))
    run_id = await shop.run(1)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    found = await _bodies(shop)
    assert [reply for reply, _ in found] == [request.sent for request in shop.llm.requests]
    [[source]] = await shop.told("SELECT id FROM sources")
    recipe = found[0][1]
    assert recipe["sources"] == [source]
    assert (recipe["step"], recipe["round"], recipe["input_revision"]) == ("review", 1, 0)
    assert (recipe["kind"], recipe["form"]) == ("text", "json_schema")
    assert "ship" not in json.dumps(recipe)
    assert "sk-test" not in str(found)
    assert await forget_bodies(shop.pool, 1.0) == 0
    assert await forget_bodies(shop.pool, 0.0) == 2
    await shop.pool.execute("DELETE FROM documents")


async def test_bodies_go_with_their_document_and_none_is_kept_without_retention(
    shop: Shop,
) -> None:
    run_id = await shop.run(0)
    await shop.attempt(shop.worker(), run_id).ends()
    assert len(await _bodies(shop)) == 1
    await shop.pool.execute("DELETE FROM documents")
    assert await _bodies(shop) == []
    shop.settings = replace(shop.settings, body_retention_days=0.0)
    run_id = await shop.run(0)
    await shop.attempt(shop.worker(), run_id).ends()
    assert await shop.calls(run_id) == [("SUCCEEDED", None)]
    assert await _bodies(shop) == []


async def test_of_a_lost_call_text_and_thoughts_that_arrived_are_kept_and_counted(
    shop: Shop,
) -> None:
    thought = "The minutes say Friday; the source says Friday too. " * 20
    shop.llm.queue(Reply(items=issues(1), thinking=thought, stall_after=Items(1)))
    run_id = await shop.run(1)
    shop.attempt(shop.worker(), run_id)

    async def shown() -> bool:
        return bool(await shop.told("SELECT 1 FROM model_calls WHERE tokens_reasoning > 0"))

    await eventually(shown, seconds=30, what="live text")
    async with shop.pool.acquire() as connection, connection.transaction():
        run = await lock_run(connection, run_id)
        assert run is not None
        [[step]] = await shop.told("SELECT id FROM steps")
        assert await lose_calls(connection, run_id, step, Reason.WORKER_LOST) == 1
    sent = shop.llm.requests[0].sent
    [(status, output, reasoning)] = await shop.told(
        "SELECT status, tokens_output, tokens_reasoning FROM model_calls"
    )
    assert status == "LOST"
    assert reasoning == tokens.count(thought)
    assert output == reasoning + tokens.count(sent)
    [(reply, recipe)] = await _bodies(shop)
    assert (reply, recipe["part"]) == (sent, "main")


FOUR = issues(4)
_WHOLE = Reply(items=FOUR).content
_CUT = _WHOLE[: _WHOLE.index("not what", _WHOLE.index("E4x")) + 6]
"""Three whole items; the fourth breaks off in the middle of a word."""


@pytest.mark.parametrize(
    ("answer", "dropped", "calls"),
    [
        (Reply(items=FOUR[3:]), 0, 2),
        (Reply(text="at was said", finish_reason="stop"), 0, 3),
        (Reply(text=_WHOLE[len(_CUT) :], finish_reason="stop"), 0, 3),
        (Reply(items=FOUR[2:]), 1, 2),
        (Reply(items=FOUR), 3, 2),
        (Reply(text="Here is the rest:\n\n" + Reply(items=FOUR[3:]).content), 0, 2),
        (Reply(text="```json\n" + Reply(items=FOUR[3:]).content + "\n```"), 0, 2),
    ],
    ids=["item", "words", "tail", "overlap", "all", "preface", "fence"],
)
async def test_however_a_model_goes_on_each_item_is_there_once_and_whole(
    shop: Shop, answer: Reply, dropped: int, calls: int
) -> None:
    shop.llm.script({"redraft_review": good_reviewer(errors=planted(4))})
    shop.llm.queue(Reply(text=_CUT, cut_after=Chars(len(_CUT))), answer, schema="redraft_review")
    run_id = await shop.run(4)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    payloads = await shop.told(
        "SELECT payload FROM step_items WHERE payload ->> 'category' IS NOT NULL ORDER BY position"
    )
    assert [row[0]["quote"] for row in payloads] == ["E1x", "E2x", "E3x", "E4x"]
    whole = {FOUR[3]["problem"], "The source does not say: E4x"}
    assert payloads[3][0]["problem"] in whole
    rows = await shop.told(
        "SELECT items_dropped FROM model_calls WHERE step_name = 'review' ORDER BY number"
    )
    assert [row[0] for row in rows] == [0, dropped, 0][:calls]
    began = await _events(shop, run_id, EventType.CALL_STARTED)
    behind = [event["kept"] for event in began if event["step"] == "review"]
    assert behind == [0, 3, 3][:calls], "it says behind which item each call goes on"


@pytest.mark.parametrize("status", [500, None], ids=["error", "silence"])
async def test_each_try_is_a_row_and_silence_leaves_open_whether_it_was_billed(
    shop: Shop, status: int | None
) -> None:
    shop.settings = replace(shop.settings, first_byte_timeout=0.3)
    shop.llm.script(errors.hang() if status is None else errors.server_error(status))
    run_id = await shop.run(0)
    await _fails(shop, run_id)
    await _fails(shop, run_id)
    rows = await shop.told(
        "SELECT status, end_cause, http_status, usage_source, tokens_input FROM model_calls"
    )
    cause, source = ("connection", "unknown") if status is None else ("server_error", "estimated")
    tokens_sent = None if status is None else 0
    assert rows == [("FAILED", cause, status, source, tokens_sent)] * 2
    guessed = await shop.told("SELECT cost_is_estimate FROM runs")
    assert guessed == [(status is None,)], "what was refused cost nothing, and nobody guesses it"
    assert len(shop.llm.requests) == 2


async def test_a_run_with_every_kind_of_end_accounts_for_each_request(shop: Shop) -> None:
    """Stopped by a person, lost with its worker, garbled twice, whole: each is a closed row."""
    shop.llm.script(good_reviewer(errors=planted(3)))
    some, rest = issues(3), issues(3)[1:]
    shop.llm.queue(Reply(items=some, stall_after=Items(1)), Reply(items=rest, stall_after=Items(1)))
    shop.llm.queue(errors.prose(), errors.prose("I would rather not."))
    run_id = await shop.run(3)
    stopped = shop.attempt(shop.worker(), run_id)
    await shop.kept(run_id, 1)
    await shop.move(run_id, EventType.RUN_INTERRUPTED)
    stopped.tell()
    assert (await stopped.ends()).code == "stopped"
    await shop.move(run_id, EventType.RUN_RESUMED)
    tools = shop.worker()
    shop.attempt(tools, run_id, epoch=2)
    await shop.kept(run_id, 2)
    [[lost]] = await shop.told("SELECT id FROM steps WHERE status = 'RUNNING'")
    async with shop.pool.acquire() as connection, connection.transaction():
        await lock_run(connection, run_id)
        await abandon_step(connection, run_id, lost, tools.worker, Reason.WORKER_LOST)
    assert (await shop.attempt(shop.worker(), run_id, epoch=2).ends()).code == "done"
    garbled, done = ("FAILED", "garbled"), ("SUCCEEDED", None)
    assert await shop.calls(run_id) == [
        ("CANCELLED", "interrupted"),
        ("LOST", "worker_lost"),
        *(garbled, garbled, done, done),
    ]
    rows = await shop.told(
        """
        SELECT usage_source, tokens_input, tokens_output FROM model_calls ORDER BY started_at
        """
    )
    assert len(rows) == len(shop.llm.requests)
    assert [source for source, _, _ in rows] == ["estimated"] * 2 + ["reported"] * 4
    assert all(output > 0 for _, _, output in rows)
    billed = [request.billed for request in shop.llm.requests]
    assert [row[1:] for row in rows[2:]] == [(bill.input, bill.output) for bill in billed[2:]]
    totals = "SELECT calls, tokens_input, tokens_output, cost_is_estimate FROM runs"
    sums = (sum(row[1] for row in rows), sum(row[2] for row in rows))
    assert await shop.told(totals) == [(6, *sums, True)]


async def test_a_cost_that_no_column_holds_ends_a_run_like_any_other(shop: Shop) -> None:
    """Absurd prices are taken up to a bound; their sum may not make a commit fail for ever."""
    good = good_reviewer(errors=planted(1))

    async def dear(request: Request) -> Any:
        await shop.pool.execute("UPDATE model_calls SET cost = 999999999 WHERE cost IS NOT NULL")
        return good(request)

    shop.llm.script({"redraft_refine": dear})
    shop.llm.queue(Reply(items=issues(1)), schema="redraft_review")
    run_id = await shop.run(1)
    prices = {"input": "999999", "output": "999999"}
    await shop.pool.execute("UPDATE profiles SET prices = $1", prices)
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    assert await shop.told("SELECT cost::int FROM runs") == [(999_999_999,)]
