"""Reads of unsent edits, and of the text that a new edit would be made of."""

from __future__ import annotations

from dataclasses import dataclass

from api.http import cursors
from api.queries.rows import Reader
from api.wire.drafts import Draft
from workflows.vocabulary import FINAL, RunStatus


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a document's texts stand: `status` and what follows are of its active run, else of its
    newest if that FAILED; None without one."""

    newest: int | None
    human: int | None
    status: str | None
    offered: int | None
    working: int | None
    best: int | None

    @property
    def bases(self) -> frozenset[int | None]:
        """What a new text may be made of: nobody's newer text is overwritten unseen."""
        if self.status is None:
            return frozenset({self.human, self.newest})
        if self.status == RunStatus.AWAITING_CONFIRMATION:
            return frozenset({self.human, self.offered})
        return frozenset({self.human, self.working, self.best})

    @property
    def current(self) -> int | None:
        """The revision that a person would edit now."""
        if self.status is None:
            return self.newest
        offers = self.status == RunStatus.AWAITING_CONFIRMATION
        return self.offered if offers else self.working


async def standing(reader: Reader, document_id: str) -> Standing | None:
    """None when there is no such document."""
    if not cursors.is_uuid(document_id):
        return None
    row = await reader.fetchrow(
        """
        SELECT nullif(d.revision_seq, -1) AS newest,
            (SELECT max(v.number) FROM revisions v
                WHERE v.document_id = d.id AND v.author <> 'run') AS human,
            r.status, r.offered_revision AS offered, r.working_revision AS working,
            r.best_revision AS best
        FROM documents d LEFT JOIN LATERAL (
            SELECT status, offered_revision, working_revision, best_revision FROM runs
            WHERE document_id = d.id
            ORDER BY (status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION')) DESC,
                created_at DESC, id DESC
            LIMIT 1) r ON true
        WHERE d.id = $1
        """,
        document_id,
    )
    if row is None:
        return None
    found = dict(row.items())
    if found["status"] in FINAL:
        found |= {"status": None, "offered": None, "working": None, "best": None}
    return Standing(**found)


async def draft(reader: Reader, document_id: str, principal: str) -> Draft | None:
    """This person's unsent edit of the document."""
    stands = await standing(reader, document_id)
    if stands is None:
        return None
    row = await reader.fetchrow(
        """
        SELECT document_id, principal, base_revision, body, notes, version, updated_at
        FROM review_drafts
        WHERE document_id = $1 AND principal = $2 AND dropped_at IS NULL
        """,
        document_id,
        principal,
    )
    if row is None:
        return None
    stale = row["base_revision"] not in stands.bases
    return Draft(**dict(row), stale=stale, newest=stands.current)
