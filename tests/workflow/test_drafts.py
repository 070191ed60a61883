"""Minutes from a transcript: drafted section by section, continued, reviewed, offered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from deploy.offline_model.server import OfflineModel
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, Items, Reply, Request, draft_items, errors
from tests.stack import Json, Stack, consistent

SAID = [f"Ana: so it is decided, number {n} gets the green light." for n in (1, 2, 3)]
SHORT = """Ana: Let's talk about the blue box, which the customers wait for.
Bo: The paint is dry and the lid fits since yesterday evening.
Ana: We decided to ship the blue box on Friday.
Bo: I will write the note for the customers."""
GENERAL = ("summary", "topics", "decisions", "actions", "questions")

pytestmark = pytest.mark.timeout(110)


def meeting(lines: int = 12, **more: Any) -> Json:
    said = [f"Bo: in line {n} we only talk about the blue box." for n in range(1, lines + 1)]
    said.insert(len(said) // 4, SAID[0])
    said.insert(len(said) // 2, SAID[1])
    source = {"name": "t.txt", "media_type": "text/plain", "text": "\n".join([*said, SAID[2]])}
    return {"kind": "minutes", "title": "Weekly", "sources": [source], **more}


async def small_windows(stack: Stack, name: str) -> None:
    """A profile of the test's own: what its calls teach changes later cuts."""
    given = {"name": name, "model": "fake", "prompts": {"window_tokens": 600}}
    assert (await stack.call("POST", "/api/profiles", given))[0] in (200, 201)


async def ledger(stack: Stack, run: Json) -> list[tuple[str, str, list[str], int]]:
    """By call of the draft: its part, why it ended, the sections it brought, how many fell."""
    items = [item for item in await stack.rows(run["id"], "items") if item["step"] == "draft"]
    return [
        (
            call["part"],
            call["end_cause"] or call["finish_reason"],
            [item["key"] for item in items if item["call_id"] == call["id"]],
            call["items_dropped"],
        )
        for call in await stack.rows(run["id"], "calls")
        if call["step_id"] == (await stack.rows(run["id"], "steps"))[0]["id"]
    ]


async def body_of(stack: Stack, run: Json, number: int = 0) -> str:
    path = f"/api/documents/{run['document_id']}/revisions/{number}"
    code, revision = await stack.call("GET", path)
    assert code == 200, revision
    return str(revision["body"])


async def test_a_long_transcript_is_noted_in_windows_and_composed_with_nothing_lost(
    stack: Stack, llm: FakeLLM
) -> None:
    await small_windows(stack, "windows")
    run = await stack.create(meeting(80, profile="windows"))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    asked = llm.of("redraft_draft")
    received = {line.number: line.text for one in asked for line in one.prompt.lines}
    assert len(received) == 83
    body = await body_of(stack, run)
    for sentence in SAID:
        words = sentence.removeprefix("Ana: ")
        assert any(words in one.text for one in asked[:-1])
        assert body.count(words) == 1
    rows = sorted(await ledger(stack, run), key=lambda row: (row[0] == "main", row[0]))
    assert [row[0] for row in rows[:-1]] == [f"notes:{n}" for n in range(1, len(rows))]
    assert len(rows) > 3
    assert rows[-1] == ("main", "stop", list(GENERAL), 0)
    assert not asked[-1].prompt.lines
    step = (await stack.rows(run["id"], "steps"))[0]
    assert (step["name"], step["round"], step["output_revision"]) == ("draft", 0, 0)
    assert step["parts"] == {"done": len(rows), "total": len(rows)}
    [item] = [i for i in await stack.rows(run["id"], "items") if i["part"] == "main"][2:3]
    lines = [number for number, text in sorted(received.items()) if "decided" in text]
    assert item["payload"]["evidence"] == [f"T{number}" for number in lines]
    await consistent(stack, run["id"])


async def test_a_window_that_fails_for_good_fails_the_draft_and_is_all_that_is_asked_again(
    stack: Stack, llm: FakeLLM
) -> None:
    broken = True
    created: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    async def play(request: Request) -> Reply:
        if broken and request.part == "notes:2":
            # Stored, or it would be ended with this one.
            await kept(stack, await created, [*GENERAL] * 2)
            return errors.bad_key()
        return Reply(items=draft_items(request))

    llm.script({"redraft_draft": play})
    await small_windows(stack, "fragile")
    run = await stack.create(meeting(60, profile="fragile"))
    created.set_result(run)
    run = await stack.until(run["id"], "FAILED", seconds=60)
    assert run["reason"]["code"] == "provider_refused"
    broken = False
    before = len(llm.of("redraft_draft"))
    assert before == 3
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert [one.part for one in llm.of("redraft_draft")[before:]] == ["notes:2", ""]
    await consistent(stack, run["id"])


async def test_a_draft_that_is_cut_stops_early_and_names_lines_that_are_not_there_is_continued(
    stack: Stack, llm: FakeLLM
) -> None:
    def play(request: Request) -> Reply:
        items = list(draft_items(request))
        if len(llm.of("redraft_draft")) == 1:
            return Reply(items=items[:2], finish_reason="length")
        if len(llm.of("redraft_draft")) == 2:
            wrong = {**items[1], "evidence": ["T99"]}
            return Reply(items=[items[0], wrong, {**items[0], "key": "decisions"}])
        return Reply(items=items)

    llm.script({"redraft_draft": play})
    run = await stack.create(meeting())
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert await ledger(stack, run) == [
        ("main", "length", ["summary", "topics"], 0),
        ("main", "stop", ["decisions"], 2),
        ("main", "stop", ["actions", "questions"], 0),
    ]
    told = llm.of("redraft_draft")[2]
    assert "Answer only with the sections actions, questions." in told.text
    assert "evidence_not_found" in told.text
    await consistent(stack, run["id"])


