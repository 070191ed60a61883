"""Pages without script: what a person sees, what the forms do, and how refusals come back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from html import escape

import pytest

from activities import record
from deploy.database import new_id
from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_call, add_run, add_step, add_worker, insert
from workflows.vocabulary import EventType, Reason, RunStatus

HOSTILE = "</script><svg onload=alert(1)>\"'{{9973*9967}}"
UNKNOWN = "01a22906-aafb-7165-a8dc-e62c02c24117"


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def test_a_form_sent_twice_at_once_makes_one_run(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    typed = {"title": "Weekly", "body": "# A\r\n\r\ntext\r\n", "source": "Ana: text"}
    first, second = await asyncio.gather(browser.send(form, **typed), browser.send(form, **typed))
    third = await browser.send(form, **typed)
    assert {first.status_code, second.status_code, third.status_code} == {303}
    assert len({answer.headers["location"] for answer in (first, second, third)}) == 1
    assert await api.pool.fetchval("SELECT count(*) FROM runs") == 1
    assert await api.pool.fetchval("SELECT body FROM revisions") == "# A\n\ntext\n"


async def test_the_same_form_with_other_text_is_refused_and_keeps_the_text(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    assert (await browser.send(form, title="One", body="text")).status_code == 303
    again = await browser.send(form, title="Two", body="other text")
    assert again.status_code == 422
    assert "already sent with other contents" in again.text
    assert "other text" in again.text
    assert await api.pool.fetchval("SELECT count(*) FROM runs") == 1


async def test_what_does_not_fit_is_told_beside_its_field_and_nothing_typed_is_lost(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    answer = await browser.send(
        form, title=" ", body="my <draft>", source="my source", max_rounds="99", pass_score="x"
    )
    assert answer.status_code == 422
    assert 'id="f-title-error">This must not be empty.' in answer.text
    assert 'id="f-max_rounds-error">This number is too large.' in answer.text
    assert 'id="f-pass_score-error">This must be a whole number.' in answer.text
    for typed in ("my &lt;draft&gt;", "my source", 'value="99"', 'value="x"'):
        assert typed in answer.text
    assert await api.pool.fetchval("SELECT count(*) FROM documents") == 0


async def test_interrupt_and_resume_from_the_page(api: Api, browser: Browser) -> None:
    run = await api.run()
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/interrupt")
    assert (await browser.send(form, reason="wrong draft")).headers["location"] == path
    shown = (await browser.open(path)).text
    assert "Interrupted by local." in shown
    assert shown.count("<q><bdi>wrong draft</bdi></q>") == 2  # beside the status, and its event
    form = await browser.form(path, f"{path}/resume")
    assert (await browser.send(form)).status_code == 303
    assert await api.pool.fetchval("SELECT count(*) FROM revisions") == 1  # untouched: no edit
    assert (await api.get(f"/api{path}")).json["status"] == RunStatus.RUNNING


async def test_an_edited_text_is_a_revision_of_the_person_when_the_run_goes_on(
    api: Api, browser: Browser
) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/resume")
    assert (await browser.send(form, body="# Mine\r\n\r\n- all new\r\n")).status_code == 303
    row = await api.pool.fetchrow("SELECT body, author, base FROM revisions WHERE number = 1")
    assert row is not None
    assert dict(row) == {"body": "# Mine\n\n- all new\n", "author": "local", "base": 0}


async def test_a_refused_move_shows_the_run_as_it_is_and_keeps_the_text(
    api: Api, browser: Browser
) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/resume")
    assert (await api.post(f"/api{path}/cancel")).status == 202
    answer = await browser.send(form, body="a long edit")
    assert answer.status_code == 409
    assert "this run has ended for good" in answer.text
    assert "Cancelled" in answer.text
    assert await api.types(run["id"]) == ["run_created", "run_interrupted", "run_cancelled"]


async def test_a_text_changed_by_somebody_else_meanwhile_comes_back_in_the_form(
    api: Api, browser: Browser
) -> None:
    run = await api.run_in(RunStatus.INTERRUPTED)
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/resume")
    other = {"base_revision": 0, "body": "somebody else's"}
    assert (await api.post(f"/api/documents/{run['document_id']}/revisions", other)).status == 201
    answer = await browser.send(form, body="my own edit")
    assert answer.status_code == 409
    assert "Somebody else wrote a newer revision" in answer.text
    assert "my own edit</textarea>" in answer.text


async def test_a_guardrail_is_overridden_only_by_its_box(api: Api, browser: Browser) -> None:
    run = await api.failed_run(Reason.SPINNING)
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/resume")
    refused = await browser.send(form)
    assert refused.status_code == 409
    assert "Tick the override" in refused.text
    wrong = await browser.send(form, override_guardrail="true", max_rounds="99")
    assert wrong.status_code == 422
    assert 'name="override_guardrail" value="true" checked' in wrong.text
    form = await browser.form(path, f"{path}/resume")
    assert (await browser.send(form, override_guardrail="true")).status_code == 303


async def test_confirm_names_the_offered_revision(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/confirm")
    assert form.fields["revision"] == "1"
    stale = await browser.send(form, revision="0", idempotency_key="another")
    assert stale.status_code == 409
    assert "is offered" in stale.text
    assert (await browser.send(form)).status_code == 303
    assert "Confirmed" in (await browser.open(path)).text
    assert await api.pool.fetchval("SELECT count(*) FROM revisions") == 2


async def test_a_score_of_an_older_text_and_a_missing_source_are_said(
    api: Api, browser: Browser
) -> None:
    run = await api.waiting_run()
    await api.pool.execute("UPDATE runs SET score = 38 WHERE id = $1", run["id"])
    step = {"status": "SUCCEEDED", "ended_at": datetime.now(UTC), "input_revision": 0}
    await add_step(api.pool, run["id"], **step)
    queue = (await browser.open("/queue")).text
    assert "score 38 of revision 0" in queue
    assert "offered <time" in queue
    page = (await browser.open(f"/runs/{run['id']}")).text
    assert "The score is that of revision 0." in page
    assert "<dt>Round</dt><dd>1 of 5</dd>" in page
    nothing = "Nothing to check against: only the text itself is reviewed."
    assert nothing not in page
    bare = await api.run(sources=[])
    assert nothing in (await browser.open(f"/runs/{bare['id']}")).text
    assert "Left empty, there is nothing to check against" in (await browser.open("/runs/new")).text


async def test_export_is_the_main_way_on_from_a_confirmed_run(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    path = f"/runs/{run['id']}"
    await browser.send(await browser.form(path, f"{path}/confirm"))
    text = (await browser.open(path)).text
    actions = text.partition('data-region="actions"')[2].partition("<nav")[0]
    main = actions.partition('class="button primary"')[2].partition(">")[0]
    assert "/export?revision=1" in main
    assert actions.count("primary") == 1


async def test_confirm_with_an_edit_confirms_the_edit(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/confirm")
    sent = await browser.send(form, body="the last word", comment="as agreed <1>")
    assert sent.status_code == 303
    body = await api.pool.fetchval(
        "SELECT body FROM revisions v JOIN runs r ON r.document_id = v.document_id "
        "AND r.offered_revision = v.number"
    )
    assert body == "the last word"
    for page in (path, f"/documents/{run['document_id']}"):
        assert "<bdi>as agreed &lt;1&gt;</bdi>" in (await browser.open(page)).text


async def test_reject_and_a_new_run_of_the_document(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    path, document = f"/runs/{run['id']}", f"/documents/{run['document_id']}"
    assert (
        await browser.send(await browser.form(path, f"{path}/reject"), comment="no")
    ).status_code == 303
    started = await browser.send(
        await browser.form(document, f"{document}/runs"), base_revision="0"
    )
    assert started.status_code == 303
    new = (await api.get(f"/api{started.headers['location']}")).json
    assert (new["status"], new["base_revision"]) == (RunStatus.RUNNING, 0)


async def test_an_offered_text_is_sent_back_with_what_to_change(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    path = f"/runs/{run['id']}"
    form = await browser.form(path, f"{path}/rework")
    empty = await browser.send(form, comment=" ")
    assert empty.status_code == 422
    assert (await browser.send(form, comment="say who", extra_rounds="1")).status_code == 303
    now = (await api.get(f"/api/runs/{run['id']}")).json
    assert (now["status"], now["max_rounds"], now["open_issues"]) == ("RUNNING", 2, 1)
    shown = (await browser.open(path)).text
    why = "Sent back for rework, further rounds at most: 1"
    assert shown.count(why) == 2  # in the timeline, and its event
    assert "sent back after round 1: at most 1 more" in shown


async def test_deleting_asks_first(api: Api, browser: Browser) -> None:
    run = await api.run()
    document = f"/documents/{run['document_id']}"
    form = await browser.form(document, f"{document}/delete")
    assert (await browser.send(form)).status_code == 422
    assert (await browser.send(form, confirm="yes")).status_code == 200
    for path in (document, f"/runs/{run['id']}"):
        gone = await browser.open(path)
        assert gone.status_code == 404
        assert "There is nothing at this address." in gone.text


async def test_hostile_titles_texts_and_names_are_shown_as_text(api: Api, browser: Browser) -> None:
    source = {"name": HOSTILE, "media_type": "text/plain", "text": HOSTILE}
    body = f"# {HOSTILE}\n\n![x](https://attacker.example/)\n"
    run = await api.run(title=HOSTILE, body=body, sources=[source], tags=[HOSTILE[:60]])
    await _issue(api, run["id"])
    for path in ("/runs", f"/runs/{run['id']}", f"/documents/{run['document_id']}?revision=0"):
        text = (await browser.open(path)).text
        assert "<svg onload" not in text
        assert "<img" not in text
        assert str(9973 * 9967) not in text  # a template in a template would have computed it
        assert escape("</script>") in text


async def _issue(api: Api, run_id: str) -> None:
    await api.pool.execute(
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote, problem,
            suggestion, evidence, raised_by, raised_round, seen_round, revision, status)
        VALUES (gen_random_uuid(), $1, 1, 'f', $2, 'major', $2, $2, $2, '["T1"]', $2, 1, 1, 0,
            'open')
        """,
        run_id,
        HOSTILE,
    )


