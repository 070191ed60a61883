"""A part that does not fit the model is cut smaller once somebody has lowered the window."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Any

from tests.attempts import Shop
from tests.eventually import eventually
from tests.fake_llm import Reply, Request, errors, good_reviewer
from tests.faults.kit import issues, planted
from workflows.vocabulary import EventType

LINES = 240
SOURCE = "\n".join(f"Ana: line {n}, we ship the blue box on Friday." for n in range(1, LINES + 1))
_REVIEWS = "SELECT part, done_at IS NOT NULL, spec FROM step_parts p JOIN step_plans s ON s.id = "
_REVIEWS += "p.plan_id WHERE s.name = 'review' ORDER BY p.position, part"


async def long_run(shop: Shop, window: int) -> str:
    run_id = await shop.run(1)
    await shop.pool.execute(
        "UPDATE sources SET text = $1, sha256 = $2",
        *(SOURCE, hashlib.sha256(SOURCE.encode()).hexdigest()),
    )
    await set_window(shop, window)
    return run_id


async def set_window(shop: Shop, tokens: int) -> None:
    await shop.pool.execute(
        """
        INSERT INTO profiles (name, version, model, base_url, prompts, actor)
        SELECT 'default', 1 + count(*), 'fake', $1, $2, 'local' FROM profiles
        """,
        *(shop.llm.base_url, {"reviewers": ["main"], "window_tokens": tokens}),
    )


def shown(request: Request) -> set[int]:
    """Numbers of the source's lines in the prompt."""
    return {int(number) for number in re.findall(r"^T(\d+): Ana", request.text, re.M)}


async def _fails(shop: Shop, run_id: str, epoch: int = 1, code: str = "context_too_long") -> None:
    await shop.attempt(shop.worker(), run_id, epoch=epoch).ends()
    told = await shop.told(
        "SELECT status, reason_code, reason_params FROM runs ORDER BY id DESC LIMIT 1"
    )
    assert told[0][:2] == ("FAILED", "provider_refused")
    assert told[0][2]["code"] == code


async def test_a_smaller_window_helps_a_run_whose_parts_were_too_long(shop: Shop) -> None:
    good = good_reviewer(errors=planted(1))

    def small(request: Request) -> Any:
        return errors.too_long() if len(shown(request)) > 100 else good(request)

    shop.llm.script(small)
    run_id = await long_run(shop, 100_000)
    await _fails(shop, run_id)
    await shop.move(run_id, EventType.RUN_RESUMED)
    await _fails(shop, run_id, epoch=2)  # nothing was changed, so nothing is
    assert [part for part, *_ in await shop.told(_REVIEWS)] == ["main"]
    await set_window(shop, 1000)
    await shop.move(run_id, EventType.RUN_RESUMED)
    before = len(shop.llm.requests)
    assert (await shop.attempt(shop.worker(), run_id, epoch=3).ends()).code == "done"
    reviews = [one for one in shop.llm.requests[before:] if one.schema == "redraft_review"]
    assert set().union(*map(shown, reviews)) == set(range(1, LINES + 1))
    assert max(len(shown(one)) for one in reviews) <= 100


async def test_a_window_that_fails_for_good_fails_the_review_and_is_all_that_is_asked_again(
    shop: Shop,
) -> None:
    """It is never skipped: what the others found is kept, and no score is made of it."""
    broken, good = True, good_reviewer(errors=planted(1))

    async def others_done() -> bool:
        return sum(not done for _, done, _ in await shop.told(_REVIEWS)) == 1

    async def play(request: Request) -> Any:
        if broken and LINES in shown(request):
            await eventually(others_done, what="all windows but the last")
            return errors.bad_key()
        return good(request)

    shop.llm.script({"redraft_review": play})
    run_id = await long_run(shop, 1500)
    await _fails(shop, run_id, code="bad_key")
    [(step, status, reason)] = await shop.steps(run_id)
    assert (step, status, reason) == ("review", "FAILED", "provider_refused")
    parts = await shop.told(_REVIEWS)
    assert len(parts) > 3
    [[last, window]] = [(part, spec["window"]) for part, done, spec in parts if not done]
    [[failed, score]] = await shop.told("SELECT reason_params ->> 'part', score FROM runs")
    assert (failed, score) == (last, None)
    kept = await shop.keys(run_id)
    assert len(kept) > 2, "what the other windows found"
    broken = False
    before = len(shop.llm.of("redraft_review"))
    await shop.move(run_id, EventType.RUN_RESUMED)
    assert (await shop.attempt(shop.worker(), run_id, epoch=2).ends()).code == "done"
    [again] = shop.llm.of("redraft_review")[before:]
    assert shown(again) == set(range(window["first"], window["last"] + 1))
    assert await shop.keys(run_id) == [*kept, "E1x"]
    assert await shop.told("SELECT quote FROM issues") == [("E1x",)]


