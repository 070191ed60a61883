"""What people bring in: documents, sources, runs, human revisions, the first profile.

Each function works inside the caller's transaction and keeps the lock order document, run. Checks
come before the first write, so a refusal stores nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from activities import record
from api.http import requests
from api.http.errors import Refusal, misfit, not_found, too_large
from api.http.state import Caller
from api.moves import beginnings
from api.moves.checks import require_price, zone_problems
from api.moves.request_check import check_request
from deploy.database import Connection, new_id
from workflows.budget import COST, changed
from workflows.kinds.kind import Kind
from workflows.vocabulary import SPEECH_PROFILE, ErrorCode, EventType, Stage

Kinds = Mapping[str, Kind]


def find_kind(kinds: Kinds, name: str) -> Kind:
    kind = kinds.get(name)
    if kind is None:
        raise Refusal(
            422,
            ErrorCode.UNKNOWN_KIND,
            "no such kind of document",
            params={"known": sorted(kinds)},
            errors=[("/kind", str(ErrorCode.UNKNOWN_KIND), "no such kind of document")],
        )
    return kind


def check_size(text: str, pointer: str, characters: int) -> None:
    """Raises 413 for a text longer than the service's bytes or the kind's characters."""
    if len(text.encode()) > requests.TEXT_BYTES:
        raise too_large(requests.TEXT_BYTES, pointer=pointer)
    if len(text) > characters:
        raise too_large(characters, unit="characters", pointer=pointer)


def check_document(kinds: Kinds, wanted: requests.NewDocument, *, recorded: bool = False) -> Kind:
    """The document's kind; raises when kind, attributes, sizes or a missing body do not fit."""
    kind = find_kind(kinds, wanted.kind)
    unknown = sorted(set(wanted.attributes) - kind.attribute_names)
    known = f"unknown attribute of this kind; it has {', '.join(sorted(kind.attribute_names))}"
    problems = [(f"/{name}", known) for name in unknown]
    problems += [] if problems else kind.check_attributes(wanted.attributes)
    problems += [] if problems else zone_problems(wanted.attributes)
    if problems:
        raise Refusal(
            422,
            ErrorCode.INVALID_REQUEST,
            "attributes that do not fit this kind",
            errors=[(f"/attributes{at}", "attribute", text) for at, text in problems],
        )
    if wanted.body is not None:
        check_size(wanted.body, "/body", kind.limits.body_characters)
    elif not kind.drafts_without_body():
        raise misfit("/body", f"{kind.name} cannot be drafted yet; send the text as body")
    for index, source in enumerate(wanted.sources):
        check_size(source.text, f"/sources/{index}/text", kind.limits.source_characters)
    if wanted.body is None:
        check_request(kind, wanted, recorded=recorded)
    return kind


async def insert_document(
    connection: Connection, caller: Caller, wanted: requests.NewDocument
) -> str:
    """The document with its sources and, if it has a body, revision 0. Its id."""
    document_id = new_id()
    await connection.execute(
        """
        INSERT INTO documents (id, kind, title, language, attributes, tags, actor)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        document_id,
        wanted.kind,
        wanted.title,
        wanted.language,
        wanted.attributes,
        wanted.tags,
        caller.actor,
    )
    for position, source in enumerate(wanted.sources):
        await _insert_source(connection, caller, document_id, position, source)
    if wanted.body is not None:
        await record.insert_revision(
            connection,
            record.NewRevision(
                document_id=document_id, body=wanted.body, base=None, author=caller.actor
            ),
        )
    return document_id


async def _insert_source(
    connection: Connection,
    caller: Caller,
    document_id: str,
    position: int,
    source: requests.NewSource,
) -> None:
    await connection.execute(
        """
        INSERT INTO sources (id, document_id, name, media_type, text, sha256, position, actor)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        new_id(),
        document_id,
        source.name,
        source.media_type,
        source.text,
        hashlib.sha256(source.text.encode()).hexdigest(),
        position,
        caller.actor,
    )


@dataclass(frozen=True, kw_only=True)
class LockedDocument:
    """A document under `FOR NO KEY UPDATE`."""

    id: str
    kind: str
    title: str
    newest: int | None


async def lock_document(connection: Connection, document_id: str) -> LockedDocument:
    """Raises 404 when it was deleted."""
    row = await connection.fetchrow(
        """
        SELECT id, kind, title, nullif(revision_seq, -1) AS newest FROM documents
        WHERE id = $1 FOR NO KEY UPDATE
        """,
        document_id,
    )
    if row is None:
        raise not_found("document")
    return LockedDocument(**dict(row.items()))


async def newest_human_revision(connection: Connection, document_id: str) -> int | None:
    number: int | None = await connection.fetchval(
        "SELECT max(number) FROM revisions WHERE document_id = $1 AND author <> 'run'", document_id
    )
    return number


async def require_revision(
    connection: Connection, document_id: str, number: int, pointer: str
) -> None:
    """Raises 422 `unknown_revision`."""
    if not await connection.fetchval(
        "SELECT true FROM revisions WHERE document_id = $1 AND number = $2", document_id, number
    ):
        raise misfit(pointer, "no such revision", code=ErrorCode.UNKNOWN_REVISION)


