"""The page of a document: its runs, revisions, sources; a new run of it, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import commands, queries, wire
from api.files import exports
from api.files.source_versions import add_source
from api.http import requests
from api.http.auth import needs
from api.http.bodies import fit
from api.http.errors import Refusal, not_found
from api.http.paths import DocumentId, or_404
from api.http.principals import Scope
from api.http.state import State, caller_of, state_of
from api.moves import deletion
from api.moves.unlocking import remove_lock
from api.pages import change as pages_change
from api.pages.added import add_sent
from api.pages.calendars import CALENDAR, has_calendar
from api.pages.errors import PageRoute
from api.pages.forms import Form, failed, go, number, perform_once, read_form, run_path
from api.pages.render import Refused, list_row, page, words_of
from api.pages.run import html_of
from api.pages.schedule import schedule
from api.queries import Reader, RunFilter
from api.queries.review import belongings as belongings_of
from api.queries.review import locks_page
from workflows.vocabulary import ErrorCode

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_RUNS = 50
_MOST = 200


@router.get("/documents/{document_id}", dependencies=[needs(Scope.READ, content=True)])
async def one_document(request: Request, document_id: str) -> Response:
    return await document_page(request, document_id)


async def document_page(
    request: Request,
    document_id: str,
    *,
    status: int = 200,
    refusal: Refused | None = None,
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """A document with its runs, revisions and sources. Raises 404."""
    async with state_of(request).pool.acquire() as connection:
        document = await queries.document(connection, document_id)
        if document is None:
            raise not_found("document")
        revisions = await queries.revisions_page(connection, document_id, _MOST)
        of_it = RunFilter(document_id=document_id)
        listed = await queries.runs_page(connection, of_it, _RUNS)
        sources = await queries.sources_in_force(connection, document_id)
        said = await queries.said_of_revisions(connection, document_id)
        belongings = await belongings_of(connection, document_id)
        draft = await queries.draft(connection, document_id, caller_of(request).actor)
        older = await _older_sources(connection, document_id)
        locks = await locks_page(connection, document_id, _MOST)
        texts = [
            await queries.revision(connection, document_id, number) for number in _asked(request)
        ]
    shown = texts[0] if len(texts) == 1 else None
    if None in texts:
        raise Refusal(404, ErrorCode.UNKNOWN_REVISION, "no such revision")
    return await page(
        request,
        "document.html",
        status=status,
        section="/runs",
        refusal=refusal,
        typed=typed,
        errors=errors,
        document=document,
        language=document.language,
        revisions=revisions.items if revisions else [],
        runs=[list_row(run, words_of(request)) for run in listed.items],
        sources=sources,
        older=older,
        locks=locks.items if locks else [],
        belongings=belongings,
        draft=draft,
        formats=await _formats(state_of(request), document, shown),
        pair=_pair(request, revisions.items if revisions else []),
        begin=_digits(request.query_params.get("begin")),
        said=said,
        shown=shown,
        shown_html=await html_of(shown),
        schedule=await schedule(state_of(request), document, shown, sources),
        change=await pages_change.compared(texts[0], texts[1])
        if len(texts) == 2 and texts[0] and texts[1]
        else None,
    )


async def refused(
    request: Request,
    document_id: str,
    refusal: Refusal,
    names: frozenset[str],
    places: Mapping[str, str] | None = None,
    *,
    typed: Form | None = None,
) -> Response:
    """The page as it is now, with what was wrong beside the fields `names` (`places` as of
    `failed`) and what was typed. Raises the refusal again where there is no document."""
    if refusal.status_code == 404:
        raise refusal
    why = failed(request, refusal, names, places)
    return await document_page(
        request,
        document_id,
        status=why.status,
        refusal=why.notice,
        typed=None if typed is None else dict(typed),
        errors=dict(why.errors),
    )


def _asked(request: Request) -> list[int]:
    """The revision numbers in the address: one to read, or two to compare."""
    asked = request.query_params
    given = [asked.get("from"), asked.get("to")] if "from" in asked else [asked.get("revision")]
    numbers = [value for value in given if value is not None]
    if not all(value.isascii() and value.isdigit() and len(value) < 9 for value in numbers):
        raise Refusal(404, ErrorCode.UNKNOWN_REVISION, "no such revision")
    return [int(value) for value in numbers]


_FORMATS = (("md", "Markdown"), ("docx", "Word"), ("html", "HTML"), ("json", "JSON"))


async def _formats(
    state: State, document: wire.Document, shown: wire.Revision | None
) -> tuple[tuple[str, str], ...]:
    """What its revisions can be exported as; a trip whose text has dates as a calendar too."""
    if exports.exporter(state.kinds.get(document.kind), CALENDAR) is None:
        return _FORMATS
    number = document.newest_revision
    if shown is None and number is not None:
        shown = await queries.revision(state.pool, document.id, number)
    dated = await has_calendar(state, document, shown)
    return (*_FORMATS, (CALENDAR, "iCalendar")) if dated else _FORMATS


def _digits(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else None


def _pair(
    request: Request, revisions: Sequence[wire.RevisionInfo]
) -> tuple[int | None, int | None]:
    """What the form compares: as asked, else the first with the newest."""
    asked = request.query_params
    first, newest = (revisions[0].number, revisions[-1].number) if revisions else (None, None)
    from_, to = _digits(asked.get("from")), _digits(asked.get("to"))
    return first if from_ is None else from_, newest if to is None else to


async def _older_sources(reader: Reader, document_id: str) -> list[wire.SourceInfo]:
    """Versions that were replaced."""
    listed = await queries.sources_page(reader, document_id, _MOST)
    return [entry for entry in (listed.items if listed else []) if entry.replaced_by is not None]


_SOURCE_FIELDS = {"text": "source", "source-file": "source"}


@router.post("/documents/{document_id}/sources", dependencies=[needs(Scope.WRITE, content=True)])
async def new_source(request: Request, document_id: DocumentId) -> Response:
    """One more source, pasted or a file."""
    form = Form()
    try:
        await add_sent(request, document_id, form)
    except Refusal as refusal:
        names = frozenset({"name", "source"})
        return await refused(request, document_id, refusal, names, _SOURCE_FIELDS, typed=form)
    return go(f"/documents/{document_id}#sources")


@router.post("/documents/{document_id}/runs", dependencies=[needs(Scope.OPERATE, content=True)])
async def start_run(request: Request, document_id: DocumentId) -> Response:
    form = await read_form(request)
    fields = {
        name: number(form[name])
        for name in ("base_revision", "max_rounds", "pass_score")
        if form[name].strip()
    }
    try:
        wanted = fit(requests.NewRun, fields)
        answer = await perform_once(
            request, form, lambda c, tools: commands.create_run(c, tools, document_id, wanted)
        )
    except Refusal as refusal:
        names = frozenset({"max_rounds", "pass_score"})
        return await refused(request, document_id, refusal, names, typed=form)
    return go(run_path(answer))


@router.post(
    "/documents/{document_id}/sources/{source_id}",
    dependencies=[needs(Scope.WRITE, content=True)],
)
async def correct_source(request: Request, document_id: DocumentId, source_id: str) -> Response:
    """The corrected text of a source, as its next version."""
    form = await read_form(request)
    old = or_404(await queries.source(state_of(request).pool, document_id, source_id), "source")
    fields = {"name": old.name, "media_type": "text/plain", "replaces": old.id}
    try:
        wanted = fit(requests.AddedSource, {**fields, "text": form["text"]})
        await perform_once(
            request, form, lambda c, tools: add_source(c, tools, document_id, wanted, None)
        )
    except Refusal as refusal:
        return await refused(request, document_id, refusal, frozenset({"text"}))
    return go(f"/documents/{document_id}#sources")


@router.post(
    "/documents/{document_id}/locks/{lock_id}/remove",
    dependencies=[needs(Scope.DECIDE, content=True)],
)
async def unlock(request: Request, document_id: DocumentId, lock_id: str) -> Response:
    """Also where somebody else was faster: it is gone, which is what was wanted."""
    form = await read_form(request)
    try:
        await perform_once(
            request, form, lambda c, tools: remove_lock(c, tools, document_id, lock_id)
        )
    except Refusal as refusal:
        or_404(await queries.document(state_of(request).pool, document_id), "document")
        if refusal.status_code != 404:
            raise
    return go(f"/documents/{document_id}#locks")


@router.post("/documents/{document_id}/delete", dependencies=[needs(Scope.WRITE, content=True)])
async def delete(request: Request, document_id: DocumentId) -> Response:
    form, words = await read_form(request), words_of(request)
    if form["confirm"] != "yes":
        missing = {"confirm": words.text("Tick the box first; nothing was deleted.")}
        return await document_page(request, document_id, status=422, errors=missing)
    await perform_once(
        request, form, lambda c, tools: deletion.delete_document(c, tools, document_id)
    )
    return await page(
        request,
        "message.html",
        section="/runs",
        heading=words.text("Deleted"),
        sentence_shown=words.text("The document and everything that belonged to it are gone."),
        detail="",
        code="",
        request_id="",
        way_on="/runs",
        way_on_word=words.text("Show all runs"),
        retry=None,
    )
