"""One move for many runs: each with its own result, one refusal stops none of the others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from activities.record import lock_run
from tests.api.harness import Api
from tests.attempts import standing_still
from tests.pages.forms import Browser, Form
from workflows.vocabulary import RunStatus

NOBODY = "0192ffff-0000-7000-8000-000000000009"


async def bulk(api: Api, action: str, **fields: Any) -> dict[str, dict[str, Any]]:
    answer = await api.post("/api/runs/bulk", {"action": action, **fields})
    assert answer.status == 200, answer.json
    return {item["id"]: item for item in answer.json["items"]}


async def test_each_run_has_its_own_result(api: Api) -> None:
    running, failed = await api.run(), await api.failed_run()
    ids = [NOBODY, running["id"], "no id", failed["id"]]
    answer = await api.post("/api/runs/bulk", {"action": "interrupt", "ids": ids})
    assert [(i["id"], i["ok"], i["code"]) for i in answer.json["items"]] == [
        (NOBODY, False, "not_found"),
        (running["id"], True, None),
        ("no id", False, "not_found"),
        (failed["id"], False, "status_changed"),
    ]
    assert (await api.get(f"/api/runs/{running['id']}")).json["status"] == "INTERRUPTED"
    assert await api.types(failed["id"]) == ["run_created", "run_failed"]


async def test_a_filter_finds_the_runs_that_the_action_can_move(api: Api) -> None:
    ours = [await api.run(tags=["ours"]) for _ in range(3)]
    other, waiting = await api.run(), await api.waiting_run()
    stopped = await bulk(api, "interrupt", filter={"tag": ["ours"]}, reason="lunch")
    assert set(stopped) == {run["id"] for run in ours}
    everything = await bulk(api, "interrupt", filter={})
    assert set(everything) == {other["id"]}
    resumed = await bulk(api, "resume", filter={"tag": "ours"})
    assert all(item["ok"] for item in resumed.values())
    ended = await bulk(api, "cancel", filter={"status": "AWAITING_CONFIRMATION"})
    assert set(ended) == {waiting["id"]}


async def test_a_run_that_another_program_holds_keeps_no_other_one_from_being_interrupted(
    api: Api,
) -> None:
    runs = [await api.run() for _ in range(3)]
    held = sorted(runs, key=lambda run: str(run["document_id"]))[0]["id"]
    async with standing_still(api.state.settings) as holder:
        await lock_run(holder, held)
        moved = await bulk(api, "interrupt", filter={})
        assert moved.pop(held) == {"id": held, "ok": False, "code": "unavailable"}
        assert [item["ok"] for item in moved.values()] == [True, True]
        assert (await api.get(f"/api/runs/{held}")).json["status"] == "RUNNING"
    assert [item["ok"] for item in (await bulk(api, "interrupt", filter={})).values()] == [True]


async def test_a_command_for_a_run_that_is_held_says_so_and_changed_nothing(api: Api) -> None:
    run = await api.run()
    async with standing_still(api.state.settings) as holder:
        await lock_run(holder, run["id"])
        answer = await api.post(f"/api/runs/{run['id']}/interrupt")
        assert (answer.status, answer.code) == (503, "unavailable")
        assert answer.json["params"] == {"waited": "5"}
    assert await api.types(run["id"]) == ["run_created"]


async def test_a_retry_under_the_same_key_moves_nothing_twice(api: Api) -> None:
    run = await api.run()
    wanted = {"action": "interrupt", "filter": {}}
    first = await api.post("/api/runs/bulk", wanted, idempotency_key="b")
    await api.post(f"/api/runs/{run['id']}/resume")
    again = await api.post("/api/runs/bulk", wanted, idempotency_key="b")
    assert again.json == first.json
    assert again.headers["idempotent-replay"] == "true"
    assert (await api.get(f"/api/runs/{run['id']}")).json["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("wanted", "pointer"),
    [
        ({"action": "interrupt"}, ""),
        ({"action": "interrupt", "ids": [NOBODY], "filter": {}}, ""),
        ({"action": "confirm", "ids": [NOBODY]}, "/action"),
        ({"action": "interrupt", "filter": {"status": "SLEEPING"}}, "/filter/status"),
        ({"action": "interrupt", "ids": []}, "/ids"),
    ],
)
async def test_what_cannot_be_meant_is_refused(
    api: Api, wanted: dict[str, Any], pointer: str
) -> None:
    answer = await api.post("/api/runs/bulk", wanted)
    assert (answer.status, answer.code) == (422, "invalid_request")
    assert answer.pointers() == [pointer]


async def test_while_draining_nothing_is_resumed(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    await api.call("PUT", "/api/switches", {"draining": True})
    answer = await api.post("/api/runs/bulk", {"action": "resume", "ids": [run["id"]]})
    assert (answer.status, answer.code) == (503, "draining")
    assert (await bulk(api, "cancel", ids=[run["id"]]))[run["id"]]["ok"]
    await api.call("PUT", "/api/switches", {"draining": False})


async def test_of_bulk_and_single_commands_one_wins_each_run(api: Api) -> None:
    """Also two bulk requests over the same runs, named in opposite orders."""
    for _ in range(4):
        ids = [(await api.run())["id"] for _ in range(6)]
        there, back, *single = await asyncio.gather(
            bulk(api, "interrupt", ids=ids),
            bulk(api, "interrupt", ids=ids[::-1]),
            *(api.post(f"/api/runs/{run_id}/interrupt") for run_id in ids),
        )
        for run_id, answer in zip(ids, single, strict=True):
            assert answer.status in (202, 409)
            won = [answer.status == 202, there[run_id]["ok"], back[run_id]["ok"]]
            assert won.count(True) == 1, (run_id, won)
            assert await api.types(run_id) == ["run_created", "run_interrupted"]


async def test_the_page_says_so_of_no_run_and_of_more_than_one_request_moves(api: Api) -> None:
    browser, run = Browser(api.client), (await api.run())["id"]
    form = Form(action="/runs/bulk", fields={"action": "interrupt"})
    none = await browser.send(form, ids="")
    assert (none.status_code, "Choose at least one run." in none.text) == (422, True)
    many = ",".join([run, *(f"0192ffff-0000-7000-8000-{n:012}" for n in range(1000))])
    refused = await browser.send(form, ids=many)
    assert (refused.status_code, "1,001 runs were chosen" in refused.text) == (422, True)
    assert (await api.get(f"/api/runs/{run}")).json["status"] == "RUNNING"
    long = await browser.send(form, ids=run, idempotency_key="k" * 12_000)
    assert long.status_code == 422
