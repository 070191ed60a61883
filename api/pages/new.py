"""The page of a new run: what is brought is read and shown, then what it will take, then it starts.

Without script a button asks for the look; with it the page asks by itself. Both get the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from api import commands, queries
from api.estimate import estimated
from api.files import originals, recordings, uploads
from api.files.speech import require_recogniser
from api.http import requests
from api.http.auth import needs
from api.http.bodies import fit, is_form
from api.http.errors import Refusal, not_found
from api.http.principals import Scope
from api.http.state import State, state_of
from api.moves.idempotency import Answer
from api.pages.errors import PageRoute
from api.pages.forms import Failed, Form, failed, go, perform_once, read_form, run_path, typed_in
from api.pages.new_files import FIELDS, brought, cards
from api.pages.new_form import TEMPLATE, Entered, Recorded, templates_of
from api.pages.render import page, words_of
from api.wire.estimate import Estimate
from deploy.blobs import Incoming
from deploy.sound import probe
from workflows.requesting import begins_with_request
from workflows.vocabulary import DEFAULT_PROFILE

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_NEW = {"max_rounds": "5", "pass_score": "90", "kind": "minutes", "profile": DEFAULT_PROFILE}
_EMPTY = dict.fromkeys(("title", "body", "source", "reference", "language"), "")
_SOME_SECONDS = 60.0
_NEW_FIELDS = frozenset(
    {"title", "kind", "language", "body", "source", "reference", "max_rounds", "pass_score"}
    | {"profile", "limit", "audio", *FIELDS}
)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What is known before the start. `missing` are (field, sentence) of what is in its way;
    `length_unknown`: of a recording, whose length decides what it takes."""

    estimate: Estimate | None = None
    missing: tuple[tuple[str, str], ...] = ()
    length_unknown: bool = False
    asked: bool = False


@router.get("/runs/new", dependencies=[needs(Scope.READ, content=True)])
async def new_run(request: Request) -> Response:
    kind = request.query_params.get("kind")
    known = kind is not None and kind in state_of(request).kinds
    return await _page(request, _entered(request, Form({"kind": str(kind)} if known else {})))


def _entered(request: Request, form: Form) -> Entered:
    filled = Form({**_NEW, **_EMPTY, **form})
    return Entered(form=filled, kind=state_of(request).kinds.get(filled["kind"]))


async def _page(
    request: Request,
    entered: Entered,
    *,
    why: Failed | None = None,
    looked: Looked | None = None,
    template: str = "run_new.html",
) -> Response:
    """The form, with the fields of the kind that is chosen, and what is known of what it holds."""
    state, kind = state_of(request), entered.kind
    profiles = await queries.profiles_page(state.pool, 200)
    words = words_of(request)
    sentences = {
        at: words.sentence("field", told["code"], {**one.refusal.params, **told})
        for at, one in enumerate(entered.files)
        if one.refusal is not None and (told := one.refusal.errors[0])
    }
    return await page(
        request,
        template,
        status=why.status if why else 200,
        section="/runs",
        typed=entered.form,
        errors=why.errors if why else {},
        refusal=why.notice if why else None,
        kinds=sorted(state.kinds, key=lambda name: (name != "minutes", name)),
        fields=[f for f in entered.fields if f.attribute != TEMPLATE],
        templates=[] if kind is None else templates_of(kind, words.locale[:2]),
        asks=begins_with_request(kind),
        drafts=kind is not None and kind.drafts_without_body(),
        has_sample=kind is not None and kind.sample() is not None,
        profiles=profiles.items,
        cards=cards(entered.files, sentences, carries=template == "run_new.html"),
        recorded=entered.recorded,
        looked=looked or Looked(),
    )


@router.post("/runs/new", dependencies=[needs(Scope.WRITE, content=True)])
async def create(request: Request) -> Response:
    """`do` says what: `look` the part that a script shows, `preview` the whole page, else start."""
    entered = _entered(request, Form())
    try:
        async with sent_form(request) as sent:
            entered = _entered(request, typed_in(sent))
            entered.files = await brought(sent)
            doing = entered.form["do"]
            if doing in ("look", "preview"):
                await _hear(entered, sent)
                looked = await _look(request, entered)
                template = "new_look.html" if doing == "look" else "run_new.html"
                return await _page(request, entered, looked=looked, template=template)
            answer = await _start(request, entered, sent.get("audio"))
    except Refusal as refusal:
        why = failed(request, refusal, _names(entered), entered.places())
        return await _page(request, entered, why=why)
    return go(run_path(answer))


