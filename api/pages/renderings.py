"""One rendering for all who ask for the same at once: an event of a run sends everybody who looks
at it here in the same moment.

It is kept for a second, by the version of the rows it shows; so only its "5 s ago" may be a second
behind, which the page corrects itself. A form's key is its reader's alone: it is put in last.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fastapi import Request

from api.pages.render import Typed, rendered
from deploy.database import new_id

KEPT_SECONDS = 1.0
MOST = 64
Pieces: TypeAlias = tuple[str, ...]
"""HTML; between two of them stands the key of a form."""


@dataclass(kw_only=True)
class _Entry:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: float = float("-inf")
    pieces: Pieces = ()


class Renderings:
    """One a process; at most `MOST`, and at each question those that are too old are dropped."""

    def __init__(self, seconds: float = KEPT_SECONDS) -> None:
        self._seconds = seconds
        self._entries: dict[object, _Entry] = {}

    async def html(self, version: object, make: Callable[[], Awaitable[Pieces]]) -> str:
        """What `make` gives for this version, made at most once a second, with keys of its own."""
        entry = self._entries.pop(version, None) or _Entry()
        self._forget()
        self._entries[version] = entry  # the newest last
        async with entry.lock:
            if time.monotonic() - entry.begun > self._seconds:
                begun = time.monotonic()
                entry.pieces = await make()
                entry.begun = begun
        first, *rest = entry.pieces
        return first + "".join(new_id() + piece for piece in rest)

    def _forget(self) -> None:
        """What is too old; who makes or waits holds its entry."""
        oldest = time.monotonic() - self._seconds
        old = [v for v, e in self._entries.items() if e.begun < oldest and not e.lock.locked()]
        for version in [*old, *list(self._entries)[: 1 - MOST]]:
            self._entries.pop(version, None)


def render_for_many(request: Request, template: str, **facts: Any) -> Pieces:
    """The template, cut where keys of forms belong."""
    mark = new_id()  # nobody can know it, so no text holds it
    facts |= {"new_key": lambda: mark, "typed": Typed(), "errors": Typed(), "refusal": None}
    html = rendered(request, template, section="", **facts)
    return tuple(html.split(mark))
