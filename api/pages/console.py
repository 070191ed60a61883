"""Moves of one run beyond its status: a fork, and a new run from any of its texts.

Addresses of the parts of its page lead to their sections: everything of a run is one page.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api import commands, queries
from api.http import requests
from api.http.auth import needs
from api.http.bodies import fit
from api.http.errors import Refusal, not_found
from api.http.paths import RunId
from api.http.principals import Scope
from api.http.state import state_of
from api.moves import forks
from api.pages.errors import PageRoute
from api.pages.forms import failed, go, number, perform_once, read_form, run_path
from api.pages.run import run_page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
SECTIONS = {
    "live": "output",
    "timeline": "timeline",
    "rounds": "rounds",
    "issues": "issues",
    "calls": "calls",
    "data": "data",
}
"""Of the address `/runs/{id}/…`, the section that it means."""


def _section(name: str) -> None:
    async def lead(run_id: str) -> Response:
        return RedirectResponse(f"/runs/{run_id}#{SECTIONS[name]}", 307)

    reads = [needs(Scope.READ, content=True)]
    router.add_api_route(f"/runs/{{run_id}}/{name}", lead, methods=["GET"], dependencies=reads)


for _name in SECTIONS:
    _section(_name)


@router.post("/runs/{run_id}/fork", dependencies=[needs(Scope.WRITE, content=True)])
async def fork(request: Request, run_id: RunId) -> Response:
    """A new document whose first text is one of this run's document."""
    form = await read_form(request)
    try:
        wanted = fit(requests.Fork, {"revision": number(form["revision"])})
        answer = await perform_once(
            request, form, lambda c, tools: forks.fork(c, tools, run_id, wanted)
        )
    except Refusal as refusal:
        return await _refused(request, run_id, refusal)
    body = answer.body or {}
    return go(f"/documents/{body['id']}")


@router.post("/runs/{run_id}/again", dependencies=[needs(Scope.OPERATE, content=True)])
async def again(request: Request, run_id: RunId) -> Response:
    """A new run of the same document, from the revision that was chosen."""
    form = await read_form(request)
    run = await queries.run(state_of(request).pool, run_id)
    if run is None:
        raise not_found("run")
    document_id = run.document_id
    fields: dict[str, Any] = {
        name: number(form[name])
        for name in ("base_revision", "max_rounds", "pass_score")
        if form[name].strip()
    }
    if form["profile"].strip():
        fields["profile"] = form["profile"]
    try:
        wanted = fit(requests.NewRun, {**fields, "tags": run.tags})
        answer = await perform_once(
            request, form, lambda c, tools: commands.create_run(c, tools, document_id, wanted)
        )
    except Refusal as refusal:
        return await _refused(request, run_id, refusal)
    return go(run_path(answer))


async def _refused(request: Request, run_id: str, refusal: Refusal) -> Response:
    if refusal.status_code == 404:
        raise refusal
    why = failed(request, refusal, frozenset())
    return await run_page(request, run_id, status=why.status, refusal=why.notice)
