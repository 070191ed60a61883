"""What the buttons of a review do. All of them send the whole form: what was typed is kept as the
person's draft first, then the button's own act is done, so a refusal loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from activities import record
from api import commands, queries, wire
from api.http import requests
from api.http.auth import needs
from api.http.bodies import fit
from api.http.errors import Refusal, misfit, not_found
from api.http.paths import RunId
from api.http.principals import Scope
from api.http.state import state_of
from api.moves import drafts, edits, issues, rework
from api.moves.idempotency import Done, Tools, perform, tools_of
from api.pages import queue, review_text
from api.pages.errors import PageRoute
from api.pages.forms import Command, Form, failed, given, go, number, perform_once, read_form
from api.pages.render import HEADERS
from api.pages.review import MINE, Asked, asked_of, review_page
from api.pages.review_notes import noted
from api.pages.review_own import Own, own
from api.queries import Reader
from deploy.database import Connection
from workflows.vocabulary import ErrorCode, RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FIELDS = frozenset(
    {"edit", "instructions", "extra_rounds", "comment", "say", "quote", "waive", "reject_comment"}
)
_PLACES = {
    "notes/comments": "say",
    "notes/locks": "quote",
    "notes/instructions": "instructions",
    "notes/extra_rounds": "extra_rounds",
    "notes/comment": "comment",
    "body": "edit",
}
_MOVES = frozenset({"confirm", "confirm-mine", "rework", "reject"})


@router.post("/runs/{run_id}/review", dependencies=[needs(Scope.DECIDE, content=True)])
async def act(request: Request, run_id: RunId) -> Response:
    """One button of the review."""
    form = await read_form(request)
    asked = asked_of(form)
    verb, _, subject = form["do"].partition(":")
    try:
        await _find_quote(request, run_id, form)
        if verb in _MOVES:
            return go(await _decide(request, run_id, form, verb, asked))
        if verb == "discard":
            await _discard(request, run_id, form)
        elif verb == "store":
            await _store(request, run_id, form, asked)
        else:
            await _keep_alone(request, run_id, form, asked)
        if verb in ("waive", "reopen"):
            await _change_issue(request, run_id, form, subject)
    except Refusal as refusal:
        if refusal.status_code == 404:
            raise
        why = failed(request, refusal, _FIELDS | {f"waive-{subject}"}, _PLACES)
        return await review_page(
            request,
            run_id,
            asked,
            status=why.status,
            refusal=why.notice,
            typed=form,
            errors=why.errors,
        )
    return go(_back(asked, run_id, verb, subject))


@router.post("/runs/{run_id}/review/typed", dependencies=[needs(Scope.DECIDE, content=True)])
async def keep_typed(request: Request, run_id: RunId) -> Response:
    """The form while somebody types in it, sent by the page's script: the draft's new version."""
    form = await read_form(request)
    form["do"] = "save"
    await _find_quote(request, run_id, form)
    version = await _keep_alone(request, run_id, form, asked_of(form))
    return JSONResponse({"version": version}, headers=HEADERS)


def _back(asked: Asked, run_id: str, verb: str, subject: str) -> str:
    """The review as it was, at the passage that was acted on."""
    changes: dict[str, Any] = {"at": subject or None} if verb == "at" else {}
    if verb == "preview":
        changes |= {"to": MINE, "from": None}
    if verb in ("discard", "store") or (verb == "rebase" and asked.mine):
        changes["to"] = None
    places = {"at": "p", "accept": "p", "refuse": "p", "undo": "p", "comment": "p", "lock": "p"}
    place = f"#{places[verb]}{subject.partition('.')[0]}" if verb in places and subject else ""
    places = {"waive": "asked", "reopen": "asked", "preview": "sheet", "show": "sheet"}
    return asked.link(run_id, **changes) + (place or (f"#{places[verb]}" if verb in places else ""))


async def _own(reader: Reader, actor: str, run_id: str) -> tuple[wire.Run, Own]:
    """The run, and what this person has not sent of its document."""
    run = await queries.run(reader, run_id)
    if run is None:
        raise not_found("run")
    draft = await queries.draft(reader, run.document_id, actor)
    texts = {}
    numbers = {run.offered_revision}
    if draft is not None:
        notes = requests.DraftNotes.model_validate(draft.notes)
        numbers |= {one.change.from_ for one in notes.decisions[:1]}
    for one in numbers - {None}:
        found = await queries.revision(reader, run.document_id, one or 0)
        if found is not None:
            texts[found.number] = found
    return run, own(draft, run, texts)


async def _keep(
    connection: Connection, tools: Tools, run_id: str, form: Form, asked: Asked
) -> tuple[wire.Run, Own]:
    """What was typed, and what the button adds to it, becomes the draft, under the document's lock:
    what is read here is what the caller may send and drop. Raises 409 where another tab saved
    since, 422 for what does not fit."""
    if await record.lock_document_of(connection, run_id) is None:
        raise not_found("run")
    run, mine = await _own(connection, tools.caller.actor, run_id)
    base = number(form["base_revision"])
    if not isinstance(base, int):
        if base:
            raise misfit("/base_revision", "no number of a revision", kind="int_type")
        return run, mine  # nothing to write about yet
    shown = await queries.revision(connection, run.document_id, base)
    if form["do"].startswith("rebase"):
        stands = await queries.standing(connection, run.document_id)
        base = base if stands is None or stands.current is None else stands.current
    fields: dict[str, Any] = {
        "base_revision": base,
        "version": number(form["version"] or "0"),
        "notes": noted(form, mine, asked),
    }
    if "edit" in form:
        fields["body"] = _edited(form, mine, "" if shown is None else shown.body)
    nothing = fields["notes"] == mine.notes.model_dump(by_alias=True, mode="json")
    if nothing and mine.draft is None and fields.get("body") is None:
        return run, mine
    try:
        await drafts.keep(connection, tools, run.document_id, fit(requests.NewDraft, fields))
    except Refusal as refusal:
        over = form["do"] in _MOVES and run.status != RunStatus.AWAITING_CONFIRMATION
        if refusal.code != ErrorCode.STALE_BASE or not over:
            raise  # else the move itself says what has happened; the page keeps what was typed
    return await _own(connection, tools.caller.actor, run_id)


async def _keep_alone(request: Request, run_id: str, form: Form, asked: Asked) -> int:
    """The version of the draft that is stored then."""
    tools = tools_of(request)

    async def work(connection: Connection) -> Done:
        _, mine = await _keep(connection, tools, run_id, form, asked)
        return Done(status=200, body=mine.draft)

    kept = (await perform(tools, work)).body
    return int(kept["version"]) if kept else 0


async def _once_or_kept(
    request: Request, run_id: str, form: Form, asked: Asked, command: Command
) -> None:
    """Keeping, the act and dropping what it sent take effect together and once for this form. A
    refusal undoes all three, so what was typed is kept again beside it."""
    try:
        await perform_once(request, form, command)
    except Refusal as refusal:
        if refusal.status_code != 404 and refusal.code != ErrorCode.IDEMPOTENCY_IN_PROGRESS:
            with contextlib.suppress(Refusal):  # of both the first says what is wrong
                await _keep_alone(request, run_id, form, asked)
                if form["do"] == "rework":
                    form["say"] = ""  # it is one of the comments now
        raise


async def _find_quote(request: Request, run_id: str, form: Form) -> None:
    """Which words a typed comment is about. Raises 422 for words that do not stand in the text that
    was shown; a comment that another button brings along is then one about the whole."""
    adds = form["do"].partition(":")[0] in ("comment", "lock")
    if not adds and not form["say"].strip():
        return
    run = await queries.run(state_of(request).pool, run_id)
    if run is None:
        raise not_found("run")
    at = form["do"].partition(":")[2] if adds else form["say_at"]
    try:
        form["quote"] = await _quoted(request, run.document_id, form, at)
    except Refusal:
        if adds:
            raise
        form["quote"] = ""


async def _quoted(request: Request, document_id: str, form: Form, place: str) -> str:
    """The words that were marked, or without any the whole passage. Raises 422 for words that do
    not stand in the text that was shown."""
    pool = state_of(request).pool
    old, new = [
        await queries.revision(pool, document_id, shown) if isinstance(shown, int) else None
        for shown in (number(form["shown_from"]), number(form["shown_to"]))
    ]
    if new is None:
        raise misfit("/quote", "choose a passage", kind="blank")
    marked, at = form["quote"].strip(), number(place)
    if not marked and isinstance(at, int):
        before = new.body if old is None else old.body
        sheet = await asyncio.to_thread(review_text.sheet, before, new.body, review_text.Marks())
        passages = [passage for stretch in sheet.stretches for passage in stretch.passages]
        marked = passages[at].quote if at < len(passages) else ""
    if not marked or marked not in new.body:
        raise misfit("/quote", "these words do not stand in the text", kind="not_in_text")
    return marked


def _edited(form: Form, mine: Own, untouched: str) -> str | None:
    """The text as it was typed; None where it is still as the page showed it."""
    offered = {untouched.replace("\r\n", "\n")}
    if not mine.edited and mine.text is not None:
        offered.add(mine.text.replace("\r\n", "\n"))
    return None if form["do"] == "unedit" or form["edit"] in offered else form["edit"]


async def _discard(request: Request, run_id: str, form: Form) -> None:
    """Only the draft that was shown: what another tab saved since stays."""
    run = await queries.run(state_of(request).pool, run_id)
    if run is None:
        raise not_found("run")
    tools, version = tools_of(request), number(form["version"] or "0")
    shown = version if isinstance(version, int) else 0
    await perform(tools, lambda c: drafts.discard(c, tools, run.document_id, shown))


async def _decide(request: Request, run_id: str, form: Form, verb: str, asked: Asked) -> str:
    """Makes the move; the address to go on at."""
    command = {"confirm": _confirm, "confirm-mine": _confirm, "rework": _rework}.get(verb, _reject)

    async def work(connection: Connection, tools: Tools) -> Done:
        run, mine = await _keep(connection, tools, run_id, form, asked)
        wanted = _wanted(form, verb, mine, run)
        moved = await command(connection, tools, run_id, wanted, mine)
        await _leave(connection, verb, mine)
        return moved

    await _once_or_kept(request, run_id, form, asked, work)
    if asked.done is None:
        return f"/runs/{run_id}"
    return await queue.after(state_of(request).pool, run_id, asked.done + 1)


async def _leave(connection: Connection, verb: str, mine: Own) -> None:
    """What the act did not send of what was typed stays the person's draft."""
    sent = verb in ("confirm-mine", "rework", "store") or mine.draft is None
    unsent = {"comments", "pending", "instructions"} if verb != "rework" else set[str]()
    notes = requests.DraftNotes(**{name: getattr(mine.notes, name) for name in unsent})
    body = None if sent or mine.draft is None else mine.draft.body
    await drafts.leave(connection, mine.draft, body=body, notes=notes)


