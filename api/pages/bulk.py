"""Many runs at once: what would be moved, a written confirmation for many, what became of each.

And the switch by which no new work is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from api import commands, queries, wire
from api.http import cursors, requests
from api.http.auth import needs
from api.http.bodies import fit
from api.http.errors import Refusal, misfit
from api.http.principals import Scope
from api.http.state import state_of
from api.moves import bulk
from api.pages import addresses as pages_addresses
from api.pages.addresses import Address
from api.pages.errors import PageRoute
from api.pages.forms import Failed, Form, failed, given, go, perform_once, read_form
from api.pages.render import Refused, list_row, page, words_of
from api.queries import RunFilter
from api.queries.runs import newest_ids
from deploy.database import Pool
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import EventType, RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
OPERATES = [needs(Scope.OPERATE, content=True)]
FREELY = 20
"""More runs than this are moved only after their number was written."""
_SHOWN = 12
_EVENTS = {
    "interrupt": EventType.RUN_INTERRUPTED,
    "resume": EventType.RUN_RESUMED,
    "cancel": EventType.RUN_CANCELLED,
}


def possible(statuses: Collection[str]) -> tuple[str, ...]:
    """The actions that move a run in at least one of these statuses."""
    return tuple(
        action
        for action, event in _EVENTS.items()
        if not MOVED_BY_EVENT[event][0].isdisjoint(statuses)
    )


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Which runs are meant: named ones, or those under an address."""

    action: str
    ids: tuple[str, ...]
    address: Address | None
    named: int = 0
    """How many were named, also those beyond what one request moves."""

    @property
    def sources(self) -> frozenset[RunStatus]:
        """The statuses from which the action is possible."""
        return MOVED_BY_EVENT[_EVENTS[self.action]][0]

    def request(self, reason: str | None) -> requests.Bulk:
        fields: dict[str, Any] = {"action": self.action, "reason": reason or None}
        if self.address is None:
            return fit(requests.Bulk, {**fields, "ids": list(self.ids)})
        found: dict[str, list[str]] = {}
        for name, value in self.address.meant:
            found.setdefault(name, []).append(value)
        return fit(requests.Bulk, {**fields, "filter": found})


def _chosen(action: str, ids: Sequence[str], address: str | None) -> Chosen:
    if action not in _EVENTS:
        raise misfit("/action", "one of interrupt, resume, cancel")
    if address is None:
        named = tuple(dict.fromkeys(one.lower() for one in ids if cursors.is_uuid(one)))
        return Chosen(action=action, ids=named[: bulk.MOST_RUNS], address=None, named=len(named))
    read = pages_addresses.read(QueryParams(address))
    if read.misread:
        raise misfit(f"/{read.misread[0].name}", "no filter of the list of runs")
    return Chosen(action=action, ids=(), address=read)


def _check_number(chosen: Chosen) -> None:
    """Raises 422 for none, and for more than one request moves: nothing is left out unseen."""
    if chosen.address is not None or 0 < chosen.named <= bulk.MOST_RUNS:
        return
    kind = "too_many_runs" if chosen.named else "no_runs"
    refusal = misfit("/ids", f"1 to {bulk.MOST_RUNS} ids of runs", kind=kind)
    refusal.params = {"chosen": chosen.named, "limit": bulk.MOST_RUNS}
    raise refusal


@dataclass(frozen=True, kw_only=True)
class Found:
    """`movable` of the chosen runs can be moved now, `others` stand in another status."""

    movable: int
    others: int
    rows: Sequence[wire.Run]


async def _found(pool: Pool, chosen: Chosen) -> Found:
    if chosen.address is None:
        if not chosen.ids:
            return Found(movable=0, others=0, rows=())
        listed = await queries.runs_page(pool, RunFilter(ids=chosen.ids), len(chosen.ids))
        movable = [run for run in listed.items if run.status in chosen.sources]
        return Found(
            movable=len(movable), others=len(listed.items) - len(movable), rows=listed.items
        )
    wanted = chosen.address.wanted
    counts = await queries.counts_by_status(pool, wanted)
    movable_count = sum(counts[status] for status in chosen.sources)
    named = sum(counts.values()) if wanted.statuses else movable_count
    shown = wanted if wanted.statuses else replace(wanted, statuses=tuple(sorted(chosen.sources)))
    ids = await newest_ids(pool, shown, _SHOWN)
    rows = (await queries.runs_page(pool, RunFilter(ids=tuple(ids)), _SHOWN)).items if ids else []
    return Found(movable=movable_count, others=named - movable_count, rows=rows)


