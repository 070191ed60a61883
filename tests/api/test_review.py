"""The review without script: one form whose buttons all keep what was typed."""

from __future__ import annotations

import asyncio
import re
from html import escape
from typing import Any

import pytest

from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_document, add_ended_run, add_issue, add_revision, add_run
from workflows.vocabulary import RunStatus

HOSTILE = "</script><svg onload=alert(1)>\"'{{9973*9967}}"
OLD = "# Minutes\n\n- The box is bleu.\n\nAna said so.\n\n- We ship on Monday.\n"
NEW = "# Minutes\n\n- The box is blue.\n\nAna said so.\n\n- We ship on Friday.\n"


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def waiting(api: Api, old: str = OLD, new: str = NEW, **values: Any) -> tuple[str, str]:
    """A run that offers revision 1, and its document."""
    document = await add_document(api.pool, old)
    await add_revision(api.pool, document, 1, new, base=0)
    values = {"working_revision": 1, "best_revision": 1, "current_round": 1, **values}
    run = await add_run(
        api.pool, document, status="AWAITING_CONFIRMATION", offered_revision=1, **values
    )
    return run, document


async def press(browser: Browser, run: str, do: str, query: str = "", **typed: Any) -> Any:
    form = await browser.form(f"/runs/{run}/review{query}", f"/runs/{run}/review")
    return await browser.send(form, do=do, **typed)


async def test_confirm_names_the_revision_and_leads_to_the_run(api: Api, browser: Browser) -> None:
    run, _ = await waiting(api)
    page = (await browser.open(f"/runs/{run}/review")).text
    assert "Confirm revision 1" in page
    assert "If nobody decides" not in page  # there is no deadline
    assert "it waits until somebody decides" in page
    answer = await press(browser, run, "confirm", comment="looks right")
    assert answer.headers["location"] == f"/runs/{run}"
    assert (await api.get(f"/api/runs/{run}")).json["status"] == "CONFIRMED"
    after = (await browser.open(f"/runs/{run}/review")).text
    assert "looks right" in after
    assert 'value="confirm"' not in after
    assert await api.pool.fetchval("SELECT bool_and(dropped_at < now()) FROM review_drafts")


