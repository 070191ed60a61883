"""The overview: what needs a person, what runs, what is in trouble, and the day in numbers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import queries, wire
from api.http.auth import needs
from api.http.principals import Scope
from api.http.state import state_of
from api.pages import new as pages_new
from api.pages.errors import PageRoute
from api.pages.remembered import recall, remember
from api.pages.render import list_row, page, words_of
from api.queries import RunFilter
from api.queries import overview as queries_overview
from api.queries.overview import Finished, Spent
from api.queries.runs import newest_ids
from api.texts.text import Catalogue
from deploy.database import AWAY, Pool
from workflows.vocabulary import RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
ROWS = 5
NUMBERS_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of today; `usual` is what it is on this weekday by this time, '' without data."""

    name: str
    value: str
    usual: str
    note: str = ""


@dataclass(kw_only=True)
class _Numbers:
    """Read once for all viewers of a while."""

    at: float = float("-inf")
    finished: list[Finished] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@router.get("/", dependencies=[needs(Scope.READ, content=True)])
async def overview(request: Request) -> Response:
    known_at: datetime | None = None
    try:
        facts = await _facts(request)
        remember(request, facts)
    except AWAY:
        known = recall(request)
        if known is None:
            raise
        facts, known_at = dict(known.facts), known.at
    return await page(
        request,
        "overview.html",
        status=200 if known_at is None else 503,
        section="/",
        known_at=known_at,
        **facts,
    )


async def _facts(request: Request) -> dict[str, Any]:
    state, words = state_of(request), words_of(request)
    pool = state.pool
    by_status = await queries.counts_by_status(pool)
    lists = {
        "waiting": await queries_overview.waiting_ids(pool, ROWS),
        "running": await newest_ids(pool, RunFilter(statuses=(RunStatus.RUNNING,)), ROWS),
        "trouble": await queries_overview.trouble_ids(pool, ROWS),
    }
    ids = [run_id for found in lists.values() for run_id in found]
    runs = await _runs(pool, ids)
    quiet = await queries_overview.quiet_since(pool, ids)
    figures = await _figures(request, words)
    return {
        "by_status": by_status,
        "any_ever": any(by_status.values()),
        "trouble_count": await queries_overview.trouble_count(pool),
        "lists": {
            name: [list_row(runs[run_id], words) for run_id in found if run_id in runs]
            for name, found in lists.items()
        },
        "quiet": quiet,
        "figures": figures,
        "sample": pages_new.sample_of(state) is not None,
    }


async def _runs(pool: Pool, ids: Sequence[str]) -> dict[str, wire.Run]:
    if not ids:
        return {}
    found = await queries.runs_page(pool, RunFilter(ids=tuple(ids)), len(ids))
    return {run.id: run for run in found.items}


async def _figures(request: Request, words: Catalogue) -> list[Figure]:
    numbers = state_of(request).one(_Numbers)
    async with numbers.lock:
        if time.monotonic() - numbers.at > NUMBERS_SECONDS:
            pool = state_of(request).pool
            numbers.finished = await queries_overview.finished(pool)
            numbers.spent = await queries_overview.spent(pool)
            numbers.at = time.monotonic()
    return figures(numbers.finished, numbers.spent, words)


def figures(finished: Sequence[Finished], spent: Sequence[Spent], words: Catalogue) -> list[Figure]:
    """Today against the average of those earlier days on which anything happened."""
    today = next((day for day in finished if day.weeks_ago == 0), None)
    before = [day for day in finished if day.weeks_ago]
    medians = [day.median_seconds for day in before if day.median_seconds is not None]
    median = today.median_seconds if today else None
    return [
        Figure(
            name=words.text("Documents confirmed"),
            value=words.number(today.runs if today else 0),
            usual=_usual(words, words.number(_mean([day.runs for day in before])))
            if before
            else "",
        ),
        Figure(
            name=words.text("Median time at work"),
            value=words.duration(median),
            usual=_usual(words, words.duration(sum(medians) / len(medians))) if medians else "",
        ),
        _cost(spent, words),
        Figure(
            name=words.text("Issues fixed in them"),
            value=words.number(today.issues_fixed if today else 0),
            usual=_usual(words, words.number(_mean([day.issues_fixed for day in before])))
            if before
            else "",
        ),
    ]


def _mean(values: Sequence[int]) -> float:
    return round(sum(values) / len(values), 1)


def _usual(words: Catalogue, value: str) -> str:
    return words.text("usual by this time: {value}").format(value=value)


def _cost(spent: Sequence[Spent], words: Catalogue) -> Figure:
    """In the currency in which most calls of today were paid; others are named beside it."""
    today = [one for one in spent if one.weeks_ago == 0]
    priced = sorted((one for one in today if one.cost is not None), key=lambda one: -one.calls)
    unpriced = sum(one.calls for one in today if one.cost is None)
    others = [_money(one, words) for one in priced[1:] if one.cost]
    notes = [words.text("besides: {value}").format(value=value) for value in others]
    if unpriced:
        notes.append(words.text("calls without a price: {count}").format(count=unpriced))
    value = words.text("unknown") if unpriced else "–"
    usual = ""
    if priced:
        value = _money(priced[0], words)
        days = [
            one.cost
            for one in spent
            if one.weeks_ago and one.cost is not None and one.currency == priced[0].currency
        ]
        if days:
            mean = sum(days, Decimal(0)) / len(days)
            usual = _usual(words, words.money(mean, priced[0].currency))
    return Figure(
        name=words.text("Spent on calls"), value=value, usual=usual, note="; ".join(notes)
    )


def _money(one: Spent, words: Catalogue) -> str:
    shown = words.money(one.cost, one.currency)
    return f"≈\N{NO-BREAK SPACE}{shown}" if one.is_estimate and one.cost else shown
