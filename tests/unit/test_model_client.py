"""Every way a call can end, against a real HTTP server: its cause, what was kept, what it cost."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from activities.failures import Failure, Verdict
from activities.model.client import CallEnd, ModelCall, ModelClient, Usage, prompt_hash
from activities.model.profile import Profile
from deploy.settings import Settings
from tests.fake_llm import Chars, FakeLLM, Items, Reply, errors
from workflows.kinds.kind import Prompt
from workflows.kinds.schemas import REFINE
from workflows.vocabulary import Reason

PROMPT = Prompt(
    system="You refine.",
    user="The secret transcript says twenty five Euros, not twenty six.",
    schema_name="redraft_refine",
    schema=REFINE,
    max_output_tokens=500,
)
EDITS = [{"find": f"a{number} 会议😀", "replace": "b", "resolves": ["I1"]} for number in range(3)]
KEY = "sk-very-secret-key"
PATIENT = Settings(database_url="", first_byte_timeout=10, silence_timeout=10, call_timeout=20)
QUICK = replace(PATIENT, first_byte_timeout=0.3, silence_timeout=0.15)


def profile(base_url: str | None, **fields: Any) -> Profile:
    plain = Profile(
        name="default",
        version=1,
        model="fake",
        base_url=base_url,
        key_env="THE_KEY",
        parameters={},
        prices=None,
        prompts={},
        fallback=None,
        rate_limits={},
    )
    return replace(plain, **fields)


@dataclass
class Ended:
    end: CallEnd
    call: ModelCall
    items: list[Mapping[str, Any]] = field(default_factory=list)
    said: str = ""

    @property
    def failure(self) -> Failure:
        assert self.end.failure is not None
        return self.end.failure


class Caller:
    """A client at a fake provider."""

    def __init__(self, llm: FakeLLM) -> None:
        self.llm = llm
        self.environment = {"THE_KEY": KEY}
        self.client = ModelClient(PATIENT, self.environment)

    def hurry(self, settings: Settings = QUICK) -> None:
        """Short time limits, for replies that go beyond them."""
        self.client = ModelClient(settings, self.environment)

    async def ask(self, *replies: Reply, prompt: Prompt = PROMPT, **fields: Any) -> Ended:
        self.llm.queue(*replies)
        items: list[Mapping[str, Any]] = []
        texts: list[str] = []
        asked = profile(fields.pop("base_url", self.llm.base_url), **fields)
        call = self.client.start(asked, prompt, on_item=items.append, on_text=texts.append)
        end = await call.run()
        assert "".join(texts) == call.text
        return Ended(end=end, call=call, items=items, said=call.text)


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server for what FakeLLM does not play; waits for its connections to end."""
    left: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left.append(asyncio.Event())
        mine = left[-1]
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            mine.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()
    for event in left:
        await asyncio.wait_for(event.wait(), 5)


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
        (Reply(text="", thinking="hm " * 9, finish_reason="length"), Reason.LENGTH, "length", 0),
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


