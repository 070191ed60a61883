"""Whether Temporal answers: asked beside the pages, never by one that waits for it.

It says no more than a banner needs; what runs do is read from their rows.
"""

from __future__ import annotations

import asyncio
import time

from fastapi import Request

from api.http.state import state_of

EVERY_SECONDS = 5.0


class EngineWatch:
    """What the last look found; the next one is begun by the first page that is asked for later."""

    def __init__(self) -> None:
        self._away = False
        self._looked_at = float("-inf")
        self._task: asyncio.Task[None] | None = None

    def look(self, request: Request) -> bool:
        """True when Temporal did not answer at the last look; False before the first."""
        if time.monotonic() - self._looked_at > EVERY_SECONDS and self._task is None:
            self._looked_at = time.monotonic()
            self._task = asyncio.create_task(self._ask(request), name="engine-watch")
        return self._away

    async def _ask(self, request: Request) -> None:
        try:
            self._away = await state_of(request).signals.server_version() is None
        finally:
            self._task = None
