"""Routes that take files: a further or corrected source, and what a file would be read as."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.files import file_reading, originals, upload_files
from api.files.source_versions import add_recording, add_source, lay_beside
from api.http import requests
from api.http.auth import needs
from api.http.bodies import accepts, is_form, read_json
from api.http.paths import DocumentId
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.moves.idempotency import Done, Tools, respond, tools_of
from api.wire.reading import Preview, SourceAdded, preview
from deploy.database import Connection

router = APIRouter(tags=["documents"])
Writes = Annotated[Principal, needs(Scope.WRITE, content=True)]


@router.post(
    "/api/documents/{document_id}/sources",
    status_code=201,
    response_model=SourceAdded,
    openapi_extra=accepts(requests.AddedSource, form=upload_files.source_schema),
)
async def add(document_id: DocumentId, request: Request, principal: Writes) -> Response:
    """One more source, or with `replaces` the corrected version of one; as JSON or as a file. A
    recording alone is a source that the next run transcribes."""
    tools = tools_of(request)
    if not is_form(request):
        wanted = await read_json(request, requests.AddedSource)
        return await respond(
            request, lambda c: add_source(c, tools, document_id, wanted, None), wanted
        )
    async with (
        upload_files.source_form(request, document_id) as sent,
        originals.taken(state_of(request).settings, sent.files) as taken,
    ):
        return await respond(
            request,
            lambda c: _add_sent(c, tools, document_id, sent, taken),
            taken.bound(sent.bound()),
        )


async def _add_sent(
    connection: Connection,
    tools: Tools,
    document_id: str,
    sent: upload_files.SourceForm,
    taken: originals.Originals,
) -> Done:
    if sent.wanted is None:
        assert sent.sound is not None, "one of them came"
        return await add_recording(connection, tools, document_id, sent.sound)
    added = Added(wanted=sent.wanted, files=sent.files, taken=taken)
    done = await add_file(connection, tools, document_id, added)
    if sent.sound is None:
        return done
    assert isinstance(done.body, SourceAdded)
    await lay_beside(connection, document_id, done.body.id, sent.sound)
    return replace(done, body=done.body.model_copy(update={"has_audio": True}))


@dataclass(frozen=True, kw_only=True)
class Added:
    """A source, and the file it was read from, if it was one."""

    wanted: requests.AddedSource
    files: list[originals.ReadFile]
    taken: originals.Originals


async def add_file(connection: Connection, tools: Tools, document_id: str, added: Added) -> Done:
    """The source's row, and that of its file, whose place is known only now."""
    reading = added.files[0].reading if added.files else None
    done = await add_source(connection, tools, document_id, added.wanted, reading)
    if not added.taken.files:
        return done
    assert isinstance(done.body, SourceAdded)
    await added.taken.insert(connection, document_id, position=done.body.position)
    return replace(done, body=done.body.model_copy(update={"has_original": True}))


@router.post(
    "/api/preview",
    response_model=Preview,
    openapi_extra=upload_files.file_schema(),
)
async def preview_file(
    request: Request,
    principal: Writes,
    role: Annotated[Literal["source", "draft"], Query(alias="as")] = "source",
    name: Annotated[str, Query(max_length=255)] = "",
) -> Preview:
    """How a file would be read: encoding, format, first lines, what was not understood. The file
    is the field `file` of a form, or the body itself with its `?name=`. Nothing is stored."""
    if is_form(request):
        file = await upload_files.read_file(request)
    else:
        file = await file_reading.of_body(request, name)
    parsed = await file_reading.read(file, role, "/file")
    return preview(file.name, parsed, role)
