"""What a run would take, before it starts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from activities.model.tokens import count
from tests import read_rows as rows
from tests.api.harness import MINUTES, Api

PRICES = {"currency": "EUR", "tables": [{"input": "2", "output": "10"}]}


async def price(api: Api, prices: dict[str, Any] | None) -> None:
    await api.pool.execute("UPDATE profiles SET prices = $1 WHERE name = 'default'", prices)


async def test_calls_tokens_and_cost_are_ranges(api: Api) -> None:
    await price(api, PRICES)
    answer = await api.post("/api/estimate", {**MINUTES, "max_rounds": 2})
    found = answer.json
    assert answer.status == 200, found
    assert found["calls"] == {"min": 1, "max": 2 + 2 + 1 + 2}, "two rounds, and calls made again"
    assert [step["repeats"] for step in found["steps"]] == [
        {"min": 0, "max": 1},
        {"min": 0, "max": 2},
    ]
    assert [step["name"] for step in found["steps"]] == ["review", "refine"]
    tokens = found["tokens"]
    assert 0 < tokens["input"]["min"] < tokens["input"]["max"]
    least = (tokens["input"]["min"] * 2 + tokens["output"]["min"] * 10) / 1e6
    assert abs(float(found["cost"]["min"]) - least) < 1e-8
    assert (found["currency"], found["begins_with"]) == ("EUR", "review")
    assert await api.pool.fetchval("SELECT count(*) FROM documents") == 0


async def test_an_unknown_price_is_null_and_never_nothing(api: Api) -> None:
    await price(api, None)
    found = (await api.post("/api/estimate", MINUTES)).json
    assert found["cost"] is None
    assert {step["cost"] for step in found["steps"]} == {None}


async def test_a_run_without_a_text_begins_with_its_draft(api: Api) -> None:
    wanted = {name: value for name, value in MINUTES.items() if name not in ("body", "title")}
    found = (await api.post("/api/estimate", wanted)).json
    assert [step["name"] for step in found["steps"]] == ["draft", "review", "refine"]
    wanted = {"kind": "minutes", "audio_seconds": 3600}
    found = (await api.post("/api/estimate", wanted)).json
    assert (found["begins_with"], found["steps"][0]["calls"]) == (
        "transcribe",
        {"min": 12, "max": 20 + 2},
    )


async def test_a_limit_that_may_stop_the_run_is_named(api: Api) -> None:
    limits = {"max_calls": 3, "max_tokens": 90_000_000}
    found = (await api.post("/api/estimate", {**MINUTES, "limits": limits})).json
    assert found["may_stop_at"] == ["max_calls"]


async def test_what_a_start_would_refuse_is_refused_with_the_same_pointer(api: Api) -> None:
    await price(api, None)
    for fields, pointer in (
        ({"kind": "poem"}, "/kind"),
        ({"attributes": {"colour": "blue"}}, "/attributes/colour"),
        ({"profile": "nobody"}, "/profile"),
        ({"max_rounds": 21}, "/max_rounds"),
        ({"limits": {"max_cost": "1"}}, "/limits/max_cost"),
        ({"audio_seconds": 0}, "/audio_seconds"),
        ({"colour": "blue"}, "/colour"),
    ):
        wanted = {**MINUTES, **fields}
        answer = await api.post("/api/estimate", wanted)
        assert (answer.status, answer.pointers()) == (422, [pointer]), answer.json
        wanted.pop("audio_seconds", None)
        if "audio_seconds" not in fields:
            started = await api.post("/api/runs", wanted)
            assert started.pointers() == [pointer]


async def test_what_calls_of_the_profile_were_like_stands_for_what_is_assumed(api: Api) -> None:
    """Six of seven parts were done by one call, one by two of them."""
    run = await api.run()
    step = await rows.add_step(api.pool, run["id"])
    model = await api.pool.fetchval("SELECT model FROM profiles WHERE name = 'default'")
    told: dict[str, Any] = {"status": "SUCCEEDED", "usage_source": "reported", "tokens_input": 500}
    told |= {"ended_at": datetime.now(UTC), "estimated_input": 500, "model": model}
    for number in range(7):
        output = {"part": f"p{number}", "tokens_output": 70 + number}
        await rows.add_call(api.pool, run["id"], step, **told, **output)
    cut = {**told, "status": "FAILED", "part": "p0", "number": 2, "tokens_output": 5}
    await rows.add_call(api.pool, run["id"], step, **cut)
    [review] = (await api.post("/api/estimate", {**MINUTES, "max_rounds": 1})).json["steps"][:1]
    assert review["replies"] == "measured"
    assert review["repeats"] == {"min": 0, "max": 1}
    assert review["tokens"]["output"] == {"min": 70, "max": 2 * 76}


async def _stopped_at_tokens(api: Api, **changes: Any) -> str:
    """A run that waits at its limit of tokens with one round of three done."""
    given: dict[str, Any] = {"status": "INTERRUPTED", "reason_code": "limit_tokens"}
    given["reason_params"] = {"limit": 900, "used": 850, "needed": 1400}
    given |= {
        "current_round": 1,
        "calls": 2,
        "tokens_input": 800,
        "tokens_output": 50,
        "max_rounds": 3,
    }
    return await rows.add_run(api.pool, **given, **changes)


async def test_a_stopped_run_says_what_the_rest_of_it_may_take(api: Api) -> None:
    await price(api, PRICES)
    run = await _stopped_at_tokens(api, cost=Decimal("0.002"), currency="EUR")
    answer = await api.get(f"/api/runs/{run}/estimate")
    found = answer.json
    assert answer.status == 200, found
    assert found["rounds"] == {"min": 1, "max": 2}
    most = found["tokens"]["input"]["max"] + found["tokens"]["output"]["max"]
    assert found["limits"]["max_tokens"] == 850 + most
    assert found["limits"]["max_calls"] == 2 + found["calls"]["max"]
    page = await api.client.get(f"/runs/{run}?lang=en", headers={"accept": "text/html"})
    told = f"1400 is enough for the next call, {850 + most} probably for all rounds"
    assert told in page.text
    await api.pool.execute("UPDATE runs SET current_round = 2 WHERE id = $1", run)
    shorter = (await api.get(f"/api/runs/{run}/estimate")).json
    assert shorter["limits"]["max_tokens"] < found["limits"]["max_tokens"]


async def test_a_run_without_a_price_has_no_limit_of_cost_to_name(api: Api) -> None:
    await price(api, None)
    run = await _stopped_at_tokens(api)
    found = (await api.get(f"/api/runs/{run}/estimate")).json
    assert (found["cost"], "max_cost" in found["limits"]) == (None, False)
    assert (await api.get("/api/runs/0192aaaa-0000-7000-8000-000000000001/estimate")).status == 404


async def test_a_run_that_goes_no_further_takes_nothing_more(api: Api) -> None:
    run = await rows.add_run(api.pool, status="AWAITING_CONFIRMATION")
    found = (await api.get(f"/api/runs/{run}/estimate")).json
    assert found["calls"] == {"min": 0, "max": 0}


async def test_others_are_answered_while_a_book_is_estimated(api: Api) -> None:
    """The whole estimate is worked out beside the loop, and a text of megabytes is not counted to
    its last letter."""
    line = "张三在星期五说预算两万五千元足够整个项目使用，李四表示同意并负责提交报告。"
    body = "\n".join(f"{line}{at}" for at in range(20_000))
    source = {"name": "s", "media_type": "text/plain", "text": "\n".join([line] * 700)}
    wanted = {**MINUTES, "body": body, "sources": [source]}
    asked = asyncio.create_task(api.post("/api/estimate", wanted))
    beside = 0
    while not asked.done():
        await api.client.get("/healthz")
        beside += 1
    found = (await asked).json
    assert beside > 5
    exact = count(body)
    # Both steps read it once each at least; servers may count a tenth less than this one.
    assert found["steps"][0]["tokens"]["input"]["min"] > exact * 0.85
