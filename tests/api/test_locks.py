"""Locks of a document: seen, and taken away again by a person, whom an event names."""

from __future__ import annotations

from typing import Any

from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import add_issue
from workflows.vocabulary import EventType, Reason

QUOTE = "- The box is blue."


async def locked(api: Api) -> tuple[dict[str, Any], str]:
    """A run in rework whose person rejected the change of a passage; the path of its locks."""
    run = await api.waiting_run()
    change = {"from": 0, "to": 1, "hunk": 1}
    decided = {
        "decisions": [{"change": change, "accept": False}],
        "locks": [{"quote": "# Minutes"}],
    }
    answer = await api.post(f"/api/runs/{run['id']}/rework", decided)
    assert answer.status == 202, answer.json
    return run, f"/api/documents/{run['document_id']}/locks"


async def test_what_was_locked_and_what_was_rejected_is_seen(api: Api) -> None:
    _, path = await locked(api)
    first, second = (await api.get(path)).json["items"]
    assert (first["quote"], first["actor"], first["stands"]) == ("# Minutes", "local", True)
    assert (second["quote"], second["stands"]) == ("- The box is bleu.", True)
    page = (await api.get(f"{path}?limit=1&count=true")).json
    assert (page["items"], page["total"]) == ([first], 2)
    rest = (await api.get(f"{path}?limit=1&cursor={page['next_cursor']}")).json
    assert (rest["items"], rest["next_cursor"]) == ([second], None)


async def test_a_lock_that_is_removed_binds_no_later_round(api: Api) -> None:
    run, path = await locked(api)
    first, second = (await api.get(path)).json["items"]
    assert (await api.call("DELETE", f"{path}/{first['id']}")).status == 204
    assert (await api.get(path)).json["items"] == [second]
    event = (await api.events(run["id"]))[-1]
    assert (event["type"], event["actor"], event["lock_id"]) == (
        "lock_removed",
        "local",
        first["id"],
    )
    again = await api.call("DELETE", f"{path}/{first['id']}")
    assert (again.status, again.code) == (404, "not_found")
    assert [e["type"] for e in await api.events(run["id"])].count("lock_removed") == 1
    kept = "SELECT count(*) FROM locks WHERE document_id = $1 AND removed_at IS NULL"
    assert await api.pool.fetchval(kept, run["document_id"]) == 1


async def test_the_page_of_a_run_says_which_issue_a_lock_keeps_open(api: Api) -> None:
    run, _ = await locked(api)
    browser, page = Browser(api.client), f"/runs/{run['id']}"
    for number, quote in enumerate(("Chen", "# Minutes of May"), 1):
        await add_issue(api.pool, run["id"], number, quote=quote)
    assert "locked passage" not in (await browser.open(page)).text, "it is at work"
    await api.engine_move(run["id"], EventType.RUN_AWAITING_CONFIRMATION, Reason.NO_PROGRESS)
    told = (await browser.open(page)).text
    assert "I2 is about a locked passage, which no round may change." in told
    assert told.count("Its passage is locked") == 1


async def test_the_page_of_a_run_says_what_people_asked_for_and_no_round_settled(api: Api) -> None:
    run = await api.run()
    browser, page = Browser(api.client), f"/runs/{run['id']}"
    await add_issue(api.pool, run["id"], 1, quote="Chen", raised_by="verifier:names")
    await add_issue(api.pool, run["id"], 2, quote="May", raised_by="person:ana")
    await api.engine_move(run["id"], EventType.RUN_AWAITING_CONFIRMATION, Reason.NO_PROGRESS)
    told = (await browser.open(page)).text
    assert "I2, which a person asked for, is not settled." in told


async def test_a_lock_is_removed_only_by_its_own_document(api: Api) -> None:
    _, path = await locked(api)
    _, other = await locked(api)
    [lock, _] = (await api.get(path)).json["items"]
    for wrong in (f"{other}/{lock['id']}", f"{path}/nonsense"):
        assert (await api.call("DELETE", wrong)).status == 404
    assert len((await api.get(path)).json["items"]) == 2
    gone = "/api/documents/01900000-0000-7000-8000-000000000000/locks"
    assert (await api.get(gone)).status == 404


async def test_the_page_of_the_document_removes_a_lock(api: Api) -> None:
    run, path = await locked(api)
    browser, page = Browser(api.client), f"/documents/{run['document_id']}"
    [lock, _] = (await api.get(path)).json["items"]
    action = f"{page}/locks/{lock['id']}/remove"
    form = await browser.form(page, action)
    for _ in range(2):  # also where it is gone already
        answer = await browser.send(form)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{page}#locks")
    text = (await browser.open(page)).text
    assert "# Minutes</bdi>" not in text
    assert "The box is bleu.</bdi>" in text
