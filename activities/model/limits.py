"""Rate limits of a profile over all workers: one token bucket per unit, in rows.

`rate_limits` of a profile: `{"requests_per_minute": 60, "tokens_per_minute": 90000}`, both
optional. A bucket holds one minute's worth and fills evenly.
"""

from __future__ import annotations

from activities.model.profile import Profile
from deploy.database import Connection

UNITS = ("requests_per_minute", "tokens_per_minute")
"""In the order in which rows are locked."""
LONGEST_WAIT = 300.0
"""Seconds after which somebody who waits asks again: a person may have changed the limit."""


class _TooSoonError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


async def take(connection: Connection, profile: Profile, tokens: int) -> float:
    """Take room for one call of about `tokens`; 0.0 = go, else seconds until it is worth asking.

    Takes from all units or from none. A call larger than a whole bucket goes when the bucket is
    full and leaves it in debt. Without limits the database is not touched. Who has to wait is told
    to come after those who wait already, so that they do not all come at once.
    """
    wanted = [
        (unit, limit, 1.0 if unit == UNITS[0] else float(max(tokens, 1)))
        for unit in UNITS
        if (limit := _limit(profile.rate_limits.get(unit))) > 0
    ]
    if not wanted:
        return 0.0
    try:
        async with connection.transaction():
            for unit, limit, amount in wanted:
                if not await _take(connection, profile.name, unit, limit, amount):
                    missing = await _missing(connection, profile.name, unit, limit, amount)
                    behind = await _waiting(connection, profile.name) * min(amount, limit)
                    wait = (missing + behind) * 60.0 / limit
                    raise _TooSoonError(min(max(0.05, wait), LONGEST_WAIT))
    except _TooSoonError as wait:
        return wait.seconds
    return 0.0


def _limit(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


async def _take(
    connection: Connection, profile: str, unit: str, limit: float, amount: float
) -> bool:
    """The clock is read when the row is ours, not when the transaction began."""
    row = await connection.fetchrow(
        """
        INSERT INTO rate_buckets AS bucket (profile, unit, level, updated_at)
        VALUES ($1, $2, $3::float8 - $4::float8, clock_timestamp())
        ON CONFLICT (profile, unit) DO UPDATE
        SET level = least(
                $3,
                bucket.level + $3 / 60 * greatest(
                    0, extract(epoch FROM clock_timestamp() - bucket.updated_at)
                )::float8
            ) - $4,
            updated_at = clock_timestamp()
        WHERE least(
                $3,
                bucket.level + $3 / 60 * greatest(
                    0, extract(epoch FROM clock_timestamp() - bucket.updated_at)
                )::float8
            ) >= least($3, $4)
        RETURNING level
        """,
        profile,
        unit,
        limit,
        amount,
    )
    return row is not None


async def give_back(connection: Connection, profile: Profile, tokens: int) -> None:
    """What a call took for a reply that was shorter."""
    limit = _limit(profile.rate_limits.get(UNITS[1]))
    if limit <= 0 or tokens <= 0:
        return
    await connection.execute(
        """
        UPDATE rate_buckets SET level = least($3::float8, level + $4)
        WHERE profile = $1 AND unit = $2
        """,
        profile.name,
        UNITS[1],
        limit,
        float(tokens),
    )


async def _waiting(connection: Connection, profile: str) -> int:
    """Runs that were told to come again for want of room."""
    found: int = await connection.fetchval(
        """
        SELECT count(*) FROM runs
        WHERE status = 'RUNNING' AND profile = $1
          AND last_error_code = 'bucket' AND retry_at > now()
        """,
        profile,
    )
    return found


async def _missing(
    connection: Connection, profile: str, unit: str, limit: float, amount: float
) -> float:
    """How much must flow in before `amount` may be taken."""
    missing = await connection.fetchval(
        """
        SELECT least($3::float8, $4::float8) - least(
            $3,
            level + $3 / 60 * greatest(
                0, extract(epoch FROM clock_timestamp() - updated_at)
            )::float8
        )
        FROM rate_buckets
        WHERE profile = $1 AND unit = $2
        """,
        profile,
        unit,
        limit,
        amount,
    )
    return float(missing or 0.0)
