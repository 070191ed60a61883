"""What the page of a run says while news, the server or the network stay away, and afterwards."""

from __future__ import annotations

import os
import re
import signal

import pytest
from playwright.async_api import Page, Route, expect

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import Tab
from tests.pages.test_review_in_browser import offered
from tests.pages.wire import Wire
from tests.stack import Stack

pytestmark = pytest.mark.browser

EVENTS = "[data-event]"
SHOWN = "all => all.map(one => Number(one.dataset.event)).reverse()"


async def _caught_up(site: Stack, page: Page, run_id: str) -> None:
    """Every event once and in order, without a reload."""
    count = len(await site.events(run_id))
    await expect(page.locator(EVENTS)).to_have_count(count)
    assert await page.eval_on_selector_all(EVENTS, SHOWN) == list(range(1, count + 1))


async def test_who_is_silent_is_told_and_everything_is_caught_up(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    page, path = tab.page, f"/api/runs/{run['id']}"
    issues = [issue for issue in await site.rows(run["id"], "issues")]
    assert issues, "the test waives them one by one"
    said = page.locator("[data-connection]")

    async def something_happens() -> None:
        issue = issues[0]
        waived = issue["status"] == "waived"
        change = {"status": "open" if waived else "waived", "reason": "it is right"}
        code, issues[0] = await site.call("PATCH", f"{path}/issues/{issue['id']}", change)
        assert code == 200, issues[0]

    async with Wire(site.api_port) as wire:
        tab.origin = f"http://127.0.0.1:{wire.port}"
        await page.clock.install()
        await tab.open(f"/runs/{run['id']}")
        await expect(said).to_have_text("Live")

        # The run is silent.
        await page.clock.run_for(24_000)
        await expect(said).to_have_text(re.compile(r"No news for \d+ s; the server answers"))
        # The server is.
        process = site.api_process
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        try:
            await page.clock.run_for(30_000)
            await expect(said).to_have_text(re.compile(r"No answer from the server for \d+ s"))
        finally:
            os.kill(process.pid, signal.SIGCONT)
        await something_happens()
        await expect(said).to_have_text("Live")
        await _caught_up(site, page, run["id"])

        # The network is.
        wire.cut()
        await expect(said).to_have_text("Reconnecting")
        await page.clock.run_for(22_000)
        await expect(said).to_have_text(re.compile("Offline, showing what was known at"))
        await something_happens()
        wire.mend()
        await expect(said).to_have_text("Live")
        await expect(page.locator("[data-lostbar]")).to_contain_text("Caught up")
        await _caught_up(site, page, run["id"])

        # An hour of sleep, after which the old connection is dead without knowing.
        wire.deafen_streams()
        await something_happens()
        wanted = {"revision": run["offered_revision"]}
        assert (await site.call("POST", f"{path}/confirm", wanted))[0] == 200
        await page.clock.fast_forward("01:00:00")
        await expect(page.locator(".state-word")).to_contain_text("Confirmed")
        await _caught_up(site, page, run["id"])


async def test_a_form_that_is_open_stays_under_the_eyes_while_other_issues_change(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    issues = await site.rows(run["id"], "issues")
    change = f"/api/runs/{run['id']}/issues"
    for issue in issues:
        assert (await site.call("PATCH", f"{change}/{issue['id']}", {"status": "open"}))[0] == 200
    last = f"I{issues[-1]['number']}"
    assert last != "I1", "one is waived, another stays"
    page, path = tab.page, f"/runs/{run['id']}"
    await tab.open(path)
    await expect(page.locator("[data-connection]")).to_have_text("Live")
    form = page.locator(f"#{last}")
    await form.get_by_text("Waive …").click()
    await form.get_by_role("textbox").fill("it is right")
    await form.evaluate("one => { one.dataset.mine = 'yes'; one.scrollIntoView(); }")
    place = await form.evaluate("one => one.getBoundingClientRect().top")

    waiver = {"status": "waived", "reason": "it is right"}
    assert (await site.call("PATCH", f"{change}/{issues[0]['id']}", waiver))[0] == 200
    await expect(page.locator("#I1.issue-closed")).to_have_count(1)
    await expect(form.get_by_role("textbox")).to_have_value("it is right")
    await expect(form.get_by_role("textbox")).to_be_focused()
    assert await form.get_attribute("data-mine") == "yes", "it was rendered anew"
    moved = await form.evaluate("one => one.getBoundingClientRect().top") - place
    assert abs(moved) < 2, "the page jumped"


async def test_an_older_answer_replaces_nothing_and_another_version_is_loaded(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    run = await offered(site, model)
    page, path = tab.page, f"/runs/{run['id']}"
    await page.clock.install()
    await tab.open(path)
    old = (await site.http.get(f"{path}?regions=1", headers={"accept": "text/html"})).text
    await site.call("POST", f"/api{path}/confirm", {"revision": run["offered_revision"]})
    state = page.locator(".state-word")
    await expect(state).to_contain_text("Confirmed")

    answers: list[str] = [old]

    async def answer(route: Route) -> None:
        """The next of `answers`, then what the server says."""
        if answers:
            await route.fulfill(body=answers.pop(), content_type="text/html")
        else:
            await route.continue_()

    await page.route("**/runs/*regions=1*", answer)
    look = "document.dispatchEvent(new Event('visibilitychange'))"
    async with page.expect_request_finished(
        lambda request: "regions=1" in request.url and not answers
    ):
        await page.evaluate(look)
        await expect(state).to_contain_text("Confirmed")
    await expect(state).to_contain_text("Confirmed")

    upgraded = re.sub(r'data-code="/static/\w+/', 'data-code="/static/0/', old)
    answers.append(upgraded)
    await page.evaluate("document.documentElement.dataset.old = 'yes'")
    await page.evaluate(look)
    await expect(page.get_by_text("Redraft was upgraded")).to_be_visible()
    answers.append(upgraded)
    await page.clock.fast_forward("00:02:00")  # nothing is typed here: it is loaded by itself
    await expect(page.locator("[data-old]")).to_have_count(0)
    await expect(page.get_by_text("Redraft was upgraded")).to_be_hidden()
