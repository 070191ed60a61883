"""Unsent edits: kept with their base, never overwritten unseen, never lost."""

from __future__ import annotations

from typing import Any

from api.differences import ALGORITHM
from tests.api.harness import Api
from tests.pages.forms import Browser
from workflows.vocabulary import RunStatus


async def path_of(api: Api, status: RunStatus = RunStatus.AWAITING_CONFIRMATION) -> str:
    run = await api.run_in(status)
    return f"/api/documents/{run['document_id']}"


def edit(body: str | None = "mine", **more: Any) -> dict[str, Any]:
    return {"base_revision": 1, "body": body, **more}


async def test_a_draft_is_kept_read_and_thrown_away(api: Api) -> None:
    document = await path_of(api)
    path = f"{document}/draft"
    assert (await api.get(path)).code == "not_found"
    notes = {"comments": [{"quote": "blue", "text": "which blue?"}], "instructions": "shorter"}
    first = await api.call("PUT", path, edit(notes=notes))
    assert first.status == 200
    assert (first.json["version"], first.json["stale"]) == (1, False)
    assert first.headers["etag"] == '"1"'
    kept = (await api.get(path)).json
    assert (kept["body"], kept["base_revision"]) == ("mine", 1)
    assert kept["notes"]["comments"] == [{"quote": "blue", "text": "which blue?"}]
    assert (await api.call("DELETE", path)).status == 204
    assert (await api.get(path)).status == 404
    assert (await api.call("DELETE", path)).status == 204


async def test_what_a_save_leaves_out_stays_and_null_removes_it(api: Api) -> None:
    path = f"{await path_of(api)}/draft"
    await api.call("PUT", path, edit(notes={"instructions": "shorter"}))
    only_text = await api.call("PUT", path, edit("newer", version=1))
    assert (only_text.json["body"], only_text.json["notes"]) == (
        "newer",
        {"instructions": "shorter"},
    )
    only_notes = {"base_revision": 1, "version": 2, "notes": None}
    cleared = await api.call("PUT", path, only_notes)
    assert (cleared.json["body"], cleared.json["notes"]) == ("newer", {})
    gone = await api.call("PUT", path, edit(None, version=3))
    assert gone.json["body"] is None


async def test_of_two_tabs_the_later_is_told_and_overwrites_nothing(api: Api) -> None:
    path = f"{await path_of(api)}/draft"
    assert (await api.call("PUT", path, edit("first tab"))).status == 200
    second = await api.call("PUT", path, edit("second tab"))  # it knows of no draft
    assert (second.status, second.code) == (409, "stale_base")
    assert second.json["params"]["draft_version"] == 1
    assert (await api.get(path)).json["body"] == "first tab"
    matched = await api.call("PUT", path, edit("second tab"), if_match='"1"')
    assert (matched.status, matched.json["version"]) == (200, 2)
    again = await api.call("PUT", path, edit("second tab", version=1))  # the same save, repeated
    assert (again.status, again.json["version"]) == (200, 2)


async def test_a_draft_is_thrown_away_only_in_the_version_that_was_read(api: Api) -> None:
    path = f"{await path_of(api)}/draft"
    await api.call("PUT", path, edit("first"))
    await api.call("PUT", path, edit("second", version=1))
    refused = await api.call("DELETE", path, if_match='"1"')
    assert (refused.status, refused.code) == (409, "stale_base")
    assert (await api.get(path)).json["body"] == "second"
    assert (await api.call("DELETE", path, if_match='"2"')).status == 204
    assert (await api.call("DELETE", path, if_match='"2"')).status == 204


async def test_a_tab_that_shows_a_draft_sent_since_overwrites_no_later_one(api: Api) -> None:
    path = f"{await path_of(api)}/draft"
    await api.call("PUT", path, edit("first"))
    await api.call("DELETE", path, if_match='"1"')
    assert (await api.get(path)).status == 404
    later = await api.call("PUT", path, edit("later"))
    assert later.status == 200
    for answer in (
        await api.call("PUT", path, edit("of the first tab", version=1)),
        await api.call("DELETE", path, if_match='"1"'),
    ):
        assert (answer.status, answer.code) == (409, "stale_base")
    assert (await api.get(path)).json["body"] == "later"


