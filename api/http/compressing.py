"""Pages, styles and scripts go out compressed, also where no proxy stands before this process.

Never streams, parts of files, or JSON: the ETag of a draft is its version. Nor what a page of
another site asked for: whoever can choose words of a compressed page and see how long it gets can
guess the rest of it.
"""

from __future__ import annotations

import gzip
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TYPES = frozenset({"text/html", "text/css", "text/javascript", "image/svg+xml"})
_GZIP = re.compile(r"(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_SMALLEST = 1024
"""Bytes: less gains nothing."""
_LEVEL = 3
"""Three milliseconds for the longest page; 9 takes four times as long for a sixth less."""


def _is_taken(headers: Headers) -> bool:
    """Whether the client takes gzip, and no other site has a hand in it."""
    asked_by = headers.get("sec-fetch-site", "none")
    return asked_by in ("none", "same-origin") and bool(
        _GZIP.search(headers.get("accept-encoding", ""))
    )


def _may_be(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    media_type = headers.get("content-type", "").partition(";")[0]
    return media_type in _TYPES and start["status"] != 206 and "content-encoding" not in headers


class Compressing:
    """Around the routes; an answer that comes in several messages passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_taken = _is_taken(Headers(scope=scope))
        start: Message | None = None

        async def pass_on(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _may_be(message):
                start = message  # its headers depend on the body
                return
            if start is not None:
                message = _compressed(start, message, is_taken=is_taken)
                await send(start)
                start = None
            await send(message)

        await self.app(scope, receive, pass_on)


def _compressed(start: Message, message: Message, *, is_taken: bool) -> Message:
    """The body as it goes out; the headers of `start` say how."""
    headers, body = MutableHeaders(scope=start), message.get("body", b"")
    headers.add_vary_header("Accept-Encoding")
    if not is_taken or message.get("more_body") or len(body) < _SMALLEST:
        return message
    body = gzip.compress(body, _LEVEL, mtime=0)
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    if (tag := headers.get("etag")) and not tag.startswith("W/"):
        headers["ETag"] = f"W/{tag}"  # the same page in other bytes
    return {**message, "body": body}
