"""The forms of a run: the same commands as the JSON routes, refusals on the page of the run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from api import commands, queries
from api.http import requests
from api.http.auth import needs
from api.http.bodies import fit
from api.http.errors import Refusal, misfit, not_found
from api.http.paths import RunId
from api.http.principals import Scope
from api.http.state import state_of
from api.moves import issues, resume, rework
from api.moves.idempotency import Done, Tools
from api.pages.errors import PageRoute
from api.pages.forms import Form, failed, given, go, number, perform_once, read_form
from api.pages.forms import limits as limits_of
from api.pages.run import run_page
from deploy.database import Connection
from workflows.vocabulary import IssueStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
OPERATES = [needs(Scope.OPERATE, content=True)]
DECIDES = [needs(Scope.DECIDE, content=True)]
Move: TypeAlias = Callable[[Connection, Tools, str, Any], Coroutine[Any, Any, Done]]


async def _move(
    request: Request,
    run_id: str,
    form: Form,
    *,
    move: Move,
    model: type[BaseModel],
    fields: Mapping[str, Any],
) -> Response:
    """Makes the move and shows the run, or shows it with why nothing was done."""
    try:
        wanted = fit(model, dict(fields))
        await perform_once(request, form, lambda c, tools: move(c, tools, run_id, wanted))
    except Refusal as refusal:
        if refusal.status_code == 404:
            raise
        why = failed(request, refusal, frozenset({"body", "limit", "max_rounds"}))
        return await run_page(
            request, run_id, status=why.status, refusal=why.notice, typed=form, errors=why.errors
        )
    return go(f"/runs/{run_id}")


@router.post("/runs/{run_id}/interrupt", dependencies=OPERATES)
async def interrupt(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    fields = given(form, "reason")
    return await _move(
        request,
        run_id,
        form,
        move=commands.interrupt,
        model=requests.Interrupt,
        fields=fields,
    )


@router.post("/runs/{run_id}/resume", dependencies=OPERATES)
async def resume_run(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    fields: dict[str, Any] = given(form, "note", "profile")
    if form["max_rounds"].strip():
        fields["max_rounds"] = number(form["max_rounds"])
    base = number(form["base_revision"])
    if await _edited(request, run_id, form, base):
        fields |= {"body": form["body"], "base_revision": base}
    if form["override_guardrail"] == "true":
        fields["override_guardrail"] = True
    if limits := limits_of(form):
        fields["limits"] = limits
    return await _move(
        request, run_id, form, move=resume.resume, model=requests.Resume, fields=fields
    )


@router.post("/runs/{run_id}/confirm", dependencies=DECIDES)
async def confirm(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    revision = number(form["revision"])
    fields: dict[str, Any] = {"revision": revision, **given(form, "comment")}
    if await _edited(request, run_id, form, revision):
        fields["body"] = form["body"]
    return await _move(
        request, run_id, form, move=commands.confirm, model=requests.Confirm, fields=fields
    )


async def _edited(request: Request, run_id: str, form: Form, base: int | str) -> bool:
    """Whether the text differs from the revision it was shown from: an untouched one is no edit."""
    if "body" not in form or not isinstance(base, int):
        return False
    pool = state_of(request).pool
    run = await queries.run(pool, run_id)
    if run is None:
        raise not_found("run")
    shown = await queries.revision(pool, run.document_id, base)
    return shown is None or form["body"] != shown.body.replace("\r\n", "\n")


@router.post("/runs/{run_id}/rework", dependencies=DECIDES)
async def rework_run(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    fields: dict[str, Any] = {"comments": [{"text": form["comment"]}]}
    if form["extra_rounds"].strip():
        fields["extra_rounds"] = number(form["extra_rounds"])
    return await _move(
        request, run_id, form, move=rework.rework, model=requests.Rework, fields=fields
    )


@router.post("/runs/{run_id}/issues/{issue_id}", dependencies=DECIDES)
async def change_issue(request: Request, run_id: RunId, issue_id: str) -> Response:
    """Waives an issue, which needs a reason, or lets it stand again; shows it where it stands."""
    form = await read_form(request)
    form["issue_id"] = issue_id
    try:
        if form["status"] == IssueStatus.WAIVED and not form["waive_reason"].strip():
            detail = "say why it is waived"
            raise misfit("/waive_reason", detail, kind="blank")
        fields = {"status": form["status"], "reason": form["waive_reason"].strip() or None}
        wanted = fit(requests.IssueChange, fields)
        answer = await perform_once(
            request,
            form,
            lambda c, tools: issues.change_issue(c, tools, run_id, issue_id, wanted),
        )
    except Refusal as refusal:
        if refusal.status_code == 404:
            raise
        why = failed(request, refusal, frozenset({"waive_reason"}))
        return await run_page(
            request, run_id, status=why.status, refusal=why.notice, typed=form, errors=why.errors
        )
    number = answer.body["number"] if answer.body is not None else ""
    return go(f"/runs/{run_id}#I{number}")


@router.post("/runs/{run_id}/reject", dependencies=DECIDES)
async def reject(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    fields = given(form, "comment")
    return await _move(
        request, run_id, form, move=commands.reject, model=requests.Reject, fields=fields
    )


@router.post("/runs/{run_id}/cancel", dependencies=OPERATES)
async def cancel(request: Request, run_id: RunId) -> Response:
    form = await read_form(request)
    return await _move(
        request, run_id, form, move=commands.cancel, model=requests.Cancel, fields={}
    )
