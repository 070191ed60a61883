"""What happens to every request before a route sees it, and to every answer after.

Request id, Host and Origin, who asks, size while reading, security headers, the log line, and the
last net: what fails inside leaves as a problem without its message. Plain ASGI, so streams pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.files import recordings
from api.http import metrics
from api.http.auth import authenticate, is_loopback, unauthenticated
from api.http.errors import Refusal, log_failure, not_found, of_failure, problem, too_large
from api.http.principals import NOBODY
from api.http.requests import FORM_BYTES, TEXT_BYTES
from api.http.state import State
from deploy.database import new_id
from deploy.settings import Settings
from workflows.vocabulary import ErrorCode

log = logging.getLogger("redraft.api")

DRAIN_BYTES, DRAIN_SECONDS = 100_000_000, 10.0
SILENCE_SECONDS = 30.0
"""In which nothing of a request's body arrives: it is not waited for any longer."""
_RECORDED = re.compile(
    r"/api/documents|/api/runs|/runs/new|/api/documents/[^/]+/sources|/documents/[^/]+/recordings"
)
"""Where a form may bring a recording."""
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SECURITY = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "media-src 'self' blob:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _hosts(settings: Settings) -> frozenset[str]:
    further = (name.strip().lower() for name in settings.api_hosts.split(","))
    return frozenset({settings.api_host.lower(), *filter(None, further)})


def _check_host(headers: Headers, allowed: frozenset[str]) -> None:
    host = headers.get("host", "").lower()
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = ""
    if not is_loopback(name) and name not in allowed:
        raise Refusal(
            400,
            ErrorCode.INVALID_REQUEST,
            "this Host is not served here; add it to REDRAFT_API_HOSTS",
            params={"header": "Host"},
        )


def _place(origin: str) -> str:
    """Host and port of an origin, "" for what is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _check_origin(method: str, headers: Headers) -> None:
    """A browser names the page's origin with every write; programs send none."""
    if method in _SAFE:
        return
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    site = headers.get("sec-fetch-site", "none")
    other = origin is not None and _place(origin) != host
    if other or (origin is None and site == "cross-site"):
        raise Refusal(403, ErrorCode.BAD_ORIGIN, "writes from pages of another origin are refused")


def _check_form(headers: Headers) -> None:
    """Of any other charset its reader takes what Python knows, be it no encoding of text."""
    kind, options = parse_options_header(headers.get("content-type"))
    charset = options.get(b"charset", b"utf-8").lower()
    if kind == b"multipart/form-data" and charset not in (b"utf-8", b"utf8", b"us-ascii"):
        raise Refusal(
            415, ErrorCode.UNSUPPORTED_MEDIA, "the names of a form are UTF-8; leave its charset out"
        )


def largest_body(path: str, headers: Headers, settings: Settings) -> int:
    """Largest body; some forms may bring a recording."""
    if not headers.get("content-type", "").lower().startswith("multipart/form-data"):
        return TEXT_BYTES
    return FORM_BYTES + (recordings.limit(settings) if _RECORDED.fullmatch(path) else 0)


_CLOSE = {"Connection": "close"}


