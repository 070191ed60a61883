"""Lets a test await a condition that another thread or loop makes true."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False)
class _Waiter:
    holds: Callable[[], bool]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]


class Watch:
    """Conditions are looked at after every `changed()`; nobody polls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: list[_Waiter] = []

    def changed(self) -> None:
        if not self._waiters:
            return
        with self._lock:
            true = [waiter for waiter in self._waiters if waiter.holds()]
            for waiter in true:
                self._waiters.remove(waiter)
        for waiter in true:
            waiter.loop.call_soon_threadsafe(_resolve, waiter.future)

    async def until(
        self, holds: Callable[[], bool], *, seconds: float, seen: Callable[[], str]
    ) -> None:
        """Wait until `holds()`; after that many seconds raise TimeoutError with `seen()`."""
        loop = asyncio.get_running_loop()
        waiter = _Waiter(holds, loop, loop.create_future())
        with self._lock:
            if holds():
                return
            self._waiters.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter.future
        except TimeoutError:
            raise TimeoutError(f"FakeLLM saw {seen()}") from None
        finally:
            with self._lock:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