async def test_every_page_says_when_nothing_works_or_is_taken(api: Api, browser: Browser) -> None:
    assert "No worker is alive." in (await browser.open("/")).text
    answer = await api.call("PUT", "/api/switches", {"draining": True, "note": "back at <9>"})
    assert answer.status == 200
    for path in ("/", "/runs/new", "/help"):
        text = (await browser.open(path)).text
        assert "No new work is taken." in text
        assert "back at &lt;9&gt;" in text
        assert "Simulated model." not in text
    form = await browser.form("/runs/new", "/runs/new")
    refused = await browser.send(form, title="A", body="b")
    assert refused.status_code == 503
    assert "takes no new work" in refused.text


async def test_the_list_filters_searches_and_pages(api: Api, browser: Browser) -> None:
    for number in range(51):
        await api.run(title=f"Number {number:02}")
    await api.failed_run()
    first = await browser.open("/runs?status=RUNNING")
    assert "Number 50" in first.text
    assert "Number 00" not in first.text
    assert "Weekly" not in first.text
    following = first.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    second = await browser.open(following)
    assert "Number 00" in second.text
    assert "Number 50" not in second.text
    assert "Number 07" in (await browser.open("/runs?q=number+07")).text
    assert "No run matches all of these filters." in (await browser.open("/runs?q=nothing")).text
    assert (await browser.open("/runs?cursor=bad")).status_code == 400


