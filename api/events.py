"""`GET /api/runs/{id}/events` (live stream, or a page as JSON) and `GET /api/events` for many runs.

Where a stream begins: behind `Last-Event-ID` or `?after=`, whichever is larger. A `Last-Event-ID`
from the future means that the database was restored: a `reset` frame says where the run stands.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from api import queries, wire
from api.feed import Feed, Subscriber, decode_positions
from api.http import cursors
from api.http.auth import needs
from api.http.errors import Refusal, not_found
from api.http.paths import Page, Paging
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.queries import stream as queries_stream
from api.queries.stream import Head
from api.stream import EventStream
from workflows.vocabulary import ErrorCode

MOST_RUNS = 100
_LONGEST_SEQ = 18

router = APIRouter(tags=["events"])
Reading = Annotated[Principal, needs(Scope.READ, content=False)]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"model": wire.Page[wire.Event], "content": {"text/event-stream": {}}},
    204: {"description": "the run is final and nothing is left to send"},
}
_LAST_ID = {
    "name": "Last-Event-ID",
    "in": "header",
    "schema": {"type": "string"},
    "description": "the last `id:` a client has; the stream begins behind it",
}
_AFTER = {
    "name": "after",
    "in": "query",
    "schema": {"type": "integer", "minimum": 0},
    "description": "seq of an event; the larger of this and Last-Event-ID wins",
}
_RUNS = {
    "name": "runs",
    "in": "query",
    "required": True,
    "schema": {"type": "string"},
    "description": "up to 100 runs by comma, each as id or id:seq",
}


@router.get(
    "/api/runs/{run_id}/events",
    responses=_STREAM,
    response_model=None,
    openapi_extra={"parameters": [_AFTER, _LAST_ID]},
)
async def run_events(run_id: str, request: Request, page: Page, principal: Reading) -> Response:
    """Events of one run. With `Accept: application/json` a page of them, else a stream."""
    run_id = run_id.lower()
    after = _seq(request.query_params.get("after"), "after")
    last = _seq(request.headers.get("last-event-id"), "Last-Event-ID")
    if _wants_json(request):
        return await _page(run_id, after, page, request, principal)
    heads = await _heads(request, [run_id])
    head = heads.get(run_id)
    if head is None:
        raise not_found("run")
    if after > max(last, head.event_seq):
        raise _from_the_future(head.event_seq)
    start = max(after, last)
    subscriber = Subscriber({run_id: start}, many=False, sees_content=principal.sees_content)
    return _answer(request, subscriber, heads)


@router.get(
    "/api/events",
    responses=_STREAM,
    response_model=None,
    openapi_extra={"parameters": [_RUNS, _LAST_ID]},
)
async def many_events(request: Request, principal: Reading) -> Response:
    """One stream for up to 100 runs, each named as `id` or `id:seq` (behind that event; one from
    the future is reset, for here it is what a client has seen).

    Data names its `run_id`; `id:` holds every run's seq. Runs that do not exist are left out.
    """
    positions = _named_runs(request.query_params.getlist("runs"))
    heads = await _heads(request, list(positions))
    last = _last_positions(request.headers.get("last-event-id"))
    starts = {
        run_id: max(after, last.get(run_id, 0))
        for run_id, after in positions.items()
        if run_id in heads
    }
    if not starts:
        raise not_found("run")
    subscriber = Subscriber(starts, many=True, sees_content=principal.sees_content)
    return _answer(request, subscriber, heads)


def _answer(request: Request, subscriber: Subscriber, heads: dict[str, Head]) -> Response:
    """The stream, or 204 when every run is over and was seen to its end."""
    reset = {
        run_id: heads[run_id].event_seq
        for run_id, seq in subscriber.positions.items()
        if seq > heads[run_id].event_seq
    }
    if not reset and all(
        heads[run_id].over and seq == heads[run_id].event_seq
        for run_id, seq in subscriber.positions.items()
    ):
        return Response(status_code=204)
    for run_id, seq in reset.items():
        subscriber.positions[run_id] = seq
        subscriber.tell(run_id, "reset", {"event_seq": seq})
    state = state_of(request)
    return EventStream(state.one(Feed, state.pool), subscriber)


async def _page(
    run_id: str, after: int, wanted: Paging, request: Request, principal: Principal
) -> Response:
    pool = state_of(request).pool
    newest = await queries.event_seq(pool, run_id)
    if newest is not None and after > newest:
        raise _from_the_future(newest)
    page = await queries.events_page(
        pool, run_id, after, wanted.limit, cursor=wanted.cursor, count=wanted.count
    )
    if page is None:
        raise not_found("run")
    shown = page.model_dump(mode="json") if principal.sees_content else wire.without_content(page)
    return JSONResponse(shown)


async def _heads(request: Request, run_ids: list[str]) -> dict[str, Head]:
    known = [run_id for run_id in run_ids if cursors.is_uuid(run_id)]
    return await queries_stream.heads(state_of(request).pool, known) if known else {}


def _wants_json(request: Request) -> bool:
    accept = request.headers.get("accept", "").lower()
    return "application/json" in accept and "text/event-stream" not in accept


def _seq(value: str | None, name: str) -> int:
    """An event's seq; raises Refusal 400."""
    if not value:
        return 0
    if not (value.isascii() and value.isdigit() and len(value) <= _LONGEST_SEQ):
        raise _bad_place(name, f"{name}: must be the seq of an event")
    return int(value)


def _from_the_future(newest: int) -> Refusal:
    return _bad_place("after", f"after: the run's newest event is {newest}", event_seq=newest)


def _bad_place(name: str, detail: str, **params: int) -> Refusal:
    code = ErrorCode.INVALID_CURSOR
    return Refusal(400, code, detail, params=params, errors=[(f"/{name}", str(code), detail)])


def _named_runs(values: list[str]) -> dict[str, int]:
    entries = [entry.strip() for value in values for entry in value.split(",") if entry.strip()]
    found: dict[str, int] = {}
    for entry in entries[: MOST_RUNS + 1]:
        run_id, _, seq = entry.partition(":")
        if not cursors.is_uuid(run_id):
            raise _bad_runs("each must be the id of a run")
        found[run_id.lower()] = _seq(seq, "runs")
    if not found or len(entries) > MOST_RUNS:
        raise _bad_runs(f"name 1 to {MOST_RUNS} runs")
    return found


def _bad_runs(detail: str) -> Refusal:
    code = ErrorCode.INVALID_REQUEST
    return Refusal(422, code, f"runs: {detail}", errors=[("/runs", str(code), detail)])


def _last_positions(value: str | None) -> dict[str, int]:
    if not value:
        return {}
    try:
        return decode_positions(value)
    except ValueError as error:
        raise _bad_place("Last-Event-ID", f"Last-Event-ID: {error}") from error