async def test_a_model_that_chooses_its_own_sections_has_written_a_draft(
    stack: Stack, llm: FakeLLM
) -> None:
    own = {"key": "a", "heading": "What was said", "markdown": "We ship on Friday."}
    llm.script({"redraft_draft": Reply(items=[own])})
    run = await stack.create(meeting(attributes={"template": "decision log"}))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", "FAILED", seconds=60)
    assert run["status"] == "AWAITING_CONFIRMATION", run["reason"]
    assert len(llm.of("redraft_draft")) == 1
    assert (await body_of(stack, run)).endswith("## What was said\n\nWe ship on Friday.\n")


async def test_a_draft_is_interrupted_resumed_and_corrected_without_losing_a_section(
    stack: Stack, llm: FakeLLM
) -> None:
    llm.script({"redraft_draft": lambda request: Reply(items=draft_items(request))})
    first = Reply(items=[section(key) for key in GENERAL], stall_after=Items(2))
    llm.queue(first, schema="redraft_draft")
    run = await stack.create(meeting())
    await kept(stack, run, ["summary", "topics"])
    _, page = await stack.call("GET", f"/runs/{run['id']}")
    assert "<strong><bdi>Topics</bdi></strong>" in page
    assert "Rests on the lines T1" in page
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt"))[0] == 202
    await llm.wait_gone(1, seconds=60)
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    again = llm.of("redraft_draft")[1]
    assert again.already_keys("key") == ["summary", "topics"]
    keys = [item["key"] for item in await stack.rows(run["id"], "items") if item["round"] == 0]
    assert keys == list(GENERAL)
    await consistent(stack, run["id"])


async def test_a_meeting_deleted_while_it_is_drafted_leaves_nothing(
    stack: Stack, llm: FakeLLM
) -> None:
    first = Reply(items=[section(key) for key in GENERAL], stall_after=Items(1))
    llm.queue(first, schema="redraft_draft")
    run = await stack.create(meeting())
    await kept(stack, run, ["summary"])
    assert (await stack.call("DELETE", f"/api/documents/{run['document_id']}"))[0] == 204
    await llm.wait_gone(1, seconds=60)
    assert (await stack.call("GET", f"/api/runs/{run['id']}"))[0] == 404
    [left] = await stack.sql(
        """
        SELECT (SELECT count(*) FROM sources WHERE document_id = $1)
             + (SELECT count(*) FROM step_plans WHERE run_id = $2)
             + (SELECT count(*) FROM model_calls WHERE run_id = $2)
             + (SELECT count(*) FROM run_events WHERE run_id = $2) AS rows
        """,
        run["document_id"],
        run["id"],
    )
    assert left["rows"] == 0


async def test_the_offline_model_drafts_by_rules_says_so_and_is_continued(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFLINE_STOP_AFTER_ITEMS", "2")
    model = OfflineModel(rate=0)
    port = await model.start()
    offline = {"name": "extract", "model": "offline", "base_url": f"http://127.0.0.1:{port}/v1"}
    assert (await stack.call("POST", "/api/profiles", offline))[0] == 201
    source = {"name": "t.txt", "media_type": "text/plain", "text": SHORT}
    run = await stack.create(meeting(profile="extract", sources=[source]))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await model.stop()
    assert run["reason"]["code"] == "passed"
    body = await body_of(stack, run)
    assert "no model wrote this" in body
    assert "## Decisions\n\n- Ana: We decided to ship the blue box on Friday." in body
    assert "## Actions\n\n- Bo: I will write the note for the customers." in body
    assert [row[2] for row in await ledger(stack, run)] == [
        ["summary", "topics"],
        ["decisions", "actions"],
        ["questions"],
    ]


async def test_what_was_drafted_from_a_wrong_transcript_is_not_kept_when_it_is_corrected(
    stack: Stack, llm: FakeLLM
) -> None:
    first = Reply(items=[section(key) for key in GENERAL], stall_after=Items(2))
    llm.queue(first, schema="redraft_draft")
    run = await stack.create(meeting())
    await kept(stack, run, ["summary", "topics"])
    assert (await stack.call("POST", f"/api/runs/{run['id']}/interrupt"))[0] == 202
    await llm.wait_gone(1, seconds=60)
    sources = f"/api/documents/{run['document_id']}/sources"
    [old] = (await stack.call("GET", sources))[1]["items"]
    right = {"name": "t.txt", "media_type": "text/plain", "text": SHORT, "replaces": old["id"]}
    assert (await stack.call("POST", sources, right))[0] == 201
    assert (await stack.call("POST", f"/api/runs/{run['id']}/resume", {}))[0] == 202
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    assert llm.of("redraft_draft")[1].already == []
    assert "We decided to ship the blue box" in await body_of(stack, run)
    await consistent(stack, run["id"])


def section(key: str) -> Json:
    return {"key": key, "heading": key, "markdown": f"- {key}.", "evidence": ["T1"]}


async def kept(stack: Stack, run: Json, keys: Sequence[str]) -> None:
    async def there() -> bool:
        items = await stack.rows(run["id"], "items")
        return sorted(item["key"] for item in items) == sorted(keys)

    await eventually(there, seconds=60, what=f"the sections {keys}")