async def test_unknown_addresses_are_pages_for_browsers_and_problems_for_programs(
    api: Api, browser: Browser
) -> None:
    for path in ("/nowhere", f"/runs/{UNKNOWN}", "/runs/none", f"/documents/{UNKNOWN}?revision=9"):
        page = await browser.open(path)
        assert page.status_code == 404, path
        assert 'href="/runs"' in page.text
        problem = await api.get(path)
        assert (problem.status, problem.code) == (404, "not_found"), path
    assert (await browser.open("/api/nowhere")).headers["content-type"] == (
        "application/problem+json"
    )


async def test_pages_carry_the_headers_that_keep_foreign_things_out(
    api: Api, browser: Browser
) -> None:
    run = await api.run()
    page = await browser.open(f"/runs/{run['id']}")
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"  # else a form's Origin is `null`
    script = page.text.partition('<script type="module" src="')[2].partition('"')[0]
    served = await browser.open(script)
    assert served.headers["content-type"].startswith("text/javascript")
    assert "immutable" in served.headers["cache-control"]
    other = await browser.open(f"/static/0/{script.rpartition('/')[2]}")
    assert other.headers["cache-control"] == "no-store"  # what another version asked for
    form = await browser.form(f"/runs/{run['id']}", f"/runs/{run['id']}/interrupt")
    foreign = await api.client.post(
        form.action, data=form.fields, headers={"origin": "https://attacker.example"}
    )
    assert foreign.status_code == 403
    assert (await api.get(f"/api/runs/{run['id']}")).json["status"] == RunStatus.RUNNING


