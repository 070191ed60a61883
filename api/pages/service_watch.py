"""What the frame says about the service, for pages that renew themselves: many of them at once.

One look serves all of a process for seconds; how many watch is no matter for the database.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from fastapi import Request

from api.pages.render import Service, service_of

EVERY_SECONDS = 2.0


class ServiceWatch:
    """One a process."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._found: Service | None = None
        self._looked_at = float("-inf")

    async def look(self, request: Request) -> Service:
        """As it was at most some seconds ago; without the number that waits, which the notices do
        not tell."""
        async with self._lock:
            if self._found is None or time.monotonic() - self._looked_at > EVERY_SECONDS:
                self._found = replace(await service_of(request), waiting=0)
                self._looked_at = time.monotonic()
            return self._found
