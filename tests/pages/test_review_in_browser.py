"""A person reviews in the browser: typing is kept, passages are spoken of, and two can decide."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import Tab
from tests.stack import Json, Stack

pytestmark = pytest.mark.browser

SOURCE = "Anna: The budget is 12,500 euro.\nBen: We order 25 units for the test.\n"
DRAFT = "# Minutes\n\n## Decisions\n\n- The budget is 15,200 euro.\n- 35 units are ordered.\n"
HOSTILE = "</script><svg onload=alert(1)>\"'<img src=x onerror=alert(1)>"


async def offered(site: Stack, model: tuple[OfflineModel, str], **more: Any) -> Json:
    """A run that waits for a person."""
    model[0].rate = 0
    source = {"name": more.pop("name", "transcript"), "media_type": "text/plain", "text": SOURCE}
    body = {"kind": "minutes", "title": "Weekly", "body": DRAFT, "sources": [source], **more}
    run = await site.create(body)
    return await site.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)


def text_of(page: Page) -> Any:
    return page.get_by_label(re.compile("Text of the document, from revision"))


async def test_what_is_typed_is_kept_and_an_older_tab_overwrites_nothing(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model, title=HOSTILE, name=HOSTILE)
    page = tab.page
    await tab.open(f"/runs/{run['id']}/review?queue=0")
    await expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    await expect(page.get_by_text("1 of 1")).to_be_visible()
    await expect(page.locator(".sheet ins").first).to_be_visible()
    await _typing_is_kept(page, site, run)


async def test_a_comment_and_a_lock_go_into_one_more_round(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model, title=HOSTILE, name=HOSTILE)
    await _one_more_round(tab, site, run)


async def test_who_decides_second_reads_what_the_first_decided(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    await _two_decide(tab.page, site, run)
    await tab.open("/queue")
    await expect(tab.page.get_by_text("Nothing waits for you.")).to_be_visible()


async def test_comments_and_ticks_are_kept_and_two_clicks_or_two_people_do_one_thing(
    tab: Tab, browser: Browser, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    page = tab.page
    await tab.open(f"/runs/{run['id']}/review")
    saved = page.locator(".bar [data-saved]")
    await page.locator(".pin").nth(1).click()
    await page.get_by_label("What about this passage?").fill("Who said")
    await expect(saved).to_have_attribute("data-state", "saved")
    await page.get_by_label("Viewed").first.check()
    await page.reload()
    comment = page.get_by_label("What about this passage?")
    await expect(comment).to_have_value("Who said")
    await expect(page.get_by_label("Viewed").first).to_be_checked()
    await expect(page.get_by_text("1 of 2 viewed")).to_be_visible()

    await comment.fill("Who said so?")
    await page.get_by_role("button", name="Comment", exact=True).dblclick()
    await expect(page.locator(".card.own")).to_have_count(1)
    await expect(page.locator(".card.own")).to_contain_text("Who said so?")
    await page.get_by_role("button", name="Accept change 1").dblclick()
    await expect(page.get_by_role("button", name="Decide again change 1")).to_be_focused()
    await expect(page.get_by_role("alert")).to_have_count(0)
    _, draft = await site.call("GET", f"/api/documents/{run['document_id']}/draft")
    assert [len(draft["notes"][name]) for name in ("comments", "decisions")] == [1, 1]
    await page.locator(".pin").nth(1).click()
    await comment.fill("No.")
    await expect(saved).to_have_attribute("data-state", "saved")
    await page.get_by_role("button", name="Close", exact=True).click()
    await expect(comment).to_have_count(0)
    await page.reload()
    await expect(comment).to_have_count(0)
    await _both_confirm(page, browser, site, run)


async def _both_confirm(page: Page, browser: Browser, site: Stack, run: Json) -> None:
    """Two people at once: one decides, and both read it."""
    other = await browser.new_page()
    await other.goto(page.url)
    for one in (page, other):
        await one.keyboard.press("Control+Enter")
    button = re.compile(r"Confirm revision \d+$")
    pages = (page, other)
    await asyncio.gather(*(one.get_by_role("button", name=button).click() for one in pages))
    for one in pages:
        await expect(one.locator(".badge").first).to_have_text("Confirmed")
    happened = [event["type"] for event in await site.events(run["id"])]
    assert happened.count("run_confirmed") == 1
    await other.close()


async def _typing_is_kept(page: Page, site: Stack, run: Json) -> None:
    """By itself, over a reload; and a tab that knows an older draft overwrites nothing."""
    await page.get_by_text("Edit the text by hand").click()
    typed = (await text_of(page).input_value()) + "\n- The next meeting is on Monday.\n"
    saved = page.locator("#edit [data-saved]")
    await text_of(page).fill(typed)
    await expect(saved).to_have_attribute("data-state", "saved")
    await page.reload()
    await expect(text_of(page)).to_have_value(typed)
    await page.get_by_role("button", name="Show my changes").click()
    await expect(page.locator(".sheet ins").last).to_contain_text("The next meeting is on Monday")

    path = f"/api/documents/{run['document_id']}/draft"
    _, draft = await site.call("GET", path)
    other = {"base_revision": draft["base_revision"], "version": draft["version"], "body": "Other"}
    code, _ = await site.call("PUT", path, other)
    assert code == 200
    await text_of(page).fill(typed + "- One line more.\n")
    await expect(saved).to_have_attribute("data-state", "conflict")
    await page.locator("#edit").get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was overwritten")
    await expect(text_of(page)).to_have_value(typed + "- One line more.\n")
    await page.get_by_role("button", name="Undo all my edits").click()
    await expect(page.locator(".own-word")).to_have_count(0)


async def _one_more_round(tab: Tab, site: Stack, run: Json) -> None:
    """With a comment, which is markup and stays text, and a lock."""
    page = tab.page
    await tab.open(f"/runs/{run['id']}/review?queue=0")
    await page.locator(".pin").first.click()
    await page.get_by_label("What about this passage?").fill(HOSTILE)
    await page.get_by_role("button", name="Comment", exact=True).click()
    await expect(page.locator(".card.own")).to_contain_text(HOSTILE)
    await page.locator(".pin").nth(1).click()
    await page.get_by_role("button", name="Lock the passage").click()
    await expect(page.get_by_text("will be locked")).to_be_visible()
    await tab.check()
    await page.locator("#do-rework summary").click()
    await page.get_by_role("button", name="Send it back").click()
    await page.wait_for_url("**/queue?done=1")
    await site.until(run["id"], "AWAITING_CONFIRMATION", seconds=90)
    comments = await site.sql("SELECT text FROM comments WHERE run_id = $1", run["id"])
    assert [row["text"] for row in comments] == [HOSTILE]


async def _two_decide(page: Page, site: Stack, run: Json) -> None:
    """Who comes second reads what the first decided, without a reload, and keeps what was typed."""
    await page.goto(f"http://127.0.0.1:{site.api_port}/runs/{run['id']}/review")
    await page.get_by_text("Edit the text by hand").click()
    typed = (await text_of(page).input_value()) + "\n- The second person's line.\n"
    await text_of(page).fill(typed)
    await expect(page.locator("#edit [data-saved]")).to_have_attribute("data-state", "saved")
    offered = (await site.run(run["id"]))["offered_revision"]
    first = {"revision": offered, "comment": "the first one"}
    code, _ = await site.call("POST", f"/api/runs/{run['id']}/confirm", first)
    assert code == 200
    await expect(page.locator("#asked")).to_contain_text("the first one")
    await expect(text_of(page)).to_have_value(typed)
    await page.get_by_role("button", name="Store it as a new revision").click()
    await expect(page.locator("#k-to")).to_contain_text("local")


async def test_the_same_decisions_without_script(
    browser: Browser, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"http://127.0.0.1:{site.api_port}/runs/{run['id']}/review?queue=0")
    await page.get_by_text("Edit the text by hand").click()
    typed = (await text_of(page).input_value()) + "\n- Typed without script.\n"
    await text_of(page).fill(typed)
    await page.locator(".pin").first.click()  # every button brings along what was typed
    await page.get_by_label("What about this passage?").fill("Whose minutes?")
    await page.get_by_role("button", name="Comment", exact=True).click()
    await expect(page.locator(".card.own")).to_contain_text("Whose minutes?")
    await expect(text_of(page)).to_have_value(typed)
    await page.locator("#do-confirm summary").click()
    await page.get_by_role("button", name="Confirm with my edits").click()
    await page.wait_for_url("**/queue?done=1")
    found = await site.run(run["id"])
    code, revision = await site.call(
        "GET", f"/api/documents/{run['document_id']}/revisions/{found['offered_revision']}"
    )
    assert (code, found["status"]) == (200, "CONFIRMED")
    assert revision["body"] == typed
    await context.close()
