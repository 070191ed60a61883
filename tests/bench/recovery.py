"""Long proofs of recovery: kills at random moments, outages, stops by the hundred, deaths of all.

Each is what a test of `tests/faults` does, longer. Exit code 0 when all of it holds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.rig import DurablePostgres
from tests.fake_llm import FakeLLM
from tests.fake_llm.recogniser import FakeRecogniser
from tests.faults.everything import EVERYTHING, Mortals, everything_dies
from tests.faults.kit import PATIENT, own_temporal
from tests.faults.outages import outage
from tests.faults.power_cut import power_cut
from tests.faults.stops import STANDING_STILL, stop_a_full_house, stop_and_go
from tests.faults.thirty_kills import KILLED_OFTEN, thirty_kills
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Postgres with fsync as `./redraft up` has it, and Temporal; both may die."""

    postgres: PostgresServer
    temporal: TemporalServer

    @contextlib.asynccontextmanager
    async def stack(
        self, environment: dict[str, str], *, workers: int
    ) -> AsyncIterator[tuple[Stack, FakeLLM]]:
        async with FakeLLM() as llm:
            client = await self.temporal.ready()
            stack = Stack(self.postgres, self.temporal, client, llm.base_url, environment)
            try:
                yield await stack.start(workers=workers), llm
            finally:
                await stack.stop()


async def _kills(servers: Servers, seed: int) -> str:
    async with servers.stack(KILLED_OFTEN, workers=0) as (stack, llm):
        seen = await thirty_kills(stack, llm, seed=seed, kills=30)
    return (
        f"{seen.kills} kills, {seen.requests} requests, {seen.completed} calls completed, "
        f"{seen.in_flight} in flight at a kill, nothing asked twice"
    )


async def _outages(servers: Servers, _seed: int) -> str:
    async with servers.stack({}, workers=2) as (stack, llm):
        for server in (servers.postgres, servers.temporal):
            await outage(stack, llm, server, seconds=20, runs=10)
        return f"2 outages of 20 s, 20 runs, {len(llm.requests)} requests, as many as without"


async def _stops(servers: Servers, seed: int) -> str:
    async with servers.stack(STANDING_STILL, workers=1) as (stack, llm):
        took = await stop_a_full_house(stack, llm, runs=200)
    async with servers.stack(PATIENT, workers=2) as (stack, llm):
        await stop_and_go(stack, llm, seed=seed, stops=200)
        asked = len(llm.requests)
    return (
        f"200 in flight stopped in {took:.1f} s; 200 stops with a resume right behind, "
        f"{asked} requests, never two of one part"
    )


async def _deaths(servers: Servers, _seed: int) -> str:
    groups = [*((name,) for name in EVERYTHING), EVERYTHING]
    for who in groups:
        async with servers.stack({}, workers=0) as (stack, llm):
            mortals = Mortals(
                stack=stack, llm=llm, postgres=servers.postgres, temporal=servers.temporal
            )
            await everything_dies(mortals, who)
    return f"{len(groups)} deaths: {', '.join('+'.join(who) for who in groups)}"


async def _chain(servers: Servers, _seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="redraft-recordings-") as folder:
        recorded = {"REDRAFT_BLOB_URL": Path(folder).as_uri(), "REDRAFT_SPEECH_PART_SECONDS": "3"}
        async with (
            servers.stack({**PATIENT, **recorded}, workers=1) as (stack, llm),
            FakeRecogniser() as heard,
        ):
            mortals = Mortals(
                stack=stack, llm=llm, postgres=servers.postgres, temporal=servers.temporal
            )
            took = await power_cut(mortals, heard, documents=20)
    return f"20 documents over all stages lost every process; all were there after {took:.0f} s"


PROOFS: dict[str, Callable[[Servers, int], Awaitable[str]]] = {
    "kills": _kills,
    "outages": _outages,
    "stops": _stops,
    "deaths": _deaths,
    "chain": _chain,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="redraft bench recovery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROOFS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1, help="each with the next seed")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in PROOFS]
    if unknown:
        parser.error(f"no proof {unknown[0]!r}; there are {', '.join(PROOFS)}")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    seeds = range(given.seed, given.seed + given.times)
    return asyncio.run(prove(given.names or list(PROOFS), seeds))


async def prove(names: Sequence[str], seeds: Sequence[int]) -> int:
    """Prints a line for each; how many did not hold."""
    broken = 0
    async with _servers() as servers:
        for seed in seeds:
            for name in names:
                began = time.monotonic()
                try:
                    said = await PROOFS[name](servers, seed)
                except Exception:
                    traceback.print_exc()
                    said, broken = "BROKEN", broken + 1
                took = time.monotonic() - began
                print(f"{name:8} seed {seed}: {said} ({took:.0f} s)", flush=True)
    return min(broken, 1)


@contextlib.asynccontextmanager
async def _servers() -> AsyncIterator[Servers]:
    postgres = DurablePostgres()
    try:
        postgres.make()
        postgres.start()
        await postgres.ready()
        await postgres.make_template()
        async with own_temporal() as temporal:
            yield Servers(postgres=postgres, temporal=temporal)
    finally:
        postgres.remove()
