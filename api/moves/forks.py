"""A fork: a new document that begins with a text of another one, and keeps what that came from.

Files are shared, not copied: each document has its own row of a blob, and a file leaves the store
when no row names it any more (`activities.blobs`).
"""

from __future__ import annotations

from collections.abc import Sequence

from activities import record
from api.http import requests
from api.http.errors import misfit, not_found
from api.http.state import Caller
from api.moves import edits, inserts
from api.moves.idempotency import Done, Tools
from deploy.database import Connection, Row, new_id
from workflows.vocabulary import ErrorCode


async def fork(connection: Connection, tools: Tools, run_id: str, wanted: requests.Fork) -> Done:
    """201: a new document whose revision 0 is a text of this run's document."""
    run = await record.read_run(connection, run_id)
    if run is None:
        raise not_found("run")
    # Held until the commit: a deletion that came between would owe files that the copy names.
    await inserts.lock_document(connection, run.document_id)
    copy_id = await _copy(connection, tools.caller, run.document_id, wanted.revision)
    return await edits.created(connection, copy_id)


async def _copy(connection: Connection, caller: Caller, document_id: str, revision: int) -> str:
    """The other's sources in force, with recordings and files; and the file that its first text was
    read from, whichever revision this begins with."""
    row = await connection.fetchrow(
        """
        SELECT d.kind, d.title, d.language, d.attributes, d.tags, r.body
        FROM documents d JOIN revisions r ON r.document_id = d.id AND r.number = $2
        WHERE d.id = $1
        """,
        document_id,
        revision,
    )
    if row is None:
        raise misfit("/revision", "no such revision", code=ErrorCode.UNKNOWN_REVISION)
    copied = requests.NewDocument.model_construct(**dict(row.items()), sources=[])
    copy_id = await inserts.insert_document(connection, caller, copied)
    shared = _Shared(connection, copy_id)
    for position, source in enumerate(await _sources_in_force(connection, document_id)):
        await _copy_source(shared, caller, source, position)
    if (original := await _first_original(connection, document_id)) is not None:
        await connection.execute(
            "UPDATE revisions SET original_id = $2 WHERE document_id = $1 AND number = 0",
            copy_id,
            await shared.blob(original),
        )
    return copy_id


class _Shared:
    """The copy's own rows of the other's files; a file that is named twice has one."""

    def __init__(self, connection: Connection, document_id: str) -> None:
        self.connection, self.document_id = connection, document_id
        self._made: dict[str, str] = {}

    async def blob(self, blob_id: str | None) -> str | None:
        if blob_id is None or blob_id in self._made:
            return None if blob_id is None else self._made[blob_id]
        self._made[blob_id] = new_id()
        await self.connection.execute(
            """
            INSERT INTO blobs (id, document_id, uri, name, media_type, bytes, sha256)
            SELECT $1, $2, uri, name, media_type, bytes, sha256 FROM blobs WHERE id = $3
            """,
            self._made[blob_id],
            self.document_id,
            blob_id,
        )
        return self._made[blob_id]


async def _sources_in_force(connection: Connection, document_id: str) -> Sequence[Row]:
    return await connection.fetch(
        """
        SELECT id, blob_id, original_id FROM sources
        WHERE document_id = $1 AND replaced_by IS NULL ORDER BY position, created_at, id
        """,
        document_id,
    )


async def _first_original(connection: Connection, document_id: str) -> str | None:
    found: str | None = await connection.fetchval(
        "SELECT original_id FROM revisions WHERE document_id = $1 AND number = 0", document_id
    )
    return found


async def _copy_source(shared: _Shared, caller: Caller, source: Row, position: int) -> None:
    await shared.connection.execute(
        """
        INSERT INTO sources (id, document_id, name, media_type, text, sha256, blob_id, original_id,
                             position, actor)
        SELECT $1, $2, name, media_type, text, sha256, $3, $4, $5, $6 FROM sources WHERE id = $7
        """,
        new_id(),
        shared.document_id,
        await shared.blob(source["blob_id"]),
        await shared.blob(source["original_id"]),
        position,
        caller.actor,
        source["id"],
    )
