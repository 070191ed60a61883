"""The rows of the page of a run, read once for all viewers and again only where they changed.

A look costs one statement; what its versions say is as before is not read again. Viewers who ask
while a look is under way share the next one.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import queries, wire
from api.http.errors import not_found
from api.pages.run_events import NEWEST
from api.pages.run_output import SETTLED, all_rows
from api.queries import Reader, TemporalWeb
from api.queries import console as queries_console
from api.queries.console import Waste
from api.queries.review import locked_passages
from api.queries.seen import Seen, seen, shown_first
from deploy.database import Pool
from workflows.vocabulary import RunStatus

_MOST_RUNS = 64
_MOST_PROFILES = 200


@dataclass(frozen=True, kw_only=True)
class RunRows:
    """What is stored of a run and its document, as far as the page shows it. `events` are the
    newest and, of older ones, moves of the run and of its issues; `locked` are passages by which an
    open issue may stay open."""

    seen: Seen
    steps: Sequence[wire.Step]
    calls: Sequence[wire.Call]
    waste: Mapping[str, Waste]
    issues: Sequence[wire.Issue]
    locked: Sequence[str]
    events: Sequence[wire.Event]
    items: Sequence[wire.Item]
    sources: list[wire.Source]
    texts: Mapping[int, wire.Revision]
    profiles: Sequence[wire.Profile]

    @property
    def run(self) -> wire.Run:
        return self.seen.run

    @property
    def version(self) -> str:
        """Of all that the page shows, whoever looks."""
        told = (self.seen.versions, self.run.phase, self.run.stopping, self.seen.quiet)
        return hashlib.sha256(repr(told).encode()).hexdigest()


@dataclass(kw_only=True)
class _Entry:
    lock: asyncio.Lock
    begun: float = float("-inf")
    rows: RunRows | None = None


class RunReader:
    """One a process."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    async def rows(self, pool: Pool, run_id: str, web: TemporalWeb) -> RunRows:
        """As they are now: of a look that began after the call. Raises 404."""
        asked = time.monotonic()
        entry = self._entries.pop(run_id, None) or _Entry(lock=asyncio.Lock())
        self._entries[run_id] = entry  # the newest last
        for old in list(self._entries)[:-_MOST_RUNS]:
            del self._entries[old]
        async with entry.lock:
            if entry.rows is None or entry.begun <= asked:
                begun = time.monotonic()
                async with pool.acquire() as connection:
                    found = await seen(connection, run_id, web)
                    if found is None:
                        self._entries.pop(run_id, None)
                        raise not_found("run")
                    entry.rows = await _read(connection, found, entry.rows)
                entry.begun = begun
            return entry.rows


async def _steps(reader: Reader, seen: Seen) -> Sequence[wire.Step]:
    return await all_rows(queries.steps_page, reader, seen.run.id)


async def _calls(reader: Reader, seen: Seen) -> Sequence[wire.Call]:
    return await all_rows(queries.calls_page, reader, seen.run.id)


async def _waste(reader: Reader, seen: Seen) -> Mapping[str, Waste]:
    return await queries_console.waste(reader, seen.run.id)


async def _issues(reader: Reader, seen: Seen) -> Sequence[wire.Issue]:
    return await all_rows(queries.issues_page, reader, seen.run.id)


async def _locked(reader: Reader, seen: Seen) -> Sequence[str]:
    """The passages no round may change; only where a person decides what of it stays open."""
    run = seen.run
    if run.status != RunStatus.AWAITING_CONFIRMATION or not run.open_issues:
        return ()
    return await locked_passages(reader, run.document_id)


async def _events(reader: Reader, seen: Seen) -> Sequence[wire.Event]:
    return await queries_console.told(reader, seen.run.id, NEWEST)


async def _items(reader: Reader, seen: Seen) -> Sequence[wire.Item]:
    """Only of a step that may go on are they shown."""
    if seen.run.status in SETTLED:
        return []
    return await all_rows(queries.items_page, reader, seen.run.id)


async def _sources(reader: Reader, seen: Seen) -> list[wire.Source]:
    return await queries.sources_in_force(reader, seen.run.document_id)


async def _texts(reader: Reader, seen: Seen) -> Mapping[int, wire.Revision]:
    """The revisions the page needs, and what the shown one was made from."""
    run = seen.run
    wanted = (*shown_first(run), seen.document.newest_revision)
    numbers = {number for number in wanted if number is not None}
    return await queries.revisions(
        reader, run.document_id, numbers, next(iter(shown_first(run)), None)
    )


async def _profiles(reader: Reader, _seen: Seen) -> Sequence[wire.Profile]:
    return (await queries.profiles_page(reader, _MOST_PROFILES)).items


_PARTS: Mapping[str, tuple[Callable[[Reader, Seen], Awaitable[Any]], tuple[str, ...]]] = {
    "steps": (_steps, ("steps", "parts")),
    "calls": (_calls, ("calls", "items")),
    "waste": (_waste, ("calls", "plans")),
    "issues": (_issues, ("issues",)),
    "locked": (_locked, ("events", "issues", "status")),
    "events": (_events, ("events",)),
    "items": (_items, ("items", "status")),
    "sources": (_sources, ("sources",)),
    "texts": (_texts, ("revisions", "sources", "shown")),
    "profiles": (_profiles, ("profiles",)),
}
"""Each part: who reads it, and the versions that tell of its changes."""


async def _read(reader: Reader, found: Seen, before: RunRows | None) -> RunRows:
    """What is new since `before`; without it everything."""
    parts: dict[str, Any] = {}
    for name, (read, made_of) in _PARTS.items():
        if before is not None and all(
            found.versions[one] == before.seen.versions[one] for one in made_of
        ):
            parts[name] = getattr(before, name)
        else:
            parts[name] = await read(reader, found)
    return RunRows(seen=found, **parts)