async def test_an_older_base_is_kept_and_told(api: Api) -> None:
    document = await path_of(api)
    other = {"base_revision": 1, "body": "somebody else's"}
    assert (await api.post(f"{document}/revisions", other)).status == 201
    answer = await api.call("PUT", f"{document}/draft", edit("typed for an hour"))
    assert (answer.status, answer.code) == (409, "stale_base")
    assert answer.json["params"] == {"base_revision": 1, "newest": 2, "saved": 1}
    kept = (await api.get(f"{document}/draft")).json
    assert (kept["body"], kept["stale"], kept["newest"]) == ("typed for an hour", True, 2)


async def test_a_draft_of_nothing_that_exists_is_refused(api: Api) -> None:
    document = await path_of(api, RunStatus.RUNNING)
    unknown = await api.call("PUT", f"{document}/draft", {"base_revision": 7, "body": "x"})
    assert unknown.code == "unknown_revision"
    misfit = await api.call("PUT", f"{document}/draft", edit(notes={"comments": [{"text": " "}]}))
    assert misfit.status == 422
    large = await api.call(
        "PUT", f"{document}/draft", {"base_revision": 0, "body": "x" * 4_000_000}
    )
    assert large.status == 413
    assert await api.pool.fetchval("SELECT count(*) FROM review_drafts") == 0


async def test_a_draft_goes_with_its_document(api: Api) -> None:
    document = await path_of(api)
    await api.call("PUT", f"{document}/draft", edit())
    assert (await api.call("DELETE", document)).status == 204
    assert await api.pool.fetchval("SELECT count(*) FROM review_drafts") == 0


async def test_decisions_that_were_stored_before_changes_were_counted_anew_are_no_decisions(
    api: Api,
) -> None:
    """A stored one without its algorithm is older; what is sent now is about what is shown now."""
    run = await api.waiting_run()
    path = f"/api/documents/{run['document_id']}/draft"
    old = {"change": {"from": 0, "to": 1, "hunk": 1}, "accept": False}
    saved = await api.call("PUT", path, edit(None, notes={"decisions": [old]}))
    [kept] = saved.json["notes"]["decisions"]
    assert kept["change"]["algorithm"] == ALGORITHM
    rows = {"decisions": [old], "instructions": "shorter"}
    await api.pool.execute("UPDATE review_drafts SET notes = $1", rows)
    again = await api.call("PUT", path, edit(None, version=1, notes={**rows, "comment": "so"}))
    assert again.json["notes"]["decisions"] == [old]
    browser, review = Browser(api.client), f"/runs/{run['id']}/review"
    page = (await browser.open(review)).text
    assert "about other changes than those shown now" in page
    form = await browser.form(review, review)
    refused = await browser.send(form, do="rework")
    assert (refused.status_code, await waits(api, run)) == (422, True)
    taken = await browser.send(form, do="rebase", version="2")
    assert taken.status_code == 303
    assert "decisions" not in (await api.get(path)).json["notes"]
    assert (await api.get(path)).json["notes"]["instructions"] == "shorter"


async def waits(api: Api, run: dict[str, Any]) -> bool:
    return bool((await api.get(f"/api/runs/{run['id']}")).json["offered_revision"] == 1)


async def test_a_decision_by_another_count_of_changes_is_refused(api: Api) -> None:
    run = await api.waiting_run()
    change = {"from": 0, "to": 1, "hunk": 1, "algorithm": "blocks-sentences-words/1"}
    body: dict[str, Any] = {"decisions": [{"change": change, "accept": False}]}
    refused = await api.post(f"/api/runs/{run['id']}/rework", body)
    assert (refused.status, refused.pointers()) == (422, ["/decisions/0/change/algorithm"])
    change["algorithm"] = ALGORITHM
    assert (await api.post(f"/api/runs/{run['id']}/rework", body)).status == 202
    stored = await api.pool.fetchval("SELECT change FROM decisions WHERE run_id = $1", run["id"])
    assert stored["algorithm"] == ALGORITHM
