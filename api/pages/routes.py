"""The pages: server-rendered and complete without script.

New runs, the moves of a run and documents have modules of their own.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.http.auth import needs
from api.http.errors import not_found
from api.http.principals import Scope
from api.pages import bulk as pages_bulk
from api.pages import calls as pages_calls
from api.pages import console as pages_console
from api.pages import documents as pages_documents
from api.pages import moves as pages_moves
from api.pages import new as pages_new
from api.pages import observe as pages_observe
from api.pages import overview as pages_overview
from api.pages import preferences as pages_preferences
from api.pages import queue as pages_queue
from api.pages import recordings as pages_recordings
from api.pages import review as pages_review
from api.pages import review_moves as pages_review_moves
from api.pages import runs as pages_runs
from api.pages import settings as pages_settings
from api.pages.errors import PageRoute, UnknownPage
from api.pages.help import glossary, states, versions
from api.pages.render import page, static, static_files, static_version, words_of
from api.pages.run import run_page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
for part in (
    pages_preferences,
    pages_overview,
    pages_observe,
    pages_calls,
    pages_settings,
    pages_runs,
    pages_bulk,
    pages_new,
    pages_console,
    pages_moves,
    pages_documents,
    pages_queue,
    pages_review,
    pages_review_moves,
    pages_recordings,
):
    router.include_router(part.router)

SHOWS = [needs(Scope.READ, content=True)]
STATUS_ONLY = [needs(Scope.READ, content=False)]


@router.get("/static/{version}/{name}", dependencies=STATUS_ONLY)
async def static_file(version: str, name: str) -> Response:
    file = static_files().get(name)
    if file is None:
        raise not_found("file")
    # While old and new processes answer by turns, another version's file must not be kept as this.
    ours = version == static_version()
    cache = "public, max-age=31536000, immutable" if ours else "no-store"
    return Response(file.content, media_type=file.media_type, headers={"Cache-Control": cache})


@router.get("/runs/{run_id}", dependencies=SHOWS)
async def one_run(request: Request, run_id: str) -> Response:
    return await run_page(request, run_id, regions_only="regions" in request.query_params)


@router.get("/help", dependencies=STATUS_ONLY)
async def help_page(request: Request) -> Response:
    words = words_of(request)
    return await page(
        request,
        "help.html",
        section="/help",
        states=states(words),
        glossary=glossary(words),
        versions=versions(),
    )


@router.get("/favicon.ico", dependencies=STATUS_ONLY)
async def favicon() -> Response:
    return RedirectResponse(static("mark.svg"), 308)


async def unknown(path: str) -> Response:
    raise not_found("page")


_last = APIRouter(route_class=UnknownPage, include_in_schema=False)
_last.add_api_route("/{path:path}", unknown, methods=["GET"], dependencies=STATUS_ONLY)
router.include_router(_last)
