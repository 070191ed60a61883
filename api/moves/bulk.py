"""One move for many runs, each with a result of its own.

All in one transaction with its idempotency key, documents locked in the order of their ids, so two
bulk requests cannot stand in each other's way. A refused run changes nothing for the others, nor
does one that another program holds: it is tried twice, then it is `unavailable`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import asyncpg
from starlette.datastructures import QueryParams

from api import commands
from api.filters import run_filter
from api.http import cursors, requests
from api.http.errors import Refusal
from api.moves import resume
from api.moves.idempotency import Done, Tools
from api.moves.signals import Due
from api.queries import runs as queries_runs
from api.queries.run_filters import RunFilter
from api.wire import bulk as wire_bulk
from deploy.database import Connection
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import ErrorCode, EventType

Move: TypeAlias = Callable[[Connection, Tools, str, str | None], Awaitable[Done]]

MOST_RUNS = 1000
"""Of one request; a filter that matches more says so, and is sent again."""
PATIENCE = (0.2, 1.0)
"""Seconds for each run that another program holds: first, and after all others."""
WAITS, LEAST = 5.0, 0.01
"""After so many seconds it is waited for no longer: all that was moved is held until the end."""


async def _interrupt(c: Connection, tools: Tools, run_id: str, reason: str | None) -> Done:
    return await commands.interrupt(c, tools, run_id, requests.Interrupt(reason=reason))


async def _resume(c: Connection, tools: Tools, run_id: str, reason: str | None) -> Done:
    return await resume.resume(c, tools, run_id, requests.Resume(note=reason))


async def _cancel(c: Connection, tools: Tools, run_id: str, reason: str | None) -> Done:
    return await commands.cancel(c, tools, run_id, requests.Cancel(reason=reason))


_MOVES: Mapping[str, tuple[Move, EventType]] = {
    "interrupt": (_interrupt, EventType.RUN_INTERRUPTED),
    "resume": (_resume, EventType.RUN_RESUMED),
    "cancel": (_cancel, EventType.RUN_CANCELLED),
}


async def bulk(connection: Connection, tools: Tools, wanted: requests.Bulk) -> Done:
    """200: what became of each run, in the order asked for."""
    chosen = _filter(wanted)
    more = False
    if chosen is None:
        ids = list(dict.fromkeys(run_id.lower() for run_id in wanted.ids or ()))
    else:
        ids = await queries_runs.newest_ids(connection, chosen, MOST_RUNS + 1)
        ids, more = ids[:MOST_RUNS], len(ids) > MOST_RUNS
    results: dict[str, wire_bulk.BulkItem] = {}
    due: list[Due] = []
    left, began = await _by_document(connection, ids), time.monotonic()
    for patience in PATIENCE:
        await _wait_at_most(connection, patience)
        for run_id in left:
            if time.monotonic() - began > WAITS:
                await _wait_at_most(connection, LEAST)
            results[run_id] = await _move_one(connection, tools, wanted, run_id, due)
        left = [run_id for run_id in left if results[run_id].code == ErrorCode.UNAVAILABLE]
    items = [results[run_id] for run_id in ids]
    return Done(status=200, body=wire_bulk.Bulk(items=items, more=more), due=tuple(due))


async def _wait_at_most(connection: Connection, seconds: float) -> None:
    """For a run that another program holds, from now on in this transaction."""
    await connection.execute("SELECT set_config('lock_timeout', $1, true)", f"{seconds * 1000:.0f}")


def _filter(wanted: requests.Bulk) -> RunFilter | None:
    """The filter of `GET /api/runs` as an object; a value may be a word or a list of words.
    Without a status, those from which the action is possible. Raises Refusal 422."""
    given = wanted.filter
    if given is None:
        return None
    pairs = [
        (str(name), value)
        for name, values in given.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    if not given.get("status"):
        sources, _ = MOVED_BY_EVENT[_MOVES[wanted.action][1]]
        pairs += [("status", str(status)) for status in sorted(sources)]
    try:
        return run_filter(QueryParams(pairs))
    except Refusal as refusal:
        for error in refusal.errors:
            error["pointer"] = f"/filter{error['pointer']}"
        raise


async def _by_document(connection: Connection, ids: list[str]) -> list[str]:
    """In the order in which documents are locked; those of no document at the end."""
    rows = await connection.fetch(
        "SELECT id FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY document_id, id",
        [run_id for run_id in ids if cursors.is_uuid(run_id)],
    )
    known = dict.fromkeys(str(row["id"]) for row in rows)
    return [*known, *(run_id for run_id in ids if run_id not in known)]


async def _move_one(
    connection: Connection, tools: Tools, wanted: requests.Bulk, run_id: str, due: list[Due]
) -> wire_bulk.BulkItem:
    move, _ = _MOVES[wanted.action]
    if not cursors.is_uuid(run_id):
        return wire_bulk.BulkItem(id=run_id, ok=False, code=str(ErrorCode.NOT_FOUND))
    try:
        async with connection.transaction():  # a savepoint: a refusal undoes only this run
            done = await move(connection, tools, run_id, wanted.reason)
    except Refusal as refusal:
        if refusal.code == ErrorCode.DRAINING:
            raise
        return wire_bulk.BulkItem(id=run_id, ok=False, code=str(refusal.code))
    except asyncpg.LockNotAvailableError:
        return wire_bulk.BulkItem(id=run_id, ok=False, code=str(ErrorCode.UNAVAILABLE))
    due += done.due
    return wire_bulk.BulkItem(id=run_id, ok=True)
