"""A lock of a document is taken away again: no later round is bound by it."""

from __future__ import annotations

from activities import record
from api.http import cursors
from api.http.errors import not_found
from api.moves import inserts, moving
from api.moves.idempotency import Done, Tools
from deploy.database import Connection
from workflows.vocabulary import EventType


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
