"""What the review's script keeps while somebody types, and who else is told to be there."""

from __future__ import annotations

import httpx2
import pytest

from tests.api.harness import Api
from tests.api.test_review import press, waiting
from tests.pages.forms import Browser
from tests.read_rows import insert


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def _typed(browser: Browser, run: str, **fields: str) -> httpx2.Response:
    form = await browser.form(f"/runs/{run}/review?at=0", f"/runs/{run}/review")
    data = {**form.fields, **fields}
    headers = {"accept": "application/json"}
    return await browser.client.post(f"{form.action}/typed", data=data, headers=headers)


async def test_a_comment_that_is_being_typed_is_kept_with_its_passage(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    kept = await _typed(browser, run, say="Who sa")
    assert (kept.status_code, kept.json()) == (200, {"version": 1})
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert draft["notes"]["pending"] == {"quote": "# Minutes", "text": "Who sa"}
    again = await _typed(browser, run, say="Who said so?", version="1")
    assert again.json() == {"version": 2}
    older = await _typed(browser, run, say="Other", version="1")
    assert older.status_code == 409
    assert older.json()["code"] == "stale_base"
    taken_back = await _typed(browser, run, say="", version="2")
    assert taken_back.json() == {"version": 3}
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert draft["notes"].get("pending") is None


async def test_what_does_not_fit_is_no_page_for_the_script(api: Api, browser: Browser) -> None:
    run, _ = await waiting(api)
    answer = await _typed(browser, run, extra_rounds="99")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


async def test_somebody_else_who_typed_lately_is_named(api: Api, browser: Browser) -> None:
    run, document = await waiting(api)
    row = {"document_id": document, "base_revision": 1, "body": "mine"}
    await insert(api.pool, "review_drafts", principal="Li Na", **row)
    await press(browser, run, "save", instructions="shorter")  # one's own draft is nobody else
    page = (await browser.open(f"/runs/{run}/review")).text
    assert page.count("is at this review too") == 1
    assert "Li Na is at this review too." in page
    await api.pool.execute(
        "UPDATE review_drafts SET updated_at = now() - interval '1 hour' WHERE principal = 'Li Na'"
    )
    assert "is at this review too" not in (await browser.open(f"/runs/{run}/review")).text
