"""From the sample to a confirmation by somebody who has no mouse; the focus is never lost."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Locator, Page, expect

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import Tab
from tests.stack import Stack

pytestmark = pytest.mark.browser

MOST = 90
FOCUSED = """one => {
  if (one !== document.activeElement) return false;
  const { left, top, width, height } = one.getBoundingClientRect();
  const seen = document.elementFromPoint(left + width / 2, top + height / 2);
  const covered = seen !== null && !one.contains(seen) && !seen.contains(one);
  const drawn = getComputedStyle(one).outlineStyle !== "none";
  return covered ? "something lies over it" : drawn || "nothing shows where the focus is";
}"""


async def _reach(page: Page, wanted: Locator) -> None:
    """By Tab alone; it is drawn, and nothing, such as a bar that sticks, lies over it."""
    await expect(wanted).to_be_visible()
    for _ in range(MOST):
        await page.keyboard.press("Tab")
        found = await wanted.evaluate(FOCUSED)
        if found:
            assert found is True
            return
    raise AssertionError(f"Tab does not lead to {wanted}")


async def _press(page: Page, wanted: Locator) -> None:
    await _reach(page, wanted)
    await page.keyboard.press("Enter")


async def test_the_whole_way_of_a_run_by_keys_alone(
    tab: Tab, model: tuple[OfflineModel, str]
) -> None:
    page = tab.page
    state = page.locator(".state-word")
    model[0].rate = 15  # a reply lasts for longer than what is done while it comes
    await tab.open("/")
    await page.keyboard.press("n")
    await page.wait_for_url("**/runs/new*")
    await _press(page, page.get_by_role("button", name="Run the sample document"))
    await _interrupt_and_resume(page, model[0])
    await expect(state).to_contain_text("Needs you")

    await _press(page, page.get_by_role("link", name=re.compile(r"Review revision \d+")))
    await page.wait_for_url("**/review*")
    await _decide_and_send_back(page)
    await page.wait_for_url(re.compile(r"/runs/[0-9a-f-]+$"))
    await expect(state).to_contain_text("Needs you")

    await tab.open(f"{urlsplit(page.url).path}/review")
    await page.keyboard.press("Control+Enter")
    confirm = page.get_by_role("button", name=re.compile(r"Confirm revision \d+$"))
    await expect(confirm).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(state).to_contain_text("Confirmed")
    await page.go_back()  # what was left is not shown as it was
    await expect(page.locator("#asked .badge")).to_have_text("Confirmed")
    await expect(confirm).to_have_count(0)


async def _interrupt_and_resume(page: Page, model: OfflineModel) -> None:
    """While the page changes under the hands; no key acts while somebody types."""
    text = page.locator("[data-call]").first
    await expect(text).to_contain_text("items")
    await page.keyboard.press("l")
    await expect(text).to_be_focused()
    await text.evaluate("one => { one.dataset.old = 'yes'; }")
    await expect(page.locator("[data-old]")).to_have_count(0)  # a further item changed this part
    await expect(text).to_be_focused()
    await page.keyboard.press("i")
    await expect(page.get_by_role("button", name="Interrupt")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.type("no r, no ?")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("Enter")
    await expect(page.locator(".state-word")).to_contain_text("Interrupted")
    await expect(page.locator(".state")).to_contain_text("no r, no ?")
    model.rate = 0
    await page.keyboard.press("r")
    await expect(page.get_by_role("button", name="Resume")).to_be_focused()
    await page.keyboard.press("Enter")


async def test_the_focus_goes_from_a_text_that_ended_to_the_next_one(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    """Also where nothing is written between the two."""
    page = tab.page
    text, state = page.locator("[data-call]").first, page.locator("#state-word")
    model[0].rate = 15
    await tab.open("/runs/new?kind=minutes")
    await page.get_by_role("button", name="Run the sample document").click()
    await page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
    path = f"/api{urlsplit(page.url).path}"
    await expect(text).to_be_visible()
    await page.keyboard.press("l")
    await expect(text).to_be_focused()

    assert (await site.call("POST", f"{path}/interrupt", {}))[0] == 202
    await expect(state).to_contain_text("Interrupted")
    await expect(text).to_have_count(0)
    await expect(state).to_be_focused()
    assert (await site.call("POST", f"{path}/resume", {}))[0] == 202
    await expect(text).to_be_focused()

    model[0].rate = 0
    await expect(state).to_contain_text("Needs you")
    await expect(state).to_be_focused()


async def _decide_and_send_back(page: Page) -> None:
    """A change accepted and ticked, a comment, one more round; and the list of keys."""
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    await expect(keys).to_contain_text("next change")
    await keys.get_by_role("button", name="Turn shortcuts off").press("Enter")
    await page.keyboard.press("Escape")
    await expect(keys).to_be_hidden()
    await page.keyboard.press("v")
    await expect(page.locator("[data-viewed]:checked")).to_have_count(0)
    await page.keyboard.press("?")
    await keys.get_by_role("button", name="Turn shortcuts on").press("Enter")
    await page.keyboard.press("Escape")

    await page.keyboard.press("n")
    change = page.locator("[data-change='1']")
    await page.keyboard.press("v")
    await expect(change.locator("[data-viewed]")).to_be_checked()
    await _press(page, change.get_by_role("button", name=re.compile("^Accept")))
    await expect(change.get_by_role("button", name=re.compile("^Decide again"))).to_be_focused()
    await _press(page, page.locator("[data-change='2'] .pin"))
    await page.keyboard.insert_text("Who sends it?")
    await _press(page, page.get_by_role("button", name="Comment", exact=True))
    await expect(page.locator(".card.own")).to_contain_text("Who sends it?")
    await _press(page, page.locator("#do-rework > summary"))
    await _press(page, page.get_by_role("button", name="Send it back"))
