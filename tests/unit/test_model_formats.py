"""Servers that refuse part of a request are asked in a milder form, and it is remembered."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from activities.failures import ProviderError, Verdict
from activities.model.client import CallEnd, ModelCall, ModelClient, Usage, output_limit
from activities.model.formats import Format, Manner, milder, request_body
from activities.model.profile import Profile
from activities.model.servers import Servers
from deploy.settings import Settings
from tests import model_caller
from tests.fake_llm import FakeLLM, Reply, Request, errors
from tests.model_caller import PROMPT
from workflows.kinds.schemas import REFINE

PROFILE = model_caller.profile(None)
WHOLE = Reply(items=[{"find": "a", "replace": "b", "resolves": []}])


async def ask(client: ModelClient, profile: Profile) -> tuple[CallEnd, list[ModelCall]]:
    """As a part asks: again as long as the server refused the form alone, each time a call."""
    calls: list[ModelCall] = []
    manner: Manner | None = None
    while True:
        call = client.start(
            profile, PROMPT, on_item=lambda _: None, on_text=lambda _: None, manner=manner
        )
        calls.append(call)
        end = await call.run()
        assert call.requests == 1
        if end.again is None:
            return end, calls
        assert end.failure is not None
        assert (end.failure.verdict, end.failure.code) == (Verdict.AGAIN, "form_refused")
        assert (call.estimate(), call.text) == (Usage(input=0, output=0), "")
        manner = end.again


def refusing(*words: str) -> Callable[[Request], Reply]:
    """A server that refuses every request with one of these words in its body."""

    def answer(request: Request) -> Reply:
        sent = json.dumps({**request.body, "messages": []})
        for word in words:
            if word in sent:
                return errors.status(400, message=f"Unsupported parameter: {word}")
        return WHOLE

    return answer


def client() -> ModelClient:
    return ModelClient(Settings(database_url=""), {"THE_KEY": "sk-1"})


async def test_a_refused_schema_leads_to_json_then_to_plain_text(llm: FakeLLM) -> None:
    llm.script(refusing("json_schema", "response_format"))
    profile = replace(PROFILE, base_url=llm.base_url)
    asked = client()
    end, calls = await ask(asked, profile)
    assert (end.cause, len(calls), len(llm.requests)) == (None, 3, 3)
    formats = [request.body.get("response_format", {}).get("type") for request in llm.requests]
    assert formats == ["json_schema", "json_object", None]
    first, last = llm.requests[0], llm.requests[2]
    assert "JSON Schema (redraft_refine)" not in first.text
    assert "JSON Schema (redraft_refine)" in last.text
    assert '"required": ["find", "replace", "resolves"]' in last.text
    end, calls = await ask(asked, profile)
    assert (end.cause, len(calls), len(llm.requests)) == (None, 1, 4)
    end, calls = await ask(asked, replace(profile, model="other"))
    assert len(calls) == 3
    await asked.close()


async def test_other_fields_a_server_does_not_know_are_left_out(llm: FakeLLM) -> None:
    def answer(request: Request) -> Reply:
        if "max_tokens" in request.body:
            said = "'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            return errors.status(400, message=said, code="unsupported_parameter")
        return refusing("stream_options")(request)

    llm.script(answer)
    asked = client()
    end, calls = await ask(asked, replace(PROFILE, base_url=llm.base_url))
    assert (end.cause, len(calls)) == (None, 3)
    body = llm.requests[-1].body
    assert body["max_completion_tokens"] == 500
    assert not {"max_tokens", "stream_options"} & set(body)
    assert body["response_format"]["type"] == "json_schema"
    await asked.close()


async def test_what_never_worked_is_not_remembered(llm: FakeLLM) -> None:
    """The refusal repeats words of a document; other documents are still asked the best way."""
    model = client()
    profile = replace(PROFILE, base_url=llm.base_url)
    llm.script(lambda _request: errors.status(400, message="Unsupported word: response_format"))
    end, _ = await ask(model, profile)
    assert end.failure is not None
    llm.script(WHOLE)
    before = len(llm.requests)
    end, calls = await ask(model, profile)
    assert (end.cause, len(calls)) == (None, 1)
    assert llm.requests[before].schema == "redraft_refine"
    await model.close()


async def test_a_server_that_refuses_everything_is_asked_a_few_times_only(llm: FakeLLM) -> None:
    llm.script(errors.status(400, message="schema stream_options max_completion_tokens"))
    asked = client()
    end, calls = await ask(asked, replace(PROFILE, base_url=llm.base_url))
    assert end.failure is not None
    assert (end.failure.code, len(calls)) == ("bad_request", 5)
    await asked.close()


def refusal(status: int, text: str) -> ProviderError:
    return ProviderError(status=status, body={"error": {"message": text}})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refusal(400, "response_format is not supported"), Manner(format=Format.JSON_OBJECT)),
        (refusal(422, "grammar: unknown keyword"), Manner(format=Format.JSON_OBJECT)),
        (refusal(400, "temperature must be 1"), None),
        (refusal(400, "maximum context length exceeded; schema has 90 tokens"), None),
        (refusal(401, "response_format"), None),
        (refusal(500, "response_format"), None),
        (refusal(429, "schema"), None),
    ],
)
def test_only_a_refusal_of_the_form_is_asked_again(
    error: ProviderError, expected: Manner | None
) -> None:
    assert milder(Manner(), error) == expected


@pytest.mark.parametrize(
    ("parameters", "field", "limit"),
    [
        ({}, "max_tokens", 500),
        ({"max_tokens": 90}, "max_tokens", 90),
        ({"max_completion_tokens": 900}, "max_completion_tokens", 900),
        ({"max_tokens_field": "num_predict"}, "num_predict", 500),
        ({"max_tokens": "many"}, "max_tokens", 500),
    ],
)
def test_the_output_limit_is_the_profiles_else_the_prompts(
    parameters: Mapping[str, Any], field: str, limit: int
) -> None:
    profile = replace(PROFILE, parameters=parameters)
    body = request_body(profile, PROMPT, Manner())
    assert (body[field], output_limit(profile, PROMPT)) == (limit, limit)
    assert "max_tokens_field" not in body
    assert sum(name.startswith(("max", "num")) for name in body) == 1


def test_parameters_are_passed_and_cannot_stop_the_stream() -> None:
    parameters = {"temperature": 0, "stream": False, "seed": 7}
    body = request_body(replace(PROFILE, parameters=parameters), PROMPT, Manner())
    assert (body["temperature"], body["seed"], body["stream"]) == (0, 7, True)
    assert body["response_format"]["json_schema"] == {
        "name": "redraft_refine",
        "schema": REFINE,
        "strict": True,
    }
    assert [message["content"] for message in body["messages"]] == [PROMPT.system, PROMPT.user]


async def test_addresses_keep_their_path_and_query() -> None:
    servers = Servers(Settings(database_url=""), {"OPENAI_ORG_ID": "org"})
    deployment = "https://host/openai/deployments/x/?api-version=1"
    url = await servers.endpoint(replace(PROFILE, base_url=deployment))
    assert str(url) == "https://host/openai/deployments/x/chat/completions?api-version=1"
    headers = servers.headers("k", url)
    assert (headers["api-key"], headers["OpenAI-Organization"]) == ("k", "org")


async def test_without_any_address_the_librarys_own_is_asked() -> None:
    import openai

    servers = Servers(Settings(database_url=""), {})
    url = await servers.endpoint(PROFILE)
    library = openai.OpenAI(api_key="none").base_url
    assert (url.scheme, url.host) == ("https", library.host)
    assert url.path == f"{library.path}chat/completions"
