"""What people write: revisions, a new title; and whether their base is still the newest."""

from __future__ import annotations

from activities import record
from api import queries
from api.http import requests
from api.http.errors import Refusal
from api.moves import inserts, moving
from api.moves.idempotency import Done, Tools
from deploy.database import Connection
from workflows.vocabulary import FINAL, ErrorCode, EventType, RunStatus


async def offer(connection: Connection, run_id: str, number: int) -> None:
    await connection.execute("UPDATE runs SET offered_revision = $2 WHERE id = $1", run_id, number)


async def adopt(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    body: str,
    *,
    base: int | None,
    fresh_loop: bool,
    tells_rounds: bool = True,
    comment: str | None = None,
) -> int:
    """A person's text becomes the run's; with `fresh_loop` it is reviewed next. A round that is
    granted for that is told, unless the caller sets the rounds."""
    number = await insert_human_revision(connection, tools, row, body, base=base, comment=comment)
    before, now = await record.rebase(connection, row.id, number, fresh_loop=fresh_loop)
    if now != before and tells_rounds:
        granted = {"revision": number, "max_rounds": {"from": before, "to": now}}
        await moving.tell(connection, tools, row.id, EventType.LIMITS_RAISED, granted)
    if fresh_loop:
        await connection.execute("UPDATE runs SET stage = 'review' WHERE id = $1", row.id)
    return number


async def insert_human_revision(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    body: str,
    *,
    base: int | None,
    comment: str | None = None,
) -> int:
    """A revision of the locked document, told as an event of its run."""
    kind = inserts.find_kind(tools.state.kinds, row.kind)
    inserts.check_size(body, "/body", kind.limits.body_characters)
    number = await record.insert_revision(
        connection,
        record.NewRevision(
            document_id=row.document_id,
            body=body,
            base=base,
            author=tools.caller.actor,
            comment=comment,
        ),
    )
    await moving.tell(
        connection,
        tools,
        row.id,
        EventType.REVISION_CREATED,
        {"revision": number, "base": base, "author": tools.caller.actor},
    )
    return number


async def check_base(connection: Connection, row: record.RunRow, base: int | None) -> None:
    """A text is taken when it was made of the newest human or the working revision."""
    if base is None:
        return
    await inserts.require_revision(connection, row.document_id, base, "/base_revision")
    human = await inserts.newest_human_revision(connection, row.document_id)
    if base not in (human, row.working_revision):
        raise stale_base(row, base, row.working_revision, human)


def stale_base(
    row: record.RunRow | None, base: int, newest: int | None, human: int | None
) -> Refusal:
    return Refusal(
        409,
        ErrorCode.STALE_BASE,
        "the text was changed meanwhile; take the newest revision as base",
        params={"base_revision": base, "newest": newest, "newest_human": human},
        run_id=None if row is None else row.id,
    )


async def add_revision(
    connection: Connection, tools: Tools, document_id: str, wanted: requests.NewRevision
) -> Done:
    """201: a person's revision. What it does to the document's run depends on where that stands:
    offered while it waits for confirmation, working while it is stopped, beside while it runs."""
    document = await inserts.lock_document(connection, document_id)
    await inserts.require_revision(connection, document_id, wanted.base_revision, "/base_revision")
    row = await _run_of(connection, document_id)
    human = await inserts.newest_human_revision(connection, document_id)
    if wanted.base_revision not in _bases(row, document, human):
        raise stale_base(row, wanted.base_revision, document.newest, human)
    number = await _store(connection, tools, document, row, wanted)
    revision = await queries.revision(connection, document_id, number)
    return Done(
        status=201,
        body=revision,
        location=f"/api/documents/{document_id}/revisions/{number}",
        document_id=document_id,
    )


def _bases(
    row: record.RunRow | None, document: inserts.LockedDocument, human: int | None
) -> frozenset[int | None]:
    """What a new text may be made of: nobody's newer text is overwritten unseen."""
    if row is None:
        return frozenset({human, document.newest})
    if row.status == RunStatus.AWAITING_CONFIRMATION:
        return frozenset({human, row.offered_revision})
    return frozenset({human, row.working_revision, row.best_revision})


async def _run_of(connection: Connection, document_id: str) -> record.RunRow | None:
    """The run that an edit concerns, locked: the active one, else the newest if it FAILED."""
    run_id = await connection.fetchval(
        """
        SELECT id FROM runs WHERE document_id = $1
        ORDER BY (status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')) DESC,
            created_at DESC, id DESC
        LIMIT 1
        """,
        document_id,
    )
    row = None if run_id is None else await record.lock_run(connection, run_id)
    return None if row is None or row.status in FINAL else row


async def _store(
    connection: Connection,
    tools: Tools,
    document: inserts.LockedDocument,
    row: record.RunRow | None,
    wanted: requests.NewRevision,
) -> int:
    base, comment = wanted.base_revision, wanted.comment
    if row is None:
        kind = inserts.find_kind(tools.state.kinds, document.kind)
        inserts.check_size(wanted.body, "/body", kind.limits.body_characters)
        return await record.insert_revision(
            connection,
            record.NewRevision(
                document_id=document.id,
                body=wanted.body,
                base=base,
                author=tools.caller.actor,
                comment=comment,
            ),
        )
    if row.status == RunStatus.RUNNING:
        return await insert_human_revision(
            connection, tools, row, wanted.body, base=base, comment=comment
        )
    return await adopt(
        connection,
        tools,
        row,
        wanted.body,
        base=base,
        fresh_loop=row.status != RunStatus.AWAITING_CONFIRMATION,
        comment=comment,
    )


async def change_document(
    connection: Connection, tools: Tools, document_id: str, wanted: requests.DocumentChange
) -> Done:
    """200: title and tags; what is not named stays."""
    await inserts.lock_document(connection, document_id)
    await connection.execute(
        """
        UPDATE documents SET title = coalesce($2, title), tags = coalesce($3, tags),
            updated_at = now()
        WHERE id = $1
        """,
        document_id,
        wanted.title,
        wanted.tags,
    )
    document = await queries.document(connection, document_id)
    return Done(status=200, body=document, document_id=document_id)


async def create_document(
    connection: Connection, tools: Tools, wanted: requests.NewDocument, *, recorded: bool = False
) -> Done:
    """201: a document, without a run. `recorded`: its source is a recording."""
    inserts.check_document(tools.state.kinds, wanted, recorded=recorded)
    return await created(
        connection, await inserts.insert_document(connection, tools.caller, wanted)
    )


async def created(connection: Connection, document_id: str) -> Done:
    """The answer to who made a document, whatever it was made from."""
    return Done(
        status=201,
        body=await queries.document(connection, document_id),
        location=f"/api/documents/{document_id}",
        document_id=document_id,
    )
