"""Pages for whoever runs it: waivers, prices, the log of calls."""

from __future__ import annotations

import pytest

from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_issue, add_step


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def test_an_issue_is_waived_with_a_reason_and_can_stand_again(
    api: Api, browser: Browser
) -> None:
    run = await api.run()
    issue = await add_issue(api.pool, run["id"], 1)
    path, action = f"/runs/{run['id']}", f"/runs/{run['id']}/issues/{issue}"
    form = await browser.form(path, action)
    refused = await browser.send(form, waive_reason=" ")
    assert refused.status_code == 422
    assert 'id="v1-waive_reason-error">This must not be empty.' in refused.text
    form = await browser.form(path, action)
    sent = await browser.send(form, waive_reason="It was said <later>")
    assert (sent.status_code, sent.headers["location"]) == (303, f"{path}#I1")
    row = await api.pool.fetchrow("SELECT status, waived_reason FROM issues WHERE id = $1", issue)
    assert row is not None
    assert dict(row) == {"status": "waived", "waived_reason": "It was said <later>"}
    assert "It was said &lt;later&gt;" in (await browser.open(path)).text
    form = await browser.form(path, action)
    assert (await browser.send(form)).status_code == 303
    assert await api.pool.fetchval("SELECT status FROM issues WHERE id = $1", issue) == "open"
    assert (await api.post(f"/api/runs/{run['id']}/cancel", {})).status == 202
    assert action not in (await browser.open(path)).text


async def test_prices_are_shown_with_their_days_and_the_log_names_the_runs(
    api: Api, browser: Browser
) -> None:
    tables = [
        {"from": "2025-01-01", "input": "3", "output": "12"},
        {"from": "2026-02-01", "input": "1.25", "cached": "0.1", "output": "10"},
        {"from": "2999-01-01", "input": "9", "output": "9"},
    ]
    body = {"name": "dated", "model": "m", "prices": {"currency": "EUR", "tables": tables}}
    assert (await api.post("/api/profiles", body)).status == 201
    text = " ".join((await browser.open("/settings")).text.split())
    assert "€1.25 in, €10.00 out per million tokens, €0.1000 cached from 2026-02-01 (now)" in text
    assert "€3.00 in, €12.00 out per million tokens from 2025-01-01</span>" in text
    run = await api.run()
    step = await add_step(api.pool, run["id"])
    call = await add_call(api.pool, run["id"], step)
    await api.pool.execute("UPDATE runs SET calls = 1 WHERE id = $1", run["id"])
    assert ">unknown<" not in (await browser.open(f"/runs/{run['id']}")).text
    named = f'<a href="/runs/{run["id"]}#calls"><bdi>{run["title"]}</bdi></a>'
    assert named in (await browser.open("/calls")).text
    assert f"<bdi>{run['title']}</bdi></a>" in (await browser.open(f"/calls/{call}")).text
