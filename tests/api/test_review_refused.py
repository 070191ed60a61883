"""Buttons of the review that have nothing to send."""

from __future__ import annotations

import pytest

from tests.api.harness import Api
from tests.api.test_review import press, waiting
from tests.pages.forms import Browser


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


@pytest.mark.parametrize("do", ["rework", "confirm-mine", "store"])
async def test_an_emptied_text_is_refused_beside_its_field(
    api: Api, browser: Browser, do: str
) -> None:
    run, _ = await waiting(api)
    answer = await press(browser, run, do, edit=" ", instructions="more")
    assert answer.status_code == 422
    assert 'id="f-edit-error"' in answer.text


async def test_my_edits_that_are_none_are_not_confirmed(api: Api, browser: Browser) -> None:
    run, document = await waiting(api)
    change = {"from": 0, "to": 1, "hunk": 99}
    notes = {"decisions": [{"change": change, "accept": False}]}
    path = f"/api/documents/{document}/draft"
    saved = await api.call("PUT", path, {"base_revision": 1, "body": None, "notes": notes})
    assert saved.status == 200
    answer = await press(browser, run, "confirm-mine")
    assert answer.status_code == 422
    assert "Nothing was confirmed." in answer.text
    assert (await api.get(f"/api/runs/{run}")).json["status"] == "AWAITING_CONFIRMATION"
