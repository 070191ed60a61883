"""The route by which a recording is heard."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from api import recordings
from api.auth import needs
from api.errors import not_found
from api.paths import DocumentId
from api.principals import Principal, Scope
from api.state import state_of

router = APIRouter(tags=["documents"])
Reads = Annotated[Principal, needs(Scope.READ, content=True)]


@router.get(
    "/api/documents/{document_id}/sources/{source_id}/audio",
    response_class=FileResponse,
    responses={200: {"content": {"audio/*": {}}}, 206: {"description": "the range asked for"}},
)
async def get_audio(
    document_id: DocumentId, source_id: str, request: Request, principal: Reads
) -> Response:
    """The recording behind a source, whole or in ranges."""
    state = state_of(request)
    row = await recordings.recording_of(state.pool, document_id, source_id)
    store = recordings.store_of(state.settings)
    if row is None or store is None:
        raise not_found("recording")
    path = store.path(row["uri"])
    try:
        stat = await asyncio.to_thread(os.stat, path)
    except FileNotFoundError:
        raise not_found("recording") from None
    return FileResponse(
        path,
        media_type=row["media_type"],
        filename=row["name"],
        stat_result=stat,
        content_disposition_type="inline",
        headers={"ETag": f'"{row["sha256"]}"'},
    )
