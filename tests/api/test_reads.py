"""Reads over HTTP: filters and pages that cannot be, the comparison, the export, the two views."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from api import queries, wire
from api.files.exports import DOCX
from deploy.database import new_id
from tests import read_rows as rows
from tests.api.harness import MINUTES, Api


async def revised(api: Api) -> str:
    """A document with revisions 0 and 1; its id."""
    made = await api.post(
        "/api/documents",
        {"kind": "minutes", "title": '周会 / Weekly: "Q3"', "body": "# M\n\n- It is bleu.\n"},
    )
    assert made.status == 201, made.json
    path = f"/api/documents/{made.json['id']}/revisions"
    second = await api.post(path, {"base_revision": 0, "body": "# M\n\n- It is blue.\n"})
    assert second.status == 201, second.json
    document_id: str = made.json["id"]
    return document_id


async def test_a_filter_or_page_that_cannot_be_is_refused_with_its_name(api: Api) -> None:
    for query, pointer in (
        ("status=DONE", "/status"),
        ("status=RUNNING,x", "/status"),
        ("phase=lost", "/phase"),
        ("document_id=7", "/document_id"),
        ("from=yesterday", "/from"),
        ("from=2026-01-01", "/from"),
        ("to=2026-01-01T10:00:00", "/to"),
        ("to=0001-01-01T00:00:00%2B14:00", "/to"),
        ("colour=red", "/colour"),
        (f"q={'x' * 301}", "/q"),
    ):
        answer = await api.get(f"/api/runs?{query}")
        assert (answer.status, answer.code) == (422, "invalid_request"), query
        assert answer.pointers() == [pointer]
    for query in ("limit=0", "limit=201", "limit=x", "count=perhaps"):
        assert (await api.get(f"/api/runs?{query}")).status == 422, query
    for cursor in ("zzz", "é", "AAAA"):
        answer = await api.get(f"/api/runs?cursor={quote(cursor)}")
        assert (answer.status, answer.code) == (400, "invalid_cursor")


async def test_filters_take_words_repeated_or_joined_and_times_with_any_offset(api: Api) -> None:
    run = await api.run(tags=["a", "b"])
    for query in (
        "status=RUNNING&status=FAILED",
        "status=FAILED,RUNNING&phase=queued",
        "tag=a,b",
        "from=2020-01-01T00:00:00+02:00&to=2999-01-01t00:00:00z",
        f"document_id={run['document_id']}&q=weekly&actor=local&kind=minutes",
        "q=BLEU",
    ):
        answer = await api.get(f"/api/runs?count=true&{query}")
        assert answer.status == 200, answer.json
        assert [found["id"] for found in answer.json["items"]] == [run["id"]], query
        assert answer.json["total"] == 1
    assert (await api.get("/api/runs?tag=a,c")).json["items"] == []
    log = await api.get("/api/calls?status=STARTED&step=review")
    assert log.json == {"items": [], "next_cursor": None}


async def test_a_comparison_marks_the_changed_word_and_refuses_unknown_revisions(
    api: Api,
) -> None:
    document_id = await revised(api)
    path = f"/api/documents/{document_id}/diff"
    found = (await api.get(f"{path}?from=0&to=1")).json
    assert (found["from"], found["to"], found["level"], found["changed"]) == (0, 1, "words", True)
    assert [hunk["op"] for hunk in found["hunks"]] == ["equal", "replace"]
    assert found["hunks"][1]["pieces"][1:3] == [
        {"op": "delete", "text": "bleu"},
        {"op": "insert", "text": "blue"},
    ]
    assert not (await api.get(f"{path}?from=1&to=1")).json["changed"]
    unknown = await api.get(f"{path}?from=0&to=9")
    assert (unknown.status, unknown.code) == (404, "unknown_revision")
    assert (await api.get(f"{path}?from=0")).status == 422
    assert (await api.get(f"/api/documents/{new_id()}/diff?from=0&to=1")).code == "not_found"


async def test_an_export_is_a_file_with_a_safe_name(api: Api) -> None:
    document_id = await revised(api)
    path = f"/api/documents/{document_id}/export"
    newest = await api.client.get(path)
    assert newest.text == "# M\n\n- It is blue.\n"
    assert newest.headers["content-type"] == "text/markdown; charset=utf-8"
    name = quote("周会 Weekly Q3-r1.md", safe="")
    disposition = newest.headers["content-disposition"]
    assert disposition == f"attachment; filename=\"Weekly Q3-r1.md\"; filename*=UTF-8''{name}"
    assert (await api.client.get(f"{path}?revision=0")).text == "# M\n\n- It is bleu.\n"
    assert (await api.get(f"{path}?revision=9")).code == "unknown_revision"
    for ending, media_type in (("docx", DOCX), ("html", "text/html; charset=utf-8")):
        answer = await api.client.get(f"{path}?format={ending}")
        assert answer.headers["content-type"] == media_type
        assert f"-r1.{ending}" in answer.headers["content-disposition"]
    refused = await api.get(f"{path}?format=ics")
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/format")
    assert (await api.get(f"{path}?format=exe")).status == 422


async def test_an_export_before_there_is_a_text_says_so_and_names_the_run(api: Api) -> None:
    wanted = {name: value for name, value in MINUTES.items() if name != "body"}
    run = (await api.post("/api/runs", wanted)).json
    answer = await api.get(f"/api/documents/{run['document_id']}/export")
    assert (answer.status, answer.code) == (404, "unknown_revision")
    assert "no text yet" in answer.json["detail"]
    assert answer.json["params"]["run"] == run["id"]


async def test_an_export_as_json_tells_of_the_run_and_what_stands_for_the_document(
    api: Api,
) -> None:
    run = await api.waiting_run()
    found = (await api.get(f"/api/documents/{run['document_id']}/export?format=json")).json
    assert found["revision"]["number"] == 1
    assert found["author"] == "run"
    assert found["run"]["id"] == run["id"]
    assert found["issues"] == {"open": [], "fixed": [], "waived": []}
    assert found["document"]["title"] == "Weekly"


async def test_an_answer_without_content_keeps_its_status_fields(api: Api) -> None:
    run = wire.Run.model_validate(await api.run())
    page = wire.Page[wire.Run](items=[run], next_cursor=None)
    hidden = wire.without_content(page)
    assert hidden["items"][0]["title"] is None
    shown = run.model_dump(mode="json")
    assert hidden["items"][0] == {**shown, "title": None}
    await api.post(f"/api/runs/{run.id}/interrupt", {"reason": "wrong transcript"})
    events = await queries.events_page(api.pool, run.id)
    assert events is not None
    bare = wire.without_content(events)["items"]
    assert "wrong transcript" not in str(bare)
    assert ["comment" in event for event in bare] == [False, True]


async def test_a_run_has_exactly_the_fields_of_the_contract(api: Api) -> None:
    fields = (
        "id document_id kind kind_version title language tags status phase stage reason guardrail "
        "stopping active_step progress next_step current_round max_rounds pass_score score "
        "scored_revision open_issues base_revision "
        "working_revision best_revision offered_revision profile fallback limits event_seq tokens "
        "calls cost currency costs unpriced_calls cost_is_estimate running signal_due actor "
        "confirm_by created_at started_at ended_at last_progress_at workflow_id temporal_url"
    )
    run = await api.run()
    assert sorted(run) == sorted(fields.split())
    assert run["phase"] == {"code": "queued", "params": {"ahead": 0}}
    assert run["created_at"].endswith("Z")
    assert run["cost"] is None


async def test_an_execution_shows_the_parts_that_were_done_until_it_ended(api: Api) -> None:
    run_id = await rows.add_run(api.pool)
    ended = datetime.now(UTC) - timedelta(minutes=1)
    step = {"status": "FAILED", "reason_code": "interrupted", "ended_at": ended}
    _, plan = await rows.add_step(api.pool, run_id, **step)
    done = {"id": new_id(), "run_id": run_id, "plan_id": plan, "epoch": 2, "seq": 2, "attempt": 2}
    await rows.insert(
        api.pool,
        "steps",
        name="review",
        round=1,
        status="SUCCEEDED",
        worker="w1",
        ended_at=datetime.now(UTC) + timedelta(minutes=1),
        **done,
    )
    await api.pool.execute("UPDATE step_parts SET done_at = now() WHERE plan_id = $1", plan)
    page = await queries.steps_page(api.pool, run_id)
    assert page is not None
    assert [step.parts.done for step in page.items] == [0, 1]


async def test_a_run_says_what_comes_next_and_which_text_its_score_is_of(api: Api) -> None:
    pending: dict[str, Any] = {
        "stage": "review",
        "current_round": 1,
        "pending_review_step": new_id(),
    }
    run_id = await rows.add_run(
        api.pool, status="INTERRUPTED", reason_code="operator", score=38, **pending
    )
    done = {"status": "SUCCEEDED", "ended_at": datetime.now(UTC), "input_revision": 0}
    await rows.add_step(api.pool, run_id, **done)
    found = (await api.get(f"/api/runs/{run_id}")).json
    assert found["next_step"] == {"name": "refine", "round": 1}
    assert found["scored_revision"] == 0
    await api.pool.execute("UPDATE runs SET pending_review_step = NULL WHERE id = $1", run_id)
    found = (await api.get(f"/api/runs/{run_id}")).json
    assert found["next_step"] == {"name": "review", "round": 2}


async def test_the_score_is_that_of_the_revision_that_is_offered_or_was_confirmed(api: Api) -> None:
    """The best one is offered, which need not be the last that was reviewed."""
    run_id = await rows.add_run(
        api.pool, status="AWAITING_CONFIRMATION", score=38, offered_revision=0, current_round=2
    )
    document = await api.pool.fetchval("SELECT document_id FROM runs WHERE id = $1", run_id)
    await rows.add_revision(api.pool, document, 1, "worse")
    done = {"status": "SUCCEEDED", "ended_at": datetime.now(UTC)}
    await rows.add_step(api.pool, run_id, input_revision=1, **done)
    stands = {"run_id": run_id, "blockers": 0, "majors": 0, "minors": 0}
    await rows.insert(api.pool, "assessments", revision=0, score=75, reviewed=True, **stands)
    await rows.insert(api.pool, "assessments", revision=1, score=38, reviewed=True, **stands)
    found = (await api.get(f"/api/runs/{run_id}")).json
    assert (found["score"], found["scored_revision"]) == (75, 0)
    await api.pool.execute("UPDATE runs SET offered_revision = 1 WHERE id = $1", run_id)
    found = (await api.get(f"/api/runs/{run_id}")).json
    assert (found["score"], found["scored_revision"]) == (38, 1)
    # A text that nobody reviewed has no score of its own: the last one is told, with whose it is.
    await api.pool.execute(
        "UPDATE assessments SET reviewed = false WHERE run_id = $1 AND revision = 1", run_id
    )
    found = (await api.get(f"/api/runs/{run_id}")).json
    assert (found["score"], found["scored_revision"]) == (38, 1)


async def test_a_call_that_heard_says_how_much(api: Api) -> None:
    run = (await api.run())["id"]
    step = await rows.add_step(api.pool, run, name="transcribe", round=0)
    spec = "UPDATE step_parts SET spec = $2 WHERE plan_id = $1"
    await api.pool.execute(spec, step[1], {"start": 60.0, "end": 82.5})
    heard = await rows.add_call(api.pool, run, step, step_name="transcribe", round=0)
    read = await rows.add_call(api.pool, run, step, number=2)
    for call, seconds in ((heard, 22.5), (read, None)):
        assert (await api.get(f"/api/calls/{call}")).json["seconds_of_sound"] == seconds
        page = await api.client.get(f"/calls/{call}", headers={"accept": "text/html"})
        assert ("22.5 s heard" in page.text) == (seconds is not None)
