"""`bench pages`: every page with 100,000 runs, a million steps and a million calls stored.

Server time and bytes of each page, statements and delays of 500 viewers of 50 runs, and the time
from a commit to a real browser's screen. Ten minutes, seven of them to make the rows.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import asyncpg
import httpx2

from deploy.database import prepare_connection
from tests.bench import report
from tests.bench.figures import At, Figure, Target
from tests.bench.pages_rows import WATCHED, call_id, document_id, run_id, seed
from tests.bench.pages_viewers import on_screen, viewers
from tests.bench.rig import DurablePostgres
from tests.eventually import eventually
from tests.services import end, free_port, spawn

TIMES = 40
PARTS = ("pages", "viewers", "screen", "cold")
PAGE = (Target(bound=100, at=At.P95),)
OBSERVE = (Target(bound=400, at=At.P95),)
FIRST_VIEW_KB = 150
_STATIC = re.compile(r'(?:href|src)="(/static/[^"]+)"')


def pages() -> dict[str, Iterator[str]]:
    """Addresses by page, another one each time where there are many."""
    running = (f"/runs/{run_id(1 + n % WATCHED)}" for n in range(10**6))
    ended = (f"/runs/{run_id(51 + n)}" for n in range(10**6))
    waiting = (51 + (3 - 51 % 3) % 3 + 3 * n for n in range(100))
    refreshed = (f"/runs/{run_id(1 + n % WATCHED)}?regions=1" for n in range(10**6))
    return {
        "overview": _same("/"),
        "runs": _same("/runs"),
        "runs of a status": _same("/runs?status=CONFIRMED"),
        "runs by text": _same("/runs?q=Weekly+77"),
        "new": _same("/runs/new"),
        "run at work": running,
        "run refreshed": refreshed,
        "run ended": ended,
        "review": (f"/runs/{run_id(n)}/review" for n in waiting if n % 50),
        "queue": _same("/queue"),
        "document": (f"/documents/{document_id(51 + n)}" for n in range(10**6)),
        "calls": _same("/calls"),
        "calls of a model": _same("/calls?model=m-small&status=LOST"),
        "call": (f"/calls/{call_id(51 + n, 3)}" for n in range(10**6)),
        "settings": _same("/settings"),
        "help": _same("/help"),
        "observe 24 h": _same("/observe?range=24h"),
        "observe 7 d": _same("/observe?range=7d"),
        "observe 30 d": _same("/observe?range=30d"),
        "observe 30 d of a kind": _same("/observe?range=30d&kind=minutes"),
        "observe API 30 d": _ranges(30),
        "observe API 90 d": _ranges(90),
    }


def _same(address: str) -> Iterator[str]:
    while True:
        yield address


def _ranges(days: int) -> Iterator[str]:
    while True:
        now = time.time()
        ends = [
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in (now - days * 86400, now)
        ]
        yield f"/api/observe?from={ends[0]}&to={ends[1]}"


class Service:
    """An API process over the rows, started anew where a cold look is measured."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.port, self.folder = free_port(), folder
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("REDRAFT_", "OPENAI_"))},
            "REDRAFT_DATABASE_URL": database_url,
            "REDRAFT_API_PORT": str(self.port),
            "TEMPORAL_ADDRESS": "127.0.0.1:1",
            "OPENAI_API_KEY": "sk-bench",
            "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        }
        self.url = f"http://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[httpx2.AsyncClient]:
        process = spawn(
            [sys.executable, "-m", "api"],
            log=self.folder / "api.log",
            environment=self.environment,
        )
        try:
            async with httpx2.AsyncClient(
                base_url=self.url, timeout=60, trust_env=False, headers={"accept": "text/html"}
            ) as client:

                async def answers() -> bool:
                    with contextlib.suppress(httpx2.TransportError):
                        return (await client.get("/healthz")).status_code == 200
                    return False

                await eventually(answers, seconds=60, what="the API")
                yield client
        finally:
            end(process)


async def timed(client: httpx2.AsyncClient, address: str) -> tuple[float, str]:
    """Milliseconds, and the text."""
    began = time.perf_counter()
    answer = await client.get(address)
    took = (time.perf_counter() - began) * 1000
    assert answer.status_code == 200, (address, answer.status_code, answer.text[:300])
    return took, answer.text


