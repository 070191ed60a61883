"""The form of a new run where the minutes are to be drafted."""

from __future__ import annotations

import pytest

from tests.api.harness import Api
from tests.pages.forms import Browser


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def test_minutes_without_a_text_are_drafted_by_the_template_that_is_chosen(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    typed = {"title": "Monday", "source": "Ana: we ship on Friday.", "body": " \n"}
    answer = await browser.send(form, **typed, **{"attribute-template": "decision-log"})
    assert answer.status_code == 303
    [row] = await api.pool.fetch(
        "SELECT r.stage, d.attributes FROM runs r JOIN documents d ON d.id = r.document_id"
    )
    assert (row["stage"], row["attributes"]) == ("draft", {"template": "decision-log"})


async def test_what_cannot_be_drafted_is_told_beside_its_field(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    page = (await browser.open("/runs/new")).text
    assert 'value="project-meeting" title="Summary, Status, ' in page
    answer = await browser.send(form, title="M", source="…", body="")
    assert answer.status_code == 422
    assert 'id="f-source-error">There is no word in this source.' in answer.text
    answer = await browser.send(
        form, title="M", source="Ana: x", body="", **{"attribute-template": "haiku"}
    )
    assert "There is no template" in answer.text
    assert await api.pool.fetchval("SELECT count(*) FROM documents") == 0
