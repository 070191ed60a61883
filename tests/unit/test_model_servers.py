"""Servers of other makers, gateways, proxies, private authorities: each is understood as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest

from activities.failures import Verdict
from activities.model.client import Usage
from activities.model.learned import Learned, Ratio
from tests.between import AUTHORITY, proxy, tls_end
from tests.fake_llm import Chars, FakeLLM, Items, Reply, errors
from tests.model_caller import EDITS, KEY, Caller
from workflows.vocabulary import Reason

Names = Literal["openai", "messages", "hits", "plain"]
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
async def caller(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Caller]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    async with FakeLLM() as llm:
        caller = Caller(llm)
        yield caller
        await caller.client.close()


async def test_a_deployment_path_with_its_api_version_and_key_header(caller: Caller) -> None:
    root = caller.llm.base_url.removesuffix("/v1")
    base = f"{root}/openai/deployments/minutes/?api-version=2026-05-01"
    ended = await caller.ask(Reply(items=EDITS), base_url=base)
    assert ended.end.cause is None
    [request] = caller.llm.requests
    assert request.path == "/openai/deployments/minutes/chat/completions?api-version=2026-05-01"
    assert request.headers["api-key"] == KEY


FINAL, RETRY = Verdict.FINAL, Verdict.RETRY
_LOOKS = "the request exceeds the available context size. try increasing it"
_INNER = '{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}'


@pytest.mark.parametrize(
    ("reply", "verdict", "code"),
    [
        (
            errors.of_vllm(400, "This model's maximum context length is 8192 tokens."),
            FINAL,
            "context_too_long",
        ),
        (errors.of_vllm(404, "The model `x` does not exist."), FINAL, "unknown_model"),
        (errors.of_vllm(400, "temperature must be non-negative"), FINAL, "bad_request"),
        (
            errors.of_llama(400, _LOOKS, "exceed_context_size_error", n_ctx=4096),
            FINAL,
            "context_too_long",
        ),
        (errors.of_llama(503, "Loading model", "unavailable_error"), RETRY, "http_503"),
        (errors.of_llama(401, "Invalid API Key", "authentication_error"), FINAL, "bad_key"),
        (
            errors.of_ollama(404, 'model "x" not found, try pulling it first'),
            FINAL,
            "unknown_model",
        ),
        (errors.of_ollama(500, "llama runner process has terminated"), RETRY, "http_500"),
        (
            errors.of_azure(401, "401", "Access denied due to invalid subscription key."),
            FINAL,
            "bad_key",
        ),
        (
            errors.of_azure(404, "DeploymentNotFound", "The deployment does not exist."),
            FINAL,
            "unknown_model",
        ),
        (
            errors.of_azure(400, "content_filter", "The prompt triggered the policy."),
            Verdict.GUARDRAIL,
            "content_filter",
        ),
        (errors.of_gateway(_INNER), FINAL, "bad_key"),
        (errors.of_gateway('{"code": "model_not_found"}', number=500), FINAL, "unknown_model"),
        (errors.of_gateway("context_length_exceeded"), FINAL, "context_too_long"),
        (errors.of_gateway("upstream timed out", number=504), RETRY, "http_504"),
        (errors.of_gateway("insufficient credits", number=402), FINAL, "no_quota"),
        (errors.of_framework(422, "seed"), FINAL, "bad_request"),
        (errors.status(524, message="A timeout occurred"), RETRY, "http_524"),
        (
            errors.garbage(b'error: {"code": 500, "message": "context size exceeded"}\n\n'),
            FINAL,
            "context_too_long",
        ),
        (errors.garbage(b'{"error": {"message": "overloaded"}}'), RETRY, "overloaded"),
        (errors.garbage(b'{"choices": []}'), RETRY, "connection_lost"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_errors_of_other_makers_are_understood(
    caller: Caller, reply: Reply, verdict: Verdict, code: str
) -> None:
    ended = await caller.ask(reply)
    assert (ended.failure.verdict, ended.failure.code) == (verdict, code)
    assert len(caller.llm.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        errors.of_vllm(400, "guided decoding: unsupported schema keyword"),
        errors.of_llama(400, "failed to parse grammar"),
        errors.of_ollama(400, 'json: unknown field "response_format"'),
        errors.of_azure(400, "BadRequest", "response_format value as json_schema is not enabled"),
        errors.of_framework(422, "response_format", "json_schema"),
        errors.of_gateway("response_format: json_schema is not supported", number=400),
    ],
)
async def test_a_refused_format_is_understood_in_every_dialect(
    caller: Caller, reply: Reply
) -> None:
    ended = await caller.ask(reply)
    assert ended.failure.verdict is Verdict.AGAIN
    assert ended.end.again is not None
    assert ended.end.again.format == "json_object"


@pytest.mark.parametrize("names", ["openai", "messages", "hits", "plain"])
@pytest.mark.parametrize("place", ["last", "cumulative", "finish"])
async def test_usage_is_read_by_the_names_servers_give_it(
    caller: Caller, names: Names, place: Any
) -> None:
    cached = 0 if names == "plain" else 5
    reasoning = 3 if names == "openai" else 0
    reply = Reply(items=EDITS, usage=place, usage_names=names, cached=cached, reasoning=reasoning)
    ended = await caller.ask(reply)
    billed = caller.llm.requests[0].billed
    assert ended.call.usage == Usage(
        input=billed.input, output=billed.output, cached=cached, reasoning=reasoning
    )


async def test_usage_that_grows_is_right_where_the_stream_was_cut(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=EDITS, usage="cumulative", cut_after=Items(2)))
    billed = caller.llm.requests[0].billed
    assert ended.call.usage == Usage(input=billed.input, output=billed.output)


@pytest.mark.parametrize("counted", [-5, 9 * 10**11, 10**30])
async def test_usage_that_no_call_can_have_is_estimated(caller: Caller, counted: int) -> None:
    """Its price might fit no column, and what was paid for could not be stored."""
    reply = Reply(items=EDITS, prompt_tokens=counted, completion_tokens=counted)
    ended = await caller.ask(reply)
    assert ended.call.usage is None
    estimate = ended.call.estimate()
    assert estimate is not None
    assert 0 < estimate.output < 1000


async def test_usage_told_before_the_text_counts_for_the_prompt_alone(caller: Caller) -> None:
    """Its output is that of the first frame; what arrived afterwards is estimated."""
    reply = Reply(items=EDITS * 9, usage="first", prompt_tokens=777, completion_tokens=1)
    ended = await caller.ask(Reply(**{**vars(reply), "cut_after": Chars(300)}))
    assert ended.call.usage is None
    estimate = ended.call.estimate()
    assert estimate is not None
    assert estimate.input == 777
    assert estimate.output > 20


@pytest.mark.parametrize(
    "reply",
    [
        Reply(items=EDITS, thinking="So: " * 30),
        Reply(items=EDITS, thinking="So: " * 30, thinking_field="reasoning"),
        Reply(items=EDITS, thinking="So: " * 30, thinking_field="thinking"),
        Reply(items=EDITS, thinking="So: " * 30, parts=True),
        Reply(items=EDITS, thinking="So: " * 30, whole=True),
    ],
    ids=["reasoning_content", "reasoning", "thinking", "parts", "whole"],
)
async def test_what_a_model_thinks_aloud_is_counted_and_no_part_of_the_reply(
    caller: Caller, reply: Reply
) -> None:
    ended = await caller.ask(Reply(**{**vars(reply), "usage": "none"}))
    assert (ended.items, ended.end.cause) == (EDITS, None)
    assert ended.call.thinking == "So: " * 30
    estimate = ended.call.estimate()
    assert estimate is not None
    assert 25 <= estimate.reasoning <= 70
    assert estimate.output > estimate.reasoning


async def test_a_server_that_repeats_the_key_does_not_get_it_stored(caller: Caller) -> None:
    echo = {"find": f"a {KEY}", "replace": "b", "resolves": []}
    ended = await caller.ask(Reply(items=[echo]))
    assert KEY in ended.call.text
    assert KEY not in ended.call.reply
    assert "a …" in ended.call.reply


FAR = "model.example/v1"
"""A host that only the proxy of a test finds."""


async def test_a_proxy_is_used_where_the_environment_names_one(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy(caller.llm.port) as between:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{between.port}")
        ended = await caller.ask(Reply(items=EDITS), base_url=f"http://{FAR}?api-version=1")
        assert ended.end.cause is None
        assert between.asked == [f"POST http://{FAR}/chat/completions?api-version=1"]
        assert caller.llm.requests[0].path == "/v1/chat/completions?api-version=1"
        assert (await caller.ask(Reply(items=EDITS))).end.cause is None
        assert len(between.asked) == 1, "what is on this machine needs no proxy"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_wants_credentials_says_what_to_set(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    async with proxy(caller.llm.port, refuse=True) as between:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{between.port}")
        ended = await caller.ask(base_url=f"{scheme}://{FAR}")
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.FINAL, "proxy_refused")
    assert not caller.llm.requests


async def test_an_authority_of_ones_own_is_trusted_where_the_environment_names_it(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tls_end(caller.llm.port) as end, proxy(end.port) as between:
        address = f"https://127.0.0.1:{end.port}/v1"
        unknown = await caller.ask(base_url=address)
        assert (unknown.failure.verdict, unknown.failure.code) == (Verdict.FINAL, "untrusted")
        assert "SSL_CERT_FILE" in unknown.failure.message
        monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY))
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{between.port}")
        caller.hurry(caller.settings)
        assert (await caller.ask(Reply(items=EDITS), base_url=address)).end.cause is None
        assert not between.asked
        through = await caller.ask(Reply(items=EDITS), base_url=f"https://{FAR}")
        assert through.end.cause is None
        assert between.asked == ["CONNECT model.example:443"]
    assert len(caller.llm.requests) == 2


async def test_a_finish_reason_is_known_by_its_other_names(caller: Caller) -> None:
    ends = {
        name: (await caller.ask(Reply(items=EDITS, finish_reason=name))).end.cause
        for name in (
            "STOP",
            "eos_token",
            "COMPLETE",
            "MAX_TOKENS",
            "SAFETY",
            "refusal",
            "tool_calls",
        )
    }
    assert ends == {
        "STOP": None,
        "eos_token": None,
        "COMPLETE": None,
        "MAX_TOKENS": Reason.LENGTH,
        "SAFETY": Reason.REFUSAL,
        "refusal": Reason.REFUSAL,
        "tool_calls": Reason.CUT,
    }


@pytest.mark.parametrize(
    ("counted", "longest", "taught", "doubtful"),
    [
        (4_096, 0, True, (True, True)),
        (4_096, 4_096, True, (True, True)),
        (4_096, 11_500, True, (True, False)),  # it leaves out what it had in its cache
        (4_096, 0, False, (True, False)),  # nobody knows how it counts
        (3_100, 3_100, False, (True, False)),  # characters by four, of Chinese
        (7_400, 4_000, True, (True, False)),  # the same, of many numbers
        (11_000, 0, True, (False, False)),
        (300, 0, True, (False, False)),
    ],
)
async def test_a_prompt_that_the_server_may_have_cut_is_told_of(
    caller: Caller, counted: int, longest: int, taught: bool, doubtful: tuple[bool, bool]
) -> None:
    reply = Reply(items=EDITS, prompt_tokens=counted)
    sent, ratio = 12_000, Ratio(taught=taught)
    ended = await caller.ask(reply, learned=Learned(narrow=ratio, wide=ratio, longest=longest))
    assert (ended.call.may_have_cut(sent), ended.call.cut_prompt(sent)) == doubtful
    assert not ended.call.may_have_cut(2_500), "a short prompt fits every context"


@pytest.mark.parametrize(
    ("newest", "sent", "found"),
    [
        ([(9_000, 4_090), (12_000, 4_096)], 14_000, True),
        ([(9_000, 4_090), (12_000, 11_900)], 14_000, False),  # only the last one was short
        ([(9_000, 1_500), (12_000, 4_500)], 14_000, False),  # what a cache left out differs
        ([(14_000, 4_096), (14_100, 4_096)], 14_000, False),  # the same prompt, cached alike
        ([(9_000, 4_090)], 14_000, False),
    ],
)
def test_a_server_started_again_with_less_context_is_found_out_by_its_third_long_prompt(
    newest: list[tuple[int, int]], sent: int, found: bool
) -> None:
    learned = Learned(narrow=Ratio(taught=True), longest=20_000, newest=newest)
    assert learned.surely_cut(4_094, sent=sent, wide=False) == found
