"""Errors of model providers, mapped once: try again, give up, or a guardrail.

A message here goes into rows and onto pages. It is a sentence of ours by code; what the provider
wrote is added only after `scrub` took keys out and made sure that it repeats nothing of the prompt.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from deploy.database import clean
from workflows.vocabulary import Reason

MESSAGE_LENGTH = 300
_TOLD_LENGTH = 160
_ECHO = 24
"""A run of so many characters that is also in the prompt counts as a piece of the prompt."""
_LONGEST_WAIT = 24 * 3600.0


class Verdict(StrEnum):
    RETRY = "retry"
    FINAL = "final"
    GUARDRAIL = "guardrail"
    AGAIN = "again"
    """At once, in another form: the server knows no such field or format."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a call gave no usable reply. `retry_after` is in seconds; `code` is short and stable."""

    verdict: Verdict
    cause: Reason
    code: str
    http_status: int | None
    retry_after: float | None
    message: str


class ProviderError(Exception):
    """An answer that is no reply: a status other than 200, or an error inside the stream.

    `told` is the provider's own text, scrubbed by whoever knows the key and the prompt; `text` is
    all of it, for recognition only, and never leaves `classify`.
    """

    def __init__(
        self,
        *,
        status: int | None,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | Mapping[str, Any] = b"",
        secrets: Sequence[str] = (),
        prompt: Sequence[str] = (),
    ) -> None:
        answer = _read_answer(body)
        super().__init__(f"provider answered {status or 'with an error in the stream'}")
        self.status = status
        self.headers = headers or {}
        self.code = answer.code
        self.kind = answer.kind
        self.param = answer.param
        self.text = answer.text
        self.told = scrub(answer.message, secrets=secrets, prompt=prompt)


class KeyNotSetError(Exception):
    """The environment variable that the profile names is empty, or no key."""

    def __init__(self, variable: str) -> None:
        super().__init__(variable)
        self.variable = variable


class BadAddressError(Exception):
    """The base URL of the profile is no http(s) address."""


SENTENCES: Mapping[str, str] = {
    "bad_key": "The provider refused the key; put a valid one into the environment variable that "
    "the profile names, restart the worker, resume.",
    "no_quota": "The provider's account has no quota left; raise it there, resume.",
    "unknown_model": "The provider does not know this model or path; correct model or base URL in "
    "a new version of the profile, resume.",
    "context_too_long": "The request does not fit the model's context; use a model with a larger "
    "one in the profile, or shorter sources, resume.",
    "prompt_cut": "The model server counted far fewer tokens than were sent: it read only part of "
    "the prompt; give it more context (Ollama: num_ctx), or lower window_tokens in the profile, "
    "resume.",
    "bad_request": "The provider refused the request; correct the profile's parameters, resume.",
    "bad_address": "The base URL of the profile is not the http or https address of a model "
    "server, without user name; correct it, resume.",
    "proxy_refused": "The proxy between here and the model server wants other credentials; set "
    "them in the proxy variables of the worker, restart it, resume.",
    "untrusted": "The model server's certificate is not trusted, expired or for another name; set "
    "SSL_CERT_FILE to your authority's file and restart the worker, or repair the server, resume.",
    "content_filter": "The provider's content filter stopped the request or the reply.",
    "refusal": "The model refused to answer.",
    "rate_limited": "The provider asks to slow down.",
    "bucket": "The profile's own rate limit is used up for the moment.",
    "overloaded": "The provider is overloaded.",
    "context_shared": "The model server's context is shared by its requests and was full; start it "
    "with more, or with a fixed share for each.",
    "timeout": "The model server did not answer in time.",
    "connection_lost": "The connection to the model server broke before anything arrived.",
    "unreachable": "The model server cannot be reached.",
    "no_stream": "The model server answered with something that is no reply.",
    "stream_error": "The model server reported an error inside its reply.",
    "form_refused": "The model server does not take this form of request; the part is asked again "
    "at once in a plainer one.",
}

