"""Checks that need more than the value: prices of today, zones that exist."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from api.http.errors import misfit
from deploy.database import Connection
from workflows import pricing
from workflows.budget import COST
from workflows.vocabulary import SPEECH_PROFILE, ErrorCode


async def unpriced(connection: Connection, name: str, *, hears: bool = False) -> str | None:
    """Of a profile, its fallback and, for a run that `hears`, the recogniser's the one whose calls
    have no price today, or none in the money of the first; None when all have one."""
    row = await connection.fetchrow(
        """
        SELECT p.prices, p.fallback ->> 'profile' AS fallback, (
            SELECT f.prices FROM profiles f WHERE f.name = p.fallback ->> 'profile'
            ORDER BY f.version DESC LIMIT 1) AS fallback_prices, (
            SELECT s.prices FROM profiles s WHERE s.name = $2
            ORDER BY s.version DESC LIMIT 1) AS speech_prices
        FROM profiles p WHERE p.name = $1 ORDER BY p.version DESC LIMIT 1
        """,
        name,
        SPEECH_PROFILE,
    )
    today = datetime.now(UTC).date()
    if row is None or not pricing.known(row["prices"], today):
        return name
    currency, fallback = pricing.currency(row["prices"]), row["fallback"]
    other, speech = row["fallback_prices"], row["speech_prices"]
    if fallback and not (pricing.known(other, today) and pricing.currency(other) == currency):
        return str(fallback)
    minute = pricing.sound(speech, seconds=60, at=today)
    heard = minute == 0 or (minute is not None and pricing.currency(speech) == currency)
    return SPEECH_PROFILE if hears and not heard else None


async def require_price(
    connection: Connection,
    profile: str,
    limits: Mapping[str, Any],
    pointer: str,
    *,
    hears: bool = False,
) -> None:
    """Raises 422 `unpriced_profile` for a cost limit that nobody could hold."""
    if limits.get(COST) is None:
        return
    name = await unpriced(connection, profile, hears=hears)
    if name is not None:
        detail = f"a cost limit needs a price, and {profile} has none"
        if name == SPEECH_PROFILE:
            detail = f"the profile {name} has no price for a minute of sound in the same currency"
        elif name != profile:
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
