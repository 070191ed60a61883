"""Reads of documents, their revisions and their sources."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from api import wire
from api.http import cursors
from api.queries.rows import Reader, counted, page_of
from deploy.database import Row

_LARGEST_NUMBER = 2**31 - 1
# What a step read when it began; the first transcript of a recording corrects nothing.
_STALE = """
    EXISTS (
        SELECT FROM sources n JOIN sources o ON o.id = n.replaces AND o.text <> ''
            LEFT JOIN steps t ON t.id = revisions.step_id
            LEFT JOIN step_plans p ON p.id = t.plan_id
        WHERE n.document_id = revisions.document_id AND CASE
            WHEN author <> 'run' THEN base IS NOT NULL AND n.created_at > revisions.created_at
            WHEN p.sources IS NULL THEN n.created_at > t.started_at
            ELSE o.id = ANY (p.sources) END)
"""
"""A run's: made from a version that was replaced since. A person's: edited before it was; a text
that came with the document was made from no source of ours."""


async def document(reader: Reader, document_id: str) -> wire.Document | None:
    if not cursors.is_uuid(document_id):
        return None
    row = await reader.fetchrow(
        """
        SELECT d.id, d.kind, d.title, d.language, d.attributes, d.tags,
            nullif(d.revision_seq, -1) AS newest_revision, d.actor, d.created_at, d.updated_at,
            (SELECT r.id FROM runs r WHERE r.document_id = d.id
                AND r.status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')) AS active_run
        FROM documents d WHERE d.id = $1
        """,
        document_id,
    )
    return None if row is None else wire.Document(**dict(row))


async def documents_page(
    reader: Reader, limit: int = 50, cursor: str | None = None, count: bool = False
) -> wire.Page[wire.Document]:
    """Newest first."""
    at, last = (None, None) if cursor is None else cursors.decode_moment("documents", cursor)
    after = "true" if at is None else "(d.created_at, d.id) < ($2, $3)"
    rows = await reader.fetch(
        f"""
        SELECT d.id, d.kind, d.title, d.language, d.attributes, d.tags,
            nullif(d.revision_seq, -1) AS newest_revision, d.actor, d.created_at, d.updated_at,
            (SELECT r.id FROM runs r WHERE r.document_id = d.id
                AND r.status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')) AS active_run
        FROM documents d WHERE {after}
        ORDER BY d.created_at DESC, d.id DESC LIMIT $1
        """,  # noqa: S608
        limit + 1,
        *(() if at is None else (at, last)),
    )
    page = page_of(
        rows,
        limit,
        lambda row: wire.Document(**dict(row)),
        lambda row: cursors.encode_moment("documents", row["created_at"], row["id"]),
    )
    if not count:
        return page
    return counted(page, {"": await reader.fetchval("SELECT count(*) FROM documents")})


async def document_exists(reader: Reader, document_id: str) -> bool:
    if not cursors.is_uuid(document_id):
        return False
    return bool(await reader.fetchval("SELECT true FROM documents WHERE id = $1", document_id))


async def revisions_page(
    reader: Reader,
    document_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[wire.RevisionInfo] | None:
    """By number, without their texts; None when there is no such document."""
    if not await document_exists(reader, document_id):
        return None
    after = -1 if cursor is None else cursors.decode_seq("revisions", cursor)
    rows = await reader.fetch(
        f"""
        SELECT document_id, number, length(body) AS characters, sha256, base, author, run_id,
            step_id, round, comment, original_id IS NOT NULL AS has_original, created_at,
            (SELECT s.name FROM steps s WHERE s.id = step_id) AS step_name, {_STALE} AS stale
        FROM revisions WHERE document_id = $1 AND number > $2 ORDER BY number LIMIT $3
        """,  # noqa: S608
        document_id,
        after,
        limit + 1,
    )
    page = page_of(
        rows, limit, _revision_info, lambda row: cursors.encode("revisions", (row["number"],))
    )
    if not count:
        return page
    total = await reader.fetchval(
        "SELECT count(*) FROM revisions WHERE document_id = $1", document_id
    )
    return counted(page, {"": total})


async def revision(reader: Reader, document_id: str, number: int) -> wire.Revision | None:
    """One revision with its text; None when the document or the number does not exist."""
    if not cursors.is_uuid(document_id) or not 0 <= number <= _LARGEST_NUMBER:
        return None
    row = await reader.fetchrow(
        f"""
        SELECT document_id, number, body, length(body) AS characters, sha256, base, author,
            run_id, step_id, round, comment, original_id IS NOT NULL AS has_original, created_at,
            (SELECT s.name FROM steps s WHERE s.id = step_id) AS step_name, {_STALE} AS stale
        FROM revisions WHERE document_id = $1 AND number = $2
        """,  # noqa: S608
        document_id,
        number,
    )
    return None if row is None else _revision(row)


async def revisions(
    reader: Reader, document_id: str, numbers: Collection[int], based: int | None = None
) -> dict[int, wire.Revision]:
    """These with their texts, and what the one named `based` was made from; by number."""
    rows = await reader.fetch(
        f"""
        SELECT document_id, number, body, length(body) AS characters, sha256, base, author,
            run_id, step_id, round, comment, original_id IS NOT NULL AS has_original, created_at,
            (SELECT s.name FROM steps s WHERE s.id = step_id) AS step_name, {_STALE} AS stale
        FROM revisions WHERE document_id = $1 AND (number = ANY ($2::int[]) OR number = (
            SELECT b.base FROM revisions b WHERE b.document_id = $1 AND b.number = $3))
        """,  # noqa: S608
        document_id,
        list(numbers),
        based,
    )
    return {row["number"]: _revision(row) for row in rows}


def _revision(row: Row) -> wire.Revision:
    return wire.Revision(**dict(_revision_info(row)), body=row["body"])


def _revision_info(row: Row) -> wire.RevisionInfo:
    made_by = None
    if row["run_id"] is not None:
        made_by = wire.MadeBy(run=row["run_id"], step=row["step_name"], round=row["round"])
    return wire.RevisionInfo(
        document_id=row["document_id"],
        number=row["number"],
        characters=row["characters"],
        sha256=row["sha256"],
        author=row["author"],
        made_by=made_by,
        base=row["base"],
        comment=row["comment"],
        stale=row["stale"],
        has_original=row["has_original"],
        created_at=row["created_at"],
    )


@dataclass(frozen=True, kw_only=True)
class Said:
    """A person's words about a revision or, with `quote`, about a passage of it."""

    revision: int
    text: str
    quote: str | None
    actor: str


async def said_of_revisions(reader: Reader, document_id: str) -> list[Said]:
    """What was said with decisions about the document's revisions, oldest first."""
    rows = await reader.fetch(
        """
        SELECT revision, text, quote, actor FROM comments
        WHERE document_id = $1 AND run_id IS NOT NULL AND revision IS NOT NULL
        ORDER BY created_at, id
        """,
        document_id,
    )
    return [Said(**dict(row)) for row in rows]


async def sources_page(
    reader: Reader,
    document_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[wire.SourceInfo] | None:
    """In the order they were given, replaced versions too, without their texts."""
    if not await document_exists(reader, document_id):
        return None
    after = (-1, None) if cursor is None else cursors.decode_place("sources", cursor)
    rows = await reader.fetch(
        """
        SELECT id, document_id, name, media_type, version, replaces, replaced_by, position,
            length(text) AS characters, sha256, blob_id IS NOT NULL AS has_audio,
            original_id IS NOT NULL AS has_original, actor, created_at
        FROM sources
        WHERE document_id = $1 AND (position > $2 OR position = $2 AND id > $3::uuid)
        ORDER BY position, id LIMIT $4
        """,
        document_id,
        *after,
        limit + 1,
    )
    page = page_of(
        rows,
        limit,
        lambda row: wire.SourceInfo(**dict(row)),
        lambda row: cursors.encode("sources", (row["position"], row["id"])),
    )
    if not count:
        return page
    total = await reader.fetchval(
        "SELECT count(*) FROM sources WHERE document_id = $1", document_id
    )
    return counted(page, {"": total})


async def source(reader: Reader, document_id: str, source_id: str) -> wire.Source | None:
    """One source with its text."""
    if not (cursors.is_uuid(document_id) and cursors.is_uuid(source_id)):
        return None
    row = await reader.fetchrow(
        """
        SELECT id, document_id, name, media_type, version, replaces, replaced_by, position, text,
            length(text) AS characters, sha256, blob_id IS NOT NULL AS has_audio,
            original_id IS NOT NULL AS has_original, actor, created_at
        FROM sources WHERE document_id = $1 AND id = $2
        """,
        document_id,
        source_id,
    )
    return None if row is None else wire.Source(**dict(row))


async def sources_in_force(reader: Reader, document_id: str) -> list[wire.Source]:
    """The sources that count, in their order, with their texts."""
    rows = await reader.fetch(
        """
        SELECT id, document_id, name, media_type, version, replaces, replaced_by, position, text,
            length(text) AS characters, sha256, blob_id IS NOT NULL AS has_audio,
            original_id IS NOT NULL AS has_original, actor, created_at
        FROM sources WHERE document_id = $1 AND replaced_by IS NULL ORDER BY position, id
        """,
        document_id,
    )
    return [wire.Source(**dict(row)) for row in rows]
