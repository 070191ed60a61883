"""What a call sends, how it fails and how it is cancelled, against a real HTTP server."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from activities.failures import Verdict
from activities.model.client import Usage, prompt_hash
from tests.fake_llm import FakeLLM, Items, Reply, errors
from tests.model_caller import EDITS, KEY, PROMPT, Caller, profile, serving
from workflows.vocabulary import Reason


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with FakeLLM() as llm:
        caller = Caller(llm)
        yield caller
        await caller.client.close()


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
    assert ended.call.estimate() == Usage(input=0, output=0)


async def test_what_was_sent_and_never_answered_may_have_been_billed(caller: Caller) -> None:
    caller.hurry()
    assert (await caller.ask(errors.hang())).call.estimate() is None


async def test_a_missing_key_names_its_variable_and_sends_nothing(caller: Caller) -> None:
    ended = await caller.ask(key_env="OTHER_KEY")
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.FINAL, "key_not_set")
    assert "OTHER_KEY" in ended.failure.message
    assert ended.call.requests == 0
    assert ended.call.estimate() == Usage(input=0, output=0)
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


async def test_each_call_opens_its_own_connection(caller: Caller) -> None:
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
    assert opened == 3


def test_the_hash_of_a_prompt_tells_requests_apart() -> None:
    plain = prompt_hash(profile("http://a"), PROMPT)
    assert plain == prompt_hash(profile("http://a", version=2, key_env="B"), PROMPT)
    assert plain != prompt_hash(profile("http://a", model="other"), PROMPT)
    assert plain != prompt_hash(profile("http://a", parameters={"temperature": 0}), PROMPT)
    assert plain != prompt_hash(profile("http://a"), replace(PROMPT, user="other"))
