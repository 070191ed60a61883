"""The queue: what waits for a person, oldest first, and where one stands in it.

A sitting is in the address: `queue` counts what was decided in it, so nothing is stored and two
people work side by side. What another person decides meanwhile just is not there any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from api import queries, wire
from api.http.auth import needs
from api.http.principals import Scope
from api.http.state import state_of
from api.pages.errors import PageRoute
from api.pages.render import list_row, page, words_of
from api.queries import Reader, RunFilter
from api.queries.review import waiting_ids
from workflows.vocabulary import RunStatus

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_MOST = 200


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run stands in a sitting: the `number`th of `total`, `following` comes next."""

    done: int
    number: int
    total: int
    following: str | None

    @property
    def next_link(self) -> str:
        """What to open when this one is passed over."""
        return following_link(self.following, self.done)


_LONGEST = 999


def done_in(text: str | None) -> int:
    """How many decisions an address claims for a sitting; nobody makes a thousand in one."""
    asked = text or ""
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 0
    return number if number <= _LONGEST else 0


def following_link(run_id: str | None, done: int) -> str:
    """The next review of a sitting, or the queue when nothing is left."""
    return f"/runs/{run_id}/review?queue={done}" if run_id else f"/queue?done={done}"


async def place_of(reader: Reader, run: wire.Run, done: int | None) -> Place | None:
    """None outside a sitting."""
    if done is None:
        return None
    ids = await waiting_ids(reader, _MOST)
    at = ids.index(run.id) if run.id in ids else -1
    following = next((other for other in ids[at + 1 :] if other != run.id), None)
    return Place(
        done=done, number=done + max(at, 0) + 1, total=done + len(ids), following=following
    )


async def after(reader: Reader, run_id: str, done: int) -> str:
    """Where a person goes who has just decided about this run: the oldest that is left."""
    ids = await waiting_ids(reader, _MOST)
    return following_link(next((other for other in ids if other != run_id), None), done)


@router.get("/queue", dependencies=[needs(Scope.READ, content=True)])
async def queue(request: Request) -> Response:
    done = done_in(request.query_params.get("done"))
    words = words_of(request)
    async with state_of(request).pool.acquire() as connection:
        ids = await waiting_ids(connection, _MOST + 1)
        wanted = RunFilter(statuses=(RunStatus.AWAITING_CONFIRMATION,), ids=tuple(ids[:_MOST]))
        found = await queries.runs_page(connection, wanted, _MOST) if ids else None
    rows = {run.id: list_row(run, words) for run in (found.items if found else [])}
    return await page(
        request,
        "queue.html",
        section="/queue",
        rows=[rows[run_id] for run_id in ids if run_id in rows],
        more=len(ids) > _MOST,
        done=done,
        first=following_link(ids[0], done) if ids else None,
    )
