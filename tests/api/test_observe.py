"""The observability centre: what the rows say is counted once, in the right place, and nothing
else."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from api.observing import MOST_POINTS, grain_of
from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_ended_run, add_run, add_step, add_worker, insert

NOW = datetime.now(UTC)
AT = NOW - timedelta(minutes=30)


async def _spent(api: Api, run: str, seq: int, call: dict[str, Any], **step: Any) -> str:
    """A step that ended with one call: 1,000 tokens in, 100 out, 0.5 USD unless told otherwise."""
    row = {
        "status": "SUCCEEDED",
        "attempt": seq,
        "queued_at": AT - timedelta(seconds=3),
        "started_at": AT - timedelta(seconds=2),
        "ended_at": AT,
        **step,
    }
    ids = await add_step(api.pool, run, seq=seq, **row)
    spent = {"tokens_input": 1000, "tokens_output": 100, "cost": "0.5", "currency": "USD"}
    ended = {"status": "SUCCEEDED", "number": seq, "ended_at": AT, "items_kept": 1}
    values = {**spent, **ended, **call}
    if values["cost"] is not None:
        values["cost"] = Decimal(values["cost"])
    return await add_call(api.pool, run, ids, **values)


async def test_calls_are_summed_by_model_kind_and_profile_and_unknown_prices_stay_unknown(
    api: Api,
) -> None:
    run = await add_run(api.pool)
    await _spent(api, run, 1, {"model": "large"})
    await _spent(api, run, 2, {"model": "large"})
    await _spent(api, run, 3, {"model": "small", "cost": None, "currency": None})
    await _spent(api, run, 4, {"model": "old", "ended_at": NOW - timedelta(days=3)})
    seen = (await api.get("/api/observe")).json
    assert seen["tokens"]["by_model"]["large"]["input"] == 2000
    assert seen["tokens"]["by_kind"] == {"minutes": seen["tokens"]["total"]}
    assert seen["tokens"]["total"]["output"] == 300
    assert seen["cost"]["by_model"] == {"large": "1", "small": None}
    assert (seen["cost"]["total"], seen["cost"]["currency"]) == ("1", "USD")
    assert seen["cost"]["unpriced_calls"] == 1
    assert sum(point["calls"] for point in seen["series"]) == 3
    assert (await api.get("/api/observe?profile=other")).json["tokens"]["by_model"] == {}


async def test_amounts_in_two_currencies_stand_side_by_side_everywhere(api: Api) -> None:
    run = await add_run(api.pool, cost=None, calls=3, tokens_input=3000)
    await _spent(api, run, 1, {"model": "large", "usage_source": "reported"})
    await _spent(api, run, 2, {"model": "large", "usage_source": "reported"})
    euro = {"model": "small", "cost": "0.2", "currency": "EUR", "usage_source": "reported"}
    await _spent(api, run, 3, {**euro, "status": "LOST", "items_kept": 0})
    cost = (await api.get("/api/observe")).json["cost"]
    assert (cost["total"], cost["currency"], cost["currencies"]) == ("1", "USD", ["EUR", "USD"])
    assert cost["by_currency"]["EUR"]["total"] == "0.2"
    assert cost["by_currency"]["EUR"]["by_model"] == {"large": None, "small": "0.2"}
    told = (await api.get(f"/api/runs/{run}")).json
    assert (told["cost"], told["currency"], told["unpriced_calls"]) == (None, None, 0)
    assert told["costs"] == {"EUR": "0.2", "USD": "1"}
    found = csv.DictReader(io.StringIO((await api.client.get("/observe/models.csv")).text))
    rows = {row["model"]: row for row in found}
    assert (rows["large"]["cost"], rows["large"]["currency"]) == ("1", "USD")
    assert (rows["small"]["cost"], rows["small"]["cost_EUR"]) == ("", "0.2")
    seen = (await api.client.get("/observe")).text
    assert "besides: €0.2000" in seen
    shown = (await api.client.get(f"/runs/{run}")).text
    assert "€0.2000 + $1.00" in shown

    await api.pool.execute("UPDATE runs SET status = 'INTERRUPTED', running_since = NULL")
    await api.pool.execute(
        "INSERT INTO profiles (name, version, model, prices, actor) VALUES ('fx', 1, 'm', $1, 'a')",
        {"input": "1", "output": "4"},
    )
    wanted = {"limits": {"max_cost": "5"}, "profile": "fx"}
    refused = await api.post(f"/api/runs/{run}/resume", wanted)
    assert (refused.status, refused.code) == (409, "unpriced_profile")
    assert refused.json["params"]["paid"] == "EUR, USD"


async def test_time_of_work_is_apart_from_time_in_the_queue(api: Api) -> None:
    run = await add_run(api.pool)
    for seq, work in enumerate((1.0, 2.0, 9.0), start=1):
        started = AT - timedelta(seconds=work)
        await _spent(
            api, run, seq, {}, started_at=started, queued_at=started - timedelta(seconds=4)
        )
    await _spent(api, run, 9, {}, status="FAILED", reason_code="stall")
    (name, times), *_ = (await api.get("/api/observe")).json["steps"].items()
    assert (name, times["count"], times["p50_ms"]) == ("review", 3, 2000)
    assert times["p95_ms"] == 8300
    assert (times["queue_p50_ms"], times["queue_p95_ms"]) == (4000, 4000)


async def test_waste_is_told_by_what_became_of_it(api: Api) -> None:
    run = await add_run(api.pool)
    await _spent(api, run, 1, {})
    await _spent(api, run, 2, {"status": "LOST", "items_kept": 0})
    await _spent(api, run, 6, {"status": "LOST", "items_kept": 1})
    await _spent(api, run, 3, {"status": "CANCELLED", "items_kept": 0})
    await _spent(api, run, 4, {"status": "FAILED", "items_kept": 2})
    voided = await _spent(api, run, 5, {})
    await api.pool.execute(
        """
        UPDATE step_plans p SET name = 'review', voided_at = now()
        FROM model_calls c WHERE c.plan_id = p.id AND c.id = $1
        """,
        voided,
    )
    seen = (await api.get("/api/observe")).json
    one = {"tokens": 1100, "cost": "0.5", "calls": 1, "costs": {"USD": "0.5"}}
    assert seen["waste"] == {"replaced": one, "lost": one, "repeated": one}
    assert seen["saved_by_continuation"] == {"tokens": 200, "calls": 2}


async def test_runs_stops_and_interrupts_are_counted_in_their_range(api: Api) -> None:
    await add_run(api.pool)
    for status in ("CONFIRMED", "CONFIRMED", "CONFIRMED", "FAILED"):
        await add_ended_run(api.pool, status)
    run = await add_run(api.pool)
    await add_step(
        api.pool,
        run,
        status="FAILED",
        reason_code="interrupted",
        started_at=AT - timedelta(seconds=5),
        ended_at=AT,
    )
    event = {"run_id": run, "request_id": None, "at": AT - timedelta(milliseconds=400)}
    await insert(api.pool, "run_events", seq=1, type="run_interrupted", actor="ana", **event)
    await insert(api.pool, "run_events", seq=2, type="run_interrupted", actor="worker", **event)
    stop = {"type": "guardrail_stop", "actor": "worker", "data": {"code": "spinning"}}
    await insert(api.pool, "run_events", seq=3, **stop, **event)
    await add_worker(api.pool)
    seen = (await api.get("/api/observe")).json
    assert {k: n for k, n in seen["runs_by_status"].items() if n} == {
        "RUNNING": 2,
        "CONFIRMED": 3,
        "FAILED": 1,
    }
    assert seen["success_rate"] == 0.75
    assert seen["guardrail_stops"] == {"spinning": 1}
    assert seen["interrupts"] == {"count": 1, "p50_ms": 400, "p95_ms": 400}
    assert seen["queue"]["waiting"] == 2
    assert [worker["id"] for worker in seen["workers"]] == ["w1"]
    earlier = "/api/observe?to=2026-01-02T00:00:00Z&from=2026-01-01T00:00:00Z"
    past = (await api.get(earlier)).json
    assert (past["success_rate"], past["guardrail_stops"]) == (None, {})
    assert set(past["runs_by_status"].values()) == {0}


async def test_simulated_calls_are_left_out_and_said_so(api: Api) -> None:
    run = await add_run(api.pool)
    await _spent(api, run, 1, {"model": "offline"})
    seen = (await api.get("/api/observe")).json
    assert (seen["excludes"], seen["simulated_calls"]) == (["simulated_calls"], 1)
    assert seen["tokens"]["by_model"] == {}
    asked = (await api.get("/api/observe?simulated=true")).json
    assert set(asked["tokens"]["by_model"]) == {"offline"}


@pytest.mark.parametrize(
    "query",
    ["from=yesterday", "from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "range=7d",
     "from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
     "from=0001-01-01T00:00:00Z&to=0001-01-02T00:00:00Z", "to=0001-01-01T00:00:30Z",
     "from=9998-12-31T23:59:59Z&to=9999-12-31T23:59:59-14:00"],
)  # fmt: skip
async def test_a_range_that_cannot_be_is_refused(api: Api, query: str) -> None:
    answer = await api.get(f"/api/observe?{query}")
    assert (answer.status, answer.code) == (422, "invalid_request")


def test_a_range_has_few_buckets() -> None:
    for hours in (0.01, 1, 6, 24, 100, 168, 720, 2400, 9600):
        length = timedelta(hours=hours)
        assert length / grain_of(length) <= MOST_POINTS
    assert grain_of(timedelta(days=30)) == timedelta(days=1)


async def test_the_page_shows_what_the_api_says(api: Api) -> None:
    browser = Browser(api.client)
    run = await add_run(api.pool)
    await _spent(api, run, 1, {"model": "<b>large"})
    shown = (await browser.open("/observe?range=24h")).text
    assert "&lt;b&gt;large" in shown
    assert "$0.50" in shown
    assert "style=" not in shown
    empty = await browser.open("/observe?from=2026-01-01&to=2026-01-31&lang=zh")
    assert "此时段内没有数据。" in empty.text
    never = await browser.open("/observe?from=never&lang=en")
    assert never.status_code == 422
    assert "must begin and end with days such as 2026-01-31" in never.text
    assert 'id="f-from"' in never.text
    far = ("from=9999-12-31&to=9999-12-31", "to=0001-01-02", "to=0001-01-01T00:00:30Z")
    for asked in far:
        for zone in ("Asia/Shanghai", "America/New_York"):
            headers = {"cookie": f"redraft_zone={zone}", "accept": "text/html"}
            refused = await api.client.get(f"/observe?{asked}", headers=headers)
            assert refused.status_code == 422, (asked, zone)
    edge = await browser.open("/observe?from=9998-12-29&to=9998-12-30")
    assert edge.status_code == 200
    api.client.cookies.clear()


async def test_each_table_is_there_as_csv_and_holds_no_formula(api: Api) -> None:
    run = await add_run(api.pool)
    await _spent(api, run, 1, {"model": "=cmd()"})
    answer = await api.client.get("/observe/models.csv?range=24h")
    assert answer.headers["content-type"].startswith("text/csv")
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["model"], row["input"], row["cost"], row["currency"]) == (
        "'=cmd()", "1000", "0.5", "USD",
    )  # fmt: skip
    for table in ("series", "steps", "kinds", "profiles", "waste", "stops", "statuses", "workers"):
        assert (await api.client.get(f"/observe/{table}.csv")).status_code == 200, table
    assert (await api.client.get("/observe/secrets.csv")).status_code == 404