async def page_figures(client: httpx2.AsyncClient, times: int) -> AsyncIterator[Figure]:
    for name, addresses in pages().items():
        text = (await timed(client, next(addresses)))[1]
        took = [(await timed(client, next(addresses)))[0] for _ in range(times)]
        files = {found for found in _STATIC.findall(text)}
        parts = [text.encode(), *[(await client.get(file)).content for file in files]]
        sent = {
            "page KB": _kilobytes(parts[:1]),
            "first view KB": _kilobytes(parts),
            "behind nginx KB": _kilobytes([gzip.compress(part, 1) for part in parts]),
        }
        yield Figure(
            name=f"page {name}",
            unit="ms",
            samples=took,
            targets=OBSERVE if name.startswith("observe") else PAGE,
            details={"sent": sent, "light": sent["behind nginx KB"] <= FIRST_VIEW_KB},
        )


def _kilobytes(parts: Sequence[bytes]) -> float:
    return round(sum(map(len, parts)) / 1024, 1)


async def cold_figures(service: Service) -> AsyncIterator[Figure]:
    """The first look of a process that has just started."""
    for name in ("observe API 30 d", "observe API 90 d", "overview", "run ended"):
        took = []
        for _ in range(2):
            async with service.running() as client:
                took.append((await timed(client, next(pages()[name])))[0])
        yield Figure(name=f"cold {name}", unit="ms", samples=took)


async def summed(pool: asyncpg.Pool[asyncpg.Record]) -> Figure:
    """How long the past of a month takes, beside the requests of a process that starts."""
    began = time.monotonic()

    async def whole() -> bool:
        left: int = await pool.fetchval(
            """
            SELECT count(*) FROM (VALUES
                ('calls/2', interval '1 hour', (SELECT min(ended_at) FROM model_calls)),
                ('steps', interval '6 hours', (SELECT min(ended_at) FROM steps))
            ) AS p (what, long, first), generate_series(
                date_bin(p.long, p.first, '1970-01-01Z'),
                now() - interval '10 min' - p.long, p.long) AS h (at)
            WHERE NOT EXISTS (SELECT FROM summed s WHERE s.what = p.what AND s.at = h.at)
            """
        )
        return left == 0

    await eventually(whole, seconds=600, what="a summed past")
    return Figure(name="past summed", unit="s", samples=[time.monotonic() - began])


async def measure(database_url: str, folder: Path, given: argparse.Namespace) -> list[Figure]:
    facts = report.machine()
    print(json.dumps(facts))
    figures: list[Figure] = []

    def say(figure: Figure) -> None:
        figures.append(figure)
        report.print_figure(figure)
        if given.json is not None:  # also of a run that is ended before its end
            report.write_json(given.json, facts, figures)

    driver = database_url.replace("//redraft@", "//bench_driver@")
    service = Service(database_url, folder)
    report.print_head()
    async with asyncpg.create_pool(driver, min_size=1, max_size=4, init=prepare_connection) as pool:
        async with service.running() as client:
            if "pages" in given.parts:
                say(await summed(pool))
            parts = {
                "pages": page_figures(client, given.times),
                "viewers": viewers(service.url, pool),
                "screen": on_screen(service.url, pool),
            }
            for part in [one for one in given.parts if one in parts]:
                async for figure in parts[part]:
                    say(figure)
        if "cold" in given.parts:
            async for figure in cold_figures(service):
                say(figure)
    return figures


async def own(given: argparse.Namespace) -> list[Figure]:
    server = DurablePostgres()
    try:
        server.make()
        server.start()
        await server.ready()
        await server.run("CREATE ROLE bench_driver LOGIN SUPERUSER")
        await server.make_template()
        url = await server.clone()
        connection = await asyncpg.connect(url.replace("//redraft@", "//bench_driver@"))
        print(f"making {given.runs} runs ...", flush=True)
        await connection.execute("CREATE EXTENSION pg_stat_statements")
        await seed(connection, given.runs)
        await connection.close()
        return await measure(url, server.folder, given)
    finally:
        server.remove()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="redraft bench pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=int, default=100_000, help="100000")
    parser.add_argument("--times", type=int, default=TIMES, help=f"looks at each page ({TIMES})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--database", metavar="URL", help="rows that an earlier run left")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, help=f"only these ({' '.join(PARTS)})"
    )
    given = parser.parse_args(arguments)
    if given.database:
        figures = asyncio.run(measure(given.database, Path("/tmp"), given))
    else:
        figures = asyncio.run(own(given))
    missed = [figure.name for figure in figures if figure.met is False]
    print(f"missed: {', '.join(missed) or 'none'}")
    return 0
