"""The list of runs: filters in the address, counts, pages both ways, and what stands still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import queries, wire
from api.http.auth import needs
from api.http.principals import Scope
from api.http.state import principal_of, state_of
from api.pages import addresses as pages_addresses
from api.pages import new as pages_new
from api.pages.addresses import Address
from api.pages.bulk import possible
from api.pages.errors import PageRoute
from api.pages.remembered import recall, remember
from api.pages.render import list_row, page, words_of
from api.queries import overview as queries_overview
from api.queries import runs as queries_runs
from api.queries.run_filters import LookedUp
from api.texts.text import Catalogue
from deploy.database import AWAY, Pool
from workflows.vocabulary import Phase, RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
ROWS = 50
_MOST_RELAXED = 6


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A filter that is often wanted."""

    word: str
    href: str
    is_chosen: bool


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """What would be found without one of the filters."""

    name: str
    href: str
    count: int


@router.get("/runs", dependencies=[needs(Scope.READ, content=True)])
async def runs(request: Request) -> Response:
    address = pages_addresses.read(request.query_params)
    known_at: datetime | None = None
    status = 422 if address.misread else 200
    try:
        facts = await _facts(request, address)
        remember(request, facts)
    except AWAY:
        known = recall(request)
        if known is None:
            raise
        facts, known_at, status = dict(known.facts), known.at, 503
    return await page(
        request, "runs.html", status=status, section="/runs", known_at=known_at, **facts
    )


async def _facts(request: Request, address: Address) -> dict[str, Any]:
    state, words = state_of(request), words_of(request)
    pool, wanted = state.pool, address.wanted
    once: LookedUp = {}
    by_status = await queries.counts_by_status(pool, replace(wanted, statuses=()), once)
    meant = wanted.statuses or tuple(by_status)
    found: Sequence[wire.Run] = []
    older = newer = None
    if not address.misread:
        found, older, newer = await _page(request, address, once)
    return {
        "address": address,
        "rows": [list_row(run, words) for run in found],
        "moves": {run.id: possible((run.status,)) for run in found},
        "moves_here": possible({run.status for run in found}),
        "moves_all": possible({one for one in meant if by_status[one]}),
        "quiet": await queries_overview.quiet_since(pool, [run.id for run in found]),
        "by_status": by_status,
        "total": sum(by_status[one] for one in meant),
        "any_ever": bool(address.pairs or address.misread or any(by_status.values())),
        "chips": pages_addresses.chips(address, words),
        "names": pages_addresses.filter_names(words),
        "known": _known(words),
        "presets": _presets(address, words, principal_of(request).name),
        "kinds": sorted(state.kinds),
        "phases": list(Phase),
        "relaxed": [] if found or address.misread else await _relaxed(pool, address, words),
        "older": older and address.link(cursor=older),
        "newer": newer and address.link(before=newer),
        "is_first": "cursor" not in request.query_params and newer is None,
        "sample": pages_new.sample_of(state) is not None,
    }


async def _page(
    request: Request, address: Address, once: LookedUp
) -> tuple[Sequence[wire.Run], str | None, str | None]:
    """The rows, and the cursors of the pages on both sides."""
    pool, asked = state_of(request).pool, request.query_params
    if before := asked.get("before"):
        ids = await queries_runs.newer_ids(pool, address.wanted, ROWS + 1, before)
        wanted = queries.RunFilter(ids=tuple(ids[:ROWS]))
        found = (await queries.runs_page(pool, wanted, ROWS)).items if ids else []
        newer = queries_runs.cursor_at(found[0]) if len(ids) > ROWS else None
        return found, before if not found else queries_runs.cursor_at(found[-1]), newer
    cursor = asked.get("cursor") or None
    listed = await queries.runs_page(pool, address.wanted, ROWS, cursor, once=once)
    newer = queries_runs.cursor_at(listed.items[0]) if cursor and listed.items else None
    return listed.items, listed.next_cursor, newer


async def _relaxed(pool: Pool, address: Address, words: Catalogue) -> list[Relaxed]:
    """Of an empty list: which of its filters removes everything."""
    names, found = pages_addresses.filter_names(words), list[Relaxed]()
    for name, href, wanted in address.relaxed()[:_MOST_RELAXED]:
        counts = await queries.counts_by_status(pool, replace(wanted, statuses=()))
        count = sum(counts[one] for one in wanted.statuses or counts)
        found.append(Relaxed(name=names[name], href=href, count=count))
    return found


def _presets(address: Address, words: Catalogue, actor: str) -> list[Preset]:
    today = datetime.now(UTC).date().isoformat()
    offered = (
        (words.text("Needs you"), (("status", RunStatus.AWAITING_CONFIRMATION),)),
        (words.text("Running"), (("status", RunStatus.RUNNING),)),
        (words.text("Worker lost"), (("phase", Phase.WORKER_LOST),)),
        (words.text("Failed today"), (("status", RunStatus.FAILED), ("from", today))),
        (words.text("Started today"), (("from", today),)),
        (words.text("Mine"), (("actor", actor),)),
    )
    return [
        Preset(
            word=word,
            href=Address(pairs=pairs).link(),
            is_chosen=set(pairs) == set(address.pairs),
        )
        for word, pairs in offered
    ]


def _known(words: Catalogue) -> dict[str, str]:
    """The words a filter knows, for who wrote another one."""
    return {"status": ", ".join(RunStatus), "phase": ", ".join(Phase)}
