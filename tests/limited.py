"""Runs with limits on a `tests.attempts.Shop`: profiles, what became of a run, what it used."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from tests.attempts import Attempt, Shop
from workflows.vocabulary import EventType

RESUMED = EventType.RUN_RESUMED


async def profile(shop: Shop, *names: str, output: int = 300, **values: Any) -> None:
    """Reviewers that ask for short replies; other columns as given."""
    await shop.reviewers(*(names or ("main",)))
    values = {"parameters": {"max_tokens": output}, **values}
    for column, value in values.items():
        await shop.pool.execute(f"UPDATE profiles SET {column} = $1", value)  # noqa: S608


async def raised(shop: Shop, run_id: str, **limits: Any) -> None:
    """The limits of a resume; the API checks them before."""
    await shop.pool.execute("UPDATE runs SET limits = $2 WHERE id = $1", run_id, limits)
    await shop.move(run_id, RESUMED)


async def stopped(shop: Shop, run_id: str) -> tuple[str, str | None, dict[str, Any]]:
    [found] = await shop.told(
        "SELECT status, reason_code, reason_params FROM runs WHERE id = $1", run_id
    )
    return found[0], found[1], found[2]


async def events(shop: Shop, run_id: str, type_: EventType) -> list[dict[str, Any]]:
    rows = await shop.told(
        "SELECT data FROM run_events WHERE run_id = $1 AND type = $2 ORDER BY seq", run_id, type_
    )
    return [row[0] for row in rows]


async def used(shop: Shop, run_id: str) -> int:
    [(tokens,)] = await shop.told(
        "SELECT tokens_input + tokens_output FROM runs WHERE id = $1", run_id
    )
    return int(tokens)


async def reservation(shop: Shop, run_id: str) -> int:
    """The largest of a review."""
    [(tokens,)] = await shop.told(
        """
        SELECT max(reserved_tokens) FROM model_calls
        WHERE run_id = $1 AND step_name = 'review'
        """,
        run_id,
    )
    return int(tokens)


async def reviewed(shop: Shop, run_id: str, *, epoch: int = 1) -> str:
    return (await shop.attempt(shop.worker(), run_id, epoch=epoch).ends()).code


async def held_back(attempt: Attempt) -> float:
    """Seconds after which the attempt asks to be tried again."""
    with pytest.raises(ApplicationError) as error:
        await attempt.ends()
    delay = error.value.next_retry_delay
    assert delay is not None
    return delay.total_seconds()
