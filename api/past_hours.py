"""Sums of hours that are over, kept in memory: what ended then does not change any more.

A million calls are added up once, not for every look. What a document's deletion takes away since
is still counted until its hours are read again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.queries import Reader
from deploy.database import Row

HOUR = timedelta(hours=1)
SETTLED = timedelta(minutes=10)
"""A transaction that is under way may still date its row back so far."""
_KEPT_SECONDS = 12 * 3600.0
_MOST = 400 * 24
_AT_ONCE = timedelta(days=7)
"""Read in pieces, so that no statement runs for long."""
Read = Callable[[Reader, datetime, datetime, timedelta], Awaitable[Sequence[Row]]]


@dataclass(frozen=True, kw_only=True)
class _Hour:
    rows: tuple[Row, ...]
    until: float


class PastHours:
    """One reader of sums by time with a memory: `await rows(...)`."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._hours: dict[datetime, _Hour] = {}
        self._lock = asyncio.Lock()

    async def rows(
        self, reader: Reader, from_: datetime, to: datetime, grain: timedelta
    ) -> list[Row]:
        """All rows of the range. `from_` is at a full hour unless the grain is finer than that."""
        if grain < HOUR:
            return list(await self._read(reader, from_, to, grain))
        settled = floor(datetime.now(UTC) - SETTLED, HOUR)
        edge = max(from_, min(floor(to, HOUR), settled))
        hours = [from_ + n * HOUR for n in range((edge - from_) // HOUR)]
        async with self._lock:  # two viewers of a long range read it once
            await self._fill(reader, hours)
            found = [row for hour in hours for row in self._hours[hour].rows]
        return [*found, *(await self._read(reader, edge, to, HOUR))]

    async def _fill(self, reader: Reader, hours: Sequence[datetime]) -> None:
        now = time.monotonic()
        missing = [h for h in hours if h not in self._hours or self._hours[h].until < now]
        while missing:
            span = [hour for hour in missing if hour < missing[0] + _AT_ONCE]
            missing = missing[len(span) :]
            rows = await self._read(reader, span[0], span[-1] + HOUR, HOUR)
            by_hour: dict[datetime, list[Row]] = {hour: [] for hour in span}
            for row in rows:
                by_hour.setdefault(row["at"], []).append(row)
            for hour, found in by_hour.items():
                self._hours[hour] = _Hour(rows=tuple(found), until=now + _KEPT_SECONDS)
        for hour in sorted(self._hours.keys() - set(hours))[: max(0, len(self._hours) - _MOST)]:
            del self._hours[hour]


def floor(at: datetime, grain: timedelta) -> datetime:
    """The start of the bucket that `at` is in, counted from 1970 in UTC."""
    origin = datetime(1970, 1, 1, tzinfo=UTC)
    return origin + (at - origin) // grain * grain
