"""Waits until something holds, with a time limit, and says what was seen last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

Found = TypeVar("Found")


async def eventually(
    look: Callable[[], Awaitable[Found | None]], *, seconds: float = 15.0, what: str = "it"
) -> Found:
    """The first result that is true. AssertionErrors of `look` count as "not yet"."""
    end = time.monotonic() + seconds
    seen: object = None
    while True:
        try:
            found = await look()
            seen = found
            if found:
                return found
        except AssertionError as error:
            seen = error
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}; last seen: {seen!r}")
        await asyncio.sleep(0.02)
