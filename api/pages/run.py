"""Everything the page of one run shows, made of its rows."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Unpack

from fastapi import Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from api import markdown, wire
from api.estimate_rest import rest_of
from api.http.errors import Refusal
from api.http.state import State, state_of
from api.moves.idempotency import web_of
from api.pages import change as pages_change
from api.pages import run_events, run_output
from api.pages import view as pages_view
from api.pages.calendars import has_calendar
from api.pages.render import HEADERS, Sent, page, words_of
from api.pages.renderings import Pieces, Renderings, render_for_many
from api.pages.rounds import rounds
from api.pages.run_output import shortened
from api.pages.run_rows import RunReader, RunRows
from api.pages.schedule import ledger, open_ones, schedule, schedules
from api.pages.service_watch import ServiceWatch
from api.pages.timeline import timeline
from api.pages.viewer import viewer_of
from api.pages.waste import waste_lines
from api.queries import console as queries_console
from api.queries.pages import issue_moves
from api.queries.seen import Seen, shown_first
from api.texts.text import Catalogue
from deploy.database import new_id
from workflows.vocabulary import FINAL, Phase, Reason, RunStatus

_WATCHING = ("steps", "issues", "changes", "text")
_DECIDING = ("issues", "changes", "text", "steps")
_PLANNED = ("text", "issues", "changes", "steps")
_SETTLED = FINAL | {RunStatus.AWAITING_CONFIRMATION}
"""What a person looks at first: while a run works, its steps; to decide, what came of them."""
_PROCESS = new_id()
"""Another one may render the same rows in another way."""
_LONGEST_RENDERED = 200_000


async def run_page(
    request: Request, run_id: str, *, regions_only: bool = False, **sent: Unpack[Sent]
) -> Response:
    """The page of a run, or with `regions_only` what changes on it (304 where nothing did). Raises
    404."""
    state = state_of(request)
    rows = await state.one(RunReader).rows(state.pool, run_id, web_of(state))
    if regions_only:
        return await _regions(request, rows)
    run = rows.run
    beside = await queries_console.neighbours(state.pool, run.created_at, run.id)
    facts = {**await _facts(request, rows), "alone": False, "beside": beside}
    return await page(request, "run.html", section="/runs", **sent, **facts)


async def _regions(request: Request, rows: RunRows) -> Response:
    viewer = viewer_of(request)
    service = await state_of(request).one(ServiceWatch).look(request)
    told = (_PROCESS, rows.version, service, viewer.locale, viewer.zone_name)
    # A weak one: whatever compresses the answer leaves it as it is.
    tag = f'W/"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, "ETag": tag})

    async def made() -> Pieces:
        facts = {**await _facts(request, rows), "alone": True, "service": service}
        return render_for_many(request, "run_regions.html", **facts)

    have = sorted(set(request.query_params.getlist("have")))
    html = await state_of(request).one(Renderings).html((tag, *have), made)
    return HTMLResponse(html, headers={**HEADERS, "ETag": tag})


async def _facts(request: Request, rows: RunRows) -> dict[str, Any]:
    words, run = words_of(request), rows.run
    events = rows.events[-run_events.NEWEST :]
    kept = run_output.kept_items(run, rows.steps, rows.calls, rows.items)
    text = await _text(request, rows)
    return {
        **text,
        **_course(rows, words),
        "run": run,
        "newest_revision": rows.seen.document.newest_revision,
        "is_over": run.status in FINAL and not run.stopping,
        "situation": pages_view.situation(run, words, by=run_events.interrupter(events)),
        "said": run_events.said(run, events),
        "steps": rows.steps,
        "issues": rows.issues,
        "locked": locked_ones(rows.issues, rows.locked),
        "unmet": unmet_ones(run, rows.issues),
        "calls": rows.calls,
        "partial": run_output.partial(rows.calls, rows.seen.live, kept),
        "kept": kept,
        "events": [run_events.line(event, words) for event in reversed(events)],
        "sources": rows.sources,
        "order": _order(run, planned=text["planned"]),
        "language": run.language,
        "lines": _lines(rows.sources, {name for one in rows.issues for name in one.evidence}),
        "profiles": rows.profiles,
        "working": _revision(rows, run.working_revision),
        "offered": _revision(rows, run.offered_revision),
        "ledger": ledger(run, rows.calls, words),
        "rest": await _rest(state_of(request), run),
        "failing": _failing(rows.seen, state_of(request).settings.provider_patience),
    }


_ESTIMATED = frozenset({Reason.LIMIT_CALLS, Reason.LIMIT_TOKENS, Reason.LIMIT_COST})


async def _rest(state: State, run: wire.Run) -> int | str | None:
    """Of a run that a limit stopped: the limit that is likely to be enough for all its rounds."""
    code = None if run.reason is None else run.reason.code
    if run.status != RunStatus.INTERRUPTED or code not in _ESTIMATED:
        return None
    with contextlib.suppress(Refusal):  # its kind or profile is gone: the page says so elsewhere
        return (await rest_of(state, run)).limits.get(code.replace("limit_", "max_"))
    return None


def _failing(seen: Seen, patience: float) -> Mapping[str, Any] | None:
    """Of a run between two tries: how many failed in a row, and when it gives up."""
    phase, since = seen.run.phase, seen.failing_since
    if phase is None or phase.code != Phase.WAITING_RETRY or not seen.failures or since is None:
        return None
    until = since + timedelta(seconds=patience)
    return {"failures": seen.failures, "since": since, "until": until}


def _revision(rows: RunRows, number: int | None) -> wire.Revision | None:
    return None if number is None else rows.texts.get(number)


def _course(rows: RunRows, words: Catalogue) -> dict[str, Any]:
    """What the operator sees of its course: rounds, timeline, waste."""
    run, now = rows.run, datetime.now(UTC)
    moves = queries_console.moves(rows.events)
    change = queries_console.rounds_change(rows.events)
    return {
        "rounds": rounds(run, rows.steps, issue_moves(rows.events)),
        "rounds_why": pages_view.rounds_why(change, run.max_rounds, words),
        "timeline": timeline(run, rows.steps, rows.calls, moves, now=now, words=words),
        "waste": waste_lines(rows.waste, words),
        "quiet_since": run.last_progress_at if rows.seen.quiet else None,
    }


async def _text(request: Request, rows: RunRows) -> dict[str, Any]:
    """The shown text and its changes, as far as the page does not have them already (`have`)."""
    state, run, issues = state_of(request), rows.run, rows.issues
    shown, why = _shown(run, rows.texts, words_of(request))
    versions = {**_versions(run, rows.texts, rows.sources), "issues": _version_of(rows)}
    if schedules(state, run.kind):  # open issues are shown at their lines
        versions["text"] += "".join(f" I{issue.number}" for issue in open_ones(issues))
    named = set(request.query_params.getlist("have"))
    have = {name for name, version in versions.items() if f"{name} {version}" in named}
    plan = None
    if "text" not in have:
        plan = await schedule(state, rows.seen.document, shown, rows.sources, issues)
    return {
        "shown": shown,
        "shown_why": why,
        "schedule": plan,
        "has_calendar": plan is not None and await has_calendar(state, rows.seen.document, shown),
        "planned": plan is not None or ("text" in have and schedules(state, run.kind)),
        "shown_html": await html_of(shown) if "text" not in have else None,
        "change": None if "changes" in have else await _change(request, rows.texts, run),
        "versions": versions,
        "have": have,
    }


def _order(run: wire.Run, *, planned: bool) -> tuple[str, ...]:
    """A plan is what a person came for; of another text first what was found wrong with it."""
    if run.status not in _SETTLED:
        return _WATCHING
    return _PLANNED if planned else _DECIDING


def _number_shown(run: wire.Run, texts: Mapping[int, wire.Revision]) -> int | None:
    return next((number for number in shown_first(run) if number in texts), None)


def _shown(
    run: wire.Run, texts: Mapping[int, wire.Revision], words: Catalogue
) -> tuple[wire.Revision | None, str]:
    number = _number_shown(run, texts)
    if number is None:
        return None, ""
    if run.status == RunStatus.CONFIRMED:
        why = words.text("This revision was confirmed.")
    elif run.status == RunStatus.REJECTED:
        why = words.text("This revision was rejected.")
    elif run.status in FINAL:
        why = words.text("The run ended with this revision.")
    elif number == run.offered_revision:
        why = words.text("This revision is offered for confirmation.")
    else:
        why = words.text("The run works on this revision.")
    return texts[number], why


async def _change(
    request: Request, texts: Mapping[int, wire.Revision], run: wire.Run
) -> Mapping[str, Any] | None:
    """The shown revision against the one it was made from, with a link to all changes at once."""
    number = _number_shown(run, texts)
    new = None if number is None else texts.get(number)
    old = texts.get(new.base) if new is not None and new.base is not None else None
    if new is None or old is None:
        return None
    links: tuple[Mapping[str, str], ...] = ()
    if old.number != run.base_revision and run.base_revision is not None:
        href = f"/documents/{run.document_id}?from={run.base_revision}&to={new.number}#shown"
        links = ({"href": href, "word": words_of(request).text("all changes of this run")},)
    return await pages_change.compared(old, new, links)


def _versions(
    run: wire.Run, texts: Mapping[int, wire.Revision], sources: Sequence[wire.Source]
) -> Mapping[str, str]:
    """What the costly regions are made of; the live module names those it has as `have=`, and
    they are left empty."""
    number = _number_shown(run, texts)
    base = texts[number].base if number is not None else None
    return {
        "text": f"{number} {run.status == RunStatus.CONFIRMED}",
        "changes": f"{base} {number}",
        "sources": " ".join(source.id for source in sources),
    }


def locked_ones(issues: Sequence[wire.Issue], passages: Sequence[str]) -> list[int]:
    """The numbers of open issues that are about a passage that no round may change."""
    return [
        issue.number
        for issue in open_ones(issues)
        if issue.quote
        and any(issue.quote in passage or passage in issue.quote for passage in passages)
    ]


def unmet_ones(run: wire.Run, issues: Sequence[wire.Issue]) -> list[int]:
    """What people asked for and the rounds after that did not settle: their numbers."""
    if run.status != RunStatus.AWAITING_CONFIRMATION:
        return []
    return [one.number for one in open_ones(issues) if one.raised_by.startswith("person:")]


def _version_of(rows: RunRows) -> str:
    """Of the list of issues as it is shown: as long as it is the same, it is not sent again."""
    shown = [issue.model_dump(exclude={"seen_round", "updated_at"}) for issue in rows.issues]
    lines = [source.id for source in rows.sources]
    told = (shown, lines, rows.locked, rows.run.status in FINAL, rows.run.current_round > 0)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


async def html_of(shown: wire.Revision | None) -> Markup | None:
    """The text rendered in a thread; None when it is too long for that and is shown as it is."""
    if shown is None or len(shown.body) > _LONGEST_RENDERED:
        return None
    return await asyncio.to_thread(markdown.render, shown.body)


def _lines(sources: Sequence[wire.Source], names: set[str]) -> dict[str, str]:
    """The source lines that issues name as evidence (T12 is the twelfth), shortened.

    Numbered through all sources in their order, as prompts number them.
    """
    numbers = {int(name[1:]) for name in names if re.fullmatch(r"T[1-9]\d{0,6}", name)}
    if not numbers:
        return {}
    lines = [line for source in sources for line in source.text.splitlines()]
    return {
        f"T{number}": shortened(lines[number - 1])
        for number in numbers
        if number <= len(lines) and lines[number - 1].strip()
    }
