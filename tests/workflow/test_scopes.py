"""What each review looks at: windows of a long source, then what changed, and from which text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.fake_llm import FakeLLM, Items, Reply, Request, errors
from tests.stack import Json, Stack, consistent, minutes
from tests.unit.kind_material import meetings

LONG = next(meeting for meeting in meetings() if meeting.name == "208").material.sources[0].text

pytestmark = pytest.mark.timeout(110)


def long_minutes(text: str) -> Json:
    source = {"name": "transcript", "media_type": "text/plain", "text": text}
    return minutes(errors=1, sources=[source])


async def steps(stack: Stack, run: Json) -> list[Json]:
    return await stack.rows(run["id"], "steps")


async def test_a_long_meeting_is_reviewed_in_windows_that_together_hold_every_line(
    stack: Stack, llm: FakeLLM
) -> None:
    lines = LONG.splitlines()
    said = [f"Zoe: decision {n} stands as of today." for n in (1, 2, 3)]
    lines.insert(len(lines) // 4, said[0])
    lines.insert(len(lines) // 2, said[1])
    lines.append(said[2])
    small = {"name": "small", "model": "fake", "prompts": {"window_tokens": 4000}}
    assert (await stack.call("POST", "/api/profiles", small))[0] == 201
    llm.pace(hang=True)
    run = await stack.create({**long_minutes("\n".join(lines)), "profile": "small"})
    await llm.wait_requests(8, seconds=40)
    llm.pace()
    llm.release()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    received = {line.number: line.text for ask in llm.requests for line in ask.prompt.lines}
    assert len(received) == len(lines)
    assert all(any(words in ask.text for ask in llm.requests) for words in said)
    review = (await steps(stack, run))[0]
    assert review["parts"] == {"done": 11, "total": 11}
    assert llm.most_in_flight == 8
    await consistent(stack, run["id"])


async def test_a_window_that_fails_for_good_fails_the_step(stack: Stack, llm: FakeLLM) -> None:
    def second_fails(request: Request) -> Reply:
        broken = request.prompt.lines[0].number > 1 and request.part != "invented"
        return errors.bad_key() if broken else Reply(items=[], extra={"score": 100})

    llm.script(second_fails)
    run = await stack.create(long_minutes(LONG))
    run = await stack.until(run["id"], "FAILED", seconds=60)
    assert run["reason"]["code"] == "provider_refused"
    assert run["current_round"] == 0
    await consistent(stack, run["id"])


async def test_a_window_that_is_cut_goes_on_with_what_is_missing_of_it(
    stack: Stack, llm: FakeLLM
) -> None:
    def cut_in_the_second(request: Request) -> Reply:
        if request.prompt.lines[0].number == 1 or request.part or request.document == "":
            return Reply(items=[], extra={"score": 100})
        kept = request.already_keys("quote")
        quotes = [quote for quote in ("E1x", "We ship", "Decisions") if quote not in kept]
        items = [issue_of(quote, severity="minor") for quote in quotes]
        return Reply(items=items, extra={"score": 90}, cut_after=None if kept else Items(2))

    llm.script({"redraft_review": cut_in_the_second})
    run = await stack.create(long_minutes(LONG))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    calls = [call for call in await stack.rows(run["id"], "calls") if call["part"] == "main:2"]
    assert [(call["end_cause"], call["items_kept"]) for call in calls][:2] == [
        ("cut", 2),
        (None, 1),
    ]
    first, rest = [ask for ask in llm.requests if not ask.part and ask.prompt.lines[0].number > 1][
        :2
    ]
    assert [line.number for line in first.prompt.lines] == [
        line.number for line in rest.prompt.lines
    ]
    assert len(rest.already) == 2
    await consistent(stack, run["id"])


def issue_of(quote: str, **more: Any) -> Json:
    given = {"category": "fact", "severity": "major", "problem": "p", "suggestion": None}
    return {"quote": quote, "evidence": [], **given, **more}


async def test_a_later_review_that_cannot_pass_looks_at_what_changed_and_is_open(
    stack: Stack, llm: FakeLLM
) -> None:
    def one_at_a_time(request: Request) -> Reply:
        wrong = [quote for quote in ("E1x", "E2x") if quote in request.document]
        if request.schema == "redraft_review":
            return Reply(items=[issue_of(quote) for quote in wrong], extra={"score": 50})
        return Reply(
            items=[
                {"find": wrong[0], "replace": "the blue box", "resolves": [request.issues[0].id]}
            ]
        )

    llm.script(one_at_a_time)
    run = await stack.create(minutes(errors=2))
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "passed"
    reviews = llm.of("redraft_review")
    assert [ask.part for ask in reviews] == ["", "changes", ""]
    assert '["- We ship the blue box on Friday."]' in reviews[1].text
    assert [issue.quote for issue in reviews[1].issues] == ["E2x"]
    scopes = [
        step["result"]["scope"] for step in await steps(stack, run) if step["score"] is not None
    ]
    assert scopes == ["all", "changes", "all"]
    await consistent(stack, run["id"])


async def test_a_review_of_changes_lets_no_run_pass_though_nothing_is_open_any_more(
    stack: Stack, llm: FakeLLM
) -> None:
    def player(request: Request) -> Reply:
        if request.schema == "redraft_review":
            items = [issue_of(quote) for quote in ("E1x", "E2x") if quote in request.document]
            hang = request.part == "changes"
            return Reply(items=[] if hang else items[:2], extra={"score": 50}, hang=hang)
        edit = {"find": "E1x", "replace": "the blue box", "resolves": ["I1"]}
        return Reply(items=[edit])

    llm.script(player)
    run = await stack.create(minutes(errors=2))
    await llm.wait_requests(3, seconds=40)
    [other] = [one for one in await stack.rows(run["id"], "issues") if one["status"] == "open"]
    path = f"/api/runs/{run['id']}/issues/{other['id']}"
    assert (await stack.call("PATCH", path, {"status": "waived", "reason": "as agreed"}))[0] == 200
    llm.release()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["current_round"]) == ("passed", 3)
    assert [ask.part for ask in llm.of("redraft_review")] == ["", "changes", ""]
    assert [step["name"] for step in await steps(stack, run)][-2:] == ["review", "review"]
    await consistent(stack, run["id"])


async def test_the_next_round_goes_on_from_the_best_text(stack: Stack, llm: FakeLLM) -> None:
    tries: list[int] = []

    def clumsy(request: Request) -> Reply:
        if request.schema == "redraft_review":
            items = [issue_of("E1x")] if "E1x" in request.document else []
            return Reply(items=items, extra={"score": 50})
        tries.append(1)
        word = "99 boxes and 77 boxes for 55 Euros" if len(tries) == 1 else "the blue box"
        return Reply(items=[{"find": "E1x", "replace": word, "resolves": ["I1"]}])

    llm.script(clumsy)
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert (run["reason"]["code"], run["offered_revision"]) == ("passed", 2)
    about = [
        (s["name"], s["input_revision"], s["output_revision"]) for s in await steps(stack, run)
    ]
    assert about == [
        ("review", 0, None),
        ("refine", 0, 1),
        ("review", 0, None),
        ("refine", 0, 2),
        ("review", 2, None),
    ]
    issues = await stack.rows(run["id"], "issues")
    assert {issue["status"] for issue in issues} == {"fixed"}
    await consistent(stack, run["id"])


async def test_edits_that_go_back_and_forth_end_the_loop(stack: Stack, llm: FakeLLM) -> None:
    def alternating(request: Request) -> Reply:
        wrong, right = ("E1x", "E9x") if "E1x" in request.document else ("E9x", "E1x")
        if request.schema == "redraft_review":
            return Reply(items=[issue_of(wrong, suggestion=right)], extra={"score": 50})
        return Reply(items=[{"find": wrong, "replace": right, "resolves": []}])

    llm.script(alternating)
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "no_progress"
    *_, last = await steps(stack, run)
    assert (last["name"], last["result"]["repeats_revision"]) == ("refine", 0)


async def test_what_could_not_be_kept_is_told_once_counted_and_seen(
    stack: Stack, llm: FakeLLM
) -> None:
    def unfounded(request: Request) -> Reply:
        if request.schema == "redraft_review":
            items: Sequence[Json] = [issue_of("nobody wrote this"), issue_of("E1x")]
            if "<<<REFUSED" in request.text or "E1x" not in request.document:
                items = items[:1]
            return Reply(items=items, extra={"score": 50})
        find = "E1x" if "<<<REFUSED" in request.text else "E7x"
        return Reply(items=[{"find": find, "replace": "the blue box", "resolves": ["I1"]}])

    llm.script(unfounded)
    run = await stack.create()
    run = await stack.until(run["id"], "AWAITING_CONFIRMATION")
    assert run["reason"]["code"] == "passed"
    first, refine, second = await steps(stack, run)
    assert (first["result"]["dropped"], first["result"]["unfounded"]) == ({"main": 1}, [])
    assert (second["result"]["dropped"], second["result"]["unfounded"]) == ({"main": 2}, ["main"])
    assert first["result"]["model_score"] == {"main": 50}
    assert refine["result"]["resolved"] == [1]
    calls = await stack.rows(run["id"], "calls")
    assert [(call["step"], call["items_kept"], call["items_dropped"]) for call in calls] == [
        ("review", 1, 1),
        ("refine", 0, 1),
        ("refine", 1, 0),
        ("review", 0, 1),
        ("review", 0, 1),
    ]
    await consistent(stack, run["id"])
