"""The call log with its filters in the address, and one call as a conversation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from api import queries, wire
from api.filters import call_filter
from api.http.auth import needs
from api.http.errors import Refusal, not_found
from api.http.principals import Scope
from api.http.state import principal_of, state_of
from api.pages import errors as pages_errors
from api.pages.errors import PageRoute
from api.pages.render import page, words_of
from api.queries import CallFilter
from api.queries.calls import attempts_of, models_called
from api.queries.pages import run_titles
from api.texts.failures import failure_told
from workflows.vocabulary import CallStatus, Reason, StepName

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ROWS, _MOST = 50, 200
_FILTERS = ("status", "model", "profile", "step", "end_cause", "run_id", "from", "to")
_CAUSES = (
    Reason.INTERRUPTED,
    Reason.LENGTH,
    Reason.CUT,
    Reason.STALL,
    Reason.GARBLED,
    Reason.RATE_LIMITED,
    Reason.SERVER_ERROR,
    Reason.CONNECTION,
    Reason.WORKER_LOST,
)
SHOWN_AT_FIRST = 64_000
"""Characters of a reply; the rest comes when it is asked for."""


@router.get("/calls", dependencies=[needs(Scope.READ, content=False)])
async def calls(request: Request) -> Response:
    """A filter that means nothing is named, and then nothing is shown."""
    pool = state_of(request).pool
    asked = {name: request.query_params.get(name, "").strip() for name in _FILTERS}
    refusal, status, found = None, 200, wire.Page[wire.Call](items=[])
    cursor = request.query_params.get("cursor") or None
    try:
        found = await queries.calls_all_page(pool, _wanted(asked), _ROWS, cursor)
    except Refusal as error:
        if error.status_code != 422:
            raise
        status, refusal = 422, pages_errors.refused(request, error, lines=(str(error.detail),))
    ids = {call.run_id for call in found.items}
    # A title is content: who may not read it is shown the run's id.
    titles = await run_titles(pool, list(ids)) if principal_of(request).sees_content else {}
    async with pool.acquire() as connection:
        models = await models_called(connection)
        profiles = await queries.profiles_page(connection, _MOST)
    given = {name: value for name, value in asked.items() if value}
    return await page(
        request,
        "calls.html",
        status=status,
        section="/calls",
        refusal=refusal,
        calls=found.items,
        titles=titles,
        in_run=False,
        asked=asked,
        filtered=bool(given),
        statuses=list(CallStatus),
        steps=list(StepName),
        causes=_CAUSES,
        models=models,
        profiles=[profile.name for profile in profiles.items],
        first_link=_link(given) if cursor else None,
        next_link=_link({**given, "cursor": found.next_cursor}) if found.next_cursor else None,
    )


def _wanted(asked: dict[str, str]) -> CallFilter:
    return call_filter(QueryParams({name: value for name, value in asked.items() if value}))


def _link(given: dict[str, str]) -> str:
    return f"/calls?{urlencode(given)}" if given else "/calls"


@router.get("/calls/{call_id}", dependencies=[needs(Scope.READ, content=True)])
async def one_call(request: Request, call_id: str) -> Response:
    """`?whole=1` shows a long reply to its end."""
    state = state_of(request)
    call = await queries.call(state.pool, call_id)
    if call is None:
        raise not_found("call")
    chain = await attempts_of(state.pool, call)
    run = await queries.run(state.pool, call.run_id)
    reply = call.reply or call.partial_text or ""
    whole = "whole" in request.query_params
    return await page(
        request,
        "call.html",
        section="/calls",
        call=call,
        run=run,
        chain=chain,
        pieces=_pieces(call, run),
        reply=reply if whole else reply[:SHOWN_AT_FIRST],
        error=failure_told(call.error or "", words_of(request)),
        left=0 if whole else max(0, len(reply) - SHOWN_AT_FIRST),
        expired=_expired(call, state.settings.body_retention_days),
    )


def _expired(call: wire.CallWithBody, days: float) -> dict[str, Any]:
    """Why nothing of it is kept: bodies are not kept at all, or no longer."""
    return {"days": days, "at": call.ended_at and call.ended_at + timedelta(days=days)}


def _pieces(call: wire.CallWithBody, run: wire.Run | None) -> list[dict[str, Any]]:
    """What the prompt was made of: the variable parts, each with where it can be read."""
    recipe = call.recipe or {}
    document = f"/documents/{run.document_id}" if run is not None else ""
    found: list[dict[str, Any]] = []
    if (number := recipe.get("input_revision")) is not None:
        link = f"{document}?revision={number}#shown" if document else ""
        found.append({"what": "input_revision", "value": number, "link": link})
    if sources := recipe.get("sources"):
        link = f"{document}#sources" if document else ""
        found.append({"what": "sources", "value": len(sources), "link": link})
    if issues := recipe.get("issues"):
        named = ", ".join(f"I{number}" for number in issues)
        found.append({"what": "issues", "value": named, "link": f"/runs/{call.run_id}#issues"})
    found += [
        {"what": name, "value": recipe[name], "link": ""}
        for name in ("kept", "schema", "form")
        if recipe.get(name)
    ]
    return found
