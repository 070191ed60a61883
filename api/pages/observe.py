"""The observability centre: the answer of `/api/observe` as cards, charts and tables, and as CSV.

Everything asked for stands in the address: range, kind, profile, comparison.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from api import observing, queries
from api.filters import observe_scope
from api.http.auth import needs
from api.http.errors import Refusal, not_found
from api.http.principals import Scope
from api.http.state import State, state_of
from api.http.times import in_zone
from api.pages import errors as pages_errors
from api.pages import observe_charts
from api.pages.errors import PageRoute
from api.pages.observe_tables import TABLES, breakdowns, cards, steps, waste
from api.pages.render import page, words_of
from api.pages.viewer import viewer_of
from api.queries.observe import Scope as Looked
from api.texts.codes import N_
from api.wire.observe import Observed

router = APIRouter(route_class=PageRoute, include_in_schema=False)
RANGES = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_MOST = 200
_DATE = len("2026-01-31")
_RANGE_WANTED = N_(
    "The range must begin and end with days such as 2026-01-31, or with times such as "
    "2026-01-31T12:00:00Z; it begins before it ends, and is at most 400 days long. Shown are the "
    "last 24 hours."
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the address asks for. `range` is one of RANGES, or '' for `from` and `to`."""

    range: str
    scope: Looked
    compares: bool
    zone: tzinfo

    def link(self, **changed: str | None) -> str:
        """This page with other parameters; None takes one away."""
        return f"/observe?{urlencode(self.query(**changed))}"

    def query(self, **changed: str | None) -> dict[str, str]:
        given: dict[str, str | None] = {
            "kind": self.scope.kind,
            "profile": self.scope.profile,
            "compare": None if self.compares else "no",
            "range": self.range or None,
        }
        if not self.range:
            given |= {"from": iso(self.scope.from_), "to": iso(self.scope.to)}
        return {name: value for name, value in {**given, **changed}.items() if value}

    def runs(self, status: str | None = None) -> str:
        """The list of runs that began in this range."""
        chosen = {"status": status, "kind": self.scope.kind}
        chosen |= {"from": iso(self.scope.from_), "to": iso(self.scope.to)}
        return f"/runs?{urlencode({name: value for name, value in chosen.items() if value})}"

    def csv(self, table: str) -> str:
        return f"/observe/{table}.csv?{urlencode(self.query())}"

    def day(self, at: datetime) -> str:
        """For the fields of a range of one's own."""
        return f"{in_zone(at, self.zone):%Y-%m-%d}"


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def asked(params: QueryParams, zone: tzinfo, now: datetime) -> Asked:
    """Raises Refusal 422 for a range that cannot be. Days are days of the viewer's zone, and the
    last one is included."""
    given = {name: params.get(name, "") for name in ("from", "to", "kind", "profile")}
    name = params.get("range", "")
    if name not in RANGES:
        name = "" if given["from"] or given["to"] else "24h"
    if name:
        given |= {"from": iso(now - RANGES[name]), "to": iso(now)}
    else:
        given["from"] = _start(given["from"], zone, timedelta())
        given["to"] = _start(given["to"], zone, timedelta(days=1))
    scope = observe_scope(QueryParams(given), now - RANGES["24h"], now)
    scope = replace(scope, to=max(min(scope.to, now), scope.from_ + timedelta(minutes=1)))
    return Asked(range=name, scope=scope, compares=params.get("compare") != "no", zone=zone)


def _start(value: str, zone: tzinfo, later: timedelta) -> str:
    """A day as the time at which it begins, or ends; anything else as it stands."""
    if len(value) != _DATE:
        return value
    try:
        day = datetime.fromisoformat(value)
        return iso((day + later).replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return value


async def _observed(state: State, scope: Looked) -> Observed:
    return await observing.observe(state.pool, scope, simulated=state.settings.offline_model)


async def _before(state: State, chosen: Asked) -> Observed | None:
    """The period before, as long as this one."""
    if not chosen.compares:
        return None
    scope = chosen.scope
    earlier = replace(scope, from_=scope.from_ - (scope.to - scope.from_), to=scope.from_)
    return await _observed(state, earlier)


@router.get("/observe", dependencies=[needs(Scope.READ, content=False)])
async def observe(request: Request) -> Response:
    """The page."""
    state, words, viewer = state_of(request), words_of(request), viewer_of(request)
    at, refusal = datetime.now(UTC), None
    try:
        chosen = asked(request.query_params, viewer.zone, at)
    except Refusal as error:
        # The page stays, with the range it begins with, so that another one can be chosen.
        refusal = pages_errors.refused(request, error, lines=(words.text(_RANGE_WANTED),))
        chosen = asked(QueryParams(), viewer.zone, at)
    now, before = await asyncio.gather(_observed(state, chosen.scope), _before(state, chosen))
    profiles = await queries.profiles_page(state.pool, _MOST)
    return await page(
        request,
        "observe.html",
        status=200 if refusal is None else 422,
        section="/observe",
        refusal=refusal,
        asked=chosen,
        ranges=list(RANGES),
        kinds=sorted(state.kinds),
        profiles=[profile.name for profile in profiles.items],
        seen=now,
        cards=cards(now, before, words),
        charts=observe_charts.charts(now, before, words, chosen),
        steps=steps(now, words),
        breakdowns=breakdowns(now, words),
        waste=waste(now, words),
    )


@router.get("/observe/{table}.csv", dependencies=[needs(Scope.READ, content=False)])
async def as_csv(request: Request, table: str) -> Response:
    """One table of the page; names and numbers as in the API."""
    rows = TABLES.get(table)
    if rows is None:
        raise not_found("table")
    chosen = asked(request.query_params, viewer_of(request).zone, datetime.now(UTC))
    found = await _observed(state_of(request), chosen.scope)
    day = f"{chosen.scope.from_:%Y%m%d}-{chosen.scope.to:%Y%m%d}"
    return Response(
        _csv(rows(found)),
        media_type="text/csv",
        headers={
            "Content-Disposition": f'attachment; filename="redraft-{table}-{day}.csv"',
            "Cache-Control": "no-store",
        },
    )


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _csv(rows: Iterator[Mapping[str, Any]]) -> str:
    """A name that a spreadsheet would take for a formula gets an apostrophe before it."""
    found = list(rows)
    out = io.StringIO()
    writer = csv.writer(out)
    if found:
        writer.writerow(found[0])
    writer.writerows([_cell(value) for value in row.values()] for row in found)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