class _Exchange:
    """One request and its answer: counts what comes in, completes the headers of what goes out."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, state: State, silence: float
    ) -> None:
        self.head = scope["method"] == "HEAD"
        """Answered as GET, by the same routes, without the body."""
        self.scope = {**scope, "method": "GET"} if self.head else scope
        scope = self.scope
        self._receive, self._send, self.state, self.silence = receive, send, state, silence
        self.headers = Headers(scope=scope)
        given = self.headers.get("x-request-id", "")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else new_id()
        scope["redraft.request_id"] = self.request_id
        self.limit = largest_body(scope["path"], self.headers, state.settings)
        self.received, self.complete = 0, False
        self.status, self.began, self.streams = 0, time.perf_counter(), False

    def check_length(self) -> None:
        declared = self.headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > self.limit:
            raise too_large(self.limit)

    async def receive(self) -> Message:
        if self.streams:
            return {"type": "http.disconnect"} if self.head else await self._receive_or_stop()
        message = await self._next()
        self.received += len(message.get("body", b""))
        if self.received > self.limit:
            raise too_large(self.limit)
        return message

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout(None if self.complete else self.silence):
                message = await self._receive()
        except TimeoutError:
            self.complete = True  # nothing is read any more
            raise Refusal(
                408, ErrorCode.INVALID_REQUEST, "the request stopped in the middle", headers=_CLOSE
            ) from None
        self.complete = not message.get("more_body", False)
        return message

    async def _drain(self) -> None:
        """Reads on, within bounds, what a refused request still sends: a client whose connection
        closes while it writes sees a broken pipe instead of the refusal."""
        taken = 0
        with contextlib.suppress(TimeoutError, Refusal):
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self.complete and taken < DRAIN_BYTES:
                    taken += len((await self._next()).get("body", b""))

    async def _receive_or_stop(self) -> Message:
        """A stream ends when the process is told to: to its route that looks like a client that
        left (else every open page would hold the shutdown up)."""
        receiving = asyncio.ensure_future(self._receive())
        stopping = asyncio.ensure_future(self.state.stopping.wait())
        try:
            await asyncio.wait({receiving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return await receiving if receiving.done() else {"type": "http.disconnect"}
        finally:
            receiving.cancel()
            stopping.cancel()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.status >= 400:
                await self._drain()
            headers = MutableHeaders(scope=message)
            self.streams = headers.get("content-type", "").startswith("text/event-stream")
            headers["X-Request-Id"] = self.request_id
            for name, value in _SECURITY.items():
                headers.setdefault(name, value)
            if self.scope["path"].startswith("/api/"):
                headers.setdefault("Cache-Control", "no-store")
        elif self.head:
            message = {**message, "body": b""}
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        await problem(self.request_id, refusal)(self.scope, self.receive, self.send)

    def close(self) -> None:
        seconds = time.perf_counter() - self.began
        route: Any = self.scope.get("route")
        path = str(getattr(route, "path", "other"))
        metrics.observe(self.scope["method"], path, self.status, seconds)
        quiet = self.scope["method"] in _SAFE and self.status < 500
        facts: Mapping[str, Any] = {
            "method": self.scope["method"],
            "route": path,
            "status": self.status,
            "milliseconds": round(seconds * 1000, 1),
            "request_id": self.request_id,
        }
        log.log(logging.DEBUG if quiet else logging.INFO, "request", extra=facts)


def _stopping() -> Refusal:
    """The process ends before this request could: nobody knows whether it had its effect, so it
    may be sent again with its key."""
    detail = "the service is being stopped; send it again, with the same Idempotency-Key"
    return Refusal(503, ErrorCode.UNAVAILABLE, detail, headers={"Retry-After": "2"})


class Edge:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, *, state: State, silence: float = SILENCE_SECONDS) -> None:
        self.app, self.state, self.silence = app, state, silence
        self.hosts = _hosts(state.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self.state, self.silence)
        try:
            self._admit(exchange)
            await self.app(exchange.scope, exchange.receive, exchange.send)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except asyncio.CancelledError:
            if not self.state.stopping.is_set() or exchange.status != 0:
                raise
            await exchange.refuse(_stopping())
        except ClientDisconnect:
            log.debug("client left", extra={"request_id": exchange.request_id})
        except Exception as error:
            await self._fail(exchange, error)
        finally:
            exchange.close()

    def _admit(self, exchange: _Exchange) -> None:
        scope, headers = exchange.scope, exchange.headers
        _check_host(headers, self.hosts)
        _check_origin(scope["method"], headers)
        principal = authenticate(self.state.settings, headers.get("authorization"))
        scope["redraft.principal"] = principal
        if principal is NOBODY and scope["path"] not in OPEN_PATHS:
            raise unauthenticated()
        if "\0" in scope["path"]:  # no id and no name holds it, and no row can
            raise not_found("page")
        _check_form(headers)
        exchange.check_length()

    async def _fail(self, exchange: _Exchange, error: Exception) -> None:
        refusal = of_failure(error)
        if refusal.code == ErrorCode.DISK_FULL:
            self.state.note_disk_full()
        log_failure(error, request_id=exchange.request_id, status=refusal.status_code)
        if exchange.status == 0:
            await exchange.refuse(refusal)
            return
        raise ConnectionError("the answer broke off") from None
