"""The review of a run: what is asked, the text with what changed, what is said of it, the decision.

Everything stands in one form, so that without script each button brings along all that was typed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import queries, wire
from api.http import requests
from api.http.auth import needs
from api.http.errors import Refusal, not_found
from api.http.paths import or_404
from api.http.principals import Scope
from api.http.state import caller_of, state_of
from api.pages import review_rounds, review_text
from api.pages import view as pages_view
from api.pages.errors import PageRoute
from api.pages.queue import Place, done_in, place_of
from api.pages.render import Sent, page, words_of
from api.pages.review_evidence import excerpts
from api.pages.review_own import Own, own
from api.pages.run import html_of
from api.pages.run_output import all_rows
from api.pages.schedule import schedule
from api.queries import Reader
from api.queries.console import told
from api.queries.pages import issue_moves
from api.queries.review import AlsoHere, also_here, locked_passages
from workflows.vocabulary import ErrorCode, EventType, RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_MOST = 200
_LATE_EVENTS = 100
MINE = "mine"
VIEWS = ("unified", "split", "text")
_DECIDED = (
    EventType.RUN_CONFIRMED,
    EventType.RUN_REJECTED,
    EventType.RUN_REWORK,
    EventType.RUN_CANCELLED,
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the address asks for. `from_` and `to` are revisions, None the usual ones; `at` is the
    passage that is written about; `done` how many were decided in this sitting, None outside the
    queue."""

    from_: int | None
    to: int | None
    mine: bool
    view: str
    whole: bool
    at: int | None
    done: int | None

    def link(self, run_id: str, **changes: Any) -> str:
        """The address with these fields changed; None leaves one out."""
        fields = {
            "from": self.from_,
            "to": MINE if self.mine else self.to,
            "view": None if self.view == VIEWS[0] else self.view,
            "whole": "1" if self.whole else None,
            "queue": self.done,
            **changes,
        }
        query = urlencode({name: value for name, value in fields.items() if value is not None})
        return f"/runs/{run_id}/review?{query}" if query else f"/runs/{run_id}/review"


def asked_of(given: Mapping[str, str]) -> Asked:
    """From an address or from the fields of the form. Raises 404 for what is no number."""
    view = given.get("view") or VIEWS[0]
    to = given.get("to")
    return Asked(
        from_=_number(given.get("from")),
        to=None if to == MINE else _number(to),
        mine=to == MINE,
        view=view if view in VIEWS else VIEWS[0],
        whole=bool(given.get("whole")),
        at=_number(given.get("at")),
        done=done_in(given["queue"]) if given.get("queue") else None,
    )


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise Refusal(404, ErrorCode.UNKNOWN_REVISION, "no such revision")
    return int(text)


@router.get("/runs/{run_id}/review", dependencies=[needs(Scope.READ, content=True)])
async def one_review(request: Request, run_id: str) -> Response:
    response = await review_page(request, run_id, asked_of(request.query_params))
    if "prefetch" in request.headers.get("sec-purpose", request.headers.get("purpose", "")):
        # The queue's next one: without this the browser would fetch it twice.
        response.headers["Cache-Control"] = "private, max-age=60"
    return response


async def review_page(
    request: Request, run_id: str, asked: Asked, **sent: Unpack[Sent]
) -> Response:
    """The page, or with a refusal the page as it is now and what was typed. Raises 404."""
    facts = await _facts(request, run_id, asked)
    section = "/queue" if asked.done is not None else "/runs"
    return await page(request, "review.html", section=section, **sent, **facts)


@dataclass(frozen=True, kw_only=True)
class _Read:
    """The rows of the page."""

    run: wire.Run
    document: wire.Document
    revisions: Sequence[wire.RevisionInfo]
    steps: Sequence[wire.Step]
    issues: Sequence[wire.Issue]
    events: Sequence[wire.Event]
    sources: list[wire.Source]
    locked: list[str]
    own: Own
    also_here: Sequence[AlsoHere]
    place: Place | None
    texts: dict[int, wire.Revision]
    old: wire.Revision | None
    new: wire.Revision | None


async def _read(reader: Reader, run_id: str, asked: Asked, actor: str) -> _Read:
    run = await queries.run(reader, run_id)
    if run is None:
        raise not_found("run")
    document = or_404(await queries.document(reader, run.document_id), "document")
    listed = await queries.revisions_page(reader, run.document_id, _MOST)
    revisions = listed.items if listed else []
    draft = await queries.draft(reader, run.document_id, actor)
    numbers = [asked.from_, asked.to, usual_to(run), usual_from(run, revisions)]
    if draft is not None:
        notes = requests.DraftNotes.model_validate(draft.notes)
        numbers += [draft.base_revision, *(one.change.from_ for one in notes.decisions[:1])]
    known = {number for number in numbers if number is not None}
    texts = await queries.revisions(reader, run.document_id, known)
    old, new = _compared(run, revisions, asked, texts)
    return _Read(
        run=run,
        document=document,
        revisions=revisions,
        steps=await all_rows(queries.steps_page, reader, run.id),
        issues=await all_rows(queries.issues_page, reader, run.id),
        events=await told(reader, run.id, _LATE_EVENTS),
        sources=await queries.sources_in_force(reader, run.document_id),
        locked=await locked_passages(reader, run.document_id),
        own=own(draft, run, texts),
        also_here=await also_here(reader, run.document_id, actor),
        place=await place_of(reader, run, asked.done),
        texts=texts,
        old=old,
        new=new,
    )


