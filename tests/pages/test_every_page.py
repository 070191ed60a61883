"""Every page, both languages, light and dark, 320 px: nothing that axe can see, no overflow."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import EVERYTHING, Tab
from tests.stack import Stack

pytestmark = pytest.mark.browser

SOURCE = "Anna: The budget is 12,500 euro.\nBen: We order 25 units for the test.\n"
DRAFT = "# Minutes\n\n## Decisions\n\n- The budget is 15,200 euro.\n- 35 units are ordered.\n"
CHINESE = "# 会议纪要\n\n## 决定\n\n- 预算是 25 万元。\n"

PAGES = {
    "overview": "/",
    "runs": "/runs",
    "no run found": "/runs?q=nothing-is-called-this",
    "a filter misread": "/runs?status=NOTHING",
    "new": "/runs/new?kind=minutes",
    "new trip": "/runs/new?kind=itinerary",
    "running": "/runs/{running}",
    "interrupted": "/runs/{interrupted}",
    "waiting": "/runs/{waiting}",
    "confirmed": "/runs/{confirmed}",
    "review": "/runs/{waiting}/review?queue=0",
    "side by side": "/runs/{waiting}/review?view=split",
    "reviewed": "/runs/{confirmed}/review",
    "queue": "/queue",
    "document": "/documents/{document}",
    "changes of a document": "/documents/{document}?from=0&to=1",
    "observe": "/observe",
    "calls": "/calls",
    "call": "/calls/{call}",
    "settings": "/settings",
    "profile": "/settings/profiles/default",
    "new profile": "/settings/new-profile",
    "help": "/help",
    "error": "/nowhere",
    "bulk": "/runs/bulk?action=interrupt&all=1",
}


@pytest_asyncio.fixture(scope="module")
async def seeded(
    running_site: Stack, model: tuple[OfflineModel, str]
) -> AsyncIterator[dict[str, str]]:
    """Runs in many states: what stands between braces in an address above."""
    site = running_site
    model[0].rate = 0
    source = {"name": "transcript", "media_type": "text/plain", "text": SOURCE}
    body = {"kind": "minutes", "title": "Weekly", "body": DRAFT, "sources": [source]}
    spoken = {**source, "text": "李娜：预算是 20 万元。\n"}
    runs = {
        "waiting": await site.create(body),
        "confirmed": await site.create({**body, "body": CHINESE, "sources": [spoken]}),
    }
    offered = {
        name: await site.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
        for name, run in runs.items()
    }
    decided = {"revision": offered["confirmed"]["offered_revision"], "comment": "good"}
    code, _ = await site.call("POST", f"/api/runs/{runs['confirmed']['id']}/confirm", decided)
    assert code == 200
    model[0].rate = 0.1
    runs["running"] = await site.create({**body, "title": "会议 " + "long" * 40})
    runs["interrupted"] = await site.create(body)
    why = {"reason": "a figure is missing"}
    code, _ = await site.call("POST", f"/api/runs/{runs['interrupted']['id']}/interrupt", why)
    assert code in (200, 202)
    await site.until(runs["interrupted"]["id"], "INTERRUPTED", seconds=60)
    calls = await site.rows(runs["waiting"]["id"], "calls")
    ids = {name: str(run["id"]) for name, run in runs.items()}
    yield {**ids, "document": runs["waiting"]["document_id"], "call": calls[0]["id"]}
    model[0].rate = 0
    await site.settle()


@pytest_asyncio.fixture(scope="module", params=["en-GB", "zh-CN"])
async def reader(
    browser: Browser, running_site: Stack, request: pytest.FixtureRequest
) -> AsyncIterator[Tab]:
    """One tab for all pages in a language."""
    context = await browser.new_context(locale=request.param)
    tab = Tab(page=await context.new_page(), origin=f"http://127.0.0.1:{running_site.api_port}")
    tab.watch()
    yield tab
    await context.close()


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_accessible_and_fits(
    reader: Tab, seeded: dict[str, str], name: str
) -> None:
    page = reader.page
    await page.set_viewport_size({"width": 1280, "height": 900})
    await reader.open(PAGES[name].format_map(seeded))
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await page.evaluate(
        "for (const one of document.querySelectorAll('main details:not([name])')) one.open = true"
    )
    # Names differ with the language, colours with the theme: each is looked at whole once.
    english = await page.evaluate("document.documentElement.lang") == "en"
    await reader.check([("light" if english else "dark", EVERYTHING)])
    assert reader.trouble == []
