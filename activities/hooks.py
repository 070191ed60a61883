"""Named points around every commit and every external effect, at which a test ends or freezes us.

`REDRAFT_FAULT=claim.committed:2` ends the process as kill -9 does when that point is reached the
second time; `…:2:freeze` stops it there until it is continued. Without the variable, which a worker
reads as it starts, nothing of this costs anything.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from activities.record import journaled
from deploy.database import Connection, Pool, transaction

Result = TypeVar("Result")


class Hook(StrEnum):
    """What is surrounded. A transaction has the points `written` and `committed`, an effect
    (request, signal, start, single statement) `before` and `after`."""

    PREPARE = "prepare"
    CLAIM = "claim"
    TAKE = "take"
    OPEN_CALL = "open_call"
    REQUEST = "request"
    ITEMS = "items"
    SETTLE = "settle"
    COMPLETE = "complete"
    STOPPED = "stopped"
    FAIL = "fail"
    LATER = "later"
    FAULT = "fault"
    RELEASE = "release"
    CONCLUDE = "conclude"
    BY_HAND = "by_hand"
    CANCEL = "cancel"
    OVERDUE = "overdue"
    TAKE_OVER = "take_over"
    CLOSE_DEAD = "close_dead"
    TELL_ROW = "tell_row"
    TELL_WORKFLOW = "tell_workflow"
    SIGNAL = "signal"
    START = "start"
    WOKEN = "woken"
    GOODBYE = "goodbye"


@dataclass(kw_only=True)
class _Fault:
    point: str
    times: int
    freeze: bool


def _read(given: str) -> _Fault | None:
    point, _, more = given.partition(":")
    times, _, how = more.partition(":")
    return _Fault(point=point, times=int(times or 1), freeze=how == "freeze") if point else None


_fault: _Fault | None = None


def arm(environment: Mapping[str, str]) -> None:
    """From now on this process ends or freezes where the variable says."""
    global _fault  # noqa: PLW0603
    _fault = _read(environment.get("REDRAFT_FAULT", ""))


def at(point: str) -> None:
    """Ends or freezes this process if this is the point it was told to."""
    if _fault is None or _fault.point != point:
        return
    _fault.times -= 1
    if _fault.times == 0 and _fault.freeze:
        os.kill(os.getpid(), signal.SIGSTOP)
    elif _fault.times == 0:
        os._exit(137)


@contextlib.asynccontextmanager
async def effect(hook: Hook) -> AsyncIterator[None]:
    """Something the outside sees, or a statement that commits by itself."""
    at(f"{hook}.before")
    yield
    at(f"{hook}.after")


async def committed(
    hook: Hook,
    pool: Pool,
    work: Callable[[Connection], Awaitable[Result]],
    **options: Any,
) -> Result:
    """`transaction`, its events written together, with a point before its commit and one after."""

    async def noticed(connection: Connection) -> Result:
        result = await journaled(connection, work)
        at(f"{hook}.written")
        return result

    result = await transaction(pool, noticed, **options)
    at(f"{hook}.committed")
    return result
