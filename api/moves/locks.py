"""Routes of locks: what no later round of a document may change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import wire
from api.http.auth import needs
from api.http.paths import DocumentId, Page, or_404
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.moves.idempotency import respond, tools_of
from api.moves.unlocking import remove_lock
from api.queries.review import locks_page
from api.wire.locks import Lock

router = APIRouter(tags=["documents"])


@router.get("/api/documents/{document_id}/locks", response_model=wire.Page[Lock])
async def list_locks(
    document_id: DocumentId,
    request: Request,
    page: Page,
    principal: Annotated[Principal, needs(Scope.READ, content=True)],
) -> wire.Page[Lock]:
    """Oldest first: passages locked in a review, and those where a change was rejected or written
    by hand."""
    pool = state_of(request).pool
    found = await locks_page(pool, document_id, page.limit, page.cursor, page.count)
    return or_404(found, "document")


@router.delete(
    "/api/documents/{document_id}/locks/{lock_id}", status_code=204, response_class=Response
)
async def delete_lock(
    document_id: DocumentId,
    lock_id: str,
    request: Request,
    principal: Annotated[Principal, needs(Scope.DECIDE, content=True)],
) -> Response:
    """From its next step on the run may change the passage; an event says who allowed it."""
    tools = tools_of(request)
    return await respond(request, lambda c: remove_lock(c, tools, document_id, lock_id))