async def test_a_rejected_change_comes_back_and_the_rest_is_confirmed(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    assert (await press(browser, run, "refuse:4.3")).status_code == 303
    page = (await browser.open(f"/runs/{run}/review")).text
    assert "rejected: the older text comes back" in page
    assert "Confirm with my edits" in page
    assert (await press(browser, run, "confirm-mine")).status_code == 303
    found = (await api.get(f"/api/documents/{document}/revisions/2")).json
    assert found["body"] == NEW.replace("Friday", "Monday")
    assert (found["author"], found["base"]) == ("local", 1)
    assert (await api.get(f"/api/runs/{run}")).json["offered_revision"] == 2


async def test_comments_locks_and_decisions_go_with_one_more_round(
    api: Api, browser: Browser
) -> None:
    run, _ = await waiting(api)
    await press(browser, run, "comment:1", say="Which blue?")
    await press(browser, run, "lock:2")
    await press(browser, run, "refuse:3.3", instructions="Be brief.")
    page = (await browser.open(f"/runs/{run}/review")).text
    assert "Which blue?" in page
    assert "will be locked" in page
    answer = await press(browser, run, "rework", extra_rounds="3")
    assert answer.headers["location"] == f"/runs/{run}"
    row = await api.pool.fetchrow("SELECT status, max_rounds, instructions FROM runs")
    assert row is not None
    assert dict(row) == {"status": "RUNNING", "max_rounds": 4, "instructions": "Be brief."}
    comment = await api.pool.fetchrow("SELECT quote, text FROM comments")
    assert comment is not None
    assert dict(comment) == {"quote": "- The box is blue.", "text": "Which blue?"}
    locks = await api.pool.fetch("SELECT quote FROM locks ORDER BY quote")
    assert [row["quote"] for row in locks] == ["- We ship on Monday.", "Ana said so."]
    assert await api.pool.fetchval("SELECT accept FROM decisions") is False
    assert await api.pool.fetchval("SELECT body FROM revisions WHERE number = 2") == NEW.replace(
        "Friday", "Monday"
    )


async def test_a_round_without_a_word_is_refused_beside_its_field(
    api: Api, browser: Browser
) -> None:
    run, _ = await waiting(api)
    answer = await press(browser, run, "rework")
    assert answer.status_code == 422
    assert 'id="f-instructions-error"' in answer.text
    assert (await api.get(f"/api/runs/{run}")).json["status"] == "AWAITING_CONFIRMATION"


async def test_an_edited_text_is_kept_by_every_button_and_can_be_sent_back(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    mine = NEW.replace("blue", "dark blue")
    await press(browser, run, "show", edit=mine.replace("\n", "\r\n"))
    page = (await browser.open(f"/runs/{run}/review?to=mine&from=1")).text
    assert "dark " in page
    assert "with your edits" in page
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert (draft["body"], draft["base_revision"]) == (mine, 1)
    assert (await press(browser, run, "rework", instructions="check the colour")).status_code == 303
    assert (await api.get(f"/api/documents/{document}/revisions/2")).json["body"] == mine
    assert (await api.get(f"/api/runs/{run}")).json["working_revision"] == 2
    assert (await api.get(f"/api/documents/{document}/draft")).status == 404


async def test_of_two_people_the_second_reads_what_the_first_decided_and_loses_nothing(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    forms = [await browser.form(f"/runs/{run}/review", f"/runs/{run}/review") for _ in range(3)]
    mine = NEW.replace("blue", "navy")
    answers = await asyncio.gather(
        browser.send(forms[0], do="confirm", comment="mine first"),
        browser.send(forms[1], do="confirm", comment="mine first"),
    )
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    late = await browser.send(forms[2], do="confirm-mine", edit=mine, comment="I was late")
    assert late.status_code == 409
    assert "this run has ended for good" in late.text
    assert "mine first" in late.text  # what the first one said
    assert "I was late" in late.text
    assert "navy" in late.text
    stored = await press(browser, run, "store", edit=mine)
    assert stored.status_code == 303
    assert (await api.get(f"/api/documents/{document}/revisions/2")).json["body"] == mine
    assert (await api.get(f"/api/runs/{run}")).json["offered_revision"] == 1


async def test_an_offer_that_changed_meanwhile_is_not_confirmed_unseen(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    form = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
    other = {"base_revision": 1, "body": "somebody else's\n"}
    assert (await api.post(f"/api/documents/{document}/revisions", other)).status == 201
    answer = await browser.send(form, do="confirm-mine", edit="my own\n")
    assert answer.status_code == 409
    assert "Nothing was confirmed: revision 2 is offered, not 1." in answer.text
    assert "your draft was made from revision 1" in answer.text
    assert "my own" in answer.text
    assert (await press(browser, run, "rebase")).status_code == 303
    assert (await press(browser, run, "confirm-mine")).status_code == 303
    assert (await api.get(f"/api/documents/{document}/revisions/3")).json["body"] == "my own\n"


async def test_a_comment_not_added_yet_comes_back_in_its_field_and_goes_with_a_round(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    issue = await add_issue(api.pool, run, 1, quote="The box is blue", problem="Says who?")
    form = await browser.form(f"/runs/{run}/review?at=2", f"/runs/{run}/review")
    fields = {"say": "Which Ana?", f"waive-{issue}": "He did."}
    assert (await browser.send(form, do=f"waive:{issue}", **fields)).is_redirect
    page = (await browser.open(f"/runs/{run}/review")).text
    assert "Which Ana?</textarea>" in page
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert draft["notes"]["pending"] == {"quote": "Ana said so.", "text": "Which Ana?"}
    assert (await press(browser, run, "rework", "?view=text")).status_code == 303
    rows = await api.pool.fetch("SELECT quote, text FROM comments WHERE run_id = $1", run)
    assert ("Ana said so.", "Which Ana?") in [(row["quote"], row["text"]) for row in rows]
    assert (await api.get(f"/api/documents/{document}/draft")).status == 404


async def test_beside_another_passage_what_was_typed_is_added_and_close_takes_it_back(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    await press(browser, run, "at:4", "?at=2", say="Which Ana?")
    await press(browser, run, "save", "?at=4", say="A typo")
    await press(browser, run, "at", say="A typo")
    notes = (await api.get(f"/api/documents/{document}/draft")).json["notes"]
    assert notes == {"comments": [{"quote": "Ana said so.", "text": "Which Ana?"}]}


@pytest.mark.parametrize(
    ("do", "typed"),
    [
        ("confirm", {"comment": "fine"}),
        ("confirm-mine", {"edit": "mine\n"}),
        ("rework", {"instructions": "shorter"}),
        ("reject", {"reject_comment": "no", "comment": "typed"}),
        ("store", {"edit": "stored\n"}),
    ],
)
async def test_a_double_click_brings_nothing_back_that_was_sent(
    api: Api, browser: Browser, do: str, typed: dict[str, str]
) -> None:
    run, document = await waiting(api)
    form = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
    answers = await asyncio.gather(*(browser.send(form, do=do, **typed) for _ in range(2)))
    late = await browser.send(form, do=do, **typed)
    assert {answer.status_code for answer in (*answers, late)} == {303}
    assert (await api.get(f"/api/documents/{document}/draft")).status == 404


async def test_what_a_decision_does_not_send_stays_the_draft(api: Api, browser: Browser) -> None:
    run, document = await waiting(api)
    await press(browser, run, "comment:2", say="Which Ana?")
    answer = await press(browser, run, "reject", edit="typed for an hour\n")
    assert answer.status_code == 303
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert draft["body"] == "typed for an hour\n"
    assert draft["notes"] == {"comments": [{"quote": "Ana said so.", "text": "Which Ana?"}]}


async def test_an_older_tab_throws_nothing_away_that_was_saved_since(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    await press(browser, run, "save", edit="first\n")
    older = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
    await press(browser, run, "save", edit="typed for an hour\n")
    for do in ("discard", "confirm-mine", "rework", "reject", "confirm"):
        answer = await browser.send(older, do=do, instructions="x")
        assert answer.status_code == 409
        draft = (await api.get(f"/api/documents/{document}/draft")).json
        assert draft["body"] == "typed for an hour\n"
    assert (await press(browser, run, "discard")).status_code == 303
    assert (await api.get(f"/api/documents/{document}/draft")).status == 404


async def test_an_autosave_beside_a_confirmation_is_sent_kept_or_told(
    api: Api, browser: Browser
) -> None:
    """Whoever comes first: no save is answered with 200 and gone afterwards."""
    for _ in range(6):
        run, document = await waiting(api)
        path = f"/api/documents/{document}/draft"
        await press(browser, run, "save", edit="v1\n")
        form = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
        save = {"base_revision": 1, "version": 1, "body": "v2\n"}
        sent, saved = await asyncio.gather(
            browser.send(form, do="confirm-mine"), api.call("PUT", path, save)
        )
        assert (sent.status_code, saved.status) in {(303, 409), (409, 200)}
        if saved.status == 200:
            assert (await api.get(path)).json["body"] == "v2\n"


async def test_a_text_of_an_older_base_is_not_stored_over_a_newer_one(
    api: Api, browser: Browser
) -> None:
    run, document = await waiting(api)
    form = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
    other = {"base_revision": 1, "body": "somebody else's\n"}
    assert (await api.post(f"/api/documents/{document}/revisions", other)).status == 201
    answer = await browser.send(form, do="store", edit="mine of revision 1\n")
    assert answer.status_code == 409
    assert (await api.get(f"/api/runs/{run}")).json["offered_revision"] == 2
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert (draft["body"], draft["base_revision"]) == ("mine of revision 1\n", 1)
    await press(browser, run, "rebase")
    assert (await press(browser, run, "store")).status_code == 303
    assert (await api.get(f"/api/runs/{run}")).json["offered_revision"] == 3


async def test_an_older_tab_overwrites_no_newer_draft(api: Api, browser: Browser) -> None:
    run, document = await waiting(api)
    older = await browser.form(f"/runs/{run}/review", f"/runs/{run}/review")
    await press(browser, run, "save", edit="typed in the newer tab")
    answer = await browser.send(older, do="save", edit="typed in the older tab")
    assert answer.status_code == 409
    assert "Nothing was overwritten" in answer.text
    assert "typed in the older tab</textarea>" in answer.text
    assert "typed in the newer tab" in answer.text
    draft = (await api.get(f"/api/documents/{document}/draft")).json
    assert draft["body"] == "typed in the newer tab"


async def test_an_issue_is_waived_beside_its_passage_only_with_a_reason(
    api: Api, browser: Browser
) -> None:
    run, _ = await waiting(api)
    issue = await add_issue(api.pool, run, 1, quote="The box is blue", problem="Says who?")
    page = (await browser.open(f"/runs/{run}/review")).text
    assert "Says who?" in page
    assert "<mark>" in page
    refused = await press(browser, run, f"waive:{issue}")
    assert refused.status_code == 422
    assert "This must not be empty." in refused.text
    assert (
        await press(browser, run, f"waive:{issue}", **{f"waive-{issue}": "He did."})
    ).is_redirect
    assert "Waived by local:" in (await browser.open(f"/runs/{run}/review")).text
    assert (await press(browser, run, f"reopen:{issue}")).is_redirect
    assert await api.pool.fetchval("SELECT status FROM issues") == "open"


async def test_grave_open_issues_are_counted_where_one_confirms_and_named_beside_a_fix(
    api: Api, browser: Browser
) -> None:
    run, _ = await waiting(api)
    fixed = await add_issue(api.pool, run, 1, quote="The box is bleu", problem="Says who?")
    await api.pool.execute("UPDATE issues SET status = 'fixed' WHERE id = $1", fixed)
    await add_issue(api.pool, run, 2, quote="The box is blue", problem="Says who?")
    for path in (f"/runs/{run}/review", f"/runs/{run}"):
        assert "1 open issue is a blocker or major." in (await browser.open(path)).text
    assert "I2 is open" in (await browser.open(f"/runs/{run}/review")).text
    await api.pool.execute("UPDATE issues SET severity = 'minor'")
    assert "is a blocker or major" not in (await browser.open(f"/runs/{run}")).text


async def test_hostile_text_is_only_text(api: Api, browser: Browser) -> None:
    run, _ = await waiting(api, f"- {HOSTILE} one\n", f"- {HOSTILE} two\n")
    await add_issue(api.pool, run, 1, quote=HOSTILE, problem=HOSTILE, suggestion=HOSTILE)
    await press(browser, run, "comment:0", say=HOSTILE)
    for query in ("", "?view=split", "?view=text", "?at=0", "?to=mine"):
        page = (await browser.open(f"/runs/{run}/review{query}")).text
        assert "<svg onload" not in page
        assert "99400891" not in page
        assert escape(HOSTILE)[:20] in page


@pytest.mark.parametrize("status", [s for s in RunStatus if s != "AWAITING_CONFIRMATION"])
async def test_the_review_can_be_read_in_every_state(
    api: Api, browser: Browser, status: RunStatus
) -> None:
    if status in (RunStatus.RUNNING, RunStatus.INTERRUPTED):
        run = await add_run(api.pool, await add_document(api.pool, OLD), status=status)
    else:
        run = await add_ended_run(api.pool, status, await add_document(api.pool, OLD))
    for query in ("", "?view=split", "?view=text", "?from=0&to=0"):
        page = await browser.open(f"/runs/{run}/review{query}")
        assert page.status_code == 200
        assert "The box is bleu" in page.text
    for query in ("?from=9", "?to=x", "?view=split&to=99999999999"):
        assert (await browser.open(f"/runs/{run}/review{query}")).status_code == 404


async def test_an_address_claims_no_decisions_that_nobody_made(api: Api, browser: Browser) -> None:
    run, _ = await waiting(api)
    for claimed in ("99999", "1000", "-1", "many"):
        shown = (await browser.open(f"/runs/{run}/review?queue={claimed}")).text
        assert "1 of 1" in shown
        assert not re.search(r"\d+ decided", shown)
    assert "99999 " not in (await browser.open("/queue?done=99999")).text


async def test_the_queue_goes_on_to_the_next_and_counts(api: Api, browser: Browser) -> None:
    runs = [(await waiting(api))[0] for _ in range(3)]
    for age, run in enumerate(reversed(runs)):
        await api.pool.execute(
            "UPDATE runs SET last_progress_at = now() - make_interval(mins => $2) WHERE id = $1",
            run,
            age,
        )
    queue = (await browser.open("/queue")).text
    assert queue.index(runs[0]) < queue.index(runs[1]) < queue.index(runs[2])
    first = (await browser.open(f"/runs/{runs[0]}/review?queue=0")).text
    assert "1 of 3" in first
    assert f'<link rel="prefetch" href="/runs/{runs[1]}/review?queue=1">' in first
    answer = await press(browser, runs[0], "confirm", "?queue=0")
    assert answer.headers["location"] == f"/runs/{runs[1]}/review?queue=1"
    second = (await browser.open(answer.headers["location"])).text
    assert "2 of 3" in second
    assert "1 decided" in second
    assert f"/runs/{runs[2]}/review?queue=1" in second  # passed over
    for run, done in ((runs[1], 1), (runs[2], 2)):
        answer = await press(browser, run, "reject", f"?queue={done}")
    assert answer.headers["location"] == "/queue?done=3"
    end = (await browser.open("/queue?done=3")).text
    assert "Nothing waits for you." in end
    assert "You decided 3." in end


async def test_deleting_says_what_goes_and_sources_can_be_added(api: Api, browser: Browser) -> None:
    run, document = await waiting(api)
    path = f"/documents/{document}"
    form = await browser.form(path, f"{path}/sources")
    assert (await browser.send(form, name="notes", source="Ana: blue.")).status_code == 303
    page = (await browser.open(path)).text
    for told in ("2 revisions", "1 is not over and is stopped", "1 source or version of one"):
        assert told in page
    assert f"/runs/{run}/review" in page
    empty = await browser.send(await browser.form(path, f"{path}/sources"), name="x", source=" ")
    assert empty.status_code == 422
    assert 'id="f-source-error"' in empty.text
