"""Rate limits hold over all workers, and a profile's newest version is the one in use."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from activities.model.limits import take
from activities.model.profile import Profile, newest
from deploy.database import Connection, Pool
from tests.model_caller import profile

PROFILE = profile(None, name="busy")


def limited(**limits: Any) -> Profile:
    return replace(PROFILE, rate_limits=limits)


async def levels(connection: Connection) -> Mapping[str, float]:
    rows = await connection.fetch("SELECT unit, level FROM rate_buckets WHERE profile = 'busy'")
    return {row["unit"]: row["level"] for row in rows}


async def age(connection: Connection, seconds: float) -> None:
    """Lets time pass for the buckets."""
    await connection.execute(
        "UPDATE rate_buckets SET updated_at = updated_at - make_interval(secs => $1)", seconds
    )


@pytest.mark.parametrize("limits", [{}, {"requests_per_minute": 0}, {"tokens_per_minute": "no"}])
async def test_without_limits_everything_goes(pool: Pool, limits: Mapping[str, Any]) -> None:
    async with pool.acquire() as connection:
        assert await take(connection, limited(**limits), 10**9) == 0.0
        assert await levels(connection) == {}


async def test_requests_beyond_the_limit_wait_until_the_bucket_has_filled(pool: Pool) -> None:
    profile = limited(requests_per_minute=3)
    async with pool.acquire() as connection:
        waits = [await take(connection, profile, 1) for _ in range(4)]
        assert waits[:3] == [0.0, 0.0, 0.0]
        assert 18 < waits[3] <= 20
        await age(connection, 21)
        assert await take(connection, profile, 1) == 0.0
        assert await take(connection, profile, 1) > 0


async def test_a_call_takes_from_all_units_or_from_none(pool: Pool) -> None:
    profile = limited(requests_per_minute=10, tokens_per_minute=1000)
    async with pool.acquire() as connection:
        assert await take(connection, profile, 900) == 0.0
        wait = await take(connection, profile, 600)
        assert 29 < wait <= 30
        assert round((await levels(connection))["requests_per_minute"]) == 9


async def test_a_call_larger_than_the_bucket_goes_when_it_is_full(pool: Pool) -> None:
    profile = limited(tokens_per_minute=1000)
    async with pool.acquire() as connection:
        assert await take(connection, profile, 3000) == 0.0
        assert round((await levels(connection))["tokens_per_minute"]) == -2000
        assert 119 < await take(connection, profile, 100) < 127


async def test_nobody_is_told_to_come_again_in_hours(pool: Pool) -> None:
    """A limit that was far too small may be corrected meanwhile; a wait may fit no interval."""
    for tiny in (0.5, 1e-300):
        async with pool.acquire() as connection:
            await take(connection, limited(tokens_per_minute=tiny), 30_000)
            assert await take(connection, limited(tokens_per_minute=tiny), 30_000) == 300.0


async def test_a_clock_set_back_takes_nothing_away(pool: Pool) -> None:
    profile = limited(requests_per_minute=2)
    async with pool.acquire() as connection:
        await take(connection, profile, 1)
        await age(connection, -3600)
        assert await take(connection, profile, 1) == 0.0


async def test_workers_at_once_never_take_more_than_the_limit(pool: Pool) -> None:
    profile = limited(requests_per_minute=5, tokens_per_minute=10_000)

    async def ask() -> float:
        async with pool.acquire() as connection:
            return await take(connection, profile, 10)

    waits = await asyncio.gather(*(ask() for _ in range(20)))
    assert sum(wait == 0.0 for wait in waits) == 5


async def test_the_newest_version_of_a_profile_is_used(pool: Pool) -> None:
    async with pool.acquire() as connection:
        assert await newest(connection, "busy") is None
        for number, model in ((1, "old"), (2, "new")):
            await connection.execute(
                """
                INSERT INTO profiles (name, version, model, key_env, parameters, actor)
                VALUES ('busy', $1, $2, 'THE_KEY', $3, 'test')
                """,
                number,
                model,
                {"temperature": 0},
            )
        assert await newest(connection, "busy") == replace(
            PROFILE, version=2, model="new", parameters={"temperature": 0}
        )
