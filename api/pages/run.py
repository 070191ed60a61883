"""Everything the page of one run shows, read in one go."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from api import diff, markdown, queries, wire
from api.errors import not_found
from api.idempotency import web_of
from api.pages import change as pages_change
from api.pages import run_events, run_output
from api.pages import view as pages_view
from api.pages.calendars import has_calendar
from api.pages.render import Refused, page, words_of
from api.pages.rounds import rounds
from api.pages.run_output import all_rows, shortened
from api.pages.schedule import ledger, open_ones, schedule, schedules
from api.pages.timeline import timeline
from api.pages.waste import waste_lines
from api.paths import or_404
from api.queries import Reader
from api.queries import console as queries_console
from api.queries.overview import quiet_since
from api.queries.pages import issue_moves, rounds_change
from api.state import state_of
from api.text import Catalogue
from workflows.vocabulary import FINAL, Phase, RunStatus

_WATCHING = ("steps", "issues", "changes", "text")
_DECIDING = ("issues", "changes", "text", "steps")
_PLANNED = ("text", "issues", "changes", "steps")
_SETTLED = FINAL | {RunStatus.AWAITING_CONFIRMATION}
"""What a person looks at first: while a run works, its steps; to decide, what came of them."""
_MOST = 200
_LONGEST_RENDERED = 200_000


async def run_page(
    request: Request,
    run_id: str,
    *,
    status: int = 200,
    regions_only: bool = False,
    refusal: Refused | None = None,
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    """The page of a run, or with `regions_only` what changes on it. Raises 404."""
    facts = await _facts(request, run_id)
    return await page(
        request,
        "run_regions.html" if regions_only else "run.html",
        status=status,
        section="/runs",
        typed=typed,
        errors=errors,
        refusal=refusal,
        **facts,
    )


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """What was read of a run and its document, by one connection."""

    run: wire.Run
    document: wire.Document
    steps: Sequence[wire.Step]
    calls: Sequence[wire.Call]
    issues: Sequence[wire.Issue]
    sources: list[wire.Source]
    texts: Mapping[int | None, wire.Revision]


async def _facts(request: Request, run_id: str) -> dict[str, Any]:
    state, words = state_of(request), words_of(request)
    async with state.pool.acquire() as connection:
        rows = await _rows(connection, run_id, web_of(state))
        run = rows.run
        events = await run_events.newest_events(connection, run)
        kept = await run_output.kept_items(connection, run, rows.steps, rows.calls)
        partial = await run_output.partial(connection, rows.calls, kept)
        profiles = await queries.profiles_page(connection, _MOST)
        course = await _course(connection, rows, words)
        failing = await _failing(connection, run, state.settings.provider_patience)
    text = await _text(request, rows)
    return {
        **text,
        **course,
        "run": run,
        "newest_revision": rows.document.newest_revision,
        "is_over": run.status in FINAL and not run.stopping,
        "situation": pages_view.situation(run, words, by=run_events.interrupter(events)),
        "said": run_events.said(run, events),
        "steps": rows.steps,
        "issues": rows.issues,
        "calls": rows.calls,
        "partial": partial,
        "kept": kept,
        "events": [run_events.line(event, words) for event in reversed(events)],
        "sources": rows.sources,
        "order": _order(run, planned=text["planned"]),
        "language": run.language,
        "lines": _lines(rows.sources, {name for one in rows.issues for name in one.evidence}),
        "profiles": profiles.items,
        "working": rows.texts.get(run.working_revision),
        "offered": rows.texts.get(run.offered_revision),
        "ledger": ledger(run, rows.calls, words),
        "failing": failing,
    }


async def _failing(reader: Reader, run: wire.Run, patience: float) -> Mapping[str, Any] | None:
    """Of a run between two tries: how many failed in a row, and when it gives up."""
    if run.phase is None or run.phase.code != Phase.WAITING_RETRY:
        return None
    found = await queries_console.failing(reader, run.id)
    if found is None:
        return None
    until = found.since + timedelta(seconds=patience)
    return {"failures": found.failures, "since": found.since, "until": until}


async def _rows(reader: Reader, run_id: str, web: queries.TemporalWeb) -> _Rows:
    """Raises 404."""
    run = await queries.run(reader, run_id, web=web)
    if run is None:
        raise not_found("run")
    document = or_404(await queries.document(reader, run.document_id), "document")
    return _Rows(
        run=run,
        document=document,
        calls=await all_rows(queries.calls_page, reader, run.id),
        steps=await all_rows(queries.steps_page, reader, run.id),
        issues=await all_rows(queries.issues_page, reader, run.id),
        sources=await sources_in_force(reader, run.document_id),
        texts=await _texts(reader, run, document),
    )


async def _course(reader: Reader, rows: _Rows, words: Catalogue) -> dict[str, Any]:
    """What the operator sees of its course: rounds, timeline, waste, and the runs beside it."""
    run, now = rows.run, datetime.now(UTC)
    moves = await queries_console.moves(reader, run.id)
    waste = await queries_console.waste(reader, run.id)
    issues, change = await issue_moves(reader, run.id), await rounds_change(reader, run.id)
    return {
        "rounds": rounds(run, rows.steps, issues),
        "rounds_why": pages_view.rounds_why(change, run.max_rounds, words),
        "timeline": timeline(run, rows.steps, rows.calls, moves, now=now, words=words),
        "waste": waste_lines(waste, run.currency, words),
        "quiet_since": (await quiet_since(reader, [run.id])).get(run.id),
        "beside": await queries_console.neighbours(reader, run.created_at, run.id),
    }


async def _text(request: Request, rows: _Rows) -> dict[str, Any]:
    """The shown text and its changes, as far as the page does not have them already (`have`)."""
    state, run, issues = state_of(request), rows.run, rows.issues
    shown, why = _shown(run, rows.texts, words_of(request))
    versions = {**_versions(run, rows.texts, rows.sources), "issues": _version_of(issues, run)}
    if schedules(state, run.kind):  # open issues are shown at their lines
        versions["text"] += "".join(f" I{issue.number}" for issue in open_ones(issues))
    named = set(request.query_params.getlist("have"))
    have = {name for name, version in versions.items() if f"{name} {version}" in named}
    plan = None
    if "text" not in have:
        plan = await schedule(state, rows.document, shown, rows.sources, issues)
    return {
        "shown": shown,
        "shown_why": why,
        "schedule": plan,
        "has_calendar": plan is not None and await has_calendar(state, rows.document, shown),
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


async def sources_in_force(reader: Reader, document_id: str) -> list[wire.Source]:
    """The sources that count, with their texts."""
    listed = await queries.sources_page(reader, document_id, _MOST)
    found = [
        await queries.source(reader, document_id, entry.id)
        for entry in (listed.items if listed else [])
        if entry.replaced_by is None
    ]
    return [source for source in found if source is not None]


async def _texts(
    reader: Reader, run: wire.Run, document: wire.Document
) -> dict[int | None, wire.Revision]:
    """The revisions the page needs, and what the shown one was made from."""
    wanted = {run.working_revision, run.offered_revision, run.best_revision, run.base_revision}
    wanted.add(document.newest_revision)
    found: dict[int | None, wire.Revision] = {}
    for number in wanted - {None}:
        revision = await queries.revision(reader, run.document_id, number or 0)
        if revision is not None:
            found[number] = revision
    shown = _number_shown(run, found)
    base = found[shown].base if shown is not None else None
    if base is not None and base not in found:
        before = await queries.revision(reader, run.document_id, base)
        if before is not None:
            found[base] = before
    return found


def _number_shown(run: wire.Run, texts: Mapping[int | None, wire.Revision]) -> int | None:
    order = (run.offered_revision, run.working_revision, run.best_revision, run.base_revision)
    return next((number for number in order if number is not None and number in texts), None)


def _shown(
    run: wire.Run, texts: Mapping[int | None, wire.Revision], words: Catalogue
) -> tuple[wire.Revision | None, str]:
    number = _number_shown(run, texts)
    if number is None:
        return None, ""
    if run.status == RunStatus.CONFIRMED:
        why = words.text("This revision was confirmed.")
    elif number == run.offered_revision:
        why = words.text("This revision is offered for confirmation.")
    else:
        why = words.text("The run works on this revision.")
    return texts[number], why


async def _change(
    request: Request, texts: Mapping[int | None, wire.Revision], run: wire.Run
) -> Mapping[str, Any] | None:
    """The shown revision against the one it was made from, with a link to all changes at once."""
    number = _number_shown(run, texts)
    new = texts.get(number)
    old = texts.get(new.base) if new is not None and new.base is not None else None
    if new is None or old is None:
        return None
    links: tuple[Mapping[str, str], ...] = ()
    if old.number != run.base_revision and run.base_revision is not None:
        href = f"/documents/{run.document_id}?from={run.base_revision}&to={new.number}#shown"
        links = ({"href": href, "word": words_of(request).text("all changes of this run")},)
    return pages_change.shown(await diff.compare(old, new), links)


def _versions(
    run: wire.Run, texts: Mapping[int | None, wire.Revision], sources: Sequence[wire.Source]
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


def _version_of(issues: Sequence[wire.Issue], run: wire.Run) -> str:
    """Of the list of issues: as long as it is the same, what is typed into its forms stays."""
    newest = max((wire.timestamp(issue.updated_at) for issue in issues), default="")
    return f"{len(issues)} {newest} {run.status in FINAL} {run.current_round > 0}"


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
