"""What people can do to a run, and what a refused command leaves behind: nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from api.commands import ensure_default_profile
from tests.api.harness import MINUTES, Api
from workflows.pricing import price
from workflows.vocabulary import EventType, Reason, RunStatus

STOPPABLE = (
    RunStatus.RUNNING,
    RunStatus.INTERRUPTED,
    RunStatus.FAILED,
    RunStatus.AWAITING_CONFIRMATION,
)


async def test_a_run_is_made_with_its_first_event_and_a_due_signal(api: Api) -> None:
    answer = await api.post("/api/runs", {**MINUTES, "max_rounds": 3, "tags": ["board"]})
    run = answer.json
    assert answer.status == 201
    assert answer.headers["location"] == f"/api/runs/{run['id']}"
    assert (run["status"], run["stage"], run["base_revision"]) == ("RUNNING", "review", 0)
    assert (run["max_rounds"], run["tags"], run["signal_due"]) == (3, ["board"], True)
    (event,) = await api.events(run["id"])
    assert (event["seq"], event["type"], event["actor"]) == (1, "run_created", "local")
    assert event["request_id"] == answer.headers["x-request-id"]


async def test_an_itinerary_without_a_text_begins_with_a_draft(api: Api) -> None:
    answer = await api.post("/api/runs", {"kind": "itinerary", "title": "Trip"})
    assert answer.status == 201, answer.json
    assert (answer.json["stage"], answer.json["base_revision"]) == ("draft", None)


async def test_a_refused_interrupt_has_no_effect(api: Api) -> None:
    run = await api.waiting_run()
    answer = await api.post(f"/api/runs/{run['id']}/interrupt")
    assert (answer.status, answer.code) == (409, "status_changed")
    assert answer.json["run"]["status"] == "AWAITING_CONFIRMATION"
    assert (await api.get(f"/api/runs/{run['id']}")).json == run


async def test_what_an_operator_says_is_kept_beside_the_events(api: Api) -> None:
    run = await api.run()
    answer = await api.post(f"/api/runs/{run['id']}/interrupt", {"reason": "wrong transcript"})
    assert answer.json["reason"]["code"] == "operator"
    event = (await api.events(run["id"]))[-1]
    assert event["comment"] == "wrong transcript"
    stored = await api.pool.fetchval("SELECT data FROM run_events WHERE seq = $1", event["seq"])
    assert "wrong transcript" not in str(stored)
    text = await api.pool.fetchval("SELECT text FROM comments WHERE id = $1", event["comment_id"])
    assert text == "wrong transcript"


async def test_resume_clears_the_reason_and_counts_the_epoch(api: Api) -> None:
    run = await api.failed_run()
    assert run["reason"]["code"] == "internal"
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"note": "repaired"})
    assert answer.status == 202
    assert (answer.json["status"], answer.json["reason"]) == ("RUNNING", None)
    assert answer.json["ended_at"] is None
    assert await api.pool.fetchval("SELECT epoch FROM runs WHERE id = $1", run["id"]) == 2
    assert await api.types(run["id"]) == ["run_created", "run_failed", "run_resumed"]


async def test_resume_with_a_text_reviews_that_text_next(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"body": "# New", "base_revision": 0})
    assert answer.status == 202
    assert (answer.json["working_revision"], answer.json["best_revision"]) == (1, 1)
    assert answer.json["stage"] == "review"
    assert (await api.types(run["id"]))[-2:] == ["revision_created", "run_resumed"]
    revision = await api.get(f"/api/documents/{run['document_id']}/revisions/1")
    assert (revision.json["author"], revision.json["body"]) == ("local", "# New")


async def test_resume_with_a_text_made_of_an_older_one_is_refused(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    document = f"/api/documents/{run['document_id']}"
    edit = await api.post(f"{document}/revisions", {"base_revision": 0, "body": "# Hers"})
    assert edit.status == 201
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"body": "# His", "base_revision": 0})
    assert (answer.status, answer.code) == (409, "stale_base")
    assert answer.json["run"]["working_revision"] == 1
    assert (await api.get(document)).json["newest_revision"] == 1


async def test_resume_of_a_failed_run_waits_for_a_newer_active_one(api: Api) -> None:
    old = await api.failed_run()
    new = await api.post(f"/api/documents/{old['document_id']}/runs")
    assert new.status == 201
    answer = await api.post(f"/api/runs/{old['id']}/resume")
    assert (answer.status, answer.code) == (409, "run_active")
    assert answer.json["run"]["id"] == new.json["id"]
    assert (await api.get(f"/api/runs/{old['id']}")).json["event_seq"] == old["event_seq"]


async def test_more_rounds_and_another_profile_come_with_a_resume(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    await api.pool.execute(
        "INSERT INTO profiles (name, version, model, actor) VALUES ('other', 1, 'm', 'local')"
    )
    wanted = {"max_rounds": 8, "profile": "other"}
    answer = await api.post(f"/api/runs/{run['id']}/resume", wanted)
    assert (answer.json["max_rounds"], answer.json["profile"]["name"]) == (8, "other")
    assert (await api.types(run["id"]))[-3:] == [
        "profile_changed",
        "limits_raised",
        "run_resumed",
    ]


async def test_a_round_that_an_edited_text_gets_is_told(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    set_ = "UPDATE runs SET current_round = max_rounds WHERE id = $1"
    await api.pool.execute(set_, run["id"])
    wanted = {"body": "# Weekly\n\nWe ship on Monday.\n"}
    answer = await api.post(f"/api/runs/{run['id']}/resume", wanted)
    before = run["max_rounds"]
    assert answer.json["max_rounds"] == before + 1
    told = await api.pool.fetchval(
        "SELECT data FROM run_events WHERE run_id = $1 AND type = 'limits_raised'", run["id"]
    )
    assert told["max_rounds"] == {"from": before, "to": before + 1}
    assert told["revision"] == answer.json["working_revision"]
    page = await api.client.get(f"/runs/{run['id']}", headers={"accept": "text/html"})
    assert f"One round more, to review revision {told['revision']}: rounds at most 6" in page.text


async def test_fewer_rounds_than_are_done_are_refused(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    await api.pool.execute("UPDATE runs SET current_round = 3 WHERE id = $1", run["id"])
    answer = await api.post(f"/api/runs/{run['id']}/resume", {"max_rounds": 2})
    assert (answer.status, answer.pointers()) == (422, ["/max_rounds"])


@pytest.mark.rule("confirm_names_revision")
async def test_confirm_names_the_offered_revision(api: Api) -> None:
    run = await api.waiting_run()
    path = f"/api/runs/{run['id']}/confirm"
    answer = await api.post(path, {"revision": 0})
    assert (answer.status, answer.code) == (409, "offered_revision_changed")
    assert answer.json["run"]["offered_revision"] == 1
    answer = await api.post(path, {"revision": 1})
    assert (answer.status, answer.json["status"]) == (200, "CONFIRMED")
    again = await api.post(path, {"revision": 1})
    assert (again.status, again.code) == (409, "final_status")
    assert (await api.types(run["id"])).count("run_confirmed") == 1


async def test_another_revision_is_confirmed_in_so_many_words(api: Api) -> None:
    run = await api.waiting_run()
    wanted = {"revision": 0, "override_offered": True}
    answer = await api.post(f"/api/runs/{run['id']}/confirm", wanted)
    assert (answer.status, answer.json["offered_revision"]) == (200, 0)


async def test_confirm_with_a_text_confirms_that_text(api: Api) -> None:
    run = await api.waiting_run()
    answer = await api.post(
        f"/api/runs/{run['id']}/confirm", {"revision": 1, "body": "# Mine", "comment": "fixed"}
    )
    assert (answer.json["status"], answer.json["offered_revision"]) == ("CONFIRMED", 2)
    assert (await api.events(run["id"]))[-1]["revision"] == 2


async def test_confirm_of_a_revision_that_is_not_there(api: Api) -> None:
    run = await api.waiting_run()
    wanted = {"revision": 9, "override_offered": True}
    answer = await api.post(f"/api/runs/{run['id']}/confirm", wanted)
    assert (answer.status, answer.code) == (422, "unknown_revision")


async def test_reject_ends_the_run_and_a_new_one_may_begin(api: Api) -> None:
    run = await api.waiting_run()
    answer = await api.post(f"/api/runs/{run['id']}/reject", {"comment": "no"})
    assert (answer.status, answer.json["status"]) == (200, "REJECTED")
    new = await api.post(f"/api/documents/{run['document_id']}/runs", {"base_revision": 1})
    assert (new.status, new.json["base_revision"]) == (201, 1)


@pytest.mark.parametrize("status", STOPPABLE)
async def test_cancel_ends_a_run_in_any_status_that_is_not_final(
    api: Api, status: RunStatus
) -> None:
    run = await api.run_in(status)
    answer = await api.post(f"/api/runs/{run['id']}/cancel")
    assert (answer.status, answer.json["status"]) == (202, "CANCELLED")
    again = await api.post(f"/api/runs/{run['id']}/cancel")
    assert (again.status, again.code) == (409, "final_status")


async def test_a_fork_is_a_new_document_with_the_text_and_the_sources(api: Api) -> None:
    run = await api.waiting_run()
    answer = await api.post(f"/api/runs/{run['id']}/fork", {"revision": 1})
    assert answer.status == 201
    path = answer.headers["location"]
    assert path != f"/api/documents/{run['document_id']}"
    revision = (await api.get(f"{path}/revisions/0")).json
    assert revision["body"] == "# Minutes\n\n- The box is blue.\n"
    assert [source["name"] for source in (await api.get(f"{path}/sources")).json["items"]] == ["t"]


@pytest.mark.rule("edit_beside_running")
@pytest.mark.parametrize("status", STOPPABLE)
async def test_a_persons_text_goes_where_the_run_stands(api: Api, status: RunStatus) -> None:
    run = await api.run_in(status)
    before = run["working_revision"]
    document = f"/api/documents/{run['document_id']}"
    answer = await api.post(
        f"{document}/revisions", {"base_revision": before, "body": "# Mine", "comment": "typo"}
    )
    assert answer.status == 201, answer.json
    number = answer.json["number"]
    assert answer.headers["location"] == f"{document}/revisions/{number}"
    now = (await api.get(f"/api/runs/{run['id']}")).json
    assert now["working_revision"] == (before if status == RunStatus.RUNNING else number)
    assert now["offered_revision"] == (
        number if status == RunStatus.AWAITING_CONFIRMATION else None
    )
    assert (await api.types(run["id"]))[-1] == "revision_created"


async def test_an_edit_while_waiting_makes_the_earlier_offer_stale(api: Api) -> None:
    run = await api.waiting_run()
    document = f"/api/documents/{run['document_id']}"
    assert (await api.post(f"{document}/revisions", {"base_revision": 1, "body": "# A"})).json
    late = await api.post(f"{document}/revisions", {"base_revision": 1, "body": "# B"})
    assert (late.status, late.code) == (409, "stale_base")
    answer = await api.post(f"/api/runs/{run['id']}/confirm", {"revision": 1})
    assert (answer.status, answer.code) == (409, "offered_revision_changed")


async def test_while_draining_nothing_starts_and_what_runs_can_be_stopped(api: Api) -> None:
    running, stopped = await api.run(), await api.run_in(RunStatus.INTERRUPTED)
    put = await api.call("PUT", "/api/switches", {"draining": True, "note": "upgrade"})
    assert (put.status, put.json["draining"]) == (200, True)
    for path, body in (
        ("/api/runs", MINUTES),
        (f"/api/runs/{stopped['id']}/resume", {}),
    ):
        answer = await api.post(path, body)
        assert (answer.status, answer.code) == (503, "draining")
        assert answer.json["params"] == {"note": "upgrade"}
    assert (await api.post(f"/api/runs/{running['id']}/interrupt")).status == 202
    await api.call("PUT", "/api/switches", {"draining": False})
    assert (await api.post(f"/api/runs/{stopped['id']}/resume")).status == 202


async def test_the_newest_human_text_is_where_a_new_run_begins(api: Api) -> None:
    run = await api.waiting_run()
    document = f"/api/documents/{run['document_id']}"
    await api.post(f"/api/runs/{run['id']}/reject")
    await api.post(f"{document}/revisions", {"base_revision": 1, "body": "# Mine"})
    assert (await api.post(f"{document}/runs")).json["base_revision"] == 2


async def test_twenty_starts_at_once_make_one_run(api: Api) -> None:
    made = await api.post("/api/documents", MINUTES)
    path = f"/api/documents/{made.json['id']}/runs"
    answers = await asyncio.gather(*(api.post(path) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 19
    assert {answer.code for answer in answers if answer.status == 409} == {"run_active"}
    assert await api.pool.fetchval("SELECT count(*) FROM run_events") == 1


async def test_ten_resumes_at_once_move_once(api: Api) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    path = f"/api/runs/{run['id']}/resume"
    answers = await asyncio.gather(*(api.post(path) for _ in range(10)))
    assert sorted(answer.status for answer in answers) == [202] + [409] * 9
    assert (await api.types(run["id"])).count("run_resumed") == 1


async def test_of_confirm_reject_and_cancel_at_once_one_wins(api: Api) -> None:
    run = await api.waiting_run()
    path = f"/api/runs/{run['id']}"
    answers = await asyncio.gather(
        api.post(f"{path}/confirm", {"revision": 1}),
        api.post(f"{path}/confirm", {"revision": 1}),
        api.post(f"{path}/reject"),
        api.post(f"{path}/cancel"),
    )
    assert sorted(answer.status >= 400 for answer in answers) == [False, True, True, True]
    ends = {"run_confirmed", "run_rejected", "run_cancelled"}
    assert len([one for one in await api.types(run["id"]) if one in ends]) == 1


async def test_workers_are_notified_of_a_persons_move(api: Api) -> None:
    run = await api.run()
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with api.pool.acquire() as connection:
        await connection.add_listener("redraft_moves", lambda *told: heard.put_nowait(str(told[3])))
        await api.post(f"/api/runs/{run['id']}/interrupt")
        assert await asyncio.wait_for(heard.get(), 5) == run["id"]
        await connection.reset()


async def test_a_run_that_nobody_made_is_not_found(api: Api) -> None:
    for run_id in ("0190b3a0-0000-7000-8000-000000000000", "x", "1%00"):
        answer = await api.post(f"/api/runs/{run_id}/interrupt")
        assert (answer.status, answer.code) == (404, "not_found")


async def test_failed_by_the_engine_is_not_moved_by_an_older_view(api: Api) -> None:
    run = await api.run()
    await api.engine_move(run["id"], EventType.RUN_FAILED, Reason.INTERNAL)
    answer = await api.post(f"/api/runs/{run['id']}/interrupt")
    assert (answer.status, answer.json["run"]["status"]) == (409, "FAILED")


async def test_the_offline_model_is_free_and_a_real_one_never_becomes_it_by_that(api: Api) -> None:
    settings = api.state.settings
    for offline in (True, True, False):
        await ensure_default_profile(api.pool, replace(settings, offline_model=offline))
    rows = await api.pool.fetch("SELECT version, prices FROM profiles ORDER BY version")
    assert [row["version"] for row in rows] == [1, 2, 3]
    today = datetime.now(UTC).date()
    found = [price(row["prices"], input=9, output=9, at=today) for row in rows]
    assert found == [None, 0, None]
    await api.pool.execute("DELETE FROM profiles WHERE version > 1")
    await api.pool.execute("UPDATE profiles SET actor = 'local'")
    await ensure_default_profile(api.pool, replace(settings, offline_model=True))
    assert await api.pool.fetchval("SELECT count(*) FROM profiles") == 1  # a person's: left alone
    await api.pool.execute("UPDATE profiles SET actor = 'system'")