async def require_profile(
    connection: Connection, name: str, kind: Kind, pointer: str = "/profile"
) -> None:
    """Raises 422: `unknown_profile`, also for the recogniser's, which reads nothing; or what in its
    prompts, or its fallback's, this kind cannot use."""
    if name == SPEECH_PROFILE:
        detail = f"{name} hears recordings, whatever profile the run has; name one that reads"
        raise misfit(pointer, detail, code=ErrorCode.UNKNOWN_PROFILE)
    row = await connection.fetchrow(
        """
        SELECT p.prompts, p.fallback ->> 'profile' AS fallback, (
            SELECT f.prompts FROM profiles f WHERE f.name = p.fallback ->> 'profile'
            ORDER BY f.version DESC LIMIT 1) AS fallback_prompts
        FROM profiles p WHERE p.name = $1 ORDER BY p.version DESC LIMIT 1
        """,
        name,
    )
    if row is None:
        raise misfit(pointer, "no such profile", code=ErrorCode.UNKNOWN_PROFILE)
    for one, prompts in ((name, row["prompts"]), (row["fallback"], row["fallback_prompts"])):
        for at, problem in kind.check_prompts(prompts or {}):
            raise misfit(pointer, f"{one} does not fit {kind.name}: prompts{at}: {problem}")


async def refuse_draining(connection: Connection) -> None:
    """Raises 503 `draining` while nothing may start or resume."""
    row = await connection.fetchrow("SELECT value, note FROM switches WHERE name = 'draining'")
    if row is not None and row["value"] is True:
        raise Refusal(
            503,
            ErrorCode.DRAINING,
            "the service is being drained; nothing starts now"
            + (f": {row['note']}" if row["note"] else ""),
            params={"note": row["note"]},
            headers={"Retry-After": "30"},
        )


async def refuse_second_run(connection: Connection, document_id: str) -> None:
    """Raises 409 `run_active` with the active run of the (locked) document."""
    active = await connection.fetchval(
        """
        SELECT id FROM runs WHERE document_id = $1
          AND status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')
        """,
        document_id,
    )
    if active is not None:
        raise Refusal(
            409,
            ErrorCode.RUN_ACTIVE,
            "the document has an active run",
            params={"run_id": active},
            run_id=active,
        )


async def _base(
    connection: Connection, document: LockedDocument, wanted: requests.NewRun
) -> int | None:
    """Where a new run begins: as asked, else the newest human revision, else the last run's best,
    else the newest."""
    if wanted.base_revision is not None:
        await require_revision(connection, document.id, wanted.base_revision, "/base_revision")
        return wanted.base_revision
    human = await newest_human_revision(connection, document.id)
    if human is not None:
        return human
    best: int | None = await connection.fetchval(
        """
        SELECT best_revision FROM runs WHERE document_id = $1 AND best_revision IS NOT NULL
        ORDER BY created_at DESC, id DESC LIMIT 1
        """,
        document.id,
    )
    return document.newest if best is None else best


async def insert_run(
    connection: Connection,
    caller: Caller,
    kinds: Kinds,
    document: LockedDocument,
    wanted: requests.NewRun,
) -> tuple[str, int]:
    """A RUNNING run of the locked document with its first event: (id, seq of that event)."""
    await refuse_draining(connection)
    await refuse_second_run(connection, document.id)
    kind = find_kind(kinds, document.kind)
    await require_profile(connection, wanted.profile, kind)
    limits = changed({}, wanted.limits.named() if wanted.limits is not None else {})
    base = await _base(connection, document, wanted)
    if base is None and not kind.drafts_without_body():
        raise misfit("/body", f"{kind.name} cannot be drafted yet; give the document a text first")
    run_id = new_id()
    await _insert_run_row(
        connection, caller, kind, document, wanted, run_id=run_id, base=base, limits=limits
    )
    hears = await beginnings.begin_with_recording(connection, run_id, document.id)
    await require_price(connection, wanted.profile, limits, f"/limits/{COST}", hears=hears)
    if base is None:
        await beginnings.keep_templates(connection, run_id, document.id, kind)
    seq = await record.write_events(
        connection,
        run_id,
        [
            record.Event(
                type=EventType.RUN_CREATED,
                actor=caller.actor,
                request_id=caller.request_id,
                data={"document_id": document.id, "kind": kind.name, "base_revision": base},
            )
        ],
    )
    await connection.execute("UPDATE runs SET move_seq = $2 WHERE id = $1", run_id, seq)
    return run_id, seq


async def _insert_run_row(
    connection: Connection,
    caller: Caller,
    kind: Kind,
    document: LockedDocument,
    wanted: requests.NewRun,
    *,
    run_id: str,
    base: int | None,
    limits: Mapping[str, Any],
) -> None:
    await connection.execute(
        """
        INSERT INTO runs (id, document_id, kind, kind_version, status, stage, base_revision,
            working_revision, best_revision, baseline_revision, max_rounds, pass_score, profile,
            tags, queued_at, confirm_by, actor, limits, currency)
        VALUES ($1, $2, $3, $4, 'RUNNING', $5, $6, $6, $6, coalesce($6, 0), $7, $8, $9, $10,
            now(), $11, $12, $13, CASE WHEN $13 ? 'max_cost' THEN (
                SELECT coalesce(p.prices ->> 'currency', 'USD') FROM profiles p
                WHERE p.name = $9 ORDER BY p.version DESC LIMIT 1) END)
        """,
        run_id,
        document.id,
        kind.name,
        kind.version,
        Stage.DRAFT if base is None else Stage.REVIEW,
        base,
        wanted.max_rounds,
        wanted.pass_score,
        wanted.profile,
        wanted.tags,
        wanted.confirm_by,
        caller.actor,
        dict(limits),
    )


async def insert_comment(
    connection: Connection,
    caller: Caller,
    row: record.RunRow,
    text: str | None,
    *,
    revision: int | None = None,
) -> dict[str, Any]:
    """A person's words beside a move: a row that goes with its document, since events hold no
    content. What the event says of it: its id."""
    if text is None or not text.strip():
        return {}
    comment_id = await record.insert_comment(
        connection, row, text, actor=caller.actor, revision=revision
    )
    return {"comment_id": comment_id}
