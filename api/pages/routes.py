"""The pages: server-rendered and complete without script.

New runs, the moves of a run and documents have modules of their own.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api import queries
from api.auth import needs
from api.errors import not_found
from api.pages import bulk as pages_bulk
from api.pages import console as pages_console
from api.pages import documents as pages_documents
from api.pages import moves as pages_moves
from api.pages import new as pages_new
from api.pages import observe as pages_observe
from api.pages import overview as pages_overview
from api.pages import preferences as pages_preferences
from api.pages import queue as pages_queue
from api.pages import review as pages_review
from api.pages import review_moves as pages_review_moves
from api.pages import runs as pages_runs
from api.pages.errors import PageRoute, UnknownPage
from api.pages.help import glossary, states
from api.pages.render import page, static, static_files, words_of
from api.pages.run import run_page
from api.principals import Scope
from api.queries import CallFilter
from api.queries.pages import run_titles
from api.state import principal_of, state_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
for part in (
    pages_preferences,
    pages_overview,
    pages_observe,
    pages_runs,
    pages_bulk,
    pages_new,
    pages_console,
    pages_moves,
    pages_documents,
    pages_queue,
    pages_review,
    pages_review_moves,
):
    router.include_router(part.router)

SHOWS = [needs(Scope.READ, content=True)]
STATUS_ONLY = [needs(Scope.READ, content=False)]
_ROWS = 50
_MOST = 200


@router.get("/static/{version}/{name}", dependencies=STATUS_ONLY)
async def static_file(version: str, name: str) -> Response:
    file = static_files().get(name)
    if file is None:
        raise not_found("file")
    return Response(
        file.content,
        media_type=file.media_type,
        headers={"Cache-Control": "public, max-age=31536000, immutable"},
    )


@router.get("/runs/{run_id}", dependencies=SHOWS)
async def one_run(request: Request, run_id: str) -> Response:
    return await run_page(request, run_id, regions_only="regions" in request.query_params)


@router.get("/calls", dependencies=STATUS_ONLY)
async def calls(request: Request) -> Response:
    cursor, pool = request.query_params.get("cursor") or None, state_of(request).pool
    found = await queries.calls_all_page(pool, CallFilter(), _ROWS, cursor)
    ids = {call.run_id for call in found.items}
    # A title is content: who may not read it is shown the run's id.
    titles = await run_titles(pool, list(ids)) if principal_of(request).sees_content else {}
    following = urlencode({"cursor": found.next_cursor}) if found.next_cursor else None
    return await page(
        request,
        "calls.html",
        section="/calls",
        calls=found.items,
        titles=titles,
        in_run=False,
        cursor=cursor,
        next_link=f"/calls?{following}" if following else None,
    )


@router.get("/calls/{call_id}", dependencies=SHOWS)
async def one_call(request: Request, call_id: str) -> Response:
    pool = state_of(request).pool
    call = await queries.call(pool, call_id)
    if call is None:
        raise not_found("call")
    titles = await run_titles(pool, [call.run_id])
    return await page(request, "call.html", section="/calls", call=call, titles=titles)


@router.get("/settings", dependencies=STATUS_ONLY)
async def settings(request: Request) -> Response:
    state = state_of(request)
    async with state.pool.acquire() as connection:
        profiles = await queries.profiles_page(connection, _MOST)
        workers = await queries.workers(connection)
    return await page(
        request,
        "settings.html",
        section="/settings",
        profiles=profiles.items,
        workers=workers,
        kinds=[state.kinds[name] for name in sorted(state.kinds)],
    )


@router.get("/help", dependencies=STATUS_ONLY)
async def help_page(request: Request) -> Response:
    words = words_of(request)
    return await page(
        request, "help.html", section="/help", states=states(words), glossary=glossary(words)
    )


@router.get("/favicon.ico", dependencies=STATUS_ONLY)
async def favicon() -> Response:
    return RedirectResponse(static("mark.svg"), 308)


async def unknown(path: str) -> Response:
    raise not_found("page")


_last = APIRouter(route_class=UnknownPage, include_in_schema=False)
_last.add_api_route("/{path:path}", unknown, methods=["GET"], dependencies=STATUS_ONLY)
router.include_router(_last)