_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|exceeds? (the |this )?(model'?s? )?(max\w* )?(context|input)"
    r"|reduce the length|max_prompt_tokens|longer than the model",
    re.I,
)
_SHARED_FULL = re.compile(r"context size has been exceeded", re.I)
"""llama.cpp, of requests that each fit and together do not: it ends all that are under way. They
may be asked again; one that never fits is refused in other words, before the first byte."""
_NO_QUOTA = re.compile(
    r"insufficient[_ ](quota|balance|funds|credit)|exceeded your current quota|billing[_ ]hard"
    r"|credit balance is too low|payment required",
    re.I,
)
_FILTERED = re.compile(
    r"content[_ ]?filter|content[_ ]policy|content[_ ]management|responsible[_ ]?ai|moderation"
    r"|safety (system|settings)",
    re.I,
)
_BAD_KEY = re.compile(r"invalid[_ ]api[_ ]key|incorrect api key|invalid[_ ]authentication", re.I)
_NO_MODEL = re.compile(r"model_not_found|deploymentnotfound", re.I)
_RATE = re.compile(r"rate[_ ]?limit|too many requests|throttl", re.I)
_OVERLOADED = re.compile(r"overloaded|capacity|engine is busy", re.I)
_KEY = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf)[-_][\w*.-]{3,}|\bBearer\s+\S+|\b[A-Za-z0-9_-]{32,}|\S*\*{3,}\S*", re.I
)
_URL = re.compile(r"\w+://\S+|(?<!\w)/(?:[\w.-]+/)+[\w.-]*")


def classify(error: Exception) -> Failure:
    """What an error of a call means. Raises the error again when it is none of a provider."""
    if isinstance(error, ProviderError):
        return _classify_answer(error)
    if isinstance(error, KeyNotSetError):
        return key_not_set(error.variable)
    if isinstance(error, BadAddressError):
        return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_address")
    return _classify_transport(error)


def key_not_set(variable: str) -> Failure:
    return Failure(
        verdict=Verdict.FINAL,
        cause=Reason.PROVIDER_REFUSED,
        code="key_not_set",
        http_status=None,
        retry_after=None,
        message=clean(
            f"The environment variable {variable} has no usable key; set it for the worker, "
            "restart the worker, resume. A server that asks for no key takes any word."
        )[:MESSAGE_LENGTH],
    )


def refused(code: str, http_status: int | None = None, told: str = "") -> Failure:
    """A guardrail stop: `refusal` or `content_filter`."""
    return _failure(Verdict.GUARDRAIL, Reason.REFUSAL, code, status=http_status, told=told)


def form_refused(error: ProviderError) -> Failure:
    """The request was well but for its form (`activities.model.formats`)."""
    return _failure(
        Verdict.AGAIN,
        Reason.PROVIDER_REFUSED,
        "form_refused",
        status=error.status,
        told=error.told,
    )


def prompt_cut(http_status: int | None) -> Failure:
    """It replied, to a part of what was sent: no review of the whole source."""
    return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "prompt_cut", status=http_status)


def timed_out() -> Failure:
    """Nothing arrived within the time limits."""
    return _failure(Verdict.RETRY, Reason.CONNECTION, "timeout")


def lost() -> Failure:
    """The connection ended before anything arrived."""
    return _failure(Verdict.RETRY, Reason.CONNECTION, "connection_lost")


def not_a_stream(http_status: int | None) -> Failure:
    return _failure(Verdict.RETRY, Reason.SERVER_ERROR, "no_stream", status=http_status)


NO_ROOM = "bucket"


def no_room(seconds: float) -> Failure:
    """Not the provider's: the profile's own rate limit leaves no room for a call before then."""
    return _failure(Verdict.RETRY, Reason.RATE_LIMITED, NO_ROOM, retry_after=seconds)


def scrub(text: str, *, secrets: Sequence[str] = (), prompt: Sequence[str] = ()) -> str:
    """A provider's message without keys, addresses and control characters, or '' when it repeats
    a piece of the prompt. At most 160 characters."""
    told = " ".join(clean(text[:4000]).split())
    for secret in secrets:
        if secret:
            told = told.replace(secret, "…")
    told = _URL.sub("…", _KEY.sub("…", told))
    told = "".join(char for char in told if char.isprintable())[:_TOLD_LENGTH]
    if _echoes(told, prompt):
        return ""
    return told


def _echoes(told: str, prompt: Sequence[str]) -> bool:
    if len(told) <= _ECHO:
        pieces = [told] if len(told) > 8 else []
    else:
        pieces = [told[at : at + _ECHO] for at in range(len(told) - _ECHO + 1)]
    return any(piece in text for text in prompt for piece in pieces)


