"""Routes of documents, their revisions and sources; checks are in commands, reads in queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import PlainTextResponse, Response

from api import queries, wire
from api.commands import create_run
from api.files import uploads
from api.http import requests
from api.http.auth import needs
from api.http.bodies import accepts, is_form, json_body, read_json
from api.http.paths import DocumentId, Page, or_404
from api.http.principals import Principal, Scope
from api.http.state import state_of
from api.moves import deletion, edits
from api.moves.idempotency import Done, respond, tools_of
from api.wire.reading import DocumentRead, Reading
from deploy.database import Connection

router = APIRouter(tags=["documents"])
Reads = Annotated[Principal, needs(Scope.READ, content=True)]
Writes = Annotated[Principal, needs(Scope.WRITE, content=True)]
RevisionNumber = Annotated[int, Path(ge=0, le=requests.LARGEST_NUMBER)]


@router.post(
    "/api/documents",
    status_code=201,
    response_model=DocumentRead,
    openapi_extra=accepts(requests.NewDocument, form=uploads.form_schema),
)
async def create_document(request: Request, principal: Writes) -> Response:
    """A document with its sources, as JSON or as a form with files."""
    tools = tools_of(request)
    if is_form(request):
        async with uploads.reading(request) as sent:

            async def create(connection: Connection) -> Done:
                return _told(await sent.create(connection, tools), sent.given.readings)

            return await respond(request, create, sent.bound())
    wanted = await read_json(request, requests.NewDocument)
    return await respond(request, lambda c: edits.create_document(c, tools, wanted), wanted)


def _told(done: Done, readings: list[Reading]) -> Done:
    """The new document, and how its files were read."""
    if done.body is None:
        return done
    return replace(done, body=DocumentRead(**dict(done.body), reading=readings))


@router.get("/api/documents", response_model=wire.Page[wire.Document])
async def list_documents(
    request: Request, page: Page, principal: Reads
) -> wire.Page[wire.Document]:
    """Newest first."""
    pool = state_of(request).pool
    return await queries.documents_page(pool, page.limit, page.cursor, page.count)


@router.get("/api/documents/{document_id}", response_model=wire.Document)
async def get_document(
    document_id: DocumentId, request: Request, principal: Reads
) -> wire.Document:
    return or_404(await queries.document(state_of(request).pool, document_id), "document")


@router.patch(
    "/api/documents/{document_id}",
    response_model=wire.Document,
    openapi_extra=accepts(requests.DocumentChange),
)
async def change_document(
    document_id: DocumentId,
    request: Request,
    principal: Writes,
    wanted: Annotated[requests.DocumentChange, json_body(requests.DocumentChange)],
) -> Response:
    """Title and tags; what is not named stays."""
    tools = tools_of(request)
    return await respond(request, lambda c: edits.change_document(c, tools, document_id, wanted))


@router.delete("/api/documents/{document_id}", status_code=204, response_class=Response)
async def delete_document(
    document_id: DocumentId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.WRITE, content=False)],
) -> Response:
    """Stops a live run and removes every row and file."""
    tools = tools_of(request)
    return await respond(request, lambda c: deletion.delete_document(c, tools, document_id))


@router.post(
    "/api/documents/{document_id}/runs",
    status_code=201,
    response_model=wire.Run,
    openapi_extra=accepts(requests.NewRun),
)
async def start_run(
    document_id: DocumentId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.OPERATE, content=False)],
    wanted: Annotated[requests.NewRun, json_body(requests.NewRun)],
) -> Response:
    """A run of this document, if none is active."""
    tools = tools_of(request)
    return await respond(request, lambda c: create_run(c, tools, document_id, wanted), wanted)


@router.post(
    "/api/documents/{document_id}/revisions",
    status_code=201,
    response_model=wire.Revision,
    openapi_extra=accepts(requests.NewRevision),
)
async def add_revision(
    document_id: DocumentId,
    request: Request,
    principal: Writes,
    wanted: Annotated[requests.NewRevision, json_body(requests.NewRevision)],
) -> Response:
    """A person's revision: offered, working or beside the run, by the run's status."""
    tools = tools_of(request)
    return await respond(
        request, lambda c: edits.add_revision(c, tools, document_id, wanted), wanted
    )


@router.get("/api/documents/{document_id}/revisions", response_model=wire.Page[wire.RevisionInfo])
async def list_revisions(
    document_id: DocumentId, request: Request, page: Page, principal: Reads
) -> wire.Page[wire.RevisionInfo]:
    """By number, without their texts."""
    found = await queries.revisions_page(
        state_of(request).pool, document_id, page.limit, page.cursor, page.count
    )
    return or_404(found, "document")


@router.get(
    "/api/documents/{document_id}/revisions/{number}",
    response_model=wire.Revision,
    responses={200: {"content": {"text/markdown": {}}}},
)
async def get_revision(
    document_id: DocumentId, number: RevisionNumber, request: Request, principal: Reads
) -> wire.Revision | Response:
    """One revision as JSON, or its raw text with `Accept: text/markdown`."""
    revision = or_404(
        await queries.revision(state_of(request).pool, document_id, number), "revision"
    )
    if "text/markdown" in request.headers.get("accept", ""):
        return PlainTextResponse(revision.body, media_type="text/markdown")
    return revision


@router.get("/api/documents/{document_id}/sources", response_model=wire.Page[wire.SourceInfo])
async def list_sources(
    document_id: DocumentId, request: Request, page: Page, principal: Reads
) -> wire.Page[wire.SourceInfo]:
    """In the order they were given, without their texts."""
    found = await queries.sources_page(
        state_of(request).pool, document_id, page.limit, page.cursor, page.count
    )
    return or_404(found, "document")


@router.get("/api/documents/{document_id}/sources/{source_id}", response_model=wire.Source)
async def get_source(
    document_id: DocumentId, source_id: str, request: Request, principal: Reads
) -> wire.Source:
    """One source with its text."""
    return or_404(await queries.source(state_of(request).pool, document_id, source_id), "source")
