"""The routes by which uploaded files are had back, byte for byte.

A file is what a stranger sent: it is a download under a harmless name, never shown in place.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import FileResponse, Response

from api.files import originals
from api.files.recordings import file_of, kept_file
from api.http.attachment import disposition, safe_name
from api.http.auth import needs
from api.http.paths import DocumentId
from api.http.principals import Principal, Scope
from api.http.requests import LARGEST_NUMBER
from api.http.state import State, state_of
from deploy.database import Row

router = APIRouter(tags=["documents"])
Reads = Annotated[Principal, needs(Scope.READ, content=True)]
RevisionNumber = Annotated[int, Path(ge=0, le=LARGEST_NUMBER)]
_ANSWERS: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}
_RUNNABLE = ("html", "xml", "svg", "javascript", "ecmascript", "pdf")
"""In media types of what a browser could run; the name tells the format all the same."""


@router.get(
    "/api/documents/{document_id}/sources/{source_id}/original",
    response_class=FileResponse,
    responses=_ANSWERS,
)
async def source_original(
    document_id: DocumentId, source_id: str, request: Request, principal: Reads
) -> Response:
    """The file that a source was read from; 404 where it came as text."""
    state = state_of(request)
    found = await file_of(state.pool, document_id, source_id, "original")
    return await _file(state, found)


@router.get(
    "/api/documents/{document_id}/revisions/{number}/original",
    response_class=FileResponse,
    responses=_ANSWERS,
)
async def revision_original(
    document_id: DocumentId, number: RevisionNumber, request: Request, principal: Reads
) -> Response:
    """The file that a document's first text was read from."""
    state = state_of(request)
    return await _file(state, await originals.of_revision(state.pool, document_id, number))


async def _file(state: State, found: Row | None) -> Response:
    path, stat, row = await kept_file(state.settings, found, "original")
    media_type: str = row["media_type"]
    if any(word in media_type for word in _RUNNABLE) and "officedocument" not in media_type:
        media_type = "application/octet-stream"
    return FileResponse(
        path,
        media_type=media_type,
        stat_result=stat,
        headers={
            "ETag": f'"{row["sha256"]}"',
            "Content-Disposition": disposition(safe_name(row["name"])),
        },
    )
