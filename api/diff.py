"""`GET /api/documents/{id}/diff`: two revisions compared, as hunks."""

from __future__ import annotations

import asyncio
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query, Request

from api import differences, queries, wire
from api.http.auth import needs
from api.http.errors import Refusal
from api.http.paths import DocumentId, or_404
from api.http.principals import Principal, Scope
from api.http.requests import LARGEST_NUMBER
from api.http.state import state_of
from workflows.vocabulary import ErrorCode

router = APIRouter(tags=["documents"])
Reads = Annotated[Principal, needs(Scope.READ, content=True)]
Old: TypeAlias = Annotated[int, Query(alias="from", ge=0, le=LARGEST_NUMBER)]
New: TypeAlias = Annotated[int, Query(ge=0, le=LARGEST_NUMBER)]


@router.get("/api/documents/{document_id}/diff", response_model=wire.Diff)
async def document_diff(
    document_id: DocumentId, request: Request, principal: Reads, from_: Old, to: New
) -> wire.Diff:
    """What revision `to` changes in revision `from`."""
    pool = state_of(request).pool
    or_404(await queries.document(pool, document_id), "document")
    old = await queries.revision(pool, document_id, from_)
    new = await queries.revision(pool, document_id, to)
    if old is None or new is None:
        raise unknown_revision(from_ if old is None else to)
    return await compare(old, new)


def unknown_revision(number: int) -> Refusal:
    return Refusal(
        404,
        ErrorCode.UNKNOWN_REVISION,
        f"the document has no revision {number}",
        params={"revision": number},
    )


async def compare(old: wire.Revision, new: wire.Revision) -> wire.Diff:
    """The comparison of two revisions of a document, made in a thread."""
    found = await asyncio.to_thread(differences.difference, old.body, new.body)
    hunks = [_hunk(hunk) for hunk in found.hunks]
    return wire.Diff.model_validate(
        {
            "document_id": new.document_id,
            "from": old.number,
            "to": new.number,
            "algorithm": differences.ALGORITHM,
            "level": found.level,
            "changed": any(hunk.op != "equal" for hunk in hunks),
            "hunks": hunks,
        }
    )


def _hunk(hunk: differences.Hunk) -> wire.DiffHunk:
    if len(hunk.pieces) == 1:
        (only,) = hunk.pieces
        return wire.DiffHunk(op=only.op, old=hunk.old, new=hunk.new, text=only.text)
    pieces = [wire.DiffPiece(op=piece.op, text=piece.text) for piece in hunk.pieces]
    return wire.DiffHunk(op="replace", old=hunk.old, new=hunk.new, pieces=pieces)
