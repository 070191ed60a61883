"""Back and forth in the browser, whose cache brings a page as it was left; and its own words."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, FilePayload, Page, async_playwright, expect

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import FLAGS, Tab
from tests.pages.test_review_in_browser import offered
from tests.promised import Part, browser_program, require
from tests.stack import Stack

pytestmark = pytest.mark.browser

REMEMBER = "addEventListener('pageshow', e => { if (e.persisted) sessionStorage.kept = location; })"
NO_CACHE = "--disable-back-forward-cache"
"""What Playwright gives every Chromium unless it is told not to."""


async def _leave_and_come_back(page: Page, address: str, site: Stack, confirm: str) -> None:
    """`confirm` is a run that another person confirms meanwhile."""
    run = await site.run(confirm)
    await page.goto(address)
    await page.goto(f"http://127.0.0.1:{site.api_port}/help")
    wanted = {"revision": run["offered_revision"]}
    assert (await site.call("POST", f"/api/runs/{confirm}/confirm", wanted))[0] == 200
    await page.go_back(wait_until="commit")
    await expect(page).to_have_url(address)


async def test_a_page_from_the_browsers_cache_shows_nothing_old_as_current(
    site: Stack, model: tuple[OfflineModel, str]
) -> None:
    require(Part.CHROMIUM)
    origin = f"http://127.0.0.1:{site.api_port}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=browser_program(), args=FLAGS, ignore_default_args=[NO_CACHE]
        )
        page = await browser.new_page()
        await page.add_init_script(REMEMBER)

        # A list renews itself: the run is over, and so is the count in the menu above it.
        run = await offered(site, model)
        await _leave_and_come_back(page, f"{origin}/queue", site, run["id"])
        await expect(page.locator("#waiting")).to_contain_text("Nothing waits for you.")
        await expect(page.locator("#waiting-top")).to_be_empty()

        # The overview above its lists too.
        run = await offered(site, model)
        await _leave_and_come_back(page, f"{origin}/", site, run["id"])
        await expect(page.locator("#sum")).to_contain_text("0 waiting for you")

        # A review goes on from its run's rows.
        run = await offered(site, model)
        await _leave_and_come_back(page, f"{origin}/runs/{run['id']}/review", site, run["id"])
        await expect(page.locator("[data-region=asked]")).to_contain_text("Confirmed")

        # A page without news of its own is loaded anew.
        run = await offered(site, model)
        document = f"{origin}/documents/{run['document_id']}"
        await _leave_and_come_back(page, document, site, run["id"])
        await expect(page.locator("main")).to_contain_text("Confirmed")
        await expect(page.get_by_role("link", name="Review revision")).to_have_count(0)
        assert await page.evaluate("sessionStorage.kept") == document, "the cache was not used"
        await browser.close()


def _file(name: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": b"A: b."}


async def test_fields_for_files_speak_the_language_of_the_page(
    browser: Browser, site: Stack
) -> None:
    """The browser's own words would be English here: its language is not the page's."""
    context = await browser.new_context(locale="en-GB", viewport={"width": 320, "height": 800})
    tab = Tab(page=await context.new_page(), origin=f"http://127.0.0.1:{site.api_port}")
    tab.watch()
    page = tab.page
    await tab.open("/runs/new?kind=minutes")
    await page.locator("details.menu summary").click()
    await page.locator("details.menu").get_by_role("button", name="简体中文").click()
    field = page.locator("#f-source-file")
    said = page.locator(".filebox", has=field).locator("[data-chosen]")
    await expect(said).to_have_text("未选择")
    await expect(field).to_have_css("opacity", "0")
    await field.set_input_files(_file("会议.txt"))
    await expect(said).to_have_text("会议.txt")
    await expect(page.locator("#brought")).to_contain_text("会议.txt")
    two = [_file("a.txt"), _file("b.txt")]
    await field.set_input_files(two)
    await expect(said).to_have_text("2 个文件")
    await tab.check()
    assert tab.trouble == []
    await context.close()
