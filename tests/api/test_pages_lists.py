"""The overview and the list of runs: what they say, what they refuse, many runs at once."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.pages.bulk import FREELY
from api.queries.console import waste
from tests.api.harness import Api, serving, settings_for, with_profile
from tests.pages.forms import Browser
from tests.read_rows import (
    add_call,
    add_document,
    add_ended_run,
    add_issue,
    add_run,
    add_step,
    add_worker,
)
from tests.services import PostgresServer
from workflows.vocabulary import RunStatus

NOW = datetime.now(UTC)


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def _runs(api: Api, number: int, **values: Any) -> list[str]:
    return [
        await add_run(api.pool, await add_document(api.pool, title=f"Number {n}"), **values)
        for n in range(number)
    ]


def _words(page: str) -> str:
    return " ".join(page.split())


async def test_the_overview_names_who_waits_what_runs_and_what_is_in_trouble(
    api: Api, browser: Browser
) -> None:
    await add_worker(api.pool, "gone", silent_for=60)
    waiting = await add_run(api.pool, status="AWAITING_CONFIRMATION", reason_code="passed")
    (lost,) = await _runs(api, 1)
    await add_step(api.pool, lost, worker="gone")
    done = await add_ended_run(api.pool, RunStatus.CONFIRMED, seconds_running=65)
    await add_issue(api.pool, done, 1, status="fixed", fixed_round=1)
    page = _words((await browser.open("/")).text)
    assert "1 waiting for you, 1 running, 1 in trouble" in page
    parts = page.split("<section ")
    assert f"/runs/{waiting}" in next(part for part in parts if 'id="needs-you"' in part)
    assert f"/runs/{lost}" in next(part for part in parts if 'id="trouble"' in part)


async def test_the_list_says_how_long_a_run_was_at_work_without_its_waits_for_a_person(
    api: Api, browser: Browser
) -> None:
    day: dict[str, Any] = {
        "started_at": NOW - timedelta(days=1),
        "created_at": NOW - timedelta(days=1),
    }
    done = await add_ended_run(api.pool, RunStatus.CONFIRMED, seconds_running=65, **day)
    since = NOW - timedelta(seconds=20)
    working = await add_run(api.pool, **day, seconds_running=40, running_since=since)
    rows = _words((await browser.open("/runs")).text).split('<tr id="r-')
    told = {run: next(row for row in rows if row.startswith(run)) for run in (done, working)}
    assert 'data-label="Time at work"><span>1:05</span>' in told[done]
    shown = (NOW - timedelta(seconds=60)).isoformat(timespec="milliseconds")
    assert f'<span data-since="{shown.replace("+00:00", "Z")}">' in told[working]


async def test_a_run_that_stands_still_says_since_when(api: Api, browser: Browser) -> None:
    still, quiet = await _runs(api, 2)
    await api.pool.execute(
        "UPDATE runs SET last_progress_at = now() - interval '1 hour' WHERE id = ANY ($1)",
        [still, quiet],
    )
    await api.pool.execute(
        "UPDATE runs SET retry_at = now() + interval '1 hour' WHERE id = $1", quiet
    )
    page = (await browser.open("/runs")).text
    marked = [row for row in page.split("<tr ") if "no progress since" in row]
    assert [still in row for row in marked] == [True]  # the other one waits for its next try


@pytest.mark.parametrize("asked", ["status=NOPE", "phase=asleep", "from=yesterday", "colour=red"])
async def test_what_the_address_says_and_nobody_knows_is_said_and_not_left_out(
    api: Api, browser: Browser, asked: str
) -> None:
    await _runs(api, 1)
    answer = await browser.open(f"/runs?{asked}&kind=minutes")
    assert answer.status_code == 422
    assert asked.partition("=")[2] in answer.text
    assert "is not known, so nothing is shown" in answer.text
    assert "Number 0" not in answer.text
    assert 'href="/runs?kind=minutes">Leave it out' in answer.text


async def test_an_empty_list_names_the_filter_that_removes_everything(
    api: Api, browser: Browser
) -> None:
    await _runs(api, 2, tags=["board"])
    page = _words((await browser.open("/runs?tag=board&actor=nobody-here")).text)
    assert '<a href="/runs?actor=nobody-here">Without “Tag”</a>: 0 runs' in page
    assert '<a href="/runs?tag=board">Without “Started by”</a>: 2 runs' in page


async def test_pages_of_the_list_lead_both_ways_and_miss_nobody(api: Api, browser: Browser) -> None:
    ids = [run for run in await _runs(api, 104)][::-1]

    def listed(page: str) -> list[str]:
        return [part.partition('"')[0] for part in page.split('<tr id="r-')[1:]]

    def beside(page: str, rel: str) -> str:
        found = page.partition(f'rel="{rel}" href="')[2].partition('"')[0]
        return found.replace("&amp;", "&")

    first = (await browser.open("/runs")).text
    second = (await browser.open(beside(first, "next"))).text
    third = (await browser.open(beside(second, "next"))).text
    assert listed(first) + listed(second) + listed(third) == ids
    assert (beside(first, "prev"), beside(third, "next")) == ("", "")
    assert listed((await browser.open(beside(third, "prev"))).text) == listed(second)
    back = (await browser.open(beside(second, "prev"))).text
    assert listed(back) == listed(first)
    assert not beside(back, "prev")


async def test_many_runs_are_moved_after_their_number_was_written(
    api: Api, browser: Browser
) -> None:
    runs = await _runs(api, FREELY + 1)
    waiting = await add_run(api.pool, status="AWAITING_CONFIRMATION")
    path = "/runs/bulk?action=interrupt&all=1"
    form = await browser.form(path, "/runs/bulk")
    refused = await browser.send(form, written="20")
    assert refused.status_code == 422
    assert "Write 21 to confirm" in refused.text
    assert await api.pool.fetchval("SELECT count(*) FROM runs WHERE status = 'RUNNING'") == 21
    done = await browser.send(await browser.form(path, "/runs/bulk"), written="21", reason="fire")
    assert "21 runs were interrupted." in done.text
    assert all(f"/runs/{run}" in done.text for run in runs)
    assert waiting not in done.text
    again = await browser.open(path)
    assert "None of them can be moved this way now." in again.text


async def test_only_moves_that_fit_a_run_are_offered_for_many(api: Api, browser: Browser) -> None:
    await add_run(api.pool, status="INTERRUPTED")
    ended = await add_ended_run(api.pool, RunStatus.CANCELLED)
    page = (await browser.open("/runs")).text
    assert re.findall(r'<button( hidden|)[^>]* name="action" value="(\w+)"', page) == [
        (" hidden", "interrupt"),
        ("", "resume"),
        ("", "cancel"),
    ]
    assert f'id="p-{ended}" data-moves=""' in page
    assert "action=resume&amp;all=1" in page
    assert "action=interrupt&amp;all=1" not in page


async def test_a_selection_says_what_became_of_each(api: Api, browser: Browser) -> None:
    running = (await api.run())["id"]
    ended = await add_ended_run(api.pool, RunStatus.CANCELLED)
    path = f"/runs/bulk?action=cancel&id={running}&id={ended}&id=nonsense"
    page = await browser.open(path)
    assert "1 run will be cancelled for good." in page.text
    done = await browser.send(await browser.form(path, "/runs/bulk"))
    assert "1 run was cancelled. 1 run was not moved" in _words(done.text)
    assert "this run has ended for good" in done.text


async def test_the_switch_keeps_new_work_away_and_says_so_on_every_page(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs", "/switches/draining")
    sent = await browser.send(form, note="moving to <new> disks")
    assert sent.status_code == 303
    page = (await browser.open("/")).text
    assert "No new work is taken." in page
    assert "moving to &lt;new&gt; disks" in page
    back = await browser.form("/runs", "/switches/draining")
    assert back.fields["draining"] == "false"
    assert (await browser.send(back)).status_code == 303
    assert "No new work is taken." not in (await browser.open("/")).text


async def test_lists_stay_readable_with_their_age_while_the_database_is_away(
    postgres: PostgresServer,
) -> None:
    url = await postgres.clone()
    async with serving(settings_for(url)) as api:
        browser = Browser((await with_profile(api)).client)
        await api.run(title="Known before")
        for path in ("/", "/runs"):
            assert (await browser.open(path)).status_code == 200
        await api.pool.close()
        for path in ("/", "/runs"):
            page = await browser.open(path)
            assert page.status_code == 503
            assert "Known before" in page.text
            assert "What you see is what was known" in page.text
        never = await browser.open("/runs?q=never-asked")
        assert never.status_code == 503
        assert "./redraft doctor" in never.text
    await postgres.drop(url)


async def test_what_was_paid_in_vain_is_told_by_kind(api: Api, browser: Browser) -> None:
    run = (await api.run())["id"]
    step = await add_step(api.pool, run, status="FAILED", reason_code="interrupted", ended_at=NOW)
    for number, status, kept, out in (
        (1, "LOST", 0, 100),
        (2, "LOST", 2, 300),
        (3, "CANCELLED", 0, 10),
        (4, "CANCELLED", 3, 1000),
        (5, "SUCCEEDED", 1, 5000),
        (6, "CANCELLED", 0, 20),
    ):
        ended = {"status": status, "items_kept": kept, "ended_at": NOW, "number": number}
        await add_call(api.pool, run, step, tokens_input=7, tokens_output=out, **ended)
    found = await waste(api.pool, run)
    assert {kind: one.tokens for kind, one in found.items()} == {
        "lost": 107,
        "repeated": 17,
        "unkept": 27,
        "saved": 1300,
    }
    page = _words((await browser.open(f"/runs/{run}")).text)
    assert "was not asked again so far" in page
    assert "Paid in vain, and saved" in page
    assert "≈ 1,300" in page


async def test_a_run_is_forked_and_begun_again_from_any_of_its_texts(
    api: Api, browser: Browser
) -> None:
    run = await api.waiting_run()
    path = f"/runs/{run['id']}"
    forked = await browser.send(await browser.form(path, f"{path}/fork"), revision="0")
    assert forked.status_code == 303
    assert forked.headers["location"].startswith("/documents/")
    assert run["document_id"] not in forked.headers["location"]
    assert (await api.post(f"/api/runs/{run['id']}/cancel", {})).status == 202
    again = await browser.send(await browser.form(path, f"{path}/again"), base_revision="0")
    assert again.status_code == 303
    new = (await api.get(f"/api{again.headers['location']}")).json
    assert (new["document_id"], new["base_revision"]) == (run["document_id"], 0)
    refused = await browser.send(await browser.form(path, f"{path}/again"), base_revision="0")
    assert refused.status_code == 409
    assert again.headers["location"] in refused.text
    lead = await browser.open(f"{path}/timeline")
    assert lead.headers["location"] == f"{path}#timeline"
