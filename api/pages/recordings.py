"""A recording that comes to a document by the form on its page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from api.files import recordings, uploads
from api.files.source_versions import add_recording
from api.files.upload_files import require_hearing
from api.http.auth import needs
from api.http.errors import Refusal, misfit
from api.http.paths import DocumentId
from api.http.principals import Scope
from api.http.state import state_of
from api.pages.documents import refused
from api.pages.errors import PageRoute
from api.pages.forms import go, perform_once, typed_in

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.post("/documents/{document_id}/recordings", dependencies=[needs(Scope.WRITE, content=True)])
async def add(request: Request, document_id: DocumentId) -> Response:
    """A further source without a text; the next run transcribes it."""
    try:
        await _add(request, document_id)
    except Refusal as refusal:
        return await refused(request, document_id, refusal, frozenset({"audio"}))
    return go(f"/documents/{document_id}#sources")


async def _add(request: Request, document_id: str) -> None:
    async with uploads.form_of(request) as sent:
        form, audio = typed_in(sent), sent.get("audio")
        if not isinstance(audio, UploadFile) or not audio.filename:
            raise misfit("/audio", "must not be empty")
        await require_hearing(state_of(request), document_id)
        sound = await recordings.receive(audio)
        form["audio"] = sound.recording.sha256  # the form's key is bound to it
        async with recordings.kept(sound):
            await perform_once(
                request, form, lambda c, tools: add_recording(c, tools, document_id, sound)
            )