def _names(entered: Entered) -> frozenset[str]:
    return _NEW_FIELDS | {field.name for field in entered.fields}


@contextlib.asynccontextmanager
async def sent_form(request: Request) -> AsyncIterator[FormData]:
    """The form; its recording, if one was chosen, is streamed to where it may stay."""
    if not is_form(request):
        yield FormData(await read_form(request))
        return
    async with uploads.form_of(request) as sent:
        yield sent


async def _hear(entered: Entered, sent: FormData) -> None:
    """What is known of the recording: sent with the form, or told by a script."""
    audio = sent.get("audio")
    if isinstance(audio, UploadFile) and audio.filename:
        entered.recorded = Recorded(name=recordings.bare(audio.filename))
        if isinstance(audio.file, Incoming):
            audio.file.seek(0)
            found = await probe(audio.file.path)
            entered.recorded.problem = found.problem
            entered.recorded.seconds = found.seconds or None
    elif entered.form["audio-name"].strip():
        entered.recorded = Recorded(
            name=recordings.bare(entered.form["audio-name"]),
            seconds=_seconds(entered.form["audio-seconds"]),
        )


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds <= 14_400 else None


async def _look(request: Request, entered: Entered) -> Looked:
    """The estimate, or what is in the way of a start."""
    if entered.is_empty:
        return Looked(asked=True)
    words, missing = words_of(request), list[tuple[str, str]]()
    heard = entered.recorded if not any(True for _ in entered.texts()) else None
    estimate: Estimate | None = None
    fields = entered.run()
    if not fields["title"]:
        missing.append(("title", words.text("Give it a title.")))
    if heard is not None and heard.problem is not None:
        missing.append(("audio", words.sentence("field", heard.problem)))
    try:
        if (refusal := entered.refusal()) is not None:
            raise refusal
        state = state_of(request)
        seconds = heard.seconds or _SOME_SECONDS if heard is not None else None
        planned = fit(requests.Planned, {**fields, "audio_seconds": seconds})
        estimate = await estimated(state, planned)
        if heard is not None:
            await require_recogniser(state.pool, state.settings, planned.language)
    except Refusal as refusal:
        why = failed(request, refusal, _names(entered), entered.places())
        missing += list(why.errors.items())
        missing += [("", line) for line in why.notice.lines]
        if not missing:
            missing.append(("", why.notice.sentence))
    unknown = heard is not None and heard.seconds is None
    shown = None if unknown or (missing and estimate is None) else estimate
    return Looked(estimate=shown, missing=tuple(missing), length_unknown=unknown, asked=True)


async def _start(request: Request, entered: Entered, audio: UploadFile | str | None) -> Answer:
    """With the recording, if one was chosen: a browser sends a nameless one for none."""
    if (refusal := entered.refusal()) is not None:
        raise refusal
    recorded = isinstance(audio, UploadFile) and bool(audio.filename)
    if recorded:
        assert isinstance(audio, UploadFile)
        entered.recorded = Recorded(name=recordings.bare(audio.filename or ""))
    if (refusal := entered.nothing()) is not None:
        raise refusal
    wanted = fit(requests.NewDocumentRun, entered.run())
    given = recordings.Given(document=wanted.document())
    state, form, files = state_of(request), entered.form, entered.read_files()
    if recorded and audio is not None:
        given = await recordings.take(state, wanted.document(), audio)
        assert given.recording is not None, "it was taken"
        form["audio"] = given.recording.sha256
    # The form's key is bound to its files too, and not to how they came.
    form["files"] = ",".join(one.digest for one in entered.files)
    form.pop("carried", None)
    async with originals.kept(state.settings, given, files) as sent:
        return await perform_once(
            request, form, lambda c, tools: sent.create_with_run(c, tools, wanted.run())
        )


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
