"""Profiles, calls, the drain switch, waivers and bulk moves from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli.__main__ import main
from tests.fake_api import DOCUMENT_ID, RUN_ID, FakeApi, Reply, make_run, problem

RUN = f"/api/runs/{RUN_ID}"
OTHER = "0193cccc-0000-7000-8000-000000000003"
PRICES = {
    "currency": "EUR",
    "tables": [
        {"from": "2025-01-01", "input": "3", "output": "12"},
        {"from": "2026-02-01", "input": "1.25", "output": "10"},
        {"from": "2999-01-01", "input": "9", "output": "9"},
    ],
}
BODY = {"name": "cheap", "model": "m-1", "prices": PRICES}
PROFILE: dict[str, Any] = {
    **{"base_url": None, "key_set": False, "parameters": {"temperature": 0.2}, "prompts": {}},
    **{"fallback": {"profile": "default", "after": 3}, "rate_limits": {}, "actor": "local"},
    **{"version": 2, "created_at": "2026-03-01T10:00:00Z", **BODY},
}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", RUN, Reply(body=make_run()))
        fake.on("GET", "/api/runs", page(make_run()))
        yield fake


def page(*items: object) -> Reply:
    return Reply(body={"items": list(items), "next_cursor": None})


def call(api: FakeApi, *arguments: str) -> int:
    return main([*arguments, "--url", api.url])


def written(folder: Path, body: object) -> str:
    file = folder / "profile.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    return str(file)


def test_profiles_are_listed_with_price_date_and_fallback(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", "/api/profiles", page(PROFILE, {**PROFILE, "name": "b", "prices": None}))
    assert call(api, "profiles") == 0
    _, first, second = capsys.readouterr().out.splitlines()
    cells = first.split("\t")
    assert cells[:3] == ["cheap", "2", "m-1"]
    assert cells[4:7] == [
        *("not set", "1.25 in, 10 out EUR from 2026-02-01 (2 of other days)", "default after 3")
    ]
    assert second.split("\t")[5] == "unknown"


def test_a_profile_is_shown_whole_with_its_versions(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/api/profiles/cheap/versions"
    api.on("GET", path, page(PROFILE, {**PROFILE, "version": 1, "actor": "ana"}))
    assert call(api, "profiles", "show", "cheap") == 0
    printed = capsys.readouterr().out
    for part in ('parameters: {"temperature": 0.2}', '"after": 3', "version 1: ", "by ana"):
        assert part in printed
    assert call(api, "profiles", "show", "cheap", "--json") == 0
    assert json.loads(capsys.readouterr().out) == PROFILE
    assert call(api, "profiles", "show") == 2


def test_a_profile_is_checked_by_the_rules_of_the_api_without_asking_it(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "profiles", "check", written(tmp_path, BODY)) == 0
    assert "profiles add" in capsys.readouterr().out
    wrong = {**BODY, "key_env": "sk-secret", "prices": {"tables": [{"input": -1, "output": "2"}]}}
    wrong["fallback"] = {"profile": "cheap", "after": 0}
    assert call(api, "profiles", "check", written(tmp_path, wrong)) == 3
    assert "/key_env" in capsys.readouterr().err
    wrong["key_env"] = "CHEAP_KEY"
    assert call(api, "profiles", "check", written(tmp_path, wrong)) == 3
    told = capsys.readouterr().err
    for pointer in ("/prices/tables/0/input", "/fallback/profile", "/fallback/after"):
        assert pointer in told
    (tmp_path / "profile.json").write_text("{", encoding="utf-8")
    assert call(api, "profiles", "check", str(tmp_path / "profile.json")) == 2
    assert api.asked == []


def test_a_profile_is_added_from_a_file_and_a_refusal_names_the_fields(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = [{"pointer": "/prices/tables", "code": "invalid", "detail": "must be a list"}]
    api.on(
        *("POST", "/api/profiles"),
        Reply(body=PROFILE, status=201),
        problem(422, "invalid_request", "does not fit", errors=errors),
    )
    assert call(api, "profiles", "add", written(tmp_path, BODY)) == 0
    assert api.of("POST", "/api/profiles")[0].body == BODY
    printed = capsys.readouterr().out
    for part in ("cheap version 2", "1.25 in, 10 out EUR", "key is not set"):
        assert part in printed
    assert call(api, "profiles", "add", written(tmp_path, BODY)) == 3
    assert "/prices/tables: must be a list" in capsys.readouterr().err


def test_drain_is_shown_put_on_with_a_note_and_taken_off(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    off = {"draining": False, "note": None, "actor": None, "updated_at": None}
    at = "2026-03-01T10:00:00Z"
    on = {"draining": True, "note": "back at nine", "actor": "local", "updated_at": at}
    api.on("GET", "/api/switches", Reply(body=off))
    api.on("PUT", "/api/switches", Reply(body=on), Reply(body=off))
    assert call(api, "drain") == 0
    assert "not draining" in capsys.readouterr().out
    assert call(api, "drain", "on", "--note", "back at nine") == 0
    assert "draining: “back at nine” (by local" in capsys.readouterr().out
    assert call(api, "drain", "off") == 0
    bodies = [asked.body for asked in api.of("PUT", "/api/switches")]
    assert bodies == [{"draining": True, "note": "back at nine"}, {"draining": False}]
    assert call(api, "drain", "off", "--note", "x") == 2


def a_call(**changes: object) -> dict[str, Any]:
    return {
        **{"id": OTHER, "run_id": RUN_ID, "step": "review", "round": 1, "part": "main"},
        **{"number": 1, "status": "SUCCEEDED", "finish_reason": "stop", "end_cause": None},
        **{"model": "m-1", "usage_source": "reported", "cost": "0.01", "currency": "USD"},
        **{"tokens": {"input": 10, "output": 4, "cached": 6, "reasoning": 0}, "items_kept": 2},
        **{"started_at": "2026-03-01T10:00:00Z", "ended_at": "2026-03-01T10:00:09Z", **changes},
    }


def test_calls_of_a_run_have_tokens_cost_and_status(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    guessed = a_call(number=2, status="CANCELLED", usage_source="estimated", end_cause="cut")
    unpriced = a_call(number=3, cost=None, currency=None)
    api.on("GET", f"{RUN}/calls", page(a_call(), guessed, unpriced))
    assert call(api, "calls", RUN_ID) == 0
    _, first, second, third, sums = capsys.readouterr().out.splitlines()
    assert first.split("\t")[5:11] == ["SUCCEEDED", "stop", "10", "6", "4", "0.01 USD"]
    assert second.split("\t")[5:11] == ["CANCELLED", "cut", "≈10", "≈6", "≈4", "≈0.01 USD"]
    assert third.split("\t")[10] == "unknown"
    assert first.split("\t")[14] == "2026-03-01T10:00:00Z"
    assert sums.startswith("3 calls, 30 tokens in, 12 out")


def test_calls_without_a_run_are_the_newest_of_all_and_name_theirs(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", "/api/calls", page(a_call()))
    assert call(api, "calls", "--limit", "5") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{RUN_ID}\t{OTHER}")
    assert api.asked[-1].query == {"limit": "5"}


def test_an_issue_is_waived_by_its_number_with_a_reason_and_opened_again(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    issue = {"id": DOCUMENT_ID, "number": 3, "severity": "major", "problem": "12 is not 21"}
    api.on("GET", f"{RUN}/issues", page({**issue, "status": "open"}))
    path = f"{RUN}/issues/{DOCUMENT_ID}"
    api.on("PATCH", path, Reply(body={**issue, "status": "waived"}))
    assert call(api, "waive", RUN_ID, "I3", "--reason", "it was said later") == 0
    assert "I3 (major) is waived" in capsys.readouterr().out
    assert call(api, "waive", RUN_ID, "3", "--undo") == 0
    assert [asked.body for asked in api.of("PATCH", DOCUMENT_ID)] == [
        {"status": "waived", "reason": "it was said later"},
        {"status": "open"},
    ]
    assert call(api, "waive", RUN_ID, "I3") == 2
    assert call(api, "waive", RUN_ID, "three", "--reason", "x") == 2
    assert call(api, "waive", RUN_ID, "I9", "--reason", "x") == 3


def test_bulk_moves_ids_and_says_which_run_refused(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = [{"id": RUN_ID, "ok": True}, {"id": OTHER, "ok": False, "code": "status_changed"}]
    api.on("POST", "/api/runs/bulk", Reply(body={"items": moved, "more": False}))
    assert call(api, "bulk", "resume", RUN_ID, OTHER, "--reason", "new key") == 3
    assert api.asked[-1].body == {"action": "resume", "ids": [RUN_ID, OTHER], "reason": "new key"}
    printed = capsys.readouterr().out
    assert f"{OTHER}  status_changed" in printed
    assert "resume: 1 done, 1 refused" in printed


def test_bulk_by_a_filter_is_sent_until_nothing_is_left(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"items": [{"id": RUN_ID, "ok": True}], "more": True}
    last = {"items": [{"id": OTHER, "ok": True}], "more": False}
    api.on("POST", "/api/runs/bulk", Reply(body=more), Reply(body=last))
    assert call(api, "bulk", "interrupt", "--tag", "night", "--json") == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)["items"]] == [RUN_ID, OTHER]
    asked = api.of("POST", "/api/runs/bulk")
    assert [one.body for one in asked] == [{"action": "interrupt", "filter": {"tag": "night"}}] * 2
    for wrong in (
        ["interrupt"],
        ["interrupt", RUN_ID, "--all"],
        ["interrupt", "--all", "--q", "x"],
    ):
        assert call(api, "bulk", *wrong) == 2


def test_bulk_cancel_needs_a_yes(api: FakeApi) -> None:
    api.on("POST", "/api/runs/bulk", Reply(body={"items": [], "more": False}))
    assert call(api, "bulk", "cancel", "--all") == 2
    assert api.asked == []
    assert call(api, "bulk", "cancel", "--all", "--yes") == 0
    assert api.asked[-1].body == {"action": "cancel", "filter": {}}
