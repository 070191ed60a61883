"""Locks of a document: what no later round may change, and how a person takes one away again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import Response

from activities import record
from api import cursors, inserts, moving, wire
from api.auth import needs
from api.errors import not_found
from api.idempotency import Done, Tools, respond, tools_of
from api.paths import DocumentId, Page, or_404
from api.principals import Principal, Scope
from api.queries.review import locks_page
from api.state import state_of
from api.wire.locks import Lock
from deploy.database import Connection
from workflows.vocabulary import EventType

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


async def remove_lock(connection: Connection, tools: Tools, document_id: str, lock_id: str) -> Done:
    """204; 404 when there is none (any more). The newest run of the document tells of it."""
    await inserts.lock_document(connection, document_id)
    run_id = await _newest_run(connection, document_id)
    if run_id is not None:
        await record.lock_run(connection, run_id)
    if not await _remove(connection, document_id, lock_id):
        raise not_found("lock")
    if run_id is not None:
        await moving.tell(connection, tools, run_id, EventType.LOCK_REMOVED, {"lock_id": lock_id})
    return Done(status=204, body=None, document_id=document_id)


async def _newest_run(connection: Connection, document_id: str) -> str | None:
    run_id: str | None = await connection.fetchval(
        """
        SELECT id FROM runs WHERE document_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1
        """,
        document_id,
    )
    return run_id


async def _remove(connection: Connection, document_id: str, lock_id: str) -> bool:
    if not cursors.is_uuid(lock_id):
        return False
    removed = await connection.fetchval(
        """
        UPDATE locks SET removed_at = now()
        WHERE id = $1 AND document_id = $2 AND removed_at IS NULL RETURNING true
        """,
        lock_id,
        document_id,
    )
    return bool(removed)