def _wanted(form: Form, verb: str, mine: Own, run: wire.Run) -> BaseModel:
    """The body that a program would send to the route of the move."""
    offered = number(form["offered"])
    if verb == "reject":
        return fit(requests.Reject, {"comment": form["reject_comment"].strip() or None})
    if verb != "rework":
        fields: dict[str, Any] = {"revision": offered, **given(form, "comment")}
        if verb == "confirm-mine":
            _check_own(mine, run, offered)
            fields |= {} if mine.text is None else {"body": mine.text}
        return fit(requests.Confirm, fields)
    if mine.apart:
        # Decisions are about changes of a text that is not the offered one any more.
        raise misfit("/notes", "take your draft over to the offered revision first")
    notes = mine.notes.model_dump(by_alias=True, mode="json")
    fields = {name: notes[name] for name in ("comments", "locks", "instructions")}
    fields["comments"] = [_standing(one, mine) for one in fields["comments"]]
    fields["decisions"] = [] if mine.edited else notes["decisions"]
    fields["extra_rounds"] = number(form["extra_rounds"] or "2")
    if not any((fields["comments"], fields["instructions"], fields["decisions"], mine.edited)):
        raise misfit("/instructions", "say what to change", kind="blank")
    return fit(requests.Rework, fields)


def _check_own(mine: Own, run: wire.Run, offered: int | str) -> None:
    """Raises 422 where "my edits" are none of the offered revision; that it is offered no more, or
    the run has ended, the command itself says."""
    if run.status != RunStatus.AWAITING_CONFIRMATION or offered != run.offered_revision:
        return
    if mine.apart:
        raise misfit("/notes", "take your draft over to the offered revision first")
    if mine.text is None:
        raise misfit("/edit", "nothing of your own differs from it", kind="no_own_text")


