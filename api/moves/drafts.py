"""A person's unsent edit and notes: kept, and dropped when they were sent.

A save names the version it was made from. Another one is refused and the stored one stays: of two
tabs the later is told instead of overwriting the earlier. A base that is no longer the newest is
told too (409 `stale_base`), but the text is kept first: nothing typed is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api import differences, queries
from api.http import requests
from api.http.errors import Refusal
from api.moves import inserts
from api.moves.idempotency import Done, Tools
from api.wire.drafts import Draft
from deploy.database import Connection
from workflows.vocabulary import ErrorCode


def stale(found: Draft) -> Refusal:
    """It is kept, and says that the text it is made of is not the newest."""
    return Refusal(
        409,
        ErrorCode.STALE_BASE,
        "it is kept, but the text was changed meanwhile; take the newest revision as base",
        params={
            "base_revision": found.base_revision,
            "newest": found.newest,
            "saved": found.version,
        },
    )


async def keep(
    connection: Connection, tools: Tools, document_id: str, wanted: requests.NewDraft
) -> Done:
    """200: kept as the next version. Raises 409 where `version` is not the stored one: only a save
    that has the same contents passes, so that a repeated request is no conflict."""
    document = await inserts.lock_document(connection, document_id)
    kind = inserts.find_kind(tools.state.kinds, document.kind)
    await inserts.require_revision(connection, document_id, wanted.base_revision, "/base_revision")
    if wanted.body is not None:
        inserts.check_size(wanted.body, "/body", kind.limits.body_characters)
    actor = tools.caller.actor
    stored = await queries.draft(connection, document_id, actor)
    body, notes = _merged(stored, wanted)
    same = stored is not None and (stored.base_revision, stored.body, stored.notes) == (
        wanted.base_revision,
        body,
        notes,
    )
    if not same:
        if wanted.version != (0 if stored is None else stored.version):
            raise _overtaken(stored, wanted.version, wanted.base_revision)
        await _store(connection, document_id, actor, (wanted.base_revision, body, notes))
    return Done(status=200, body=await queries.draft(connection, document_id, actor))


def _merged(
    stored: Draft | None, wanted: requests.NewDraft
) -> tuple[str | None, dict[str, object]]:
    """What is left out stays as it is stored."""
    body = wanted.body if "body" in wanted.model_fields_set or stored is None else stored.body
    if "notes" not in wanted.model_fields_set and stored is not None:
        return body, stored.notes
    notes = wanted.notes or requests.DraftNotes()
    dumped = notes.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return body, _counted(dumped, {} if stored is None else stored.notes)


def _counted(notes: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Each decision with the way in which changes are counted now, unless it was stored before and
    names none: hunks had other numbers then."""
    earlier = [one["change"] for one in stored.get("decisions", ())]
    for decision in notes.get("decisions", ()):
        if "algorithm" not in decision["change"] and decision["change"] not in earlier:
            decision["change"]["algorithm"] = differences.ALGORITHM
    return notes


def _overtaken(stored: Draft | None, named: int, base: int) -> Refusal:
    version = 0 if stored is None else stored.version
    return Refusal(
        409,
        ErrorCode.STALE_BASE,
        "another tab or person saved this draft since; nothing was overwritten",
        params={
            "draft_version": version,
            "version": named,
            "base_revision": base,
            "newest": None if stored is None else stored.newest,
        },
    )


async def _store(
    connection: Connection,
    document_id: str,
    actor: str,
    content: tuple[int, str | None, dict[str, object]],
) -> None:
    await connection.execute(
        """
        INSERT INTO review_drafts (document_id, principal, base_revision, body, notes)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (document_id, principal) DO UPDATE SET
            base_revision = excluded.base_revision, body = excluded.body, notes = excluded.notes,
            version = review_drafts.version + 1, updated_at = now(), dropped_at = NULL
        """,
        document_id,
        actor,
        *content,
    )


async def leave(
    connection: Connection, stored: Draft | None, *, body: str | None, notes: requests.DraftNotes
) -> None:
    """After a decision: only what it did not send stays. The caller holds the document's lock."""
    if stored is None:
        return
    if body is None and notes == requests.DraftNotes():
        await drop(connection, stored.document_id, stored.principal)
        return
    left = notes.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    await _store(
        connection, stored.document_id, stored.principal, (stored.base_revision, body, left)
    )


async def discard(
    connection: Connection, tools: Tools, document_id: str, version: int | None
) -> Done:
    """204: thrown away, also where there is none. Raises 409 where `version` is not the stored one:
    what was saved since is not thrown away unseen."""
    actor = tools.caller.actor
    if version is not None:
        await inserts.lock_document(connection, document_id)
        stored = await queries.draft(connection, document_id, actor)
        if stored is not None and stored.version != version:
            raise _overtaken(stored, version, stored.base_revision)
    await drop(connection, document_id, actor)
    return Done(status=204, body=None)


async def drop(connection: Connection, document_id: str, actor: str) -> None:
    """What was sent, or thrown away, is no draft any more. Its version stays: a tab that still
    shows it must not pass as the author of the next one."""
    await connection.execute(
        """
        UPDATE review_drafts
        SET body = NULL, notes = '{}', version = version + 1, dropped_at = now()
        WHERE document_id = $1 AND principal = $2 AND dropped_at IS NULL
        """,
        document_id,
        actor,
    )