def usual_to(run: wire.Run) -> int | None:
    """What the review is about: the offered revision, else the one worked on."""
    if run.offered_revision is not None:
        return run.offered_revision
    return run.base_revision if run.working_revision is None else run.working_revision


def usual_from(run: wire.Run, revisions: Sequence[wire.RevisionInfo]) -> int | None:
    """What it is compared with: where the run began, else its first text."""
    if run.base_revision is not None:
        return run.base_revision
    made = (one.number for one in revisions if one.made_by and one.made_by.run == run.id)
    return next(made, None)


def _compared(
    run: wire.Run,
    revisions: Sequence[wire.RevisionInfo],
    asked: Asked,
    texts: Mapping[int, wire.Revision],
) -> tuple[wire.Revision | None, wire.Revision | None]:
    """Both revisions; raises 404 for one that was asked for and is none."""
    from_ = usual_from(run, revisions) if asked.from_ is None else asked.from_
    to = usual_to(run) if asked.to is None else asked.to
    for number in (asked.from_, asked.to):
        if number is not None and number not in texts:
            raise Refusal(404, ErrorCode.UNKNOWN_REVISION, "no such revision")
    return (
        None if from_ is None else texts.get(from_),
        None if to is None else texts.get(to),
    )


def _decision(events: Sequence[wire.Event]) -> wire.Event | None:
    """The newest decision of a person, with what was said."""
    return next((event for event in reversed(events) if event.type in _DECIDED), None)


async def _facts(request: Request, run_id: str, asked: Asked) -> dict[str, Any]:
    state, words = state_of(request), words_of(request)
    async with state.pool.acquire() as connection:
        read = await _read(connection, run_id, asked, caller_of(request).actor)
    run, mine = read.run, read.own
    body = _body(read, asked)
    as_text = None
    if asked.view == "text" and read.new is not None:
        as_text = read.new.model_copy(update={"body": body})
    found = review_rounds.rounds(read.steps, issue_moves(read.events))
    based = mine.draft.base_revision if mine.draft else usual_to(run)
    return {
        **_choices(read, asked),
        "run": run,
        "document": read.document,
        "language": read.document.language,
        "asked": asked,
        "situation": pages_view.situation(run, words),
        "revisions": read.revisions,
        "old": read.old,
        "new": read.new,
        "sheet": None if as_text else await _sheet(read, asked, body),
        "plan": await schedule(state, read.document, as_text, read.sources, read.issues),
        "shown_html": await html_of(as_text),
        "as_text": as_text,
        "issues": read.issues,
        "evidence": excerpts(read.sources, read.issues),
        "sources": read.sources,
        "rounds": found,
        "setback": review_rounds.setback(found),
        "reopened": review_rounds.reopened(read.issues),
        "own": mine,
        "notes": mine.notes,
        "base": read.texts.get(-1 if based is None else based),
        "also_here": read.also_here,
        "decided": _decision(read.events),
        "place": read.place,
        "link": lambda **changes: asked.link(run.id, **changes),
    }


def _body(read: _Read, asked: Asked) -> str:
    """The newer text: a revision's, or the person's own."""
    if asked.mine and read.own.text is not None:
        return read.own.text
    return "" if read.new is None else read.new.body


def _choices(read: _Read, asked: Asked) -> dict[str, Any]:
    """What can be decided where the page stands: changes of the offered revision, all against one
    older one, and not beside a text that is edited by hand."""
    run, mine = read.run, read.own
    waits = run.status == RunStatus.AWAITING_CONFIRMATION
    offered = read.new is not None and read.new.number == run.offered_revision and not asked.mine
    against = None if mine.apart else mine.compares_with
    fits = read.old is not None and against in (None, read.old.number)
    return {
        "waits": waits,
        "decides": waits and offered and fits and not mine.edited and not mine.apart,
        "against": against,
    }


async def _sheet(read: _Read, asked: Asked, body: str) -> review_text.Sheet | None:
    if read.new is None:
        return None
    old = body if read.old is None else read.old.body
    notes, decided = read.own.notes, dict[int, bool]()
    if read.old is not None and not asked.mine:
        decided = read.own.decided(read.old.number, read.new.number)
    marks = review_text.Marks(
        issues=read.issues,
        remarks=notes.comments,
        locks=[lock.quote for lock in notes.locks],
        pending=(notes.pending.quote or "") if notes.pending else "",
        locked=read.locked,
        decided=decided,
    )
    split = asked.view == "split" and read.old is not None
    return await asyncio.to_thread(
        review_text.sheet, old, body, marks, unfolded=asked.whole, split=split
    )
