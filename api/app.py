"""The FastAPI application: routes, handlers of refusals, lifespan of pool and Temporal client.

It starts without database and without Temporal: it answers 503 and "due" until they are there.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from api import diff, documents, estimate, estimate_rest, events, observe, runs, service
from api.commands import ensure_default_profile
from api.files import audio, downloads, export, sources
from api.files.speech import ensure_speech_profile
from api.http import openapi, unbuilt
from api.http.auth import needs
from api.http.compressing import Compressing
from api.http.cursors import BadCursor
from api.http.edge import Edge
from api.http.errors import Refusal, on_misfit, on_refusal, problem
from api.http.principals import Scope
from api.http.state import LOCK_WAIT, State, request_id_of
from api.moves import draft_routes, locks
from api.moves.signals import Signals
from api.pages import routes as pages
from api.pages.render import static
from api.summing import keep_summed
from deploy.database import AWAY, open_pool
from deploy.poolers import behind_pooler
from deploy.settings import Settings
from workflows.kinds import load_kinds
from workflows.kinds.kind import Kind
from workflows.kinds.templates import BadTemplate
from workflows.vocabulary import ErrorCode

log = logging.getLogger("redraft.api")

_ROUTERS = (
    service.router,
    observe.router,
    unbuilt.router,
    documents.router,
    draft_routes.router,
    audio.router,
    downloads.router,
    sources.router,
    locks.router,
    estimate.router,
    estimate_rest.router,
    diff.router,
    export.router,
    runs.router,
    events.router,
    pages.router,
)


def _leave_out(problem: BadTemplate) -> None:
    log.error("template left out", extra={"problem": str(problem)})


def create_app(settings: Settings, *, kinds: Mapping[str, Kind] | None = None) -> FastAPI:
    """The application for these settings. `kinds` replaces the installed ones (tests)."""
    if kinds is None:
        kinds = load_kinds(settings.kinds_dir, settings.templates_dir, _leave_out)
    state = State(settings=settings, kinds=kinds)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _running(state):
            gc.freeze()  # looking through all that is loaded stops every page and stream for 100 ms
            yield

    app = FastAPI(
        title="Redraft",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.redraft = state
    app.add_middleware(Compressing)
    app.add_middleware(Edge, state=state)  # the last added is the outermost
    app.add_exception_handler(HTTPException, on_refusal)
    app.add_exception_handler(RequestValidationError, on_misfit)
    app.add_exception_handler(BadCursor, _on_bad_cursor)
    app.openapi = lambda: openapi.build(app)  # type: ignore[method-assign]
    for router in _ROUTERS:
        app.include_router(router)
    _add_documentation(app)
    return app


def _add_documentation(app: FastAPI) -> None:
    reads = [needs(Scope.READ, content=False)]

    async def document() -> JSONResponse:
        return JSONResponse(app.openapi())

    async def docs() -> HTMLResponse:
        return openapi.docs_page(app, static("base.css"))

    app.add_api_route("/openapi.json", document, include_in_schema=False, dependencies=reads)
    app.add_api_route("/docs", docs, include_in_schema=False, dependencies=reads)


@contextlib.asynccontextmanager
async def _running(state: State) -> AsyncIterator[None]:
    pooled = await behind_pooler(state.settings)
    state.pool = await open_pool(
        state.settings, name="redraft-api", lock_wait=LOCK_WAIT, pooled=pooled
    )
    state.signals = Signals(state.settings, state.pool)
    first = asyncio.create_task(_first_profile(state))
    sums = asyncio.create_task(keep_summed(state.pool), name="sums")
    log.info("api starts", extra={"port": state.settings.api_port, "kinds": len(state.kinds)})
    try:
        yield
    finally:
        log.info("api stops")
        state.stopping.set()
        first.cancel()
        sums.cancel()
        await asyncio.gather(first, sums, return_exceptions=True)
        await state.signals.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await state.pool.close()
        state.pool.terminate()


async def _first_profile(state: State) -> None:
    """Until it worked once: database and schema may come later than this process."""
    while True:
        try:
            await ensure_default_profile(state.pool, state.settings)
            await ensure_speech_profile(state.pool, state.settings)
            return
        except (*AWAY, asyncpg.PostgresError) as error:
            log.info("first profile waits", extra={"error": type(error).__name__})
            await asyncio.sleep(1)


async def _on_bad_cursor(request: Request, error: Exception) -> Response:
    refusal = Refusal(400, ErrorCode.INVALID_CURSOR, "this cursor was not given out by this list")
    return problem(request_id_of(request), refusal)


def state_in(app: FastAPI) -> State:
    """The state of an application, for the process that runs it."""
    state: Any = app.state.redraft
    assert isinstance(state, State)
    return state
