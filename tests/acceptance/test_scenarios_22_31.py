"""Faults that really happened to others, on a whole stack: large payloads, secrets that stay,
values that a store refuses (scenarios 23, 26, 27 and 28; others are in `database` and `api`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bench.measure_history import payloads
from tests.fake_llm import FakeLLM, Reply, Request, good_reviewer
from tests.faults.kit import issues, planted
from tests.stack import TRANSCRIPT, Json, Stack, consistent, minutes

CANARY = "CANARY-7F3A"
SPOKEN = "CANARY-B205"
"""Of documents that stay."""
KEY = "sk-test"
ROUNDS = 12


def _with(text: str, **more: Any) -> Json:
    sources = [{"name": "transcript", "media_type": "text/plain", "text": text}]
    return minutes(sources=sources, **more)


async def _history(stack: Stack, run_id: str) -> tuple[list[Any], str]:
    """Its events, and all of it as text, payloads decoded."""
    told = await stack.workflow(run_id).fetch_history()
    data = [data.decode(errors="replace") for event in told.events for data in payloads(event)]
    return list(told.events), told.to_json() + "\n".join(data)


async def _tables_with(stack: Stack, word: str) -> list[str]:
    tables = await stack.sql(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    )
    found = []
    for [table] in tables:
        query = f'SELECT count(*) FROM "{table}" t WHERE strpos(t::text, $1) > 0'  # noqa: S608
        [row] = await stack.sql(query, word)
        if row["count"]:
            found.append(table)
    return found


def _all_logs(stack: Stack) -> str:
    return "\n".join(path.read_text(errors="replace") for path in stack.folder.glob("*.log"))


def _large(lines: int) -> str:
    return "\n".join(f"Ana: {n}, {SPOKEN} and {'much was said ' * 80}" for n in range(lines))


async def test_twelve_rounds_leave_a_small_history_without_text_or_key(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(ROUNDS), per_call=1))
    run = await stack.create(
        {**minutes(errors=ROUNDS), **_with(TRANSCRIPT + "\n" + SPOKEN, errors=ROUNDS)}
        | {"max_rounds": ROUNDS, "pass_score": 95}
    )
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
    assert run["current_round"] == ROUNDS
    events, text = await _history(stack, run["id"])
    assert len(events) < 250 * ROUNDS / 5
    assert sum(event.ByteSize() for event in events) < 256_000 * ROUNDS / 5
    assert max(len(data) for event in events for data in payloads(event)) < 64_000
    for word in (SPOKEN, KEY, "blue box", "E1x", "Part:"):
        assert word not in text, word


async def test_a_transcript_of_megabytes_never_travels_through_the_engine(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script(good_reviewer(errors=planted(1)))
    spoken = _large(2_350)
    assert len(spoken) > 2_600_000
    run = await stack.create(_with(spoken, errors=1))
    await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=110)
    assert all(SPOKEN in request.text for request in llm.of("redraft_review"))
    events, text = await _history(stack, run["id"])
    assert max(len(data) for event in events for data in payloads(event)) < 64_000
    assert SPOKEN not in text
    await consistent(stack, run["id"])


async def test_an_error_of_megabytes_is_stored_short_and_nothing_of_a_deleted_run_stays(
    stack: Stack, llm: FakeLLM
) -> None:
    """A provider that quotes the request, with its key, in a refusal of 3 MB."""

    def quotes(request: Request) -> Reply:
        said = f"{request.authorization} {request.text} " + "x" * 3_000_000
        return Reply(status=400, error={"error": {"message": said, "code": CANARY}})

    llm.script(quotes)
    run = await stack.create(_with(f"{TRANSCRIPT}\nBo: {CANARY}", errors=1))
    run = await stack.until(run["id"], "FAILED", seconds=60)
    assert run["reason"]["code"] == "provider_refused"
    assert len(llm.requests) == 1
    [call] = await stack.sql("SELECT error FROM model_calls WHERE run_id = $1", run["id"])
    assert len(call["error"]) <= 500
    llm.script(Reply(hang=True))
    place = f"/api/runs/{run['id']}"
    assert (await stack.call("POST", f"{place}/resume", {"note": CANARY}))[0] == 202
    await llm.wait_requests(2, seconds=30)
    assert (await stack.call("POST", f"{place}/interrupt", {"reason": CANARY}))[0] == 202
    await llm.wait_gone(1, seconds=30)
    assert await _tables_with(stack, KEY) == []
    assert (await stack.call("DELETE", f"/api/documents/{run['document_id']}"))[0] == 204
    assert await _tables_with(stack, run["id"]) == ["audit_events"]
    [left] = await stack.sql("SELECT params::text FROM audit_events WHERE object_id = $1",
        run["document_id"])  # fmt: skip
    assert CANARY not in left["params"]
    _, text = await _history(stack, run["id"])
    assert len(text) < 64_000
    for word in (CANARY, KEY):
        assert word not in text, word
        assert word not in _all_logs(stack), word
        assert await _tables_with(stack, word) == [], word


async def test_values_that_a_store_refuses_are_cleaned_or_count_as_a_wrong_reply(
    stack: Stack, llm: FakeLLM
) -> None:
    loud = _all_logs(stack).count(" ERROR ")
    two = issues(2)
    llm.script(good_reviewer(errors=planted(2)))
    edit = {"find": "E1x", "replace": "the \U0001f468\u200d\U0001f469\u200d\U0001f467 box"}
    half = '{"items": [{"find": "E2x", "replace": "blue \\ud800 box", "resolves": ["I2"]}]}'
    llm.queue(
        Reply(status=500, error=b'{"error": {"message": "no\\u0000thing"}}'),
        Reply(items=[{**two[0], "problem": "not\x00 said"}], extra={"score": float("nan")}),
        Reply(items=two[1:], extra={"score": float("inf")}),
        Reply(items=[], extra={"score": 50}),
        schema="redraft_review",
    )
    llm.queue(
        Reply(items=[{**edit, "resolves": ["I1"]}], split_surrogates=True, chunk_chars=3),
        Reply(text=half),
        schema="redraft_refine",
    )
    run = await stack.create(minutes(errors=2))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", "FAILED", seconds=90)
    code, text = await stack.call(
        "GET",
        f"/api/documents/{run['document_id']}/revisions/{run['working_revision']}",
        None,
        {"Accept": "text/markdown"},
    )
    assert code == 200
    assert (run["status"], edit["replace"] in text) == ("AWAITING_CONFIRMATION", True), text
    assert "\ufffd" not in text or "blue \ufffd box" in text
    found = await stack.rows(run["id"], "issues")
    assert "not said" in [issue["problem"] for issue in found]
    for row in await stack.rows(run["id"], "steps"):
        assert (row["reason"] or {"code": ""})["code"] != "internal"
    assert _all_logs(stack).count(" ERROR ") == loud
    await consistent(stack, run["id"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sources", [{"name": "t", "media_type": "text/plain", "text": "Budget\u0000 approved"}]),
        ("sources", [{"name": "t\u0000", "media_type": "text/plain", "text": "x"}]),
        ("sources", [{"name": "t", "media_type": "text/plain", "text": "\udcaf"}]),
        ("attributes", {"participants": ["Ana\u0000"]}),
        ("title", "\ud800"),
    ],
)
async def test_input_that_no_store_takes_is_422_with_its_place(
    stack: Stack, field: str, value: Any
) -> None:
    raw = json.dumps({**minutes(errors=0), field: value})  # escapes, as a program may send them
    answer = await stack.http.post(
        "/api/runs", content=raw.encode(), headers={"content-type": "application/json"}
    )
    told = answer.json()
    assert (answer.status_code, told["code"]) == (422, "invalid_request"), told
    assert told["errors"] or told["params"], "where it stands"
