"""Shows that this process lives: a session lock held from an own thread, a row each second.

The lock's thread has its own event loop and connection, so a blocked main loop keeps the lock; the
row is written from the main loop, so a blocked one is seen by its age.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import asyncpg

from activities.owning.presence import lock_key, write_presence
from activities.tools import Tools
from deploy.database import AWAY

log = logging.getLogger("redraft.presence")

LOCK_RETRY = 0.3
BEAT_SECONDS = 1.0


class LifeLock:
    """Holds the session advisory lock for as long as the process lives."""

    def __init__(self, url: str, key: int) -> None:
        self.url, self.key = url, key
        self.held = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="life-lock", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Releases the lock; waits at most two seconds for the thread."""
        self._stop.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        asyncio.run(self._hold())

    async def _hold(self) -> None:
        while not self._stop.is_set():
            try:
                await self._hold_once()
            except AWAY as error:
                log.debug("life lock lost", extra={"error": type(error).__name__})
            self.held.clear()
            await asyncio.sleep(LOCK_RETRY)

    async def _hold_once(self) -> None:
        connection = await asyncpg.connect(
            self.url, timeout=5.0, command_timeout=5.0, statement_cache_size=0
        )
        try:
            while not self._stop.is_set():
                got = await connection.fetchval("SELECT pg_try_advisory_lock($1)", self.key)
                if got:
                    break
                await asyncio.sleep(LOCK_RETRY)
            self.held.set()
            while not self._stop.is_set():
                await asyncio.sleep(LOCK_RETRY)
                await connection.execute("SELECT 1")
        finally:
            connection.terminate()


def life_lock(tools: Tools) -> LifeLock:
    return LifeLock(tools.settings.database_direct_url, lock_key(tools.presence.identity))


async def keep_present(tools: Tools) -> None:
    """Writes the own row each second. While the database is away it just goes on trying."""
    while True:
        began = time.monotonic()
        try:
            async with tools.pool.acquire() as connection:
                await write_presence(connection, tools.presence, frozenset(tools.in_flight.steps))
            tools.in_flight.shown = began
        except AWAY as error:
            log.debug("presence not written", extra={"error": type(error).__name__})
        await asyncio.sleep(BEAT_SECONDS)