def _standing(comment: Mapping[str, Any], mine: Own) -> Mapping[str, Any]:
    """A comment on words that the person's own text does not have any more is about the whole."""
    quote = comment["quote"]
    if quote is None or mine.text is None or quote in mine.text:
        return comment
    return {"quote": None, "text": f"{quote}\n{comment['text']}"[:10_000]}


async def _confirm(
    connection: Connection, tools: Tools, run_id: str, wanted: Any, mine: Own
) -> Done:
    return await commands.confirm(connection, tools, run_id, wanted)


async def _reject(
    connection: Connection, tools: Tools, run_id: str, wanted: Any, mine: Own
) -> Done:
    return await commands.reject(connection, tools, run_id, wanted)


async def _rework(
    connection: Connection, tools: Tools, run_id: str, wanted: Any, mine: Own
) -> Done:
    """A text edited by hand becomes the offered one first, and is what the rounds work on."""
    if mine.edited and mine.text is not None and mine.draft is not None:
        run = await queries.run(connection, run_id)
        if run is None:
            raise not_found("run")
        fields = {"base_revision": mine.draft.base_revision, "body": mine.text}
        edit = fit(requests.NewRevision, fields)
        if run.status == RunStatus.AWAITING_CONFIRMATION:
            await edits.add_revision(connection, tools, run.document_id, edit)
    return await rework.rework(connection, tools, run_id, wanted)


