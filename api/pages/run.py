"""Everything the page of one run shows, read in one go."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from api import diff, markdown, queries, wire
from api.errors import not_found
from api.idempotency import web_of
from api.pages import change as pages_change
from api.pages import view as pages_view
from api.pages.render import Refused, page, words_of
from api.pages.schedule import day_of, ledger, open_ones, schedule, schedules
from api.paths import or_404
from api.queries import Reader
from api.queries.pages import rounds_change
from api.state import state_of
from api.text import Catalogue
from workflows.vocabulary import FINAL, CallStatus, EventType, RunStatus, Severity, StepStatus

_WATCHING = ("steps", "issues", "changes", "text")
_DECIDING = ("issues", "changes", "text", "steps")
_PLANNED = ("text", "issues", "changes", "steps")
_SETTLED = FINAL | {RunStatus.AWAITING_CONFIRMATION}
"""What a person looks at first: while a run works, its steps; to decide, what came of them."""
_NEWEST_EVENTS = 60
_MOST = 200
_LONGEST_RENDERED = 200_000
_QUOTE = 160
_LONGEST_SECTION, _MOST_LINES = 600, 24
"""Of a section that is kept: characters, and names of lines."""


@dataclass(frozen=True, kw_only=True)
class EventLine:
    """One event in words."""

    seq: int
    sentence: str
    why: str
    actor: str
    at: Any
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class KeptItem:
    """An issue, an edit (`find`, `replace`), a day, a section (`heading`, `markdown`) with the
    lines it rests on, or anything else that a step has so far."""

    key: str
    part: str = ""
    heading: str = ""
    markdown: str = ""
    evidence: str = ""
    severity: str = ""
    category: str = ""
    quote: str = ""
    problem: str = ""
    find: str = ""
    replace: str = ""
    day: str = ""


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


async def _facts(request: Request, run_id: str) -> dict[str, Any]:
    state, words = state_of(request), words_of(request)
    async with state.pool.acquire() as connection:
        run = await queries.run(connection, run_id, web=web_of(state))
        if run is None:
            raise not_found("run")
        events = await _events(connection, run)
        calls = await _all(queries.calls_page, connection, run.id)
        steps = await _all(queries.steps_page, connection, run.id)
        issues = await _all(queries.issues_page, connection, run.id)
        sources = await sources_in_force(connection, run.document_id)
        document = or_404(await queries.document(connection, run.document_id), "document")
        texts = await _texts(connection, run)
        partial = await _partial(connection, calls)
        kept = await _kept(connection, run, steps, calls)
        profiles = await queries.profiles_page(connection, _MOST)
        rounds = await rounds_change(connection, run.id)
    shown, why = _shown(run, texts, words)
    evidence = {name for issue in issues for name in issue.evidence}
    versions = {**_versions(run, texts, sources), "issues": _version_of(issues, run)}
    if schedules(state, run.kind):  # open issues are shown at their lines
        versions["text"] += "".join(f" I{issue.number}" for issue in open_ones(issues))
    named = set(request.query_params.getlist("have"))
    have = {name for name, version in versions.items() if f"{name} {version}" in named}
    plan = None if "text" in have else await schedule(state, document, shown, sources, issues)
    planned = plan is not None or ("text" in have and schedules(state, run.kind))
    change = None if "changes" in have else await _change(request, texts, run)
    return {
        "run": run,
        "is_over": run.status in FINAL and not run.stopping,
        "situation": pages_view.situation(run, words, by=_interrupter(events)),
        "said": _said(run, events),
        "rounds_why": pages_view.rounds_why(rounds, words),
        "steps": steps,
        "issues": issues,
        "calls": calls,
        "partial": partial,
        "kept": kept,
        "events": [_line(event, words) for event in reversed(events)],
        "sources": sources,
        "order": _order(run, planned=planned),
        "language": run.language,
        "lines": _lines(sources, evidence),
        "profiles": profiles.items,
        "working": texts.get(run.working_revision),
        "offered": texts.get(run.offered_revision),
        "shown": shown,
        "shown_why": why,
        "schedule": plan,
        "planned": planned,
        "ledger": ledger(run, calls, words),
        "shown_html": await html_of(shown) if "text" not in have else None,
        "change": change,
        "versions": versions,
        "have": have,
    }


def _order(run: wire.Run, *, planned: bool) -> tuple[str, ...]:
    """A plan is what a person came for; of another text first what was found wrong with it."""
    if run.status not in _SETTLED:
        return _WATCHING
    return _PLANNED if planned else _DECIDING


async def _events(reader: Reader, run: wire.Run) -> Sequence[wire.Event]:
    after = max(0, run.event_seq - _NEWEST_EVENTS)
    found = await queries.events_page(reader, run.id, after, _NEWEST_EVENTS)
    return found.items if found else []


Rows = TypeVar("Rows", bound=wire.Wire)
Pager: TypeAlias = Callable[[Reader, str, int, str | None], Awaitable[wire.Page[Rows] | None]]


async def _all(pager: Pager[Rows], reader: Reader, run_id: str) -> Sequence[Rows]:
    """Every row: the newest come last, and they are the ones that are open."""
    found: list[Rows] = []
    cursor: str | None = None
    while True:
        part = await pager(reader, run_id, _MOST, cursor)
        if part is None:
            return found
        found += part.items
        cursor = part.next_cursor
        if cursor is None:
            return found


async def sources_in_force(reader: Reader, document_id: str) -> list[wire.Source]:
    """The sources that count, with their texts."""
    listed = await queries.sources_page(reader, document_id, _MOST)
    found = [
        await queries.source(reader, document_id, entry.id)
        for entry in (listed.items if listed else [])
        if entry.replaced_by is None
    ]
    return [source for source in found if source is not None]


async def _texts(reader: Reader, run: wire.Run) -> dict[int | None, wire.Revision]:
    """The revisions the page needs, and what the shown one was made from."""
    wanted = {run.working_revision, run.offered_revision, run.best_revision, run.base_revision}
    document = await queries.document(reader, run.document_id)
    newest = document.newest_revision if document is not None else None
    if newest is not None:
        wanted.add(newest)
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


async def _partial(reader: Reader, calls: Sequence[wire.Call]) -> list[Mapping[str, Any]]:
    """What the open calls have written so far."""
    found: list[Mapping[str, Any]] = []
    for call in calls:
        if call.status != CallStatus.STARTED:
            continue
        body = await queries.call(reader, call.id)
        text = (body.partial_text if body is not None else None) or ""
        found.append({**call.model_dump(), "text": text})
    return found


async def _kept(
    reader: Reader, run: wire.Run, steps: Sequence[wire.Step], calls: Sequence[wire.Call]
) -> Sequence[KeptItem]:
    """Items of a step that is not done, newest first: paid for, and not asked for again.

    Those of another input revision belong to a plan that a person's edit made void.
    """
    if not steps or steps[-1].status == StepStatus.SUCCEEDED or run.status in _SETTLED:
        return []
    last = steps[-1]
    same = {
        step.id
        for step in steps
        if (step.name, step.round, step.input_revision)
        == (last.name, last.round, last.input_revision)
    }
    of_it = {call.id for call in calls if call.step_id in same}
    items = await _all(queries.items_page, reader, run.id)
    return [_kept_item(item) for item in reversed(items) if item.call_id in of_it]


def _kept_item(item: wire.Item) -> KeptItem:
    """Only texts are taken from the payload: a model wrote it."""
    given = item.payload if isinstance(item.payload, dict) else {}
    names = ("severity", "category", "quote", "problem", "find", "replace", "heading", "markdown")
    texts = {name: value for name in names if isinstance(value := given.get(name), str)}
    if "markdown" in texts:
        texts["markdown"] = _shortened(texts["markdown"], _LONGEST_SECTION)
        lines = given.get("evidence")
        named = [name for name in lines if isinstance(name, str)] if isinstance(lines, list) else []
        texts["evidence"] = ", ".join(named[:_MOST_LINES]) + (" …" if named[_MOST_LINES:] else "")
    if texts.get("severity") not in set(Severity):
        texts.pop("severity", None)
    return KeptItem(key=item.key, part=item.part, day=day_of(given), **texts)


def _lines(sources: Sequence[wire.Source], names: set[str]) -> dict[str, str]:
    """The source lines that issues name as evidence (T12 is the twelfth), shortened.

    Numbered through all sources in their order, as prompts number them.
    """
    numbers = {int(name[1:]) for name in names if re.fullmatch(r"T[1-9]\d{0,6}", name)}
    if not numbers:
        return {}
    lines = [line for source in sources for line in source.text.splitlines()]
    return {
        f"T{number}": _shortened(lines[number - 1])
        for number in numbers
        if number <= len(lines) and lines[number - 1].strip()
    }


def _shortened(line: str, most: int = _QUOTE) -> str:
    text = " ".join(line.split())
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0] or text[:most]} …"


def _interrupter(events: Sequence[wire.Event]) -> str | None:
    """Who made the newest interruption."""
    for event in reversed(events):
        if event.type == EventType.RUN_INTERRUPTED:
            return event.actor
    return None


_MOVED_BY = {
    RunStatus.INTERRUPTED: EventType.RUN_INTERRUPTED,
    RunStatus.CONFIRMED: EventType.RUN_CONFIRMED,
    RunStatus.REJECTED: EventType.RUN_REJECTED,
    RunStatus.CANCELLED: EventType.RUN_CANCELLED,
}


def _said(run: wire.Run, events: Sequence[wire.Event]) -> wire.Event | None:
    """The newest move into the present status, if the person who made it said something."""
    wanted = _MOVED_BY.get(RunStatus(run.status))
    newest = next((event for event in reversed(events) if event.type == wanted), None)
    return newest if newest is not None and newest.comment else None


def _line(event: wire.Event, words: Catalogue) -> EventLine:
    facts = dict(event.model_extra or {})
    if isinstance(facts.get("keys"), list):
        facts["count"] = len(facts["keys"])
    facts |= pages_view.rounds_of(facts)
    if isinstance(facts.get("severity"), str):
        facts["severity"] = words.sentence("severity", facts["severity"])
    name = facts.get("name") or facts.get("step")
    if isinstance(name, str):
        facts["name"] = words.sentence("step", name)
    reason = facts.get("reason") or facts.get("reason_code") or facts.get("end_cause")
    why = words.sentence("reason", reason, facts) if isinstance(reason, str) else ""
    return EventLine(
        seq=event.seq,
        sentence=words.sentence("event", event.type, facts),
        why=why,
        actor=event.actor,
        at=event.at,
        said=event.comment or "",
    )
