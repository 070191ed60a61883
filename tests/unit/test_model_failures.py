"""Errors of providers are mapped once, and what they say is safe to store."""

import email.utils

import httpx2
import pytest

from activities.failures import (
    ProviderError,
    Verdict,
    classify,
    key_not_set,
    retry_after,
    scrub,
)
from workflows.vocabulary import Reason


def answer(status: int | None, **error: object) -> ProviderError:
    return ProviderError(status=status, body={"error": error})


@pytest.mark.parametrize(
    ("error", "verdict", "code"),
    [
        (answer(429, code="insufficient_quota"), Verdict.FINAL, "no_quota"),
        (answer(402, message="pay"), Verdict.FINAL, "no_quota"),
        (answer(403, message="credit balance is too low"), Verdict.FINAL, "no_quota"),
        (answer(429, message="Rate limit: too many tokens"), Verdict.RETRY, "rate_limited"),
        (answer(400, code="invalid_api_key"), Verdict.FINAL, "bad_key"),
        (answer(400, code="model_not_found"), Verdict.FINAL, "unknown_model"),
        (answer(422, message="prompt is too long: 9 tokens"), Verdict.FINAL, "context_too_long"),
        (answer(500, message="Please reduce the length"), Verdict.FINAL, "context_too_long"),
        (answer(403, code="content_policy_violation"), Verdict.GUARDRAIL, "content_filter"),
        (answer(500, message="content filter service away"), Verdict.RETRY, "http_500"),
        (answer(408), Verdict.RETRY, "http_408"),
        (answer(529, message="Overloaded"), Verdict.RETRY, "http_529"),
        (answer(418), Verdict.FINAL, "bad_request"),
        (answer(302), Verdict.FINAL, "bad_address"),
        (answer(None, message="rate limit reached"), Verdict.RETRY, "rate_limited"),
        (answer(None, code="context_length_exceeded"), Verdict.FINAL, "context_too_long"),
        (answer(None, code="content_filter"), Verdict.GUARDRAIL, "content_filter"),
        (answer(None, message="boom"), Verdict.RETRY, "stream_error"),
        (ProviderError(status=503, body=b"\xff<html>"), Verdict.RETRY, "http_503"),
        (ProviderError(status=400, body=b'{"detail": "no"}'), Verdict.FINAL, "bad_request"),
        (ProviderError(status=400, body=b"[" * 9000), Verdict.FINAL, "bad_request"),
        (httpx2.ConnectError("refused"), Verdict.RETRY, "unreachable"),
        (httpx2.ConnectTimeout("slow"), Verdict.RETRY, "timeout"),
        (httpx2.ReadError("reset"), Verdict.RETRY, "connection_lost"),
        (httpx2.RemoteProtocolError("left"), Verdict.RETRY, "connection_lost"),
        (httpx2.UnsupportedProtocol("ftp"), Verdict.FINAL, "bad_address"),
        (ConnectionResetError(), Verdict.RETRY, "connection_lost"),
        (TimeoutError(), Verdict.RETRY, "timeout"),
    ],
)
def test_an_error_has_its_verdict(error: Exception, verdict: Verdict, code: str) -> None:
    failure = classify(error)
    assert (failure.verdict, failure.code) == (verdict, code)
    assert failure.message
    by_verdict = {
        Verdict.FINAL: {Reason.PROVIDER_REFUSED},
        Verdict.GUARDRAIL: {Reason.REFUSAL},
        Verdict.RETRY: {Reason.RATE_LIMITED, Reason.SERVER_ERROR, Reason.CONNECTION},
    }
    assert failure.cause in by_verdict[verdict]


def test_an_error_of_ours_is_not_taken_for_one_of_the_provider() -> None:
    with pytest.raises(KeyError):
        classify(KeyError("x"))


def test_an_untrusted_certificate_says_what_to_set() -> None:
    failure = classify(httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self signed"))
    assert "SSL_CERT_FILE" in failure.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After-Ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": email.utils.formatdate(1030, usegmt=True)}, 30.0),
        ({"Retry-After": email.utils.formatdate(900, usegmt=True)}, 0.0),
        ({"Retry-After": "999999999"}, 86400.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1000.0) == seconds


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Incorrect API key provided: sk-abc*def.", "Incorrect API key provided: …"),
        ("key abcdefghijklmnopqrstuvwxyz0123456789 is bad", "key … is bad"),
        ("header Bearer xyz refused", "header … refused"),
        ("key my-own-key is bad", "key … is bad"),
        ("see https://host/v1?k=1 now", "see … now"),
        ("no file /srv/models/a.gguf here", "no file … here"),
        ("a\x00b\ud800 \n c", "ab\ufffd c"),
        ("cannot parse 'the budget is twenty five Euros'", ""),
        ("short: Euros", "short: Euros"),
    ],
)
def test_a_providers_words_are_scrubbed(told: str, expected: str) -> None:
    prompt = ("Ana says the budget is twenty five Euros for all.",)
    assert scrub(told, secrets=("my-own-key",), prompt=prompt) == expected


def test_messages_are_short_and_say_what_to_do() -> None:
    failure = classify(answer(400, message="x" * 31 + " y" * 5000))
    assert len(failure.message) <= 300
    assert "SOME_KEY" in key_not_set("SOME_KEY").message
    assert len(key_not_set("K" * 900).message) <= 300