async def _store(request: Request, run_id: str, form: Form, asked: Asked) -> None:
    """The edited text as a revision of its own, whatever became of the run. Raises 409 where it was
    made of a text that is not the newest any more."""

    async def work(connection: Connection, tools: Tools) -> Done:
        run, mine = await _keep(connection, tools, run_id, form, asked)
        if mine.draft is None or mine.draft.body is None:
            raise misfit("/edit", "there is no edited text", kind="blank")
        fields = {"base_revision": mine.draft.base_revision, "body": mine.draft.body}
        edit = fit(requests.NewRevision, fields)
        stored = await edits.add_revision(connection, tools, run.document_id, edit)
        await _leave(connection, "store", mine)
        return stored

    await _once_or_kept(request, run_id, form, asked, work)


async def _change_issue(request: Request, run_id: str, form: Form, issue_id: str) -> None:
    """Waives an issue, which needs a reason, or lets it stand again."""
    waives = form["do"].startswith("waive:")
    reason = form[f"waive-{issue_id}"].strip()
    if waives and not reason:
        raise misfit(f"/waive-{issue_id}", "say why it is waived", kind="blank")
    fields: Mapping[str, Any] = {
        "status": "waived" if waives else "open",
        "reason": reason or None,
    }
    wanted = fit(requests.IssueChange, dict(fields))
    tools = tools_of(request)
    await perform(tools, lambda c: issues.change_issue(c, tools, run_id, issue_id, wanted))
