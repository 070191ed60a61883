"""Refusals and failures as pages: the sentence of their code, what can be done, and a way on.

`PageRoute` puts this net under every page; `UnknownPage` takes the addresses that nobody serves.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from api.http.cursors import BadCursor
from api.http.errors import Refusal, log_failure, not_found, of_failure
from api.http.state import request_id_of, state_of
from api.pages.render import Refused, page, words_of
from workflows.vocabulary import ErrorCode

_TRY_AGAIN = frozenset({503, 507, 500, 429})


def refused(request: Request, refusal: Refusal, *, lines: tuple[str, ...] = ()) -> Refused:
    """A refusal as a notice inside a page. Details are shown only where no sentence says enough."""
    words = words_of(request)
    link = None
    if refusal.code == ErrorCode.RUN_ACTIVE:
        other = refusal.params.get("run_id") or (refusal.run or {}).get("id")
        link = f"/runs/{other}" if other else None
    return Refused(
        code=str(refusal.code),
        sentence=words.sentence("refusal", refusal.code, refusal.params),
        request_id=request_id_of(request),
        lines=lines,
        link=link,
    )


def _as_page(request: Request, refusal: Refusal) -> bool:
    """A browser asks; but 401 makes it show its own dialogue."""
    return refusal.status_code != 401 and "text/html" in request.headers.get("accept", "")


async def error_page(request: Request, refusal: Refusal) -> Response:
    """The refusal as a whole page."""
    words, status = words_of(request), refusal.status_code
    headings = {
        404: words.text("Not found"),
        409: words.text("That did not happen"),
        501: words.text("Not built yet"),
        503: words.text("Not available at the moment"),
    }
    response = await page(
        request,
        "message.html",
        status=status,
        heading=headings.get(status, words.text("That did not work")),
        sentence_shown=words.sentence("refusal", refusal.code, refusal.params),
        detail="",
        code=str(refusal.code),
        request_id=request_id_of(request),
        way_on="/runs",
        way_on_word=words.text("Show all runs"),
        retry=request.url.path if status in _TRY_AGAIN and request.method == "GET" else None,
    )
    for name, value in (refusal.headers or {}).items():
        response.headers[name] = value
    return response


def _as_refusal(request: Request, error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, BadCursor):
        return Refusal(400, ErrorCode.INVALID_CURSOR, "this cursor was not given out here")
    if isinstance(error, RequestValidationError):
        return not_found("page")
    if isinstance(error, HTTPException):
        code = ErrorCode.NOT_FOUND if error.status_code == 404 else ErrorCode.INVALID_REQUEST
        return Refusal(error.status_code, code, "refused", headers=error.headers)
    refusal = of_failure(error)
    if refusal.code == ErrorCode.DISK_FULL:
        state_of(request).note_disk_full()
    log_failure(error, request_id=request_id_of(request), status=refusal.status_code)
    return refusal


_ELSEWHERE = frozenset({"api", "docs", "openapi.json", "healthz", "readyz", "metrics"})
"""First parts of addresses that other routers serve, wherever they stand in the application."""


class PageRoute(APIRoute):
    """A route whose refusals and failures are pages too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except HTTPException as error:
                refusal = _as_refusal(request, error)
                if not _as_page(request, refusal):
                    raise
                return await error_page(request, refusal)
            except Exception as error:
                return await error_page(request, _as_refusal(request, error))

        return handle


class UnknownPage(PageRoute):
    """The last route of all: an address that nobody serves, asked for by GET."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        first = str(scope.get("path", "")).strip("/").partition("/")[0]
        if scope.get("method") != "GET" or first in _ELSEWHERE:
            return Match.NONE, {}
        return super().matches(scope)
