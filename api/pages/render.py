"""How pages are made from templates: environment, filters, static files, the frame's facts."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypedDict

import jinja2
from fastapi import Request
from starlette.responses import HTMLResponse, Response

from api import queries, wire
from api.http.short_ids import short
from api.http.state import state_of
from api.pages import prices as pages_prices
from api.pages import view as pages_view
from api.pages.changed_words import ChangedWords
from api.pages.engine import EngineWatch
from api.pages.folding import fold_texts
from api.pages.spoken import spoken
from api.pages.view import Badge
from api.pages.viewer import LANGUAGE, remember, viewer_of
from api.texts import languages, text
from deploy.database import AWAY, new_id
from workflows.spoken import clock

API = Path(__file__).parent.parent
HEADERS = {
    # `no-referrer` would make a browser send `Origin: null` with forms, which is refused.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, kw_only=True)
class StaticFile:
    """A file of `static/`, held in memory."""

    content: bytes
    media_type: str


@lru_cache(maxsize=1)
def static_files() -> Mapping[str, StaticFile]:
    """All static files by name; nothing else can be asked for."""
    found = {}
    for path in sorted((API / "static").iterdir()):
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        if path.suffix == ".js":
            media_type = "text/javascript"
        found[path.name] = StaticFile(content=path.read_bytes(), media_type=media_type)
    return found


@lru_cache(maxsize=1)
def static_version() -> str:
    """Changes with any static file; part of their addresses, so they are cached for ever."""
    digest = hashlib.sha256()
    for name, file in static_files().items():
        digest.update(name.encode() + b"\0" + file.content)
    return digest.hexdigest()[:16]


def static(name: str) -> str:
    """Address of a static file; raises KeyError for one that does not exist."""
    assert name in static_files(), name
    return f"/static/{static_version()}/{name}"


def _cost(words: text.Catalogue, thing: wire.Run | wire.Call) -> str:
    """As long as nothing was used there is a dash; after it, an unknown price is unknown."""
    used = thing.tokens.input or thing.tokens.output
    unspent = not used if isinstance(thing, wire.Run) else thing.ended_at is None
    if thing.cost is None and unspent:
        return "–"
    shown = words.money(thing.cost, thing.currency)
    if isinstance(thing, wire.Run):
        if thing.cost is None and thing.costs:
            shown = words.moneys(thing.costs)
            shown += f" + {words.text('unknown')}" if thing.unpriced_calls else ""
        if thing.cost_is_estimate and (thing.cost is not None or thing.costs):
            shown = f"≈\N{NO-BREAK SPACE}{shown}"
    return shown


def _prices(words: text.Catalogue, profile: wire.Profile) -> list[pages_prices.PriceLine]:
    return pages_prices.price_lines(words, profile.prices, datetime.now(UTC).date())


def _tokens(words: text.Catalogue, run: wire.Run) -> str:
    return words.compact((run.tokens.input or 0) + (run.tokens.output or 0))


def _step_badge(words: text.Catalogue, step: wire.Step) -> Badge:
    tone = {"RUNNING": "running", "SUCCEEDED": "done"}.get(step.status, "failed")
    if step.reason is not None and step.reason.code in ("interrupted", "handed_over", "superseded"):
        return Badge(word=words.text("Stopped"), tone="interrupted")
    return Badge(word=words.sentence("status", step.status), tone=tone)


def _call_badge(words: text.Catalogue, call: wire.Call) -> Badge:
    tones = {
        "STARTED": "running",
        "SUCCEEDED": "done",
        "FAILED": "failed",
        "LOST": "failed",
        "CANCELLED": "interrupted",
    }
    return Badge(word=words.sentence("status", call.status), tone=tones.get(call.status, "neutral"))


def _finish(words: text.Catalogue) -> Callable[[str], str]:
    """Servers write them in capitals too."""
    return lambda reason: words.sentence("finish", reason.lower())


def _problem(words: text.Catalogue, issue: wire.Issue) -> str:
    """What a rule found, in the reader's language; what a model or a person said, as it is."""
    return words.told(issue.problem) if issue.raised_by.startswith("verifier:") else issue.problem


def _raised_by(words: text.Catalogue, issue: wire.Issue) -> str:
    sort, _, name = issue.raised_by.partition(":")
    if sort == "verifier":
        name = words.sentence("rule", name)
    return words.sentence("raised_by", sort, {"name": name}) if name else issue.raised_by


def _as_if_since(run: wire.Run) -> datetime:
    """When a run that is at work would have begun if it had never waited for a person."""
    assert run.running.since is not None, "it is at work"
    return run.running.since - timedelta(seconds=run.running.seconds)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of_the_moment(words: text.Catalogue) -> dict[str, Callable[..., Any]]:
    """Filters that look at the page's own time and at the viewer's zone."""

    @jinja2.pass_context
    def moment(context: jinja2.runtime.Context, at: datetime | None) -> str:
        return words.moment(at, context["viewer"].zone)

    @jinja2.pass_context
    def ago(context: jinja2.runtime.Context, at: datetime) -> str:
        return words.ago(at, context["now"])

    @jinja2.pass_context
    def ran(context: jinja2.runtime.Context, run: wire.Run) -> str:
        """Its time in RUNNING, which `max_seconds` limits."""
        now = context["now"]
        stretch = pages_view.seconds(run.running.since, None, now) or 0
        return words.duration(run.running.seconds + max(0, stretch))

    return {"moment": moment, "ago": ago, "ran": ran}


