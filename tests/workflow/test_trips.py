"""A trip from a sentence to a plan that waits for its person, continued inside one draft."""

from __future__ import annotations

import re
from typing import Any

import pytest
from icalendar import Calendar

from deploy.offline_model.server import OfflineModel
from tests.fake_llm import FakeLLM, Reply, Request, good_reviewer, itinerary_days
from tests.stack import Json, Stack, consistent
from tests.unit.trips import ITINERARY, material, queries


def sources(name: str) -> list[Json]:
    return [
        {"name": one.name, "media_type": one.media_type, "text": one.text}
        for one in material(name, in_words=True).sources
    ]


async def ledger(stack: Stack, run: Json) -> list[dict[str, Any]]:
    """By call of the draft: the days it brought, why it ended, which days were dropped and why."""
    steps = {step["id"]: step["name"] for step in await stack.rows(run["id"], "steps")}
    return [
        {
            "days": call["kept_keys"],
            "ended": call["end_cause"] or call["finish_reason"],
            "dropped": call["dropped_keys"],
        }
        for call in await stack.rows(run["id"], "calls")
        if steps[call["step_id"]] == "draft"
    ]


async def test_a_sentence_becomes_a_plan_without_a_key_though_the_model_stops_twice(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFLINE_STOP_AFTER_ITEMS", "2")
    model = OfflineModel(rate=0)
    port = await model.start()
    offline = {"name": "trips", "model": "offline", "base_url": f"http://127.0.0.1:{port}/v1"}
    assert (await stack.call("POST", "/api/profiles", offline))[0] == 201
    trip = {"kind": "itinerary", "title": "Two cities", "profile": "trips"}
    run = await stack.create({**trip, "sources": sources("08")})
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await model.stop()
    assert run["reason"]["code"] == "passed"
    assert await ledger(stack, run) == [
        {"days": ["1", "2"], "ended": "stop", "dropped": {}},
        {"days": ["3", "4"], "ended": "stop", "dropped": {}},
        {"days": ["5"], "ended": "stop", "dropped": {}},
    ]
    where = f"/api/documents/{run['document_id']}/export?format="
    code, body = await stack.call("GET", f"{where}md")
    assert code == 200
    assert re.findall(r"^## Day (\d)", body, re.M) == ["1", "2", "3", "4", "5"]
    assert ITINERARY.verify(material("08", in_words=True), body) == ()
    code, calendar = await stack.call("GET", f"{where}ics")
    assert code == 200
    assert len(Calendar.from_ical(calendar).walk("VEVENT")) > 10
    code, data = await stack.call("GET", f"{where}json")
    assert data["plan"]["days"][0]["date"] == "2022-03-22"
    await consistent(stack, run["id"])


async def test_days_that_overlap_with_kept_ones_are_dropped_and_named(
    stack: Stack, llm: FakeLLM
) -> None:
    def play(request: Request) -> Reply:
        days = itinerary_days(request)
        if not request.already:
            return Reply(items=days[:3], finish_reason="length")
        again = [{**days[0], "day": number} for number in (1, 2, 3)]
        return Reply(items=[*again, *days, {**days[0], "day": 6}], finish_reason="length")

    llm.script({"redraft_itinerary": play})
    fields = {"to": "Rockford", "days": 5}
    run = await stack.create({"kind": "itinerary", "title": "Five", "attributes": fields})
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert await ledger(stack, run) == [
        {"days": ["1", "2", "3"], "ended": "length", "dropped": {}},
        {
            "days": ["4", "5"],
            "ended": "length",
            "dropped": {"changed_earlier": ["1", "2", "3"], "out_of_range": ["6"]},
        },
    ]  # cut behind the last day: there is nothing to ask for
    calls = await stack.rows(run["id"], "calls")
    assert calls[1]["dropped"] == {"changed_earlier": 3, "out_of_range": 1}
    assert calls[1]["items_dropped"] == 4
    await consistent(stack, run["id"])


CUT, SPINNING, DEAR = "Rockford", "Memphis", "Duluth"


def limited(request: Request) -> Reply:
    """A model that is cut behind a day or stops there by itself, one that says nothing more behind
    the second, and one that costs: by the city that the trip goes to."""
    rest = itinerary_days(request)
    if request.wants["to"] == CUT:
        return Reply(items=rest[:1], finish_reason=("length", "stop")[len(rest) % 2])
    if request.wants["to"] == SPINNING:
        return Reply(items=[] if request.already else rest[:2])
    return Reply(items=rest[:1])


async def test_each_guardrail_stops_a_trip_keeps_its_days_and_waits_for_the_right_word(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script({"redraft_itinerary": limited})
    stops = {
        CUT: ("FAILED", "call_limit", 5, {"override_guardrail": True}),
        SPINNING: ("FAILED", "spinning", 2, {"override_guardrail": True}),
        DEAR: ("INTERRUPTED", "limit_calls", 2, {"limits": {"max_calls": 40}}),
    }
    runs = {}
    for city in stops:
        trip = {"kind": "itinerary", "title": "Seven", "attributes": {"to": city, "days": 7}}
        limits = {"max_calls": 2 if city == DEAR else 99}
        runs[city] = await stack.create({**trip, "limits": limits})
    for city, (status, name, days, _) in stops.items():
        run = await stack.until(runs[city]["id"], status, seconds=60)
        assert (run["reason"]["code"], run["guardrail"]) == (
            name,
            name if status == "FAILED" else None,
        )
        assert len(await stack.rows(run["id"], "items")) == days
        code, problem = await stack.call("POST", f"/api/runs/{run['id']}/resume", {})
        needs = "guardrail_override_required" if status == "FAILED" else "limit_required"
        assert (code, problem["code"]) == (409, needs)
    llm.script(good_reviewer())
    for city, (_, _, days, word) in stops.items():
        run_id = runs[city]["id"]
        code, _ = await stack.call("POST", f"/api/runs/{run_id}/resume", word)
        assert code == 202
        await stack.until(run_id, "AWAITING_CONFIRMATION", seconds=60)
        asked = [r for r in llm.of("redraft_itinerary") if r.wants["to"] == city][-1]
        assert asked.already_keys("day") == list(range(1, days + 1))
        await consistent(stack, run_id)


@pytest.mark.parametrize(
    ("more", "pointers"),
    [
        ({"attributes": {"days": 60}}, ["/attributes/days"]),
        ({"attributes": {"days": "five"}}, ["/attributes/days"]),
        ({"attributes": {"start_date": "2020-01-01"}}, ["/attributes/start_date"]),
        (
            {"sources": [{"name": "r", "media_type": "text/plain", "text": "{}"}]},
            ["/sources/0/text"],
        ),
        ({"sources": [{"name": "r", "media_type": "text/plain", "text": "x" * 3_000_000}]}, None),
    ],
    ids=["60 days", "days in words", "past", "empty data", "3 MB"],
)
async def test_a_request_that_cannot_be_planned_stores_nothing(
    stack: Stack, more: Json, pointers: list[str] | None
) -> None:
    before = await stack.sql("SELECT count(*) FROM documents")
    trip = {"kind": "itinerary", "title": "A trip"}
    code, problem = await stack.call("POST", "/api/runs", {**trip, **more})
    assert code == (422 if pointers else 413), problem
    assert [one["pointer"] for one in problem["errors"]] == (pointers or ["/sources/0/text"])
    assert problem["errors"][0]["detail"]
    assert await stack.sql("SELECT count(*) FROM documents") == before


def test_the_sentence_of_the_query_is_all_that_was_sent() -> None:
    assert queries()["08"]["query"] == sources("08")[0]["text"]
