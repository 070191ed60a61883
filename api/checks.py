"""Checks that need more than the value: prices of today, zones that exist."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from api.errors import misfit
from deploy.database import Connection
from workflows import pricing
from workflows.budget import COST
from workflows.vocabulary import ErrorCode


async def unpriced(connection: Connection, name: str) -> str | None:
    """Of a profile and its fallback the one whose calls have no price today, or none in the money
    of the first; None when both have one."""
    row = await connection.fetchrow(
        """
        SELECT p.prices, p.fallback ->> 'profile' AS fallback, (
            SELECT f.prices FROM profiles f WHERE f.name = p.fallback ->> 'profile'
            ORDER BY f.version DESC LIMIT 1) AS fallback_prices
        FROM profiles p WHERE p.name = $1 ORDER BY p.version DESC LIMIT 1
        """,
        name,
    )
    today = datetime.now(UTC).date()
    if row is None or not pricing.known(row["prices"], today):
        return name
    fallback: str | None = row["fallback"]
    other = row["fallback_prices"]
    same = pricing.currency(other) == pricing.currency(row["prices"])
    return None if not fallback or (pricing.known(other, today) and same) else fallback


async def require_price(
    connection: Connection, profile: str, limits: Mapping[str, Any], pointer: str
) -> None:
    """Raises 422 `unpriced_profile` for a cost limit that nobody could hold."""
    if limits.get(COST) is None:
        return
    name = await unpriced(connection, profile)
    if name is not None:
        detail = f"a cost limit needs a price, and {profile} has none"
        if name != profile:
            detail = f"{name}, the fallback of {profile}, has no price in the same currency"
        raise misfit(pointer, detail, code=ErrorCode.UNPRICED_PROFILE)


def zone_problems(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kinds know a zone's name by its form; which there are stands in this machine's zone data."""
    name = attributes.get("timezone")
    if not isinstance(name, str) or _is_zone(name) or not _is_zone("Europe/Berlin"):
        return []
    return [("/timezone", "There is no such time zone; one is Europe/Berlin.")]


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
