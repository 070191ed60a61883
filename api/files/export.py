"""`GET /api/documents/{id}/export`: one revision as a file, or as JSON with its facts.

Without `revision` it is the one that stands for the document: of the newest run what was confirmed
or is offered, else its best, else the newest revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from api import queries, wire
from api.diff import unknown_revision
from api.files import exports
from api.http.attachment import disposition, safe_stem
from api.http.auth import needs
from api.http.errors import Refusal, misfit
from api.http.paths import DocumentId, or_404
from api.http.principals import Principal, Scope
from api.http.requests import LARGEST_NUMBER
from api.http.state import state_of
from api.moves.idempotency import web_of
from api.queries.rows import Reader
from workflows.exporting import Exportable, Exported, Exporter, NotExportable
from workflows.vocabulary import ErrorCode, IssueStatus

router = APIRouter(tags=["documents"])
_MOST_ISSUES = 10_000


class Format(StrEnum):
    MD = "md"
    JSON = "json"
    DOCX = "docx"
    HTML = "html"
    ICS = "ics"


@router.get("/api/documents/{document_id}/export", response_model=None)
async def export(
    document_id: DocumentId,
    request: Request,
    principal: Annotated[Principal, needs(Scope.READ, content=True)],
    revision: Annotated[int | None, Query(ge=0, le=LARGEST_NUMBER)] = None,
    format_: Annotated[Format, Query(alias="format")] = Format.MD,
) -> Response:
    """The revision as a file. ics is there for kinds that have a calendar."""
    state = state_of(request)
    async with (
        state.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        document = or_404(await queries.document(connection, document_id), "document")
        listed = await queries.runs_page(
            connection, queries.RunFilter(document_id=document_id), 200, web=web_of(state)
        )
        if revision is None and document.newest_revision is None:
            raise _no_text_yet(listed.items)
        number = _standing(document, listed.items) if revision is None else revision
        found = await queries.revision(connection, document_id, number)
        if found is None:
            raise unknown_revision(number)
        exporter = exports.exporter(state.kinds.get(document.kind), str(format_))
        if exporter is None and format_ is not Format.JSON:
            raise _no_such_form(document.kind, format_)
        run = _run_of(found, listed.items)
        issues = [] if run is None else await _issues(connection, run.id)
    facts = _facts(document, found, run, issues)
    if exporter is None:
        made = Exported(content=bytes(JSONResponse(facts).body), media_type="application/json")
    else:
        made = await asyncio.to_thread(_made, exporter, exportable(document, found, facts))
    return _file(document, found, str(format_), made)


def _no_such_form(kind: str, format_: Format) -> Refusal:
    detail = f"a document of the kind {kind} has no form {format_}; take md, docx, html or json"
    return misfit("/format", detail)


def exportable(
    document: wire.Document, revision: wire.Revision, facts: Mapping[str, Any]
) -> Exportable:
    """A revision as exporters are given it; `facts` are what the JSON export says of it."""
    return Exportable(
        document_id=document.id,
        title=document.title,
        language=document.language,
        attributes=document.attributes,
        body=revision.body,
        revision=revision.number,
        made_at=revision.created_at,
        facts=facts,
    )


def _made(exporter: Exporter, given: Exportable) -> Exported:
    try:
        return exporter(given)
    except NotExportable as refused:
        raise misfit("/format", str(refused)) from None


def _no_text_yet(runs: list[wire.Run]) -> Refusal:
    return Refusal(
        404,
        ErrorCode.UNKNOWN_REVISION,
        "there is no text yet: the document begins with a draft, and no run has written it",
        params={"run": runs[0].id} if runs else {},
    )


def _standing(document: wire.Document, runs: list[wire.Run]) -> int:
    newest = document.newest_revision or 0
    if not runs:
        return newest
    for number in (runs[0].offered_revision, runs[0].best_revision):
        if number is not None:
            return number
    return newest


def _run_of(revision: wire.Revision, runs: list[wire.Run]) -> wire.Run | None:
    """The run that made it, else the newest one that had it in hand."""
    if revision.made_by is not None:
        return next((run for run in runs if run.id == revision.made_by.run), None)
    had = ("offered_revision", "best_revision", "working_revision", "base_revision")
    for run in runs:
        if revision.number in [getattr(run, name) for name in had]:
            return run
    return None


async def _issues(reader: Reader, run_id: str) -> list[wire.Issue]:
    page = await queries.issues_page(reader, run_id, _MOST_ISSUES)
    return [] if page is None else page.items


def _facts(
    document: wire.Document,
    revision: wire.Revision,
    run: wire.Run | None,
    issues: list[wire.Issue],
) -> dict[str, Any]:
    """Everything that is known of this text, for programs."""

    def rows(*statuses: IssueStatus) -> list[dict[str, Any]]:
        return [issue.model_dump(mode="json") for issue in issues if issue.status in statuses]

    return {
        "document": document.model_dump(mode="json"),
        "revision": revision.model_dump(mode="json"),
        "author": revision.author,
        "issues": {
            "open": rows(IssueStatus.OPEN, IssueStatus.REOPENED),
            "fixed": rows(IssueStatus.FIXED),
            "waived": rows(IssueStatus.WAIVED),
        },
        "run": None if run is None else run.model_dump(mode="json"),
    }


def _file(
    document: wire.Document, revision: wire.Revision, ending: str, made: Exported
) -> Response:
    name = disposition(f"{safe_stem(document.title)}-r{revision.number}.{ending}")
    return Response(made.content, media_type=made.media_type, headers={"Content-Disposition": name})
