"""The form of a new run, and the sample that runs with one click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import commands, queries, requests
from api.auth import needs
from api.bodies import fit
from api.errors import Refusal, not_found
from api.pages.errors import PageRoute
from api.pages.forms import (
    Failed,
    Form,
    failed,
    given,
    go,
    number,
    perform_once,
    read_form,
    run_path,
)
from api.pages.forms import limits as limits_of
from api.pages.render import page
from api.principals import Scope
from api.state import State, state_of
from workflows.vocabulary import DEFAULT_PROFILE

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_PASTED = "pasted.txt"
_NEW = {"max_rounds": "5", "pass_score": "90", "kind": "minutes", "profile": DEFAULT_PROFILE}


@router.get("/runs/new", dependencies=[needs(Scope.READ, content=True)])
async def new_run(request: Request) -> Response:
    return await new_run_page(request)


async def new_run_page(
    request: Request, typed: Mapping[str, str] | None = None, why: Failed | None = None
) -> Response:
    """The paste form."""
    state = state_of(request)
    profiles = await queries.profiles_page(state.pool, 200)
    kinds = sorted(state.kinds, key=lambda name: (name != "minutes", name))
    return await page(
        request,
        "run_new.html",
        status=why.status if why else 200,
        section="/runs",
        typed={**_NEW, "title": "", "body": "", "source": "", "language": "", **(typed or {})},
        errors=why.errors if why else {},
        refusal=why.notice if why else None,
        kinds=kinds,
        profiles=profiles.items,
    )


_NEW_FIELDS = frozenset(
    {"title", "kind", "language", "body", "source", "max_rounds", "pass_score", "profile", "limit"}
)


@router.post("/runs/new", dependencies=[needs(Scope.WRITE, content=True)])
async def create(request: Request) -> Response:
    form = Form()
    try:
        form = await read_form(request)
        wanted = fit(requests.NewDocumentRun, _new_document_run(form))
        answer = await perform_once(
            request, form, lambda c, tools: commands.create_document_and_run(c, tools, wanted)
        )
    except Refusal as refusal:
        return await new_run_page(request, form, failed(request, refusal, _NEW_FIELDS))
    return go(run_path(answer))


def _new_document_run(form: Form) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "kind": form["kind"],
        "title": form["title"].strip(),
        "body": form["body"],
        **given(form, "language", "profile"),
    }
    for name in ("max_rounds", "pass_score"):
        if form[name].strip():
            fields[name] = number(form[name])
    if limits := limits_of(form):
        fields["limits"] = limits
    if form["source"].strip():
        source = {"name": _PASTED, "media_type": "text/plain", "text": form["source"]}
        fields["sources"] = [source]
    return fields


def sample_of(state: State) -> Mapping[str, Any] | None:
    """The sample of the first kind that has one, as the body of `POST /api/runs`."""
    for name in ("minutes", *sorted(state.kinds)):
        kind = state.kinds.get(name)
        sample = kind.sample() if kind is not None else None
        if sample is not None:
            return sample
    return None


@router.post("/runs/sample", dependencies=[needs(Scope.WRITE, content=True)])
async def create_sample(request: Request) -> Response:
    form = await read_form(request)
    sample = sample_of(state_of(request))
    if sample is None:
        raise not_found("sample")
    wanted = fit(requests.NewDocumentRun, dict(sample))
    answer = await perform_once(
        request, form, lambda c, tools: commands.create_document_and_run(c, tools, wanted)
    )
    return go(run_path(answer))