async def test_the_live_part_is_the_same_as_the_page(api: Api, browser: Browser) -> None:
    run = await api.waiting_run()
    whole = (await browser.open(f"/runs/{run['id']}")).text
    part = (await browser.open(f"/runs/{run['id']}?regions=1")).text
    assert "<html" not in part
    for region in ("state", "actions", "output", "steps", "issues", "changes", "text", "calls"):
        assert f'data-region="{region}"' in part
        assert f'data-region="{region}"' in whole
    assert "http-equiv" not in whole  # it waits for a person: nothing to reload for
    live = (await browser.open(f"/runs/{(await api.run())['id']}")).text
    assert '<noscript><meta http-equiv="refresh"' in live


async def test_a_signal_from_temporal_is_named_as_what_stopped_the_run(
    api: Api, browser: Browser
) -> None:
    run = await api.run()
    async with api.pool.acquire() as connection, connection.transaction():
        await record.move(
            connection,
            run["id"],
            record.Move(
                event=EventType.RUN_INTERRUPTED,
                actor="temporal",
                from_=RunStatus.RUNNING,
                reason=Reason.OPERATOR,
                params={"by": "signal"},
            ),
        )
    text = (await browser.open(f"/runs/{run['id']}")).text
    assert "Interrupted by a signal from Temporal." in text


async def test_what_an_open_call_writes_and_has_kept_is_shown_as_text(
    api: Api, browser: Browser
) -> None:
    run_id = await add_run(api.pool)
    await add_worker(api.pool)
    step = await add_step(api.pool, run_id, input_revision=0)
    call = await add_call(api.pool, run_id, step, partial_text=f'{{"items": {HOSTILE}')
    payloads = [
        {"severity": "<b>", "problem": HOSTILE, "quote": 7, "category": None},
        {"find": HOSTILE, "replace": "right"},
        {"anything": [HOSTILE]},
    ]
    for position, payload in enumerate(payloads):
        await insert(
            api.pool,
            "step_items",
            id=new_id(),
            plan_id=step[1],
            part="all",
            key=f"<i>{position}",
            position=position,
            payload=payload,
            step_id=step[0],
            call_id=call,
        )
    try:
        text = (await browser.open(f"/runs/{run_id}")).text
        assert "3 items are kept and will not be asked for again." in text
        assert "&lt;i&gt;2" in text
        assert "inserted: </span>right" in text
        for hostile in ("<svg onload", "<b>", "<i>"):
            assert hostile not in text
        assert (await browser.open(f"/calls/{call}")).status_code == 200
    finally:
        await api.pool.execute("DELETE FROM workers")