@pytest.mark.parametrize(
    ("reply", "verdict", "cause", "code"),
    [
        (errors.bad_key(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_key"),
        (errors.forbidden(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_key"),
        (errors.no_model(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "unknown_model"),
        (errors.quota(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "no_quota"),
        (errors.too_long(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "context_too_long"),
        (errors.wrapped_too_long(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "context_too_long"),
        (errors.bad_request(), Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_request"),
        (errors.status(413), Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_request"),
        (
            Reply(status=307, headers={"Location": "/"}),
            Verdict.FINAL,
            Reason.PROVIDER_REFUSED,
            "bad_address",
        ),
        (errors.prompt_filtered(), Verdict.GUARDRAIL, Reason.REFUSAL, "content_filter"),
        (
            errors.content_filter("Two sentences."),
            Verdict.GUARDRAIL,
            Reason.REFUSAL,
            "content_filter",
        ),
        (errors.content_filter(), Verdict.GUARDRAIL, Reason.REFUSAL, "content_filter"),
        (errors.refused(), Verdict.GUARDRAIL, Reason.REFUSAL, "refusal"),
        (errors.rate_limited(), Verdict.RETRY, Reason.RATE_LIMITED, "rate_limited"),
        (errors.server_error(), Verdict.RETRY, Reason.SERVER_ERROR, "http_500"),
        (errors.html_error(), Verdict.RETRY, Reason.SERVER_ERROR, "http_502"),
        (errors.status(409), Verdict.RETRY, Reason.SERVER_ERROR, "http_409"),
        (errors.garbage(), Verdict.RETRY, Reason.SERVER_ERROR, "no_stream"),
        (errors.garbage(b"data: {{{\n\n"), Verdict.RETRY, Reason.SERVER_ERROR, "stream_error"),
        (
            errors.garbage(b'event: error\ndata: {"message": "overloaded"}\n\n'),
            Verdict.RETRY,
            Reason.SERVER_ERROR,
            "overloaded",
        ),
        (Reply(items=EDITS, error_frame_after=0), Verdict.RETRY, Reason.SERVER_ERROR, "overloaded"),
        (
            Reply(
                items=EDITS,
                error_frame_after=Items(1),
                error_frame={"error": {"code": "insufficient_quota"}},
            ),
            Verdict.FINAL,
            Reason.PROVIDER_REFUSED,
            "no_quota",
        ),
        (Reply(items=EDITS, cut_after=0), Verdict.RETRY, Reason.CONNECTION, "connection_lost"),
        (errors.hang(), Verdict.RETRY, Reason.CONNECTION, "timeout"),
        (Reply(items=EDITS, stall_after=0), Verdict.RETRY, Reason.CONNECTION, "timeout"),
    ],
)
async def test_a_failure_has_its_verdict_and_one_request(
    caller: Caller, reply: Reply, verdict: Verdict, cause: Reason, code: str
) -> None:
    if reply.hang or reply.stall_after is not None:
        caller.hurry()
    ended = await caller.ask(reply)
    failure = ended.failure
    assert (failure.verdict, failure.cause, failure.code) == (verdict, cause, code)
    assert ended.end.cause is cause
    assert len(caller.llm.requests) == ended.call.requests == 1
    assert 20 < len(failure.message) <= 300
    assert KEY not in failure.message


async def test_the_wait_a_server_asks_for_is_passed_on(caller: Caller) -> None:
    limited = await caller.ask(errors.rate_limited(retry_after=7))
    away = await caller.ask(errors.server_error(503, retry_after=2.5))
    assert (limited.failure.retry_after, away.failure.retry_after) == (7.0, 2.5)


async def test_a_message_repeats_neither_key_nor_prompt(caller: Caller) -> None:
    told = await caller.ask(errors.status(400, message=f"key {KEY}\x00 at https://host/v1 is odd"))
    echo = await caller.ask(errors.status(400, message=f"cannot read: {PROMPT.user}"))
    assert "key … at … is odd" in told.failure.message
    assert "transcript" not in echo.failure.message


async def test_a_refused_connection_is_tried_again_later(caller: Caller) -> None:
    await caller.llm.refuse()
    ended = await caller.ask()
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.RETRY, "unreachable")
    assert ended.call.requests == 1


async def test_a_missing_key_names_its_variable_and_sends_nothing(caller: Caller) -> None:
    ended = await caller.ask(key_env="OTHER_KEY")
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.FINAL, "key_not_set")
    assert "OTHER_KEY" in ended.failure.message
    assert ended.call.requests == 0
    assert not caller.llm.requests


@pytest.mark.parametrize("key", ["", "  ", "sk\n-1", "ключ"])
async def test_what_is_no_key_is_not_sent(caller: Caller, key: str) -> None:
    caller.environment["THE_KEY"] = key
    assert (await caller.ask()).failure.code == "key_not_set"


@pytest.mark.parametrize(
    "address", ["ftp://host/v1", "nonsense", "http://", "http://[::1", "http://me:pw@host"]
)
async def test_a_base_url_that_is_none_is_final(caller: Caller, address: str) -> None:
    ended = await caller.ask(base_url=address)
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.FINAL, "bad_address")


async def test_without_a_base_url_the_environment_says_where(caller: Caller) -> None:
    caller.environment["OPENAI_BASE_URL"] = caller.llm.base_url + "/"
    ended = await caller.ask(Reply(items=EDITS), base_url=None)
    assert ended.end.cause is None
    assert caller.llm.requests[0].authorization == f"Bearer {KEY}"


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


async def test_a_cancel_closes_the_connection_and_keeps_what_arrived(caller: Caller) -> None:
    caller.llm.queue(Reply(items=EDITS, stall_after=Items(2)))
    arrived = asyncio.Event()
    call = caller.client.start(
        profile(caller.llm.base_url),
        PROMPT,
        on_item=lambda _: arrived.set(),
        on_text=lambda _: None,
    )
    running = asyncio.ensure_future(call.run())
    await asyncio.wait_for(arrived.wait(), 5)
    running.cancel()
    began = time.perf_counter()
    with pytest.raises(asyncio.CancelledError):
        await running
    await caller.llm.wait_gone(1)
    assert time.perf_counter() - began < 1
    assert (call.http_status, call.usage, call.requests) == (200, None, 1)
    assert caller.llm.requests[0].sent.startswith(call.text)


async def test_a_cancel_before_the_first_byte_closes_the_connection(caller: Caller) -> None:
    caller.llm.queue(errors.hang())
    call = caller.client.start(
        profile(caller.llm.base_url), PROMPT, on_item=lambda _: None, on_text=lambda _: None
    )
    running = asyncio.ensure_future(call.run())
    await caller.llm.wait_requests(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await caller.llm.wait_gone(1)
    assert (call.text, call.http_status, call.first_token_ms) == ("", None, None)


async def test_what_the_receiver_raises_comes_out_and_the_connection_closes(caller: Caller) -> None:
    def full(_item: Mapping[str, Any]) -> None:
        raise LookupError("full")

    caller.llm.queue(Reply(items=EDITS, stall_after=Items(1)))
    call = caller.client.start(
        profile(caller.llm.base_url), PROMPT, on_item=full, on_text=lambda _: None
    )
    with pytest.raises(LookupError):
        await call.run()
    await caller.llm.wait_gone(1)


async def test_connections_are_used_again(caller: Caller) -> None:
    opened = 0

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        frame = b'data: {"choices": [{"delta": {"content": "{}"}, "finish_reason": "stop"}]}\n\n'
        body = frame + b"data: [DONE]\n\n"
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"content-length: (\d+)", head, re.I)
            assert length is not None
            await reader.readexactly(int(length[1]))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async with serving(once) as address:
        for _ in range(3):
            await caller.ask(base_url=address)
        await caller.client.close()
    assert opened == 1


def test_the_hash_of_a_prompt_tells_requests_apart() -> None:
    plain = prompt_hash(profile("http://a"), PROMPT)
    assert plain == prompt_hash(profile("http://a", version=2, key_env="B"), PROMPT)
    assert plain != prompt_hash(profile("http://a", model="other"), PROMPT)
    assert plain != prompt_hash(profile("http://a", parameters={"temperature": 0}), PROMPT)
    assert plain != prompt_hash(profile("http://a"), replace(PROMPT, user="other"))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
