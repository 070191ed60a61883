"""One browser a session; each test gets a tab that remembers what went wrong in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
import pytest_asyncio
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from temporalio.client import Client

from deploy.offline_model.server import OfflineModel
from tests.promised import Part, browser_program, require
from tests.services import PostgresServer, TemporalServer
from tests.stack import Stack

expect.set_options(timeout=30_000)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVERYTHING = {"resultTypes": ["violations"]}
ONLY_COLOURS = {**EVERYTHING, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
Scheme = tuple[Literal["light", "dark"], dict[str, Any]]
SCHEMES: tuple[Scheme, ...] = (("light", EVERYTHING), ("dark", ONLY_COLOURS))


@pytest_asyncio.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    require(Part.CHROMIUM)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_program(), args=FLAGS)
        yield browser
        await browser.close()


@dataclass(kw_only=True)
class Tab:
    """A page and all that it should not have done: errors, and requests to other hosts."""

    page: Page
    origin: str
    trouble: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("console", lambda said: self._said(said.type, said.text))
        self.page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        refusal = "Failed to load resource" in text  # an answer of 4xx that the test meant
        if kind in ("error", "warning") and not refusal:
            self.trouble.append(f"{kind}: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.origin, "data:")):
            self.trouble.append(f"request: {url}")

    async def open(self, path: str) -> None:
        await self.page.goto(f"{self.origin}{path}", wait_until="load")

    async def check(self, schemes: Sequence[Scheme] = SCHEMES) -> None:
        """No fault that axe can see (WCAG A and AA), light and dark, and nothing beyond 320 px."""
        await self.page.evaluate(AXE_SCRIPT)
        for scheme, options in schemes:
            await self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = AxeResults(await self.page.evaluate("o => axe.run(document, o)", options))
            assert found.violations_count == 0, found.generate_report()
        await self.fits()

    async def fits(self) -> None:
        """Nothing stands beyond 320 px."""
        await self.page.set_viewport_size({"width": 320, "height": 800})
        width = await self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320, f"{self.page.url} is {width} px wide"
        await self.page.set_viewport_size({"width": 1280, "height": 900})


@pytest_asyncio.fixture(scope="session")
async def model() -> AsyncIterator[tuple[OfflineModel, str]]:
    """The offline model and its base URL; a test sets its pace."""
    server = OfflineModel(rate=0)
    port = await server.start()
    yield server, f"http://127.0.0.1:{port}/v1"
    await server.stop()


@pytest_asyncio.fixture(scope="session")
async def running_site(
    postgres: PostgresServer,
    temporal: TemporalServer,
    temporal_client: Client,
    model: tuple[OfflineModel, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Stack]:
    """API, worker, offline model, and a folder for recordings: one for all tests of the pages."""
    environment = {
        "OPENAI_BASE_URL": model[1],
        "REDRAFT_OFFLINE_MODEL": "1",
        "REDRAFT_BLOB_URL": tmp_path_factory.mktemp("recordings").as_uri(),
    }
    stack = Stack(postgres, temporal, temporal_client, model[1], environment)
    yield await stack.start()
    await stack.stop()


@pytest_asyncio.fixture
async def site(running_site: Stack, model: tuple[OfflineModel, str]) -> AsyncIterator[Stack]:
    """The session's stack, with nothing running and nothing waiting; a test names its own runs."""
    model[0].rate = 0
    yield running_site
    model[0].rate = 0
    await running_site.settle()


@pytest_asyncio.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    yield context
    await context.close()


@pytest_asyncio.fixture
async def tab(context: BrowserContext, site: Stack) -> AsyncIterator[Tab]:
    tab = Tab(page=await context.new_page(), origin=f"http://127.0.0.1:{site.api_port}")
    tab.watch()
    yield tab
    assert tab.trouble == []
