"""Every way a reply can end, against a real HTTP server: its cause, what was kept, its usage."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from activities.model.client import CallEnd, Usage
from tests.fake_llm import Chars, FakeLLM, Items, Reply, errors
from tests.model_caller import EDITS, KEY, PATIENT, Caller, serving
from workflows.vocabulary import Reason


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with FakeLLM() as llm:
        caller = Caller(llm)
        yield caller
        await caller.client.close()


async def test_a_whole_reply_ends_normally(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=EDITS, extra={"score": 70}, cached=10, reasoning=3))
    assert ended.end == CallEnd(
        cause=None, failure=None, finish_reason="stop", extras={"score": 70}
    )
    assert ended.items == EDITS
    request = caller.llm.requests[0]
    assert ended.said == request.sent
    assert ended.call.usage == Usage(
        input=request.billed.input, output=request.billed.output, cached=10, reasoning=3
    )
    assert (ended.call.http_status, ended.call.provider_request_id) == (200, "req-1")
    assert ended.call.first_token_ms is not None
    assert (ended.call.requests, request.outcome) == (1, "done")


async def test_a_key_that_a_server_repeats_reaches_no_item(caller: Caller) -> None:
    """An item becomes an issue, or a passage of the document."""
    items = [{"find": f"is {KEY}", "replace": KEY, "resolves": [KEY, "I1"]}]
    ended = await caller.ask(Reply(items=items, extra={"score": {KEY: 1}}))
    assert ended.end.cause is None
    assert ended.items == [{"find": "is …", "replace": "…", "resolves": ["…", "I1"]}]
    assert KEY not in f"{ended.end} {ended.items} {ended.call.reply}"


async def test_a_key_that_a_server_repeats_reaches_no_row(caller: Caller) -> None:
    """Both stand with the call, on pages and in the log of calls."""
    echo = {"x-request-id": "r" * 120 + KEY}
    ended = await caller.ask(Reply(items=[], finish_reason="f" * 60 + KEY, headers=echo))
    told = f"{ended.end} {ended.call.finish_reason} {ended.call.provider_request_id}"
    assert KEY[:4] not in told
    assert (ended.call.provider_request_id, ended.end.finish_reason) == (
        "r" * 120 + "…",
        "f" * 60 + "…",
    )


async def test_an_empty_list_is_a_whole_reply(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=[]))
    assert (ended.end.cause, ended.end.failure, ended.items) == (None, None, [])


@pytest.mark.parametrize(
    ("reply", "cause", "fault", "kept"),
    [
        (Reply(items=EDITS, cut_after=Items(2)), Reason.CUT, "connection_lost", 2),
        (Reply(items=EDITS, cut_after=Items(2), cut="reset"), Reason.CUT, "connection_lost", 2),
        (Reply(items=EDITS, cut_after=Items(2), cut="clean"), Reason.CUT, "no_finish_reason", 2),
        (Reply(items=EDITS, cut_after=Chars(5)), Reason.CUT, "connection_lost", 0),
        (Reply(items=EDITS, error_frame_after=Items(1)), Reason.CUT, "overloaded", 1),
        (
            Reply(items=EDITS, finish_reason="insufficient_system_resource"),
            Reason.CUT,
            "finish_reason",
            3,
        ),
        (
            Reply(items=EDITS, finish_reason=None, done_frame=False),
            Reason.CUT,
            "no_finish_reason",
            3,
        ),
        (Reply(text='{"items": [', finish_reason=None), Reason.CUT, "unclosed", 0),
        (Reply(items=EDITS, finish_reason="length"), Reason.LENGTH, "length", 3),
        (Reply(text='{"items": [{"find', finish_reason="length"), Reason.LENGTH, "length", 0),
        (
            Reply(text="", thinking="hm " * 9, finish_reason="length"),
            Reason.LENGTH,
            "only_reasoning",
            0,
        ),
        (Reply(items=EDITS, stall_after=Items(1)), Reason.STALL, "silence", 1),
        (Reply(thinking="hm", text="", stall_after=0), Reason.STALL, "silence", 0),
        (Reply(text="", finish_reason="stop"), Reason.GARBLED, "empty", 0),
        (errors.prose(), Reason.GARBLED, "no_object", 0),
        (Reply(text='{"items": [{"find": "a"'), Reason.GARBLED, "unclosed", 0),
        (Reply(items=[EDITS[0], {"find": 1}, EDITS[2]]), Reason.GARBLED, "invalid_item", 2),
        (Reply(items=EDITS, extra={"score": float("nan")}), Reason.GARBLED, "broken_json", 3),
        (Reply(text='{"items": []}{"items": []}'), Reason.GARBLED, "two_objects", 0),
    ],
)
async def test_a_reply_that_ends_early_keeps_its_items(
    caller: Caller, reply: Reply, cause: Reason, fault: str, kept: int
) -> None:
    if reply.stall_after is not None:
        caller.hurry()
    ended = await caller.ask(reply)
    assert (ended.end.cause, ended.end.fault, ended.end.failure) == (cause, fault, None)
    assert len(ended.items) == kept
    assert ended.call.requests == 1
    assert ended.call.http_status == 200


async def test_a_whole_object_with_done_but_no_finish_reason_is_accepted(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=EDITS, finish_reason=None))
    assert (ended.end.cause, ended.end.finish_reason) == (None, None)
    assert ended.items == EDITS


async def test_keep_alive_comments_and_empty_deltas_are_no_progress(caller: Caller) -> None:
    async def chatter(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        frame = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'
        writer.write(frame % b"{")
        while True:
            writer.write(b": keep-alive\n\n" + frame % b"")
            await writer.drain()
            await asyncio.sleep(0.01)

    caller.hurry()
    async with serving(chatter) as address:
        ended = await caller.ask(base_url=address)
    assert (ended.end.cause, ended.said) == (Reason.STALL, "{")


async def test_the_whole_call_has_a_limit_of_its_own(caller: Caller) -> None:
    caller.hurry(replace(PATIENT, call_timeout=1.0))
    ended = await caller.ask(Reply(items=EDITS * 60, per_chunk=0.02))
    assert ended.end.cause is Reason.STALL
    assert ended.items


async def test_usage_is_waited_for_after_the_finish_reason_but_not_for_ever(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=EDITS, usage="none", done_frame=False))
    assert (ended.end.cause, ended.call.usage) == (None, None)


@pytest.mark.parametrize("usage", ["last", "cumulative"])
async def test_usage_is_read_in_the_shapes_servers_send(caller: Caller, usage: Any) -> None:
    ended = await caller.ask(Reply(items=EDITS, usage=usage))
    billed = caller.llm.requests[0].billed
    assert ended.call.usage == Usage(input=billed.input, output=billed.output)


@pytest.mark.parametrize("usage", ["first", "none"])
async def test_usage_that_cannot_be_meant_for_the_reply_is_none(caller: Caller, usage: Any) -> None:
    ended = await caller.ask(Reply(items=EDITS, usage=usage))
    assert ended.call.usage is None


async def test_characters_arrive_whole_however_the_bytes_are_cut(caller: Caller) -> None:
    ended = await caller.ask(
        Reply(items=EDITS, split_surrogates=True, write_bytes=3, chunk_chars=2)
    )
    assert (ended.items, ended.end.cause) == (EDITS, None)


async def test_nul_and_lone_surrogates_never_come_through(caller: Caller) -> None:
    text = '{"items": [{"find": "a\x00b\ud83d", "replace": "\udc00!", "resolves": []}]}'
    ended = await caller.ask(Reply(text=text, split_surrogates=True))
    assert ended.items == [{"find": "ab\ufffd", "replace": "\ufffd!", "resolves": []}]
    ended.said.encode("utf-8")


async def test_a_server_that_does_not_stream_is_understood(caller: Caller) -> None:
    whole = {
        "choices": [{"message": {"content": '{"items": []}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4},
    }
    headers = {"Content-Type": "application/json"}
    caller.llm.script(Reply(status=200, headers=headers, garbage=_json(whole)))
    ended = await caller.ask()
    assert (ended.end.cause, ended.call.usage) == (None, Usage(input=9, output=4))


async def test_what_can_never_become_a_reply_is_not_read_to_its_end(caller: Caller) -> None:
    ended = await caller.ask(Reply(text="[1, 2]" + "blah " * 20_000, chunk_chars=50))
    assert (ended.end.cause, ended.end.fault) == (Reason.GARBLED, "not_an_object")
    assert len(ended.said) < 50_000
    await caller.llm.wait_gone(1)


async def test_a_reply_that_never_ends_is_left(caller: Caller) -> None:
    text = '{"items": [{"find": "' + "bla " * 1_500_000
    ended = await caller.ask(Reply(text=text, chunk_chars=100_000, stall_after=Chars(5_000_000)))
    assert (ended.end.cause, ended.end.fault) == (Reason.GARBLED, "too_long")
    assert len(ended.said) < 4_500_000
    await caller.llm.wait_gone(1)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