def _classify_answer(error: ProviderError) -> Failure:
    status, text = error.status, error.text
    # A proxy may wrap the provider's 400 into a 500: the words tell, not the status.
    named = text if status is not None and status >= 500 else f"{error.code} {error.kind}"
    final = (
        ("proxy_refused", status == 407),
        ("no_quota", status == 402 or bool(_NO_QUOTA.search(text))),
        ("bad_key", status in (401, 403) or bool(_BAD_KEY.search(named))),
        ("unknown_model", status == 404 or bool(_NO_MODEL.search(named))),
        ("context_too_long", status not in (429, 503) and _too_long(text)),
    )
    if status != 429 and _filtered(error):
        return refused("content_filter", status, error.told)
    for code, holds in final:
        if holds:
            return _failure(
                Verdict.FINAL, Reason.PROVIDER_REFUSED, code, status=status, told=error.told
            )
    if status == 429 or (status is None and _RATE.search(text)):
        return _retry(error, Reason.RATE_LIMITED, "rate_limited")
    if _SHARED_FULL.search(text):
        return _retry(error, Reason.SERVER_ERROR, "context_shared")
    if status is None:
        code = "overloaded" if _OVERLOADED.search(text) else "stream_error"
        return _retry(error, Reason.SERVER_ERROR, code)
    if status >= 500 or status in (408, 409, 425):
        return _retry(error, Reason.SERVER_ERROR, f"http_{status}")
    if status < 400:
        return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_address", status=status)
    return _failure(
        Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_request", status=status, told=error.told
    )


def _too_long(text: str) -> bool:
    return bool(_TOO_LONG.search(text)) and not _SHARED_FULL.search(text)


def _filtered(error: ProviderError) -> bool:
    if _FILTERED.search(f"{error.code} {error.kind}"):
        return True
    return error.status in (400, 422) and bool(_FILTERED.search(error.text))


def _retry(error: ProviderError, cause: Reason, code: str) -> Failure:
    return _failure(
        Verdict.RETRY,
        cause,
        code,
        status=error.status,
        told=error.told,
        retry_after=retry_after(error.headers),
    )


def _classify_transport(error: Exception) -> Failure:
    import httpx2

    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return timed_out()
    if isinstance(error, httpx2.ProxyError) and "407" in str(error):
        return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "proxy_refused", status=407)
    if isinstance(error, httpx2.ConnectError) and "CERTIFICATE" in str(error).upper():
        return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "untrusted")
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return _failure(Verdict.RETRY, Reason.CONNECTION, "unreachable")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return _failure(Verdict.FINAL, Reason.PROVIDER_REFUSED, "bad_address")
    if isinstance(error, httpx2.HTTPError | OSError):
        return lost()
    raise error


def _failure(
    verdict: Verdict,
    cause: Reason,
    code: str,
    *,
    status: int | None = None,
    told: str = "",
    retry_after: float | None = None,
) -> Failure:
    sentence = SENTENCES.get(code) or f"The model server answered {status}."
    message = f"{sentence} It says: {told}" if told else sentence
    return Failure(
        verdict=verdict,
        cause=cause,
        code=code,
        http_status=status,
        retry_after=retry_after,
        message=clean(message)[:MESSAGE_LENGTH],
    )


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds a server asks to wait: `Retry-After-Ms`, `Retry-After` as seconds or HTTP date."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(lower.get(name, ""))
        if seconds is not None:
            return min(max(seconds * factor, 0.0), _LONGEST_WAIT)
    try:
        moment = email.utils.parsedate_to_datetime(lower.get("retry-after", ""))
    except ValueError:
        return None
    seconds = moment.timestamp() - (time.time() if now is None else now)
    return min(max(seconds, 0.0), _LONGEST_WAIT)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text) else None


@dataclass(frozen=True, kw_only=True)
class _Answer:
    message: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""
    text: str = field(default="", repr=False)


def _read_answer(body: bytes | str | Mapping[str, Any]) -> _Answer:
    """The parts of an error object in the shapes servers send it; HTML and text as they are."""
    given: Any = body
    if isinstance(body, bytes):
        given = body[:20_000].decode("utf-8", "replace")
    if isinstance(given, str):
        text = given
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return _Answer(message="" if "<" in text[:200] else text, text=text)
    if not isinstance(given, Mapping):
        return _Answer(text=str(given)[:20_000])
    inner = given.get("error", given.get("detail", given))
    if not isinstance(inner, Mapping):
        return _Answer(message=str(inner), text=str(given)[:20_000])
    return _Answer(
        message=_word(inner.get("message")),
        code=_word(inner.get("code")),
        kind=_word(inner.get("type")),
        param=_word(inner.get("param")),
        text=str(given)[:20_000],
    )


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
