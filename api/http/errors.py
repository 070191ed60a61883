"""Refusals and failures as `application/problem+json`; the one place where they are rendered.

`code` is stable, `detail` English, `params` the facts of the sentence. What fails inside is
answered by its class only: no message of a driver, no path and no text leaves the process.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.http.state import LOCK_WAIT, request_id_of
from deploy.database import AWAY
from workflows.vocabulary import ErrorCode

log = logging.getLogger("redraft.api")

PROBLEM = "application/problem+json"
MOST_ERRORS = 100
"""Of one answer; whoever sends a thousand wrong fields learns it from the first."""
TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    416: "Not in this range",
    422: "Does not fit",
    429: "Too many requests",
    500: "Internal error",
    501: "Not built yet",
    503: "Unavailable",
    507: "Disk full",
}
_CODE_OF_STATUS = {
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    413: ErrorCode.TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA,
    501: ErrorCode.NOT_BUILT,
    503: ErrorCode.UNAVAILABLE,
}


class Refusal(HTTPException):
    """A refusal by code. `errors` are (pointer, code, detail) triples; with `run_id` the answer
    carries that run as it is now (added by whoever ran the command)."""

    def __init__(
        self,
        status: int,
        code: ErrorCode,
        detail: str,
        *,
        params: Mapping[str, Any] | None = None,
        errors: Sequence[tuple[str, str, str]] = (),
        headers: Mapping[str, str] | None = None,
        run_id: str | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code, self.params = code, dict(params or {})
        self.errors = [{"pointer": p, "code": c, "detail": d} for p, c, d in errors]
        self.run_id = run_id
        self.run: dict[str, Any] | None = None


def misfit(
    pointer: str, detail: str, *, code: ErrorCode = ErrorCode.INVALID_REQUEST, kind: str = ""
) -> Refusal:
    """422 for one field; `kind` is a finer code of what is wrong with it."""
    return Refusal(422, code, detail, errors=[(pointer, kind or str(code), detail)])


def not_found(what: str) -> Refusal:
    return Refusal(404, ErrorCode.NOT_FOUND, f"no such {what}", params={"what": what})


def too_large(limit: int, *, unit: str = "bytes", pointer: str | None = None) -> Refusal:
    detail = f"at most {limit} {unit}"
    return Refusal(
        413,
        ErrorCode.TOO_LARGE,
        detail,
        params={"limit": limit, "unit": unit},
        errors=[(pointer, str(ErrorCode.TOO_LARGE), detail)] if pointer else (),
    )


def problem(request_id: str, refusal: Refusal) -> Response:
    """The answer of a refusal."""
    status = refusal.status_code
    content: dict[str, Any] = {
        "type": f"/docs#{refusal.code}",
        "title": TITLES.get(status, "Refused"),
        "status": status,
        "detail": refusal.detail,
        "code": str(refusal.code),
        "request_id": request_id,
        "params": refusal.params,
        "errors": refusal.errors,
    }
    if refusal.run is not None:
        content["run"] = refusal.run
    return Response(
        json.dumps(content, ensure_ascii=False),
        status,
        headers=dict(refusal.headers or {}),
        media_type=PROBLEM,
    )


def pointer_of(location: Sequence[int | str]) -> str:
    """JSON pointer of a field."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location)


def from_pydantic(
    errors: Sequence[Mapping[str, Any] | ErrorDetails], *, prefix: tuple[str, ...] = ()
) -> Refusal:
    """422 with one entry a field, for the first of many. Values that were sent are not repeated."""
    found = [
        (pointer_of((*prefix, *entry["loc"])), entry["type"], entry["msg"])
        for entry in errors[:MOST_ERRORS]
    ]
    detail = "; ".join(f"{pointer or '/'}: {text}" for pointer, _, text in found[:3])
    return Refusal(422, ErrorCode.INVALID_REQUEST, detail, errors=found)


def of_failure(error: BaseException) -> Refusal:
    """What a failure inside is to the caller."""
    if isinstance(error, asyncpg.DiskFullError):
        return Refusal(507, ErrorCode.DISK_FULL, "the database's disk is full; nothing was stored")
    if isinstance(error, asyncpg.LockNotAvailableError):
        return Refusal(
            503,
            ErrorCode.UNAVAILABLE,
            "another program holds these rows in an open transaction; nothing was changed; try "
            "again, and see `./redraft doctor`",
            params={"waited": f"{LOCK_WAIT:.0f}"},
            headers={"Retry-After": "2"},
        )
    if isinstance(error, (*AWAY, asyncpg.InsufficientResourcesError)):
        return Refusal(
            503,
            ErrorCode.UNAVAILABLE,
            "the database does not answer or is read-only; try again",
            headers={"Retry-After": "2"},
        )
    if isinstance(error, asyncpg.UndefinedTableError | asyncpg.UndefinedColumnError):
        return Refusal(
            503,
            ErrorCode.UNAVAILABLE,
            "the database's schema is behind; run `./redraft migrate`",
            headers={"Retry-After": "5"},
        )
    return Refusal(500, ErrorCode.INTERNAL, "a fault of ours; the log has it under request_id")


def log_failure(error: BaseException, *, request_id: str, status: int) -> None:
    """Class and place, never the message: a driver's message may hold a document's text."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    log.log(
        logging.ERROR if status == 500 else logging.WARNING,
        "request failed",
        extra={
            "error": type(error).__name__,
            "status": status,
            "request_id": request_id,
            "where": " < ".join(f"{f.name}:{f.lineno}" for f in reversed(frames)),
        },
    )


async def on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, Refusal):
        return problem(request_id_of(request), error)
    status = error.status_code
    code = _CODE_OF_STATUS.get(
        status, ErrorCode.INTERNAL if status >= 500 else ErrorCode.INVALID_REQUEST
    )
    refusal = Refusal(status, code, TITLES.get(status, "Refused"), headers=error.headers)
    return problem(request_id_of(request), refusal)


async def on_misfit(request: Request, error: Exception) -> Response:
    """A path or query value that FastAPI itself refused; its pointer is its name."""
    assert isinstance(error, RequestValidationError)
    errors = [{**entry, "loc": entry["loc"][1:]} for entry in error.errors()]
    return problem(request_id_of(request), from_pydantic(errors))