async def test_what_is_done_and_kept_outlives_the_new_cut_and_is_not_asked_for_again(
    shop: Shop,
) -> None:
    good = good_reviewer(errors=planted(1))

    async def small(request: Request) -> Any:
        if request.schema != "redraft_review" or len(shown(request)) < 60:
            return good(request)
        if 1 in shown(request):
            return Reply(items=issues(1))
        await eventually(_one_done, what="the first window's part")
        return errors.too_long()

    async def _one_done() -> bool:
        return any(done for part, done, _ in await shop.told(_REVIEWS) if part == "main:1")

    shop.llm.script(small)
    run_id = await long_run(shop, 2000)
    await _fails(shop, run_id)
    first = await shop.told(_REVIEWS)
    assert [part for part, done, _ in first if done and part != "invented"] == ["main:1"]
    await set_window(shop, 600)
    await shop.move(run_id, EventType.RUN_RESUMED)
    before = len(shop.llm.requests)
    assert (await shop.attempt(shop.worker(), run_id, epoch=2).ends()).code == "done"
    reviews = [one for one in shop.llm.requests[before:] if one.schema == "redraft_review"]
    done = first[0][2]["window"]
    assert set().union(*map(shown, reviews)) >= set(range(done["last"] + 1, LINES + 1))
    assert 1 not in set().union(*(shown(one) for one in reviews if _win(one)))
    parts = await shop.told(_REVIEWS)
    assert parts[0] == first[0], "the part that was done stays as it was"
    assert all(done for _, done, _ in parts)
    assert len(parts) > len(first)
    raised = await shop.told("SELECT quote FROM issues ORDER BY number")
    assert raised == [("E1x",)], "by several parts, one issue"
    marked = await shop.told("SELECT bool_or(recut) FROM step_plans")
    assert marked == [(False,)]


async def test_a_reply_to_a_prompt_that_the_server_cut_is_no_review(shop: Shop) -> None:
    good = good_reviewer(errors=planted(1))

    def forgetful(request: Request) -> Any:
        """Reads the last 1,100 tokens of any prompt, and says nothing of it."""
        reply: Any = good(request)
        return replace(reply, prompt_tokens=1100) if len(shown(request)) > 100 else reply

    shop.llm.script(forgetful)
    run_id = await long_run(shop, 1000)  # in windows, which it counts as we do
    assert (await shop.attempt(shop.worker(), run_id).ends()).code == "done"
    run_id = await long_run(shop, 100_000)
    await _fails(shop, run_id, code="prompt_cut")
    told = await shop.told(
        "SELECT status, end_cause, usage_source, items_kept, error LIKE '%num_ctx%' "
        "FROM model_calls ORDER BY id DESC LIMIT 1"
    )
    assert told == [("FAILED", "provider_refused", "reported", 1, True)], "paid, kept, not believed"
    assert [row[1] for row in await shop.told(_REVIEWS)].count(False) == 1
    await set_window(shop, 1000)
    await shop.move(run_id, EventType.RUN_RESUMED)
    assert (await shop.attempt(shop.worker(), run_id, epoch=2).ends()).code == "done"
    assert [row for row in await shop.told(_REVIEWS) if not row[1]] == []


def _win(request: Request) -> bool:
    """Whether it is asked about a window, not about the lines nearest to the document."""
    return "those that share most words" not in request.text
