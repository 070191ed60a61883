"""Which times may be sent, and a stored one in a viewer's zone: neither may fail at an edge of the
calendar, where an hour more or less is no time any more.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)
"""The first that is too late. A year is left for zones, and for a range's ends and steps."""
WANTED = "a time of the years 1970 to 9998 in UTC"


def within(at: datetime) -> datetime:
    """An aware time, in UTC. Raises ValueError beyond `EARLIEST` and `LATEST`."""
    if not EARLIEST <= at < LATEST:  # compared by distance, so an extreme offset cannot overflow
        raise ValueError(f"must be {WANTED}")
    return at.astimezone(UTC)


def in_zone(at: datetime, zone: tzinfo) -> datetime:
    """In UTC where the zone's clock would leave the calendar."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError):
        return at
