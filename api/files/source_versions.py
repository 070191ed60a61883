"""A further source of a document, or a corrected one: a new version that replaces the old."""

from __future__ import annotations

import hashlib
from typing import Any

from activities import record
from api import queries
from api.files.recordings import Sound, Unheard, insert_unheard, store_sound
from api.http import requests
from api.http.cursors import is_uuid
from api.http.errors import Refusal, misfit
from api.moves import inserts
from api.moves.idempotency import Done, Tools
from api.wire.reading import Reading, SourceAdded
from deploy.database import Connection, Row, new_id
from workflows.vocabulary import ErrorCode, EventType

MOST_SOURCES = 50


async def add_source(
    connection: Connection,
    tools: Tools,
    document_id: str,
    wanted: requests.AddedSource,
    reading: Reading | None,
) -> Done:
    """201: the source. The document's active run is told and sees it from its next step on."""
    document = await inserts.lock_document(connection, document_id)
    kind = inserts.find_kind(tools.state.kinds, document.kind)
    inserts.check_size(wanted.text, "/text", kind.limits.source_characters)
    old = await _replaced(connection, document_id, wanted.replaces)
    if old is None:
        place = (await _next_position(connection, document_id), 1, None)
    else:  # the recording stays with the version in force
        place = (old["position"], old["version"] + 1, old["blob_id"])
    row = (new_id(), document_id, *place)
    await _insert(connection, tools, wanted, row)
    source_id = row[0]
    if old is not None:
        await connection.execute(
            "UPDATE sources SET replaced_by = $2 WHERE id = $1", old["id"], source_id
        )
        await _need_not_be_heard(connection, old["id"])
    await _begin_anew(connection, document_id)
    await _tell(connection, tools, document_id, {"source": source_id, "replaces": wanted.replaces})
    source = await queries.source(connection, document_id, source_id)
    assert source is not None
    return Done(
        status=201,
        body=SourceAdded(**dict(source), reading=reading),
        location=f"/api/documents/{document_id}/sources/{source_id}",
        document_id=document_id,
    )


async def add_recording(
    connection: Connection, tools: Tools, document_id: str, sound: Sound
) -> Done:
    """201: a source without a text, at the end; the next run hears it before anything else."""
    await inserts.lock_document(connection, document_id)
    position = await _next_position(connection, document_id)
    blob_id = await store_sound(connection, document_id, sound)
    source_id = new_id()
    await insert_unheard(
        connection,
        Unheard(
            id=source_id,
            document_id=document_id,
            blob_id=blob_id,
            recording=sound.recording,
            position=position,
            actor=tools.caller.actor,
        ),
    )
    await _tell(connection, tools, document_id, {"source": source_id, "replaces": None})
    source = await queries.source(connection, document_id, source_id)
    assert source is not None
    return Done(
        status=201,
        body=SourceAdded(**dict(source)),
        location=f"/api/documents/{document_id}/sources/{source_id}",
        document_id=document_id,
    )


async def lay_beside(
    connection: Connection, document_id: str, source_id: str, sound: Sound
) -> None:
    """The recording of a transcript that came with it."""
    blob_id = await store_sound(connection, document_id, sound)
    await connection.execute("UPDATE sources SET blob_id = $2 WHERE id = $1", source_id, blob_id)


async def _replaced(connection: Connection, document_id: str, source_id: str | None) -> Row | None:
    """The source in force that is to be replaced; 422 for none, 409 for one replaced already."""
    if source_id is None:
        return None
    row = None
    if is_uuid(source_id):
        row = await connection.fetchrow(
            """
            SELECT id, position, version, replaced_by, blob_id FROM sources
            WHERE document_id = $1 AND id = $2
            """,
            document_id,
            source_id,
        )
    if row is None:
        raise misfit("/replaces", "no such source of this document")
    if row["replaced_by"] is not None:
        raise Refusal(
            409,
            ErrorCode.STALE_BASE,
            "this source was replaced meanwhile; correct its newest version",
            params={"replaced_by": row["replaced_by"]},
        )
    return row


async def _next_position(connection: Connection, document_id: str) -> int:
    row = await connection.fetchrow(
        """
        SELECT coalesce(max(position), -1) + 1 AS position,
            count(id) FILTER (WHERE replaced_by IS NULL) AS in_force
        FROM sources WHERE document_id = $1
        """,
        document_id,
    )
    assert row is not None
    if row["in_force"] >= MOST_SOURCES:
        raise misfit("", f"a document has at most {MOST_SOURCES} sources")
    position: int = row["position"]
    return position


async def _insert(
    connection: Connection,
    tools: Tools,
    wanted: requests.AddedSource,
    row: tuple[str, str, int, int, str | None],
) -> None:
    """`row`: id, document, position, version, blob."""
    await connection.execute(
        """
        INSERT INTO sources (id, document_id, position, version, blob_id, name, media_type, text,
            sha256, replaces, actor)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """,
        *row,
        wanted.name,
        wanted.media_type,
        wanted.text,
        hashlib.sha256(wanted.text.encode()).hexdigest(),
        wanted.replaces,
        tools.caller.actor,
    )


async def _need_not_be_heard(connection: Connection, source_id: str) -> None:
    """A transcript that a person brings stands in for one that runs would make; what they asked for
    meanwhile is not asked for again."""
    await connection.execute(
        """
        WITH spared AS (
            UPDATE runs SET unheard_source = NULL WHERE unheard_source = $1 RETURNING id
        )
        UPDATE step_plans p SET voided_at = now() FROM spared
        WHERE p.run_id = spared.id AND p.name = 'transcribe' AND p.voided_at IS NULL
        """,
        source_id,
    )


async def _begin_anew(connection: Connection, document_id: str) -> None:
    """A step that was stopped is cut by the lines of the old text: what it has so far was made of
    them, and where they were cut nobody knows in the new one."""
    rows = await connection.fetch(
        """
        SELECT id FROM runs WHERE document_id = $1 AND status IN ('INTERRUPTED', 'FAILED')
        ORDER BY id FOR NO KEY UPDATE
        """,
        document_id,
    )
    for row in rows:
        await record.void_unfinished(connection, row["id"])


async def _tell(
    connection: Connection, tools: Tools, document_id: str, data: dict[str, Any]
) -> None:
    run_id = await connection.fetchval(
        """
        SELECT id FROM runs WHERE document_id = $1
          AND status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')
        """,
        document_id,
    )
    if run_id is None:
        return
    event = record.Event(
        type=EventType.SOURCE_ADDED,
        actor=tools.caller.actor,
        request_id=tools.caller.request_id,
        data=data,
    )
    await record.write_events(connection, run_id, [event])
