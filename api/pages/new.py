"""The form of a new run, and the sample that runs with one click."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from api import commands, queries, recordings, requests, uploads
from api.auth import needs
from api.bodies import fit, is_form
from api.errors import Refusal, not_found
from api.idempotency import Answer
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
    typed_in,
)
from api.pages.forms import limits as limits_of
from api.pages.render import page
from api.principals import Scope
from api.state import State, state_of
from workflows.kinds.attributes import Type, types_of_kind
from workflows.kinds.kind import Kind
from workflows.kinds.templates import templates_of_kind
from workflows.requesting import beginning, begins_with_request
from workflows.vocabulary import DEFAULT_PROFILE

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_PASTED = "pasted.txt"
_REQUEST = "request"
_DATA = "reference.json"
TEMPLATE = "template"
"""The attribute that is chosen from a list."""
_NEW = {"max_rounds": "5", "pass_score": "90", "kind": "minutes", "profile": DEFAULT_PROFILE}
_EMPTY = dict.fromkeys(("title", "body", "source", "reference", "language"), "")
_COMMAS = re.compile(r"[,，、;；\n]")


@dataclass(frozen=True, kw_only=True)
class Field:
    """An attribute as the form asks for it."""

    attribute: str
    type: str

    @property
    def name(self) -> str:
        return f"attribute-{self.attribute}"


@router.get("/runs/new", dependencies=[needs(Scope.READ, content=True)])
async def new_run(request: Request) -> Response:
    kind = request.query_params.get("kind")
    known = kind is not None and kind in state_of(request).kinds
    return await new_run_page(request, {"kind": str(kind)} if known else None)


async def new_run_page(
    request: Request, typed: Mapping[str, str] | None = None, why: Failed | None = None
) -> Response:
    """The form, with the fields of the kind that is chosen."""
    state = state_of(request)
    profiles = await queries.profiles_page(state.pool, 200)
    kinds = sorted(state.kinds, key=lambda name: (name != "minutes", name))
    given = {**_NEW, **_EMPTY, **(typed or {})}
    kind = state.kinds.get(given["kind"])
    return await page(
        request,
        "run_new.html",
        status=why.status if why else 200,
        section="/runs",
        typed=given,
        errors=why.errors if why else {},
        refusal=why.notice if why else None,
        kinds=kinds,
        fields=[] if kind is None else [f for f in fields_of(kind) if f.attribute != TEMPLATE],
        templates=[] if kind is None else templates_of(kind),
        asks=begins_with_request(kind),
        drafts=kind is not None and kind.drafts_without_body(),
        has_sample=kind is not None and kind.sample() is not None,
        profiles=profiles.items,
    )


def fields_of(kind: Kind) -> list[Field]:
    return [Field(attribute=name, type=str(type_)) for name, type_ in types_of_kind(kind).items()]


def templates_of(kind: Kind) -> list[tuple[str, str, str]]:
    """(name, title, headings) of each template by which the kind drafts."""
    found: dict[str, tuple[str, str, str]] = {}
    for template in templates_of_kind(kind):
        headings = ", ".join(section.heading for section in template.sections)
        found.setdefault(template.name, (template.name, template.title, headings))
    return list(found.values())


_NEW_FIELDS = frozenset(
    {"title", "kind", "language", "body", "source", "reference", "max_rounds", "pass_score"}
    | {"profile", "limit", "audio"}
)


@router.post("/runs/new", dependencies=[needs(Scope.WRITE, content=True)])
async def create(request: Request) -> Response:
    form, fields = Form(), list[Field]()
    try:
        async with _sent(request) as sent:
            form = typed_in(sent)
            kind = state_of(request).kinds.get(form["kind"])
            fields = [] if kind is None else fields_of(kind)
            wanted = fit(requests.NewDocumentRun, _new_document_run(form, kind, fields))
            answer = await _create(request, form, wanted, sent.get("audio"))
    except Refusal as refusal:
        names = _NEW_FIELDS | {field.name for field in fields}
        return await new_run_page(request, form, failed(request, refusal, names, _places(form)))
    return go(run_path(answer))


@contextlib.asynccontextmanager
async def _sent(request: Request) -> AsyncIterator[FormData]:
    """The form; its recording, if one was chosen, is streamed to where it may stay."""
    if not is_form(request):
        yield FormData(await read_form(request))
        return
    async with uploads.form_of(request) as sent:
        yield sent


async def _create(
    request: Request, form: Form, wanted: requests.NewDocumentRun, audio: UploadFile | str | None
) -> Answer:
    """With the recording, if one was chosen: a browser sends a nameless one for none."""
    if not isinstance(audio, UploadFile) or not audio.filename:
        return await perform_once(
            request, form, lambda c, tools: commands.create_document_and_run(c, tools, wanted)
        )
    given = await recordings.take(state_of(request), wanted.document(), audio)
    assert given.recording is not None, "it was taken"
    form["audio"] = given.recording.sha256  # the form's key is bound to it
    async with recordings.kept(given):
        return await perform_once(
            request,
            form,
            lambda c, tools: recordings.create_document_and_run(c, tools, given, wanted.run()),
        )


def _places(form: Form) -> dict[str, str]:
    """Which field of the form the sources are, by their places."""
    sent = [name for name in ("source", "reference") if form[name].strip()]
    return {f"sources/{at}": name for at, name in enumerate(sent)}


def _new_document_run(form: Form, kind: Kind | None, fields: Sequence[Field]) -> dict[str, Any]:
    asks = begins_with_request(kind)
    found: dict[str, Any] = {
        "kind": form["kind"],
        "title": form["title"].strip() or (beginning(form["source"]) if asks else ""),
        **given(form, "language", "profile"),
    }
    if form["body"].strip() or kind is None or not kind.drafts_without_body():
        found["body"] = form["body"]
    for name in ("max_rounds", "pass_score"):
        if form[name].strip():
            found[name] = number(form[name])
    if limits := limits_of(form):
        found["limits"] = limits
    found["attributes"] = {
        field.attribute: _value(form[field.name], field.type)
        for field in fields
        if form[field.name].strip()
    }
    found["sources"] = [
        {"name": name, "media_type": media_type, "text": form[field]}
        for field, name, media_type in (
            ("source", _REQUEST if asks else _PASTED, "text/plain"),
            ("reference", _DATA, "application/json"),
        )
        if form[field].strip()
    ]
    return found


def _value(text: str, type_: str) -> object:
    """As the kind types it; what does not look so is sent as it is, and refused by the kind."""
    if type_ == Type.LIST:
        return [piece.strip() for piece in _COMMAS.split(text) if piece.strip()]
    return number(text) if type_ == Type.NUMBER else text.strip()


def sample_of(state: State, of: str = "") -> Mapping[str, Any] | None:
    """The sample of this kind, else of the first that has one, as the body of `POST /api/runs`."""
    for name in (of, "minutes", *sorted(state.kinds)):
        kind = state.kinds.get(name)
        sample = kind.sample() if kind is not None else None
        if sample is not None:
            return sample
    return None


@router.post("/runs/sample", dependencies=[needs(Scope.WRITE, content=True)])
async def create_sample(request: Request) -> Response:
    form = await read_form(request)
    sample = sample_of(state_of(request), form["kind"])
    if sample is None:
        raise not_found("sample")
    wanted = fit(requests.NewDocumentRun, dict(sample))
    answer = await perform_once(
        request, form, lambda c, tools: commands.create_document_and_run(c, tools, wanted)
    )
    return go(run_path(answer))
