"""The offered text sent back: decisions, locks and comments take effect together or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from api.http.errors import Refusal
from api.http.requests import ReworkDecision
from api.moves.rework import decide, kept_passages
from tests.api.harness import Api
from tests.pages.forms import HTML
from workflows.kinds.kind import Finding
from workflows.scoring import fingerprint
from workflows.vocabulary import EventType, Reason, Severity

OFFERED = "# Minutes\n\n- The box is blue.\n"


def decision(hunk: int, *, accept: bool, text: str | None = None, to: int = 1) -> dict[str, Any]:
    return {"change": {"from": 0, "to": to, "hunk": hunk}, "accept": accept, "text": text}


def decided(old: str, new: str, *decisions: dict[str, Any]) -> str:
    return decide(old, new, [ReworkDecision.model_validate(one) for one in decisions])


OLD = "# T\r\n\r\n- one\r\n- two  \r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n"
NEW = "# T\r\n\r\n- one\r\n- TWO\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 3 |\r\n\r\nmore\r\n"


def test_a_rejected_change_brings_the_older_passage_back_byte_for_byte() -> None:
    """Trailing spaces and line ends too; what was not rejected stays as it is offered."""
    assert decided(OLD, NEW, decision(1, accept=False)) == NEW.replace("- TWO\r\n", "- two  \r\n")
    both = decided(OLD, NEW, *(decision(hunk, accept=False) for hunk in (1, 3, 4)))
    assert both == OLD
    assert decided(OLD, NEW, decision(1, accept=True)) == NEW
    own = decided(OLD, NEW, decision(1, accept=False, text="- 2\r\n"))
    assert own == NEW.replace("- TWO\r\n", "- 2\r\n")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("- one\n- two\n- three\n", "- one\n- TWO\n- three\n", "- two"),
        ("- one\n- two\n- three\n", "- one\n- three\n", "- two"),
        ("- one\n- three\n", "- one\n- two\n- three\n", "- one\n- three"),
        ("- one\n", "- one\n- two\n", "- one"),
        ("- one\n\n\n- three\n", "- one\n\n\n- two\n- three\n", "- one\n\n\n- three"),
    ],
)
def test_what_a_person_took_back_is_held_as_it_was(old: str, new: str, kept: str) -> None:
    """Where a passage was taken out again, nothing comes between its neighbours."""
    refused = [ReworkDecision.model_validate(decision(1, accept=False))]
    assert kept_passages(old, new, refused) == [kept]
    assert kept in decide(old, new, refused)
    accepted = [ReworkDecision.model_validate(decision(1, accept=True))]
    assert kept_passages(old, new, accepted) == []


@pytest.mark.parametrize("hunk", [0, 99])
def test_only_a_change_can_be_decided(hunk: int) -> None:
    with pytest.raises(Refusal) as refused:
        decided(OLD, NEW, decision(hunk, accept=False))
    assert refused.value.errors[0]["pointer"] == "/decisions/0/change/hunk"
    with pytest.raises(Refusal):
        decided(OLD, NEW, decision(1, accept=False), decision(1, accept=True))


async def test_rework_goes_on_from_the_offered_text_with_rounds_comments_and_locks(
    api: Api,
) -> None:
    run = await api.waiting_run()
    wanted = {
        "comments": [{"quote": "The box is blue.", "text": "which box?"}, {"text": "shorter"}],
        "locks": [{"quote": "# Minutes"}, {"quote": "# Minutes"}],
        "instructions": "keep it polite",
        "extra_rounds": 3,
    }
    answer = await api.post(f"/api/runs/{run['id']}/rework", wanted)
    assert answer.status == 202
    now = answer.json
    assert (now["status"], now["working_revision"], now["offered_revision"]) == ("RUNNING", 1, None)
    assert (now["current_round"], now["max_rounds"], now["open_issues"]) == (1, 4, 2)
    assert now["next_step"] == {"round": 2, "name": "review"}
    issues = (await api.get(f"/api/runs/{run['id']}/issues")).json["items"]
    assert [(i["severity"], i["quote"], i["raised_by"]) for i in issues] == [
        ("major", "The box is blue.", "person:local"),
        ("major", "", "person:local"),
    ]
    locks = await api.pool.fetch("SELECT quote FROM locks")
    assert [row["quote"] for row in locks] == ["# Minutes"]
    told = (await api.events(run["id"]))[-1]
    assert (told["type"], told["extra_rounds"], told["locks"]) == ("run_rework", 3, 2)
    assert told["comment"] == "keep it polite"
    kept = await api.pool.fetch("SELECT id, quote, text, revision FROM comments ORDER BY id")
    assert [row["id"] for row in kept] == [*told["comment_ids"], told["comment_id"]]
    assert [row["text"] for row in kept] == ["which box?", "shorter", "keep it polite"]
    page = (await api.client.get(f"/runs/{run['id']}", headers=HTML)).text
    assert "keep it polite" in page
    texts = str(await api.pool.fetch("SELECT data FROM run_events"))
    assert "which box?" not in texts
    assert "polite" not in texts


async def test_all_that_is_said_of_one_passage_is_to_be_answered(api: Api) -> None:
    run = await api.waiting_run()
    blue = "The box is blue."
    said = [(blue, "which box?"), (None, "shorter"), (blue, "and who says so?"), (None, "shorter")]
    wanted = {"comments": [{"quote": quote, "text": text} for quote, text in said]}
    assert (await api.post(f"/api/runs/{run['id']}/rework", wanted)).status == 202
    issues = (await api.get(f"/api/runs/{run['id']}/issues")).json["items"]
    assert [i["problem"] for i in issues] == ["which box?\nand who says so?", "shorter", "shorter"]
    assert await api.pool.fetchval("SELECT count(*) FROM comments") == 4


async def test_a_decision_makes_a_human_revision_that_is_worked_on(api: Api) -> None:
    run = await api.waiting_run()
    document = f"/api/documents/{run['document_id']}"
    hunks = (await api.get(f"{document}/diff?from=0&to=1")).json["hunks"]
    changed = [at for at, hunk in enumerate(hunks) if hunk["op"] != "equal"]
    wanted = {"decisions": [decision(at, accept=False) for at in changed]}
    answer = await api.post(f"/api/runs/{run['id']}/rework", wanted)
    assert (answer.status, answer.json["working_revision"]) == (202, 2)
    first = (await api.get(f"{document}/revisions/0")).json
    made = (await api.get(f"{document}/revisions/2")).json
    assert (made["body"], made["author"], made["base"]) == (first["body"], "local", 1)
    assert await api.pool.fetchval("SELECT count(*) FROM decisions") == len(changed)


@pytest.mark.parametrize(
    ("wanted", "code", "pointer"),
    [
        ({"locks": [{"quote": "is green"}]}, 422, "/locks/0/quote"),
        ({"comments": [{"quote": "is green", "text": "no"}]}, 422, "/comments/0/quote"),
        ({"comments": [{"text": " "}]}, 422, "/comments/0/text"),
        ({"extra_rounds": 0}, 422, "/extra_rounds"),
        ({"decisions": [decision(99, accept=True)]}, 422, "/decisions/0/change/hunk"),
        ({"decisions": [decision(0, accept=True, to=0)]}, 409, None),
    ],
)
async def test_what_does_not_fit_is_refused_and_changes_nothing(
    api: Api, wanted: dict[str, Any], code: int, pointer: str | None
) -> None:
    run = await api.waiting_run()
    answer = await api.post(f"/api/runs/{run['id']}/rework", wanted)
    assert answer.status == code
    assert answer.pointers() == ([pointer] if pointer else [])
    assert (await api.get(f"/api/runs/{run['id']}")).json == run
    for table in ("locks", "comments", "decisions", "issues"):
        assert not await api.pool.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608


async def test_rework_needs_a_run_that_waits_for_a_person(api: Api) -> None:
    run = await api.run()
    answer = await api.post(f"/api/runs/{run['id']}/rework")
    assert (answer.status, answer.code) == (409, "status_changed")
    waiting = await api.waiting_run()
    await api.call("PUT", "/api/switches", {"draining": True})
    assert (await api.post(f"/api/runs/{waiting['id']}/rework")).code == "draining"
    await api.call("PUT", "/api/switches", {"draining": False})


async def test_what_was_said_of_a_passage_stays_beside_what_is_said_of_it_again(api: Api) -> None:
    """What a reviewer found there too: each keeps its number and its words."""
    run = await api.waiting_run()
    quote = "The box is blue."
    await api.pool.execute(
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote, problem,
            raised_by, raised_round, seen_round, revision, status)
        VALUES (gen_random_uuid(), $1, 1, $2, 'number', 'major', $3, 'whose?', 'model:main', 1, 1,
            0, 'fixed')
        """,
        run["id"],
        fingerprint(Finding(category="x", severity=Severity.MAJOR, quote=quote, problem="")),
        quote,
    )
    for text in ("which box?", "and who says so?"):
        wanted = {"comments": [{"quote": quote, "text": text}]}
        assert (await api.post(f"/api/runs/{run['id']}/rework", wanted)).status == 202
        await api.engine_move(run["id"], EventType.RUN_AWAITING_CONFIRMATION, Reason.PASSED)
    issues = (await api.get(f"/api/runs/{run['id']}/issues")).json["items"]
    assert [(i["number"], i["problem"], i["status"]) for i in issues] == [
        (1, "whose?", "fixed"),
        (2, "which box?", "open"),
        (3, "and who says so?", "open"),
    ]
