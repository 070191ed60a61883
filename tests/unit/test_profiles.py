"""A profile with nonsense in it is refused with a pointer to every field that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from activities.model.formats import Manner, output_limit, request_body
from api.http.bodies import fit
from api.http.errors import Refusal
from api.profiles import NewProfile, problems
from tests.model_caller import PROMPT, profile
from workflows.kinds import load_kinds
from workflows.profiles import Fallback, fallback_of

KINDS = load_kinds()
PRICES: dict[str, Any] = {
    "currency": "EUR",
    "tables": [
        {"from": "2026-01-01", "input": "1.25", "cached": "0.125", "output": 10},
        {"from": "2026-07-01", "input": 1, "output": "8"},
    ],
}
WHOLE: dict[str, Any] = {
    "name": "Gateway 2 会议",
    "model": "meta/llama-4:free",
    "base_url": "https://host:8443/openai/deployments/x/?api-version=2026-05-01",
    "key_env": "GATEWAY_KEY",
    "parameters": {
        "temperature": 0,
        "max_completion_tokens": 4000,
        "stop": ["END"],
        "reasoning_effort": "low",
        "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
    },
    "prices": PRICES,
    "prompts": {"review": "Look.", "reviewers": ["facts", "gaps"]},
    "fallback": {"profile": "default", "after": 3},
    "rate_limits": {"requests_per_minute": 60, "tokens_per_minute": 90_000.5},
}
TABLE = {"from": "2026-01-01", "input": 1, "output": 2}


def pointers(change: dict[str, Any]) -> list[str]:
    try:
        wanted = fit(NewProfile, {**WHOLE, **change})
    except Refusal as refusal:
        return [error["pointer"] for error in refusal.errors]
    return [pointer for pointer, _, _ in problems(wanted, KINDS)]


def test_a_whole_profile_and_the_shortest_one_are_taken() -> None:
    assert pointers({}) == []
    assert problems(fit(NewProfile, {"name": "a", "model": "m"}), KINDS) == []
    assert pointers({"base_url": "http://127.0.0.1:8080/v1", "prices": {**TABLE}}) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": ""}, ["/name"]),
        ({"name": "a/b"}, ["/name"]),
        ({"name": "n" * 65}, ["/name"]),
        ({"model": ""}, ["/model"]),
        ({"model": "m\nx"}, ["/model"]),
        ({"model": 7}, ["/model"]),
        ({"colour": 1}, ["/colour"]),
        ({"key_env": "sk-proj-abc"}, ["/key_env"]),
        ({"key_env": "ABCD0123456789ABCD0123456789ABCD"}, ["/key_env"]),
        ({"key_env": "_1_2"}, ["/key_env"]),
        ({"name": "sk-proj-abcdefghijklm"}, ["/name"]),
        ({"model": "sk-proj-abcdefghijklm"}, ["/model"]),
        ({"base_url": "http://h/v1?auth=x"}, ["/base_url"]),
        ({"base_url": "http://h/v1?api-version=2026-05-01&x=y"}, ["/base_url"]),
        ({"key_env": "9A"}, ["/key_env"]),
        ({"key_env": "REDRAFT_DATABASE_URL"}, ["/key_env"]),
        ({"key_env": "PGPASSWORD"}, ["/key_env"]),
        ({"base_url": "ftp://host/v1"}, ["/base_url"]),
        ({"base_url": "host/v1"}, ["/base_url"]),
        ({"base_url": "http://"}, ["/base_url"]),
        ({"base_url": "http://[::1"}, ["/base_url"]),
        ({"base_url": "http://host:99999/v1"}, ["/base_url"]),
        ({"base_url": "http://me:pw@host/v1"}, ["/base_url"]),
        ({"base_url": "http://@host/v1"}, ["/base_url"]),
        ({"base_url": "https://host/v1?api-key=abc"}, ["/base_url"]),
        ({"base_url": "https://host/v1#x"}, ["/base_url"]),
        ({"base_url": "https://ho st/v1"}, ["/base_url"]),
        ({"base_url": "https://host/sk-proj-Abc123Abc123/v1"}, ["/base_url"]),
        ({"base_url": "https://host/v1/aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF"}, ["/base_url"]),
        ({"base_url": "https://host/accounts/0123456789abcdef0123456789abcdef/v1"}, []),
        ({"prompts": {"reveiw": "Look."}}, ["/prompts/reveiw"]),
        ({"prompts": {"review": ""}}, ["/prompts/review"]),
        ({"prompts": {"window": 7, "a/b": "x"}}, ["/prompts/window", "/prompts/a~1b"]),
        ({"parameters": []}, ["/parameters"]),
        ({"parameters": {"temprature": 0.1}}, ["/parameters/temprature"]),
        ({"parameters": {"a/b~c": 1}}, ["/parameters/a~1b~0c"]),
        ({"parameters": {"temperature": -1}}, ["/parameters/temperature"]),
        ({"parameters": {"temperature": "0"}}, ["/parameters/temperature"]),
        ({"parameters": {"temperature": True}}, ["/parameters/temperature"]),
        ({"parameters": {"max_tokens": 0}}, ["/parameters/max_tokens"]),
        ({"parameters": {"max_tokens": 10**30}}, ["/parameters/max_tokens"]),
        ({"parameters": {"max_tokens": 1.5}}, ["/parameters/max_tokens"]),
        ({"parameters": {"seed": 2**70}}, ["/parameters/seed"]),
        ({"parameters": {"stop": []}}, ["/parameters/stop"]),
        ({"parameters": {"logit_bias": {"x": 1}}}, ["/parameters/logit_bias"]),
        ({"parameters": {"metadata": {"a": 1}}}, ["/parameters/metadata"]),
        ({"parameters": {"max_tokens_field": "stream"}}, ["/parameters/max_tokens_field"]),
        ({"parameters": {"max_tokens_field": "model"}}, ["/parameters/max_tokens_field"]),
        ({"parameters": {"max_tokens_field": "seed"}}, ["/parameters/max_tokens_field"]),
        ({"parameters": {"max_tokens_field": "max_completion_tokens"}}, []),
        (
            {"parameters": {"max_tokens_field": "most", "extra_body": {"most": 1}}},
            ["/parameters/max_tokens_field"],
        ),
        ({"parameters": {"stream": False}}, ["/parameters/stream"]),
        ({"parameters": {"messages": []}}, ["/parameters/messages"]),
        ({"parameters": {"n": 2}}, ["/parameters/n"]),
        ({"parameters": {"extra_body": {"n": 2}}}, ["/parameters/extra_body"]),
        ({"parameters": {"extra_body": "x"}}, ["/parameters/extra_body"]),
        ({"parameters": {"extra_body": {"x": "y" * 30_000}}}, ["/parameters/extra_body"]),
        (
            {"parameters": {"max_tokens": 1, "max_completion_tokens": 1}},
            ["/parameters/max_tokens"],
        ),
        ({"prices": {"input": -1, "output": 1}}, ["/prices/input"]),
        ({"prices": {"input": 1}}, ["/prices/output"]),
        ({"prices": {"input": "NaN", "output": "1e99"}}, ["/prices/input", "/prices/output"]),
        ({"prices": {"input": "cheap", "output": True}}, ["/prices/input", "/prices/output"]),
        ({"prices": {**TABLE, "cahced": 1}}, ["/prices/cahced"]),
        ({"prices": {**TABLE, "from": "31.01.2026"}}, ["/prices/from"]),
        ({"prices": {**TABLE, "from": "2026-02-30"}}, ["/prices/from"]),
        ({"prices": {**TABLE, "from": 20260101}}, ["/prices/from"]),
        ({"prices": {**TABLE, "currency": "Euro"}}, ["/prices/currency"]),
        ({"prices": {}}, ["/prices/input", "/prices/output"]),
        ({"prices": {"tables": []}}, ["/prices/tables"]),
        ({"prices": {"tables": {}}}, ["/prices/tables"]),
        ({"prices": {"tables": [TABLE, TABLE]}}, ["/prices/tables/1/from"]),
        (
            {"prices": {"tables": [TABLE, {**TABLE, "from": "20260101"}]}},
            ["/prices/tables/1/from"],
        ),
        ({"prices": {**TABLE, "input": 1_000_000}}, ["/prices/input"]),
        ({"prices": {"tables": [7]}}, ["/prices/tables/0"]),
        ({"prices": {"tables": [TABLE], "x": 1}}, ["/prices/x"]),
        ({"prompts": {"reviewers": ["nobody"]}}, ["/prompts/reviewers/0"]),
        ({"prompts": {"review": "x" * 300_000}}, ["/prompts"]),
        ({"fallback": {"profile": "b"}}, ["/fallback/after"]),
        ({"fallback": {"profile": "b", "after": 0}}, ["/fallback/after"]),
        ({"fallback": {"profile": "b", "after": "3"}}, ["/fallback/after"]),
        ({"fallback": {"profile": WHOLE["name"], "after": 3}}, ["/fallback/profile"]),
        ({"fallback": {"profile": "b", "after": 3, "when": 1}}, ["/fallback/when"]),
        ({"fallback": "b"}, ["/fallback"]),
        ({"rate_limits": {"requests_per_minute": 0}}, ["/rate_limits/requests_per_minute"]),
        ({"rate_limits": {"tokens_per_minute": -5}}, ["/rate_limits/tokens_per_minute"]),
        ({"rate_limits": {"tokens_per_minute": 1e-300}}, ["/rate_limits/tokens_per_minute"]),
        ({"rate_limits": {"tokens_per_minute": 1e12}}, ["/rate_limits/tokens_per_minute"]),
        ({"rate_limits": {"requests_per_hour": 5}}, ["/rate_limits/requests_per_hour"]),
    ],
    ids=lambda value: None if isinstance(value, list) else str(value)[:60],
)
def test_nonsense_is_told_with_its_pointer(change: dict[str, Any], expected: list[str]) -> None:
    assert pointers(change) == expected


def test_everything_that_is_wrong_is_told_at_once() -> None:
    change = {"base_url": "x", "prices": {"input": -1}, "rate_limits": {"x": 1}}
    assert pointers(change) == ["/base_url", "/prices/input", "/prices/output", "/rate_limits/x"]


def test_what_only_one_server_knows_is_passed_on_and_cannot_take_over() -> None:
    extra = {"top_a": 0.2, "stream": False, "messages": []}
    asked = profile("http://a", parameters={"extra_body": extra, "max_tokens": 90})
    body = request_body(asked, PROMPT, Manner())
    assert (body["top_a"], body["stream"], len(body["messages"])) == (0.2, True, 2)
    assert "extra_body" not in body
    assert (body["max_tokens"], output_limit(asked, PROMPT)) == (90, 90)


def test_a_fallback_comes_after_so_many_errors_and_the_first_has_its_turn_again() -> None:
    fallback = Fallback(profile="b", after=3)
    assert [fallback.due(errors) for errors in range(10)] == [False] * 3 + [True] * 3 + [
        False
    ] * 3 + [True]


@pytest.mark.parametrize("given", [None, 7, [], {}, {"profile": "b"}, {"after": 2}])
def test_what_is_no_fallback_is_none(given: Any) -> None:
    assert fallback_of(given) is None
