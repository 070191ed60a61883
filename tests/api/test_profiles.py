"""Profiles are written as new versions; a bad one is refused whole."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.api.harness import MINUTES, Api

FAST: dict[str, Any] = {
    "name": "fast lane",
    "model": "small",
    "base_url": "http://127.0.0.1:9/v1",
    "key_env": "NOBODY_SETS_THIS",
    "parameters": {"temperature": 0.2},
    "prices": {"tables": [{"from": "2026-01-01", "input": "0.1", "output": "0.4"}]},
    "fallback": {"profile": "default", "after": 3},
    "rate_limits": {"requests_per_minute": 60},
}


async def test_each_post_is_a_version_more_and_the_key_is_never_told(api: Api) -> None:
    first = await api.post("/api/profiles", FAST)
    assert (first.status, first.json["version"], first.json["key_set"]) == (201, 1, False)
    assert first.headers["location"] == "/api/profiles/fast%20lane/versions"
    assert "NOBODY_SETS_THIS" not in str(first.json)
    second = await api.post("/api/profiles", {**FAST, "model": "large", "key_env": "HOME"})
    assert (second.json["version"], second.json["key_set"]) == (2, True)
    versions = (await api.get(first.headers["location"])).json["items"]
    assert [(v["version"], v["model"]) for v in versions] == [(2, "large"), (1, "small")]
    assert versions[0]["fallback"] == FAST["fallback"]
    run = await api.post("/api/runs", {**MINUTES, "profile": "fast lane"})
    assert run.json["profile"] == {"name": "fast lane", "version": 2}
    page = await api.client.get("/settings", headers={"accept": "text/html"})
    assert "after 3 errors in a row: default" in page.text
    audit = "SELECT action, object_id, params FROM audit_events ORDER BY id"
    assert [tuple(row) for row in await api.pool.fetch(audit)] == [
        ("profile_written", "fast lane", {"version": 1}),
        ("profile_written", "fast lane", {"version": 2}),
    ]


async def test_a_profile_with_nonsense_is_refused_and_nothing_is_stored(api: Api) -> None:
    bad = {
        **FAST,
        "base_url": "https://me:CANARY@host/v1",
        "key_env": "hf_CANARYaBcD",
        "parameters": {"temprature": 0},
        "prices": {"input": -1, "output": 1},
    }
    answer = await api.post("/api/profiles", bad)
    assert (answer.status, answer.code) == (422, "invalid_request")
    assert answer.pointers() == ["/base_url", "/key_env", "/parameters/temprature", "/prices/input"]
    assert "CANARY" not in str(answer.json)
    away = await api.post("/api/profiles", {**FAST, "fallback": {"profile": "away", "after": 1}})
    assert (away.status, away.code) == (422, "unknown_profile")
    assert away.pointers() == ["/fallback/profile"]
    names = [profile["name"] for profile in (await api.get("/api/profiles")).json["items"]]
    assert names == ["default"]


async def test_two_at_once_are_two_versions_and_a_repeated_key_is_one(api: Api) -> None:
    models = [{**FAST, "model": f"m{number}"} for number in range(4)]
    answers = await asyncio.gather(*(api.post("/api/profiles", one) for one in models))
    assert sorted(answer.json["version"] for answer in answers) == [1, 2, 3, 4]
    for replay in (None, "true"):
        answer = await api.post("/api/profiles", FAST, Idempotency_Key="once")
        assert (answer.status, answer.json["version"]) == (201, 5)
        assert answer.headers.get("idempotent-replay") == replay


async def test_what_the_newest_version_says_already_is_no_further_one(api: Api) -> None:
    answers = await asyncio.gather(*(api.post("/api/profiles", FAST) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 200, 200, 201]
    assert {answer.json["version"] for answer in answers} == {1}
    plain = {"name": "plain", "model": "m"}
    assert [(await api.post("/api/profiles", plain)).status for _ in range(2)] == [201, 200]
    changes: list[dict[str, Any]] = [
        {"key_env": "OTHER_KEY"},
        {"prices": None},
        {"rate_limits": {}},
    ]
    for change in changes:
        changed = await api.post("/api/profiles", {**FAST, **change})
        assert changed.status == 201, change
        assert (await api.post("/api/profiles", FAST)).status == 201  # not the newest any more
    assert await api.pool.fetchval("SELECT count(*) FROM audit_events") == 8


async def test_the_recognisers_profile_reads_nothing(api: Api) -> None:
    await api.post("/api/profiles", {"name": "speech", "model": "whisper"})
    refused = await api.post("/api/runs", {**MINUTES, "profile": "speech"})
    assert (refused.status, refused.code, refused.pointers()) == (
        422,
        "unknown_profile",
        ["/profile"],
    )


async def test_a_run_is_refused_where_the_fallback_does_not_fit_its_kind(api: Api) -> None:
    prompts = {"reviewers": ["nobody"]}
    await api.pool.execute(
        "INSERT INTO profiles (name, version, model, prompts, actor) VALUES ('b', 1, 'm', $1, 'x')",
        prompts,
    )
    await api.post("/api/profiles", {**FAST, "fallback": {"profile": "b", "after": 1}})
    answer = await api.post("/api/runs", {**MINUTES, "profile": "fast lane"})
    assert (answer.status, answer.pointers()) == (422, ["/profile"])
    assert "b does not fit minutes" in answer.json["detail"]
