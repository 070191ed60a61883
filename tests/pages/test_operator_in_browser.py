"""The operator at work in the browser: an API that dies, many runs at once, keys, no script."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Page, expect

from deploy.offline_model.server import OfflineModel
from tests.eventually import eventually
from tests.pages.conftest import Tab
from tests.stack import Json, Stack, minutes

pytestmark = pytest.mark.browser


SHOWN = "els => els.map(el => Number(el.dataset.event))"


async def _sees_every_event_once(site: Stack, page: Page, run: Json) -> None:
    async def same() -> bool:
        rows = await site.sql(
            "SELECT seq FROM run_events WHERE run_id = $1 ORDER BY seq", run["id"]
        )
        shown = await page.eval_on_selector_all("[data-event]", SHOWN)
        return sorted(shown) == [row["seq"] for row in rows]

    await eventually(same, seconds=30, what="every event once on the page")


async def test_the_whole_way_of_a_run_works_without_script(
    browser: Browser, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    """Stopped by a person, then by a limit; gone on with an edit; one more round; confirmed."""
    model[0].rate = 2
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"http://127.0.0.1:{site.api_port}/runs/new?kind=minutes")
    await page.get_by_role("button", name="Run the sample document").click()
    run_id = page.url.rpartition("/")[2]
    state = page.locator(".state-word")
    await page.get_by_label("Why (may stay empty)").fill("wait for the figures")
    await page.get_by_role("button", name="Interrupt").click()
    await expect(state).to_contain_text("Interrupted")
    await expect(page.locator(".state")).to_contain_text("wait for the figures")
    model[0].rate = 0
    await page.get_by_text("Other profile or limits").click()
    await page.get_by_label("Calls at most").fill("1")
    await page.get_by_role("button", name="Resume").click()
    await site.until(run_id, "INTERRUPTED", seconds=60)
    await _go_on_beyond_the_limit(page)
    await site.until(run_id, "AWAITING_CONFIRMATION", seconds=60)
    await page.reload()
    await page.get_by_text("One more round …").click()
    await page.get_by_label("What to change (an open issue)").fill("Say who sends it.")
    await page.get_by_role("button", name="Send it back").click()
    await site.until(run_id, "AWAITING_CONFIRMATION", seconds=60)
    await page.reload()
    await page.get_by_role("button", name=re.compile(r"Confirm revision \d+")).click()
    await expect(state).to_contain_text("Confirmed")
    await expect(page.locator("[data-region=text]")).to_contain_text("Typed without script.")
    await _a_form_of_another_page_is_refused(page, site)
    await context.close()


async def _go_on_beyond_the_limit(page: Page) -> None:
    await page.reload()
    await expect(page.locator(".state-word")).to_contain_text("Stopped by limit")
    await page.get_by_text("Edit the text first").click()
    text = page.get_by_label("Text of the document")
    await text.fill((await text.input_value()) + "\n- Typed without script.\n")
    await page.get_by_label("Note (may stay empty)").fill("with my line")
    await page.get_by_label("Go on without this limit").check()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("[data-region=events]")).to_contain_text("with my line")


async def _a_form_of_another_page_is_refused(page: Page, site: Stack) -> None:
    runs = len((await site.call("GET", "/api/runs?limit=200"))[1]["items"])
    action = f"http://127.0.0.1:{site.api_port}/runs/sample"
    await page.goto("about:blank")
    await page.set_content(f'<form method="post" action="{action}"><button>Win</button></form>')
    async with page.expect_response(action) as sent:
        await page.get_by_role("button", name="Win").click()
    assert (await sent.value).status == 403
    assert len((await site.call("GET", "/api/runs?limit=200"))[1]["items"]) == runs


async def test_lists_stay_still_keys_lead_and_many_runs_are_stopped_at_once(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    page = tab.page
    model[0].rate = 1
    for title in ("First", "Second"):
        await site.create(minutes(title=title, tags=["still"]))
    await tab.open("/runs?tag=still")
    await expect(page.locator("tbody tr")).to_have_count(2)
    await site.create(minutes(title="Third", tags=["still"]))
    await expect(page.locator("[data-newer]")).to_contain_text("1 new")
    await expect(page.locator("tbody tr")).to_have_count(2)  # rows never move by themselves
    await page.get_by_role("link", name="1 new").click()
    await expect(page.locator("tbody tr")).to_have_count(3)

    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type("?gr")  # a field is being typed into: no shortcut
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator("#q")).to_have_value("?gr")
    await page.keyboard.press("Escape")
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await expect(page.locator("[data-picked-count]")).to_have_text("1")
    await page.get_by_label("Select all on this page").check()
    await tab.check()
    await page.get_by_role("button", name="Interrupt …").click()
    await expect(page.get_by_text("3 runs will be interrupted.")).to_be_visible()
    await tab.check()
    await page.get_by_role("button", name="Interrupt them").click()
    await expect(page.get_by_text("3 runs were interrupted.")).to_be_visible()
    await tab.open("/")
    await expect(page.get_by_role("heading", name="Today in numbers")).to_be_visible()
    await tab.check()


async def test_an_api_that_dies_costs_the_page_no_event(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    page = tab.page
    model[0].rate = 3
    run = await site.create(minutes(errors=3, title="Watched"))
    await tab.open(f"/runs/{run['id']}")
    await expect(page.locator("[data-connection]")).to_have_text("Live")
    stream = page.locator(".stream").first
    await expect(stream).to_contain_text("items")

    site.kill(site.api_process)  # type: ignore[arg-type]
    bar = page.locator("[data-lostbar]")
    await expect(bar).to_contain_text(re.compile(r"Connection lost, showing up to event \d+"))
    await expect(page.locator("[data-connection]")).to_have_text("Reconnecting")
    await expect(stream).to_contain_text("items")  # what was known stays to be read
    site.api()
    await site.until_ready()
    await expect(page.locator("[data-connection]")).to_have_text("Live")
    await expect(bar).to_contain_text("Caught up")
    await site.call("POST", f"/api/runs/{run['id']}/interrupt", {})  # it may be over by now
    await expect(page.locator(".state-word")).to_contain_text(re.compile("Interrupted|Needs you"))
    await _sees_every_event_once(site, page, run)
