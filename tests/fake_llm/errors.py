"""Ready-made faults of providers, as their real answers look."""

from collections.abc import Mapping
from typing import Any

from tests.fake_llm.reply import Reply

_TOO_LONG = (
    "This model's maximum context length is 8192 tokens. "
    "However, your messages resulted in 9120 tokens."
)


def status(
    number: int,
    *,
    message: str = "failed",
    code: str | None = None,
    kind: str = "server_error",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Any HTTP status with an error object."""
    error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=number, error={"error": error}, headers=headers or {})


def rate_limited(*, retry_after: float | str | None = None) -> Reply:
    """429; `retry_after` in seconds or as an HTTP date."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return status(
        429,
        message="Rate limit reached for requests",
        code="rate_limit_exceeded",
        kind="requests",
        headers=headers,
    )


def quota() -> Reply:
    """429 that no waiting repairs: the account has no money left."""
    return status(
        429,
        message="You exceeded your current quota, please check your plan and billing details.",
        code="insufficient_quota",
        kind="insufficient_quota",
    )


def bad_key() -> Reply:
    return status(
        401,
        message="Incorrect API key provided: sk-fake.",
        code="invalid_api_key",
        kind="invalid_request_error",
    )


def forbidden() -> Reply:
    return status(403, message="Not allowed.", code="forbidden", kind="permission_error")


def no_model() -> Reply:
    return status(
        404,
        message="The model `none` does not exist or you do not have access to it.",
        code="model_not_found",
        kind="invalid_request_error",
    )


def too_long() -> Reply:
    """400: the prompt does not fit."""
    return status(
        400, message=_TOO_LONG, code="context_length_exceeded", kind="invalid_request_error"
    )


def wrapped_too_long() -> Reply:
    """The same 400 as a careless proxy passes it on."""
    return status(500, message=f"upstream error: 400 {_TOO_LONG}", kind="proxy_error")


def prompt_filtered() -> Reply:
    """400: the provider's filter refused the prompt."""
    return status(
        400,
        message="The response was filtered due to the prompt triggering content management.",
        code="content_filter",
        kind="invalid_request_error",
    )


def bad_request() -> Reply:
    return status(400, message="Unknown parameter.", kind="invalid_request_error")


def server_error(number: int = 500, *, retry_after: float | None = None) -> Reply:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return status(number, message="The server had an error.", headers=headers)


def html_error(number: int = 502) -> Reply:
    """What a gateway in between answers: HTML."""
    return Reply(
        status=number,
        headers={"Content-Type": "text/html"},
        error=b"<html><body><h1>502 Bad Gateway</h1></body></html>",
    )


def content_filter(text: str = "") -> Reply:
    """200, some text, then finish reason `content_filter`."""
    return Reply(text=text, finish_reason="content_filter")


def refused(text: str = "I cannot help with that.") -> Reply:
    """200 with the refusal field."""
    return Reply(text="", refusal=text)


def prose(text: str = "I can't help with that.") -> Reply:
    """Plain text with finish `stop` where JSON was asked for."""
    return Reply(text=text)


def garbage(raw: bytes = b"\x00\xff\xfenot an event stream\n\n{{{") -> Reply:
    """Bytes that are no event stream, under status 200."""
    return Reply(garbage=raw)


def hang() -> Reply:
    """The request is taken, nothing is ever sent."""
    return Reply(hang=True)


def of_vllm(number: int, message: str, kind: str = "BadRequestError") -> Reply:
    """An error as vLLM writes it: without an inner object."""
    error = {"object": "error", "message": message, "type": kind, "param": None, "code": number}
    return Reply(status=number, error=error)


def of_llama(number: int, message: str, kind: str = "invalid_request_error", **more: Any) -> Reply:
    """An error as llama.cpp's server writes it: the code is the status."""
    error = {"code": number, "message": message, "type": kind, **more}
    return Reply(status=number, error={"error": error})


def shared_context_full() -> dict[str, Any]:
    """The last frame of every stream of a llama.cpp whose slots share a context that is full."""
    error = {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}
    return {"error": error}


def of_ollama(number: int, message: str) -> Reply:
    """An error as Ollama's own paths write it: a bare text."""
    return Reply(status=number, error={"error": message})


def of_azure(number: int, code: str, message: str, **more: Any) -> Reply:
    error = {"code": code, "message": message, "status": number, **more}
    return Reply(status=number, error={"error": error})


def of_gateway(inner: str, *, number: int = 502) -> Reply:
    """A gateway that wraps the provider's error as text."""
    metadata = {"raw": inner, "provider_name": "Somebody"}
    error = {"code": number, "message": "Provider returned error", "metadata": metadata}
    return Reply(status=number, error={"error": error})


def of_framework(
    number: int, *location: str, message: str = "Extra inputs are not permitted"
) -> Reply:
    """A field the server's web framework does not know."""
    detail = [{"type": "extra_forbidden", "loc": ["body", *location], "msg": message}]
    return Reply(status=number, error={"detail": detail})
