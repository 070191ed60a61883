"""Reads of the review: what is locked, who waits for a person, what a deletion would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from api import wire
from api.http import cursors
from api.queries.documents import document_exists
from api.queries.rows import Reader, counted, page_of
from api.wire.locks import Lock


async def locks_page(
    reader: Reader,
    document_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[Lock] | None:
    """Passages that no later round may touch, oldest first; None without such a document."""
    if not await document_exists(reader, document_id):
        return None
    at, last = (None, None) if cursor is None else cursors.decode_moment("locks", cursor)
    after = "true" if at is None else "(l.created_at, l.id) > ($3, $4)"
    rows = await reader.fetch(
        f"""
        SELECT l.id, l.document_id, l.quote, l.actor, l.created_at,
            EXISTS (SELECT FROM revisions r JOIN documents d ON d.id = r.document_id
                WHERE d.id = l.document_id AND r.number = d.revision_seq
                    AND position(l.quote IN r.body) > 0) AS stands
        FROM locks l WHERE l.document_id = $1 AND l.removed_at IS NULL AND {after}
        ORDER BY l.created_at, l.id LIMIT $2
        """,  # noqa: S608
        document_id,
        limit + 1,
        *(() if at is None else (at, last)),
    )
    page = page_of(
        rows,
        limit,
        lambda row: Lock(**dict(row)),
        lambda row: cursors.encode_moment("locks", row["created_at"], row["id"]),
    )
    if not count:
        return page
    total = await reader.fetchval(
        "SELECT count(*) FROM locks WHERE document_id = $1 AND removed_at IS NULL", document_id
    )
    return counted(page, {"": total})


async def locked_passages(reader: Reader, document_id: str) -> list[str]:
    """Their words alone, all of them."""
    rows = await reader.fetch(
        """
        SELECT quote FROM locks WHERE document_id = $1 AND removed_at IS NULL
        ORDER BY created_at, id
        """,
        document_id,
    )
    return [row["quote"] for row in rows]


async def waiting_ids(reader: Reader, limit: int) -> list[str]:
    """Runs that wait for a person, who waits longest first."""
    rows = await reader.fetch(
        """
        SELECT id FROM runs WHERE status = 'AWAITING_CONFIRMATION'
        ORDER BY last_progress_at, id LIMIT $1
        """,
        limit,
    )
    return [str(row["id"]) for row in rows]


@dataclass(frozen=True, kw_only=True)
class AlsoHere:
    """Somebody else who has typed or noted something at a review lately."""

    principal: str
    at: datetime


async def also_here(reader: Reader, document_id: str, actor: str) -> Sequence[AlsoHere]:
    """Who last typed first; what nobody touched for half an hour counts as left."""
    rows = await reader.fetch(
        """
        SELECT principal, updated_at AS at FROM review_drafts
        WHERE document_id = $1 AND principal <> $2 AND dropped_at IS NULL
          AND updated_at > now() - interval '30 minutes'
        ORDER BY updated_at DESC, principal LIMIT 3
        """,
        document_id,
        actor,
    )
    return [AlsoHere(**dict(row.items())) for row in rows]


@dataclass(frozen=True, kw_only=True)
class Belongings:
    """What goes with a document when it is deleted; `live` are runs that are not over."""

    runs: int
    live: int
    revisions: int
    sources: int
    recordings: int
    calls: int


async def belongings(reader: Reader, document_id: str) -> Belongings:
    row = await reader.fetchrow(
        """
        SELECT
            (SELECT count(*) FROM runs WHERE document_id = $1) AS runs,
            (SELECT count(*) FROM runs WHERE document_id = $1
                AND status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')) AS live,
            (SELECT count(*) FROM revisions WHERE document_id = $1) AS revisions,
            (SELECT count(*) FROM sources WHERE document_id = $1) AS sources,
            (SELECT count(*) FROM blobs WHERE document_id = $1) AS recordings,
            (SELECT count(*) FROM model_calls c JOIN runs r ON r.id = c.run_id
                WHERE r.document_id = $1) AS calls
        """,
        document_id,
    )
    assert row is not None, "counts are always one row"
    return Belongings(**dict(row.items()))
