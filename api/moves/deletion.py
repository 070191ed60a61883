"""Deleting a document: every row in one transaction, and what lives outside through an outbox.

The document is locked `FOR UPDATE` first, so a commit of a running step either lands before and
goes with it, or finds nothing. Live runs are told after the commit: their workflow finds no row
and ends.
"""

from __future__ import annotations

from activities import record
from api.http.errors import not_found
from api.moves.idempotency import Done, Tools
from api.moves.signals import Due
from deploy.database import Connection, new_id
from workflows.vocabulary import MOVES_CHANNEL, Signal


async def delete_document(connection: Connection, tools: Tools, document_id: str) -> Done:
    """204; 404 when there is none (any more)."""
    found = await connection.fetchval(
        "SELECT id FROM documents WHERE id = $1 FOR UPDATE", document_id
    )
    if found is None:
        raise not_found("document")
    live = await _live_runs(connection, document_id)
    await _owe_blobs(connection, document_id)
    await _owe_responses(connection, document_id)
    await record.insert_audit(
        connection,
        actor=tools.caller.actor,
        action="document_deleted",
        object_type="document",
        object_id=document_id,
        request_id=tools.caller.request_id,
        params={"live_runs": live},
    )
    await _empty_answers(connection, document_id)
    await connection.execute("DELETE FROM documents WHERE id = $1", document_id)
    for run_id in live:
        await connection.execute("SELECT pg_notify($1, $2)", MOVES_CHANNEL, run_id)
    due = [Due(run_id=run_id, signal=Signal.DECIDE, seq=0, keep=False) for run_id in live]
    return Done(status=204, body=None, document_id=document_id, due=tuple(due))


async def _live_runs(connection: Connection, document_id: str) -> list[str]:
    """Runs whose workflow may be open; they are locked, so none of them moves meanwhile."""
    rows = await connection.fetch(
        """
        SELECT id FROM runs WHERE document_id = $1
          AND status NOT IN ('CONFIRMED', 'REJECTED', 'CANCELLED')
        ORDER BY id FOR UPDATE
        """,
        document_id,
    )
    return [row["id"] for row in rows]


async def _owe_blobs(connection: Connection, document_id: str) -> None:
    rows = await connection.fetch("SELECT uri FROM blobs WHERE document_id = $1", document_id)
    for row in rows:
        await connection.execute(
            "INSERT INTO blob_deletions (id, what, uri) VALUES ($1, 'blob', $2)",
            new_id(),
            row["uri"],
        )


async def _owe_responses(connection: Connection, document_id: str) -> None:
    """Responses that a provider still works on in the background are cancelled there."""
    rows = await connection.fetch(
        """
        SELECT c.provider_response_id, c.profile FROM model_calls c
        JOIN runs r ON r.id = c.run_id
        WHERE r.document_id = $1 AND c.status = 'STARTED' AND c.provider_response_id IS NOT NULL
        """,
        document_id,
    )
    for row in rows:
        await connection.execute(
            "INSERT INTO blob_deletions (id, what, uri, profile) VALUES ($1, 'response', $2, $3)",
            new_id(),
            row["provider_response_id"],
            row["profile"],
        )


async def _empty_answers(connection: Connection, document_id: str) -> None:
    """Kept answers hold titles and texts; a replay says 404 from now on."""
    await connection.execute(
        """
        UPDATE idempotency_keys SET body = NULL, headers = '{}' WHERE document_id = $1
        """,
        document_id,
    )
