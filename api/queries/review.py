"""Reads of the review: what is locked, who waits for a person, what a deletion would take."""

from __future__ import annotations

from dataclasses import dataclass

from api.queries.rows import Reader


async def locked_passages(reader: Reader, document_id: str) -> list[str]:
    """Passages that no later round may touch, oldest first."""
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
