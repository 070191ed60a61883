"""The table of `activities.model.outcomes`, row by row, against a real HTTP server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from activities.failures import Verdict
from activities.model import outcomes
from tests.fake_llm import Chars, FakeLLM, Items, Reply, errors
from tests.model_caller import EDITS, PATIENT, QUICK, Caller
from workflows.vocabulary import Reason

WHOLE = Reply(items=EDITS)
OBJECT = WHOLE.content
OPEN = OBJECT[: OBJECT.index("}, {") + 12]
"""One whole item and the beginning of the next."""
THOUGHT = "The source says {nothing} of [that]. " * 3
REFUSED_FORM = errors.status(400, message="response_format is not supported by this model")


def item(raw: str) -> Reply:
    return Reply(text='{"items": [' + raw + "]}")


def frame(**error: Any) -> Reply:
    return replace(WHOLE, error_frame_after=Items(1), error_frame={"error": error})


REPLIES: dict[str, Reply] = {
    "a whole object, `stop`": WHOLE,
    "a whole object, `[DONE]`, no finish reason": replace(WHOLE, finish_reason=None),
    "an object in a fence or between sentences": Reply(text=f"Sure:\n```json\n{OBJECT}\n```\nOK."),
    "an object behind a block of thinking": Reply(text=f"<think>{THOUGHT}</think>\n{OBJECT}"),
    "an object in content parts": replace(WHOLE, thinking=THOUGHT, parts=True),
    "an object from a server that does not stream": replace(WHOLE, whole=True),
    "text, then a closed connection": replace(WHOLE, cut_after=Items(1)),
    "a whole object, then a closed body without finish reason": replace(
        WHOLE, finish_reason=None, done_frame=False
    ),
    "items, then an error frame": replace(WHOLE, error_frame_after=Items(1)),
    "items, then an error frame of a full shared context": replace(
        WHOLE, error_frame_after=Items(1), error_frame=errors.shared_context_full()
    ),
    "an unknown finish reason": replace(WHOLE, finish_reason="tired"),
    "an open object, `[DONE]`, no finish reason": Reply(text=OPEN, finish_reason=None),
    "`length` behind items": Reply(text=OPEN, finish_reason="length"),
    "`length` behind a whole object": replace(WHOLE, finish_reason="MAX_TOKENS"),
    "`length` inside an item": Reply(text='{"items": [{"fi', finish_reason="model_length"),
    "`length`, reasoning beside an empty content": Reply(
        text="", thinking=THOUGHT, finish_reason="length"
    ),
    "`length` inside a block of thinking": Reply(text=f"<think>{THOUGHT}", finish_reason="length"),
    "silence behind items": replace(WHOLE, stall_after=Items(1)),
    "silence behind items, keep-alive comments": replace(
        WHOLE, stall_after=Items(1), stall_comments=0.02
    ),
    "text that takes longer than the whole call may": Reply(items=EDITS * 40, per_chunk=0.02),
    "empty content, `stop`": Reply(text=""),
    "a block of thinking and nothing else, `stop`": Reply(text=f"<think>{THOUGHT}</think>"),
    "sentences where an object was asked for": errors.prose(),
    "an open object, `stop`": Reply(text=OPEN),
    "two objects": Reply(text=OBJECT + OBJECT),
    "a list in place of the object": Reply(text='[{"find": "a"}]'),
    "an object without `items`": Reply(text='{"edits": []}'),
    "an item of wrong types": item('{"find": 7, "replace": "", "resolves": "I1"}'),
    "an item with NaN": item('{"find": NaN, "replace": "", "resolves": []}'),
    "an item with a doubled key": item('{"find": "a", "find": "b", "replace": "", "resolves": []}'),
    "NaN beside the items": Reply(items=EDITS, extra={"score": float("nan")}),
    "a doubled `items`": Reply(text='{"items": [], "items": []}'),
    "a reply without end": Reply(
        text='{"items": [{"find": "' + "bla " * 1_100_000, chunk_chars=100_000
    ),
    "nothing within the first time limit": errors.hang(),
    "a closed connection before anything": replace(WHOLE, cut_after=0),
    "a refused connection": WHOLE,
    "an error frame before any item": replace(WHOLE, error_frame_after=0),
    "an error frame inside the first item": replace(WHOLE, error_frame_after=Chars(20)),
    "an error frame of a full shared context before any item": replace(
        WHOLE, error_frame_after=0, error_frame=errors.shared_context_full()
    ),
    "bytes that are no stream": errors.garbage(),
    "a page of HTML from a gateway": errors.html_error(),
    "429": errors.rate_limited(retry_after=5),
    "400 about the format of replies": REFUSED_FORM,
    "400 about anything else": errors.bad_request(),
    "401": errors.bad_key(),
    "404": errors.no_model(),
    "429 without quota": errors.quota(),
    "400 context too long": errors.too_long(),
    "500 around a context too long": errors.wrapped_too_long(),
    "an error frame about the quota": frame(code="insufficient_quota"),
    "400 of a prompt filter": errors.prompt_filtered(),
    "`content_filter` behind text": errors.content_filter("Two sentences. Then nothing."),
    "`content_filter` without text": errors.content_filter(),
    "a `refusal` field": errors.refused(),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    name: str
    cause: str
    code: str
    then: str


def rows() -> list[Row]:
    lines = re.findall(r"^\| (.+?) \| (\S+) \| (\S+) \| (.+?) \|$", outcomes.__doc__ or "", re.M)
    return [Row(name=n, cause=c, code=d, then=t) for n, c, d, t in lines if n != "what arrives"]


def test_each_row_of_the_table_is_played_and_nothing_else_is() -> None:
    assert [row.name for row in rows()] == list(REPLIES)


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with FakeLLM() as llm:
        caller = Caller(llm)
        yield caller
        await caller.client.close()


THEN = {
    Verdict.RETRY: "retry",
    Verdict.FINAL: "failed",
    Verdict.GUARDRAIL: "guardrail",
    Verdict.AGAIN: "again",
}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
async def test_what_arrives_ends_as_the_table_says(caller: Caller, row: Row) -> None:
    reply = REPLIES[row.name]
    if reply.hang or reply.stall_after is not None:
        caller.hurry(QUICK)
    if reply.per_chunk:
        caller.hurry(replace(PATIENT, call_timeout=0.5))
    if row.name == "a refused connection":
        await caller.llm.refuse()
    ended = await caller.ask(reply)
    failure = ended.end.failure
    code = failure.code if failure else ended.end.fault
    then = THEN[failure.verdict] if failure else "rest" if ended.end.cause else "part done"
    found = Row(name=row.name, cause=ended.end.cause or "-", code=code or "-", then=then)
    assert found == row
    assert (ended.end.again is not None) is (row.then == "again")
    assert len(caller.llm.requests) <= ended.call.requests == 1
    complete = ended.items == EDITS and ended.end.cause is None
    assert complete is (row.then == "part done"), "a shortened list must not pass for a whole one"
    if ended.end.cause in (Reason.LENGTH, Reason.CUT, Reason.STALL, Reason.GARBLED):
        assert ended.call.http_status == 200
