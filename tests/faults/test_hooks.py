"""Killed at each named point around commits and external effects (scenarios 9 and 13).

Each worker of a chain dies at one point, the next one finds what it left and dies at the next one.
The chains have stacks of their own, so that one waits for its timeouts while others work.
"""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import Client

from activities.hooks import Hook
from tests.faults import chains_of_calls, chains_of_moves, chains_of_parts
from tests.faults.dying import Chain, Servers, dying
from tests.services import PostgresServer, TemporalServer

AT_ONCE = 4
"""Chains side by side: on two cores more would only wait for each other."""

CHAINS: list[Chain] = [
    *chains_of_calls.CHAINS,
    *chains_of_moves.CHAINS,
    *chains_of_parts.CHAINS,
]


def test_every_point_has_its_death() -> None:
    """A transaction has the points written and committed, an effect before and after."""
    died = {point.partition(":")[0] for chain in CHAINS for point in chain.points}
    named = {point.partition(".")[0] for point in died}
    assert named == set(Hook)
    pairs = ({"written", "committed"}, {"before", "after"})
    for hook in Hook:
        assert {point.partition(".")[2] for point in died if point.startswith(f"{hook}.")} in pairs


@pytest.mark.timeout(900)
@pytest.mark.rule("take_over", "sweep_sends_due", "claim_closes_complete")
async def test_a_kill_at_any_point_costs_at_most_the_call_in_flight(
    postgres: PostgresServer, temporal: TemporalServer, temporal_client: Client
) -> None:
    servers = Servers(postgres=postgres, temporal=temporal, client=temporal_client)
    turn = asyncio.Semaphore(AT_ONCE)

    async def through(chain: Chain) -> None:
        async with turn, dying(servers, chain) as workers:
            try:
                await chain.play(workers)
            except Exception as error:
                error.add_note(f"in the chain {chain.play.__name__}, at {workers.at}")
                raise

    ends = await asyncio.gather(*map(through, CHAINS), return_exceptions=True)
    broken = [end for end in ends if isinstance(end, Exception)]
    if broken:
        raise ExceptionGroup("chains that broke", broken)