@router.get("/runs/bulk", dependencies=OPERATES)
async def ask(request: Request) -> Response:
    """What would be moved: nothing happens yet."""
    asked = request.query_params
    address = None
    if asked.get("all"):
        pairs = [pair for pair in asked.multi_items() if pair[0] not in ("all", "action", "id")]
        address = str(QueryParams(pairs))
    chosen = _chosen(asked.get("action", ""), asked.getlist("id"), address)
    try:
        _check_number(chosen)
    except Refusal as refusal:
        why = failed(request, refusal, frozenset({"ids"}))
        return await _ask(request, chosen, status=why.status, refusal=_said(why))
    return await _ask(request, chosen)


def _said(why: Failed) -> Refused:
    """The notice of a refusal; the runs themselves are no field that it could stand beside."""
    return replace(why.notice, lines=(*why.notice.lines, *why.errors.values()))


async def _ask(
    request: Request,
    chosen: Chosen,
    *,
    status: int = 200,
    refusal: Refused | None = None,
    typed: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    words = words_of(request)
    found = await _found(state_of(request).pool, chosen)
    return await page(
        request,
        "bulk.html",
        status=status,
        section="/runs",
        refusal=refusal,
        typed=typed,
        errors=errors,
        chosen=chosen,
        found=found,
        rows=[list_row(run, words) for run in found.rows[:_SHOWN]],
        must_write=found.movable > FREELY,
        chips=pages_addresses.chips(chosen.address, words) if chosen.address else [],
        back=chosen.address.link() if chosen.address else "/runs",
    )


@router.post("/runs/bulk", dependencies=OPERATES)
async def move(request: Request) -> Response:
    """Moves them, each by itself, and says what became of each."""
    form = await read_form(request)
    by_filter = form["by"] == "filter"
    chosen = _chosen(form["action"], form["ids"].split(","), form["filter"] if by_filter else None)
    try:
        _check_number(chosen)
        await _check_written(state_of(request).pool, chosen, form)
        wanted = chosen.request(given(form, "reason").get("reason"))
        answer = await perform_once(request, form, lambda c, tools: bulk.bulk(c, tools, wanted))
    except Refusal as refusal:
        why = failed(request, refusal, frozenset({"written", "ids"}))
        told = replace(why, errors={k: v for k, v in why.errors.items() if k == "ids"})
        return await _ask(
            request,
            chosen,
            status=why.status,
            refusal=_said(told),
            typed=form,
            errors=why.errors,
        )
    return await _done(request, chosen, answer.body or {})


async def _check_written(pool: Pool, chosen: Chosen, form: Form) -> None:
    """The number that was shown is the one that is written. Runs that joined since are meant too:
    who stops everything does not want to write again."""
    found = await _found(pool, chosen)
    if found.movable <= FREELY:
        return
    if form["written"].strip() not in (form["shown"] or "-", str(found.movable)):
        raise misfit("/written", "write the number of runs", kind="written")


async def _done(request: Request, chosen: Chosen, body: Mapping[str, Any]) -> Response:
    words, pool = words_of(request), state_of(request).pool
    items: Sequence[Mapping[str, Any]] = body.get("items", [])
    ids = tuple(str(item["id"]) for item in items)
    listed = await queries.runs_page(pool, RunFilter(ids=ids), len(ids)) if ids else None
    runs = {run.id: list_row(run, words) for run in (listed.items if listed else [])}
    return await page(
        request,
        "bulk_done.html",
        section="/runs",
        chosen=chosen,
        results=[
            {
                "id": item["id"],
                "ok": item["ok"],
                "why": words.sentence("refusal", item.get("code"), {"waited": "1"}),
                "row": runs.get(str(item["id"])),
            }
            for item in sorted(items, key=lambda item: bool(item["ok"]))
        ],
        moved=sum(bool(item["ok"]) for item in items),
        refused=sum(not item["ok"] for item in items),
        more=bool(body.get("more")),
        back=chosen.address.link() if chosen.address else "/runs",
    )


@router.post("/switches/draining", dependencies=[needs(Scope.ADMIN, content=False)])
async def drain(request: Request) -> Response:
    form = await read_form(request)
    wanted = fit(
        requests.SwitchesChange,
        {"draining": form["draining"] == "true", **given(form, "note")},
    )
    await perform_once(request, form, lambda c, tools: commands.set_draining(c, tools, wanted))
    return go("/settings#switches" if form["back"] == "settings" else "/runs#service")
