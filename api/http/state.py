"""What every request of one API process shares, typed; found through `state_of(request)`.

Commands take a `Caller`: who asks (a principal's name, never empty) and under which request id.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from starlette.requests import HTTPConnection

from api.http.principals import Principal
from deploy.database import Pool
from deploy.settings import Settings
from workflows.kinds.kind import Kind

if TYPE_CHECKING:
    from api.moves.signals import Signals

Given = ParamSpec("Given")
Made = TypeVar("Made")
LOCK_WAIT = 5.0
"""Seconds for which a command waits for a document or run that another program holds."""
DISK_FULL_MEMORY = 30.0
"""Seconds for which `/readyz` stays red after Postgres said that its disk is full."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks. `actor` goes into every event, `request_id` beside it."""

    actor: str
    request_id: str


@dataclass(kw_only=True)
class State:
    """`pool` and `signals` are there from the start of the lifespan on; `stopping` is set when the
    process was told to end: streams finish then."""

    settings: Settings
    kinds: Mapping[str, Kind]
    pool: Pool = field(init=False)
    signals: Signals = field(init=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    disk_full_at: float | None = None
    _ones: dict[object, object] = field(default_factory=dict)

    def one(self, make: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
        """What the process has one of, by what makes it: made when it is first asked for."""
        if make not in self._ones:
            self._ones[make] = make(*given, **named)
        return cast(Made, self._ones[make])

    def note_disk_full(self) -> None:
        self.disk_full_at = time.monotonic()

    def disk_was_full(self) -> bool:
        return (
            self.disk_full_at is not None
            and time.monotonic() - self.disk_full_at < DISK_FULL_MEMORY
        )


def state_of(request: HTTPConnection) -> State:
    """The process's state; there from the start of the lifespan on."""
    return cast(State, request.app.state.redraft)


def request_id_of(request: HTTPConnection) -> str:
    """Made or taken over by `api.http.edge`."""
    return str(request.scope["redraft.request_id"])


def principal_of(request: HTTPConnection) -> Principal:
    """Set by `api.http.edge` before any route runs."""
    return cast(Principal, request.scope["redraft.principal"])


def caller_of(request: HTTPConnection) -> Caller:
    return Caller(actor=principal_of(request).name, request_id=request_id_of(request))