def _lasted(words: text.Catalogue) -> Callable[..., str]:
    @jinja2.pass_context
    def lasted(context: jinja2.runtime.Context, began: datetime, ended: datetime | None) -> str:
        return words.duration(pages_view.seconds(began, ended, context["now"]))

    return lasted


@lru_cache(maxsize=8)
def environment(locale: str) -> jinja2.Environment:
    """Templates in one language: autoescaped, and a name that is missing is an error."""
    words = text.catalogue(locale)
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(API / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        auto_reload=False,
    )
    made.install_gettext_translations(words.translations, newstyle=True)  # type: ignore[attr-defined]
    fold_texts(made, words.text)
    filters: dict[str, Callable[..., Any]] = {
        "number": words.number,
        "compact": words.compact,
        "money": words.money,
        "clock": clock,
        "aside": lambda said: words.text(" ({what})").format(what=said),
        "duration": words.duration,
        "spoken": spoken,
        "iso": _iso,
        "short": short,
        "as_if_since": _as_if_since,
        "prices": partial(_prices, words),
        "at_round": pages_view.at_round,
        "scored_before": pages_view.scored_before,
        "cost": partial(_cost, words),
        "tokens": partial(_tokens, words),
        "step_badge": partial(_step_badge, words),
        "call_badge": partial(_call_badge, words),
        "category": partial(words.sentence, "category"),
        "finish": _finish(words),
        "problem": partial(_problem, words),
        "raised_by": partial(_raised_by, words),
    }
    made.filters.update(filters)

    made.filters.update(_of_the_moment(words))
    made.filters.update(ChangedWords(words).filters())
    made.globals.update(
        locale=locale,
        lang=words.tag,
        language_names=languages.NAMES,
        sentence=words.sentence,
        static=static,
        lasted=_lasted(words),
        new_key=new_id,
        csrf_token=None,
    )
    return made


@dataclass(frozen=True, kw_only=True)
class Service:
    """What the frame of every page says about the service."""

    simulated: bool
    reachable: bool = True
    worker_alive: bool = True
    engine_away: bool = False
    draining: bool = False
    drain_note: str | None = None
    waiting: int = 0


async def service_of(request: Request) -> Service:
    """Read for every page; a database that is away is said, not raised."""
    state = state_of(request)
    simulated = state.settings.offline_model
    try:
        told = await queries.frame(state.pool)
    except AWAY:
        return Service(simulated=simulated, reachable=False, worker_alive=False)
    return Service(
        simulated=simulated,
        worker_alive=told.worker_alive,
        engine_away=state.one(EngineWatch).look(request),
        draining=told.draining,
        drain_note=told.drain_note if told.draining else None,
        waiting=told.waiting,
    )


def words_of(request: Request) -> text.Catalogue:
    return text.catalogue(viewer_of(request).locale)


def list_row(run: wire.Run, words: text.Catalogue) -> dict[str, Any]:
    """A run as a line of a list."""
    return {
        "run": run,
        "badge": pages_view.badge(run, words),
        "reason": pages_view.reason(run, words),
        "headline": pages_view.headline(run, words),
        "held": pages_view.held(run, words),
    }


class Typed(dict[str, Any]):
    """What was typed into a form, or is wrong with it, by field; a missing field is None."""

    def __missing__(self, key: str) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A refusal as a page shows it: a sentence by its code, and the way to its cause."""

    code: str
    sentence: str
    request_id: str
    detail: str = ""
    lines: tuple[str, ...] = ()
    link: str | None = None


class Sent(TypedDict, total=False):
    """What came of a form, when its page is shown again; `typed` and `errors` are by field name."""

    status: int
    typed: Mapping[str, Any] | None
    errors: Mapping[str, str] | None
    refusal: Refused | None


async def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    section: str = "",
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    refusal: Refused | None = None,
    **facts: Any,
) -> Response:
    """The template, with what the frame around it says."""
    html = rendered(
        request,
        template,
        section=section,
        service=await service_of(request),
        typed=Typed(typed or {}),
        errors=Typed(errors or {}),
        refusal=refusal,
        **facts,
    )
    response = HTMLResponse(html, status, headers=HEADERS)
    if "lang" in request.query_params:
        remember(request, response, LANGUAGE, viewer_of(request).locale)
    return response


def rendered(request: Request, template: str, **facts: Any) -> str:
    """The template alone, for who looks."""
    viewer = viewer_of(request)
    made = environment(viewer.locale).get_template(template)
    return made.render(now=datetime.now(UTC), viewer=viewer, **facts)
