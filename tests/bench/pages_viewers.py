"""500 viewers of 50 runs: what they cost the database, and how long an event takes to them.

A viewer here does what the live module of a page does: it holds a stream, and asks for what changed
when an event comes. One in a real browser tells when the event stands on its screen.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

import asyncpg
import httpx2

from tests.bench.figures import At, Figure, Target
from tests.bench.pages_rows import WATCHED, run_id
from tests.promised import browser_program

VIEWERS = 500
SECONDS = 15.0
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"


@dataclass(kw_only=True)
class Told:
    """When each (run, seq) was committed, and how long after it reached its viewers."""

    committed: dict[tuple[str, int], float] = field(default_factory=dict)
    heard: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)
    ready: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))


async def tell(pool: Pool, run: str) -> tuple[int, float]:
    """One event, as the engine writes one; its seq, and the time after its commit."""
    seq: int = await pool.fetchval(
        """
        WITH taken AS (UPDATE runs SET event_seq = event_seq + 1, last_progress_at = now()
            WHERE id = $1 RETURNING event_seq)
        INSERT INTO run_events (run_id, seq, type, actor, data)
        SELECT $1, event_seq, 'progress', 'worker', '{}' FROM taken RETURNING seq
        """,
        run,
    )
    return seq, time.time()


async def _viewer(url: str, place: tuple[str, int], told: Told, *, refresh: bool) -> None:
    run, seq = place
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(
        f"GET /api/runs/{run}/events?after={seq} HTTP/1.1\r\nHost: {at.netloc}\r\n\r\n".encode()
    )
    tag = ""
    # Without `verify` each client reads all certificates: 500 of them take a core for long.
    async with httpx2.AsyncClient(
        base_url=url, trust_env=False, verify=False, timeout=30
    ) as client:
        try:
            told.ready.release()
            while line := await reader.readline():
                if not line.startswith(b"id: "):
                    continue
                committed = told.committed.get((run, int(line[4:])))
                if committed is not None:
                    told.heard.append((time.time() - committed) * 1000)
                if not refresh:
                    continue
                headers = {"accept": "text/html", "if-none-match": tag}
                answer = await client.get(f"/runs/{run}?regions=1", headers=headers)
                tag = answer.headers["etag"]
                if committed is not None:
                    told.fresh.append((time.time() - committed) * 1000)
        finally:
            writer.close()


async def _statements(pool: Pool) -> int:
    """Of the API since the counters were reset; its BEGINs and COMMITs too."""
    found: int = await pool.fetchval(
        """
        SELECT coalesce(sum(s.calls), 0)::int FROM pg_stat_statements s
        JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database() AND s.userid <> current_user::regrole
        """
    )
    return found


async def _watched(url: str, pool: Pool, *, per_second: float, refresh: bool) -> tuple[float, Told]:
    """Statements a second while the viewers watch; `per_second` events in all."""
    told = Told()
    seqs = {
        str(row["id"]): row["event_seq"]
        for row in await pool.fetch(
            "SELECT id, event_seq FROM runs WHERE id = ANY ($1::uuid[])",
            [run_id(n + 1) for n in range(WATCHED)],
        )
    }
    runs = list(seqs)
    tasks = [
        asyncio.create_task(
            _viewer(url, (runs[n % WATCHED], seqs[runs[n % WATCHED]]), told, refresh=refresh)
        )
        for n in range(VIEWERS)
    ]
    try:
        for _ in tasks:
            await told.ready.acquire()
        await asyncio.sleep(3)  # every stream stands
        await pool.execute("SELECT pg_stat_statements_reset()")
        began = time.monotonic()
        while (left := SECONDS - (time.monotonic() - began)) > 0:
            if not per_second:
                await asyncio.sleep(left)
                continue
            await asyncio.sleep(min(left, random.expovariate(per_second)))
            run = random.choice(runs)
            seq, at = await tell(pool, run)
            told.committed[run, seq] = at
        count = await _statements(pool)
        took = time.monotonic() - began
        await asyncio.sleep(1)
        return count / took, told
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def viewers(url: str, pool: Pool) -> AsyncIterator[Figure]:
    for name, per_second, refresh, targets in (
        ("at rest", 0.0, True, (Target(bound=10),)),
        ("streams, 20 events/s", 20.0, False, (Target(bound=10),)),
        ("pages, 1 event/s", 1.0, True, ()),
        ("pages, 5 events/s", 5.0, True, ()),
    ):
        rate, told = await _watched(url, pool, per_second=per_second, refresh=refresh)
        yield Figure(name=f"viewers {name}", unit="q/s", samples=[rate], targets=targets)
        if told.heard:
            yield Figure(name=f"heard {name}", unit="ms", samples=told.heard)
        if told.fresh:
            yield Figure(name=f"refreshed {name}", unit="ms", samples=told.fresh)


async def on_screen(url: str, pool: Pool, events: int = 40) -> AsyncIterator[Figure]:
    """From a commit to the event's line in a browser, by one clock."""
    from playwright.async_api import async_playwright

    run = run_id(1)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=browser_program(), args=["--no-sandbox"]
        )
        page = await browser.new_page()
        await page.goto(f"{url}/runs/{run}")
        await page.wait_for_selector("[data-connection][data-state=live]")
        await page.evaluate(
            """() => {
                window.seen = {};
                new MutationObserver(() => {
                    for (const line of document.querySelectorAll("[data-event]")) {
                        window.seen[line.dataset.event] ??= Date.now();
                    }
                }).observe(document.body, { childList: true, subtree: true });
            }"""
        )
        took = [await _shown(page.evaluate, pool, run) for _ in range(events)]
        await browser.close()
    yield Figure(
        name="event on screen", unit="ms", samples=took, targets=(Target(bound=300, at=At.P95),)
    )


async def _shown(evaluate: Callable[..., Awaitable[object]], pool: Pool, run: str) -> float:
    await asyncio.sleep(random.uniform(0.3, 1.5))
    seq, at = await tell(pool, run)
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        seen = await evaluate("(seq) => window.seen[seq] ?? null", str(seq))
        if isinstance(seen, int | float):
            return max(0.0, seen - at * 1000)
        await asyncio.sleep(0.02)
    raise TimeoutError(f"event {seq} did not come")
