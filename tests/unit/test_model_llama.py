"""llama.cpp's server as it really answers; `./redraft test --local-llm` asks the server itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from activities.failures import Verdict
from activities.model.client import Usage
from activities.model.formats import Format
from tests.fake_llm import FakeLLM, Reply, errors
from tests.model_caller import EDITS, Caller
from workflows.vocabulary import Reason

UNAVAILABLE = "unavailable_error"
OVERFLOW = errors.of_llama(
    400,
    "request (14031 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "exceed_context_size_error",
    n_prompt_tokens=14031,
    n_ctx=4096,
)
NO_PARSER = "Unable to generate parser for this template. Automatic parser generation failed: "


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with FakeLLM() as llm:
        caller = Caller(llm)
        yield caller
        await caller.client.close()


def stream(pieces: Sequence[str], finish: str = "stop", *, pings: bool = False) -> bytes:
    """The first delta has no content, but null; usage comes behind the finish reason with timings;
    the model's name is that of its file, whichever was asked for."""
    base = {"created": 1796007884, "id": "chatcmpl-u", "model": "/models/other.gguf"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"content": piece} for piece in pieces]
    choices = [[{"finish_reason": None, "index": 0, "delta": delta}] for delta in deltas]
    frames: list[dict[str, Any]] = [{"choices": choice, **base} for choice in choices]
    frames.append({"choices": [{"finish_reason": finish, "index": 0, "delta": {}}], **base})
    usage = {"completion_tokens": len(pieces), "prompt_tokens": 752, "total_tokens": 800}
    usage["prompt_tokens_details"] = {"cached_tokens": 238}  # type: ignore[assignment]
    frames.append({"choices": [], **base, "usage": usage, "timings": {"cache_n": 238}})
    data = [f"data: {json.dumps(frame)}\n\n" for frame in frames] + ["data: [DONE]\n\n"]
    return (":\n\n" if pings else "").join(data).encode()


@pytest.mark.parametrize("pings", [False, True])
async def test_its_stream_is_read_to_usage_and_end(caller: Caller, pings: bool) -> None:
    text = json.dumps({"items": EDITS}, indent=4)
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    ended = await caller.ask(errors.garbage(stream(pieces, pings=pings)))
    assert (ended.end.cause, ended.end.finish_reason) == (None, "stop")
    assert ended.items == EDITS
    assert ended.call.usage == Usage(input=752, output=len(pieces), cached=238)


async def test_a_loop_up_to_the_limit_ends_by_length_with_its_usage(caller: Caller) -> None:
    pieces = ['{"items": [{"find": "', *['1", "'] * 40]
    ended = await caller.ask(errors.garbage(stream(pieces, "length")))
    assert (ended.end.cause, ended.items) == (Reason.LENGTH, [])
    assert ended.call.usage == Usage(input=752, output=41, cached=238)


async def test_a_request_beyond_its_context_is_final_and_tells_both_numbers(caller: Caller) -> None:
    ended = await caller.ask(OVERFLOW)
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.FINAL, "context_too_long")
    assert "14031 tokens" in ended.failure.message
    assert "4096 tokens" in ended.failure.message
    assert ended.call.estimate() == Usage(input=0, output=0)


@pytest.mark.parametrize("message", ["Loading model", "no slot available"])
async def test_a_server_that_loads_or_is_full_is_asked_again_later(
    caller: Caller, message: str
) -> None:
    ended = await caller.ask(errors.of_llama(503, message, UNAVAILABLE))
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.RETRY, "http_503")
    assert ended.call.estimate() == Usage(input=0, output=0)


@pytest.mark.parametrize(
    ("reply", "then"),
    [
        (NO_PARSER + "JSON schema error at #: unrecognized type nonsense", Format.JSON_OBJECT),
        (NO_PARSER + "JSON schema error at #: cannot resolve $ref #/nowhere", Format.JSON_OBJECT),
        ("Failed to initialize samplers: failed to parse grammar", Format.JSON_OBJECT),
        (
            'response_format type must be one of "text" or "json_object", but got: json_schema',
            Format.JSON_OBJECT,
        ),
        ("Field 'max_tokens': type must be number, but is string", None),
    ],
)
async def test_only_a_refusal_of_the_form_leads_to_a_plainer_one(
    caller: Caller, reply: str, then: Format | None
) -> None:
    ended = await caller.ask(errors.of_llama(400, reply))
    assert (ended.end.again.format if ended.end.again else None) == then
    assert ended.failure.verdict is (Verdict.AGAIN if then else Verdict.FINAL)


async def test_a_shared_context_that_is_full_does_not_make_a_request_too_long(
    caller: Caller,
) -> None:
    """Requests side by side, each of which fits, are all ended by it in the middle of a reply."""
    frame = b"data: " + json.dumps(errors.shared_context_full()).encode() + b"\n\n"
    text = json.dumps({"items": EDITS})
    begun = stream([text[:90], text[90:]]).split(b"\n\n")
    ended = await caller.ask(errors.garbage(b"\n\n".join(begun[:2]) + b"\n\n" + frame))
    assert (ended.end.cause, ended.end.fault) == (Reason.CUT, "context_shared")
    assert ended.items == EDITS[:1]
    ended = await caller.ask(errors.garbage(begun[0] + b"\n\n" + frame))
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.RETRY, "context_shared")
    error = errors.shared_context_full()["error"]
    ended = await caller.ask(errors.of_llama(500, error["message"], error["type"]))
    assert (ended.failure.verdict, ended.failure.code) == (Verdict.RETRY, "context_shared")


async def test_the_name_of_the_model_is_not_asked_of_it(caller: Caller) -> None:
    ended = await caller.ask(Reply(items=EDITS), model="whatever")
    assert ended.end.cause is None
    assert caller.llm.requests[0].body["model"] == "whatever"
