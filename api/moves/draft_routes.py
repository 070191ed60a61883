"""`/api/documents/{id}/draft`: a person's unsent edit and notes, kept while they are typed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from api import queries
from api.http import requests
from api.http.auth import needs
from api.http.bodies import accepts, json_body
from api.http.errors import misfit
from api.http.paths import DocumentId, or_404
from api.http.principals import Principal, Scope
from api.http.state import caller_of, state_of
from api.moves import drafts
from api.moves.idempotency import perform, respond, tools_of
from api.wire.drafts import Draft

router = APIRouter(tags=["documents"])
Writes = Annotated[Principal, needs(Scope.WRITE, content=True)]


@router.get("/api/documents/{document_id}/draft", response_model=Draft)
async def get_draft(
    document_id: DocumentId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.READ, content=True)],
) -> Response:
    """This person's unsent edit; 404 when there is none. `ETag` is its version."""
    pool, actor = state_of(request).pool, caller_of(request).actor
    return _answer(or_404(await queries.draft(pool, document_id, actor), "draft"))


@router.put(
    "/api/documents/{document_id}/draft",
    response_model=Draft,
    openapi_extra=accepts(requests.NewDraft),
)
async def put_draft(
    document_id: DocumentId,
    request: Request,
    principal: Writes,
    wanted: Annotated[requests.NewDraft, json_body(requests.NewDraft)],
) -> Response:
    """Keeps it. 409 `stale_base`: with `saved`, it is kept, but its base is not the newest any
    more; with `draft_version`, another tab or person saved since, and nothing was overwritten.
    `If-Match` may name the version instead of the field."""
    tools = tools_of(request)
    if (match := request.headers.get("if-match")) is not None:
        wanted = wanted.model_copy(update={"version": _version(match)})
    await perform(tools, lambda c: drafts.keep(c, tools, document_id, wanted))
    kept = await queries.draft(tools.state.pool, document_id, tools.caller.actor)
    found = or_404(kept, "draft")
    if found.stale:
        raise drafts.stale(found)
    return _answer(found)


@router.delete("/api/documents/{document_id}/draft", status_code=204, response_class=Response)
async def delete_draft(document_id: DocumentId, request: Request, principal: Writes) -> Response:
    """Throws it away; 204 also where there is none. `If-Match` may name the version that was read:
    409 `stale_base` where another one is stored, which then stays."""
    tools = tools_of(request)
    match = request.headers.get("if-match")
    version = None if match is None else _version(match)
    return await respond(request, lambda c: drafts.discard(c, tools, document_id, version))


def _version(match: str) -> int:
    text = match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise misfit("/version", 'If-Match must be the version, like "3"')
    return int(text)


def _answer(found: Draft) -> Response:
    content = found.model_dump(mode="json", by_alias=True)
    return JSONResponse(content, headers={"ETag": f'"{found.version}"'})
