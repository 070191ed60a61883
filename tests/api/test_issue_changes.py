"""A person waives an issue, or opens it again."""

from __future__ import annotations

from typing import Any

from tests.api.harness import Api
from workflows.vocabulary import RunStatus


async def _issue(api: Api, run: dict[str, Any], status: str = "open") -> str:
    issue_id: str = await api.pool.fetchval(
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote, problem,
            raised_by, raised_round, seen_round, revision, status)
        VALUES (gen_random_uuid(), $1, 1, 'f1', 'number', 'major', 'bleu', 'p', 'model:main', 1, 1,
            0, $2)
        RETURNING id
        """,
        run["id"],
        status,
    )
    return f"/api/runs/{run['id']}/issues/{issue_id}"


async def _events(api: Api, run: dict[str, Any]) -> list[str]:
    answer = await api.get(f"/api/runs/{run['id']}/events", accept="application/json")
    return [event["type"] for event in answer.json["items"] if "issue" in event["type"]]


async def test_an_issue_is_waived_with_a_reason_and_opened_again(api: Api) -> None:
    run = await api.run()
    path = await _issue(api, run)
    for _ in range(2):  # the second time it is so already
        answer = await api.call("PATCH", path, {"status": "waived", "reason": "as agreed"})
        assert (answer.status, answer.json["status"]) == (200, "waived")
        assert (answer.json["waived_by"], answer.json["waived_reason"]) == ("local", "as agreed")
    assert (await api.get(f"/api/runs/{run['id']}")).json["open_issues"] == 0
    answer = await api.call("PATCH", path, {"status": "open"})
    assert (answer.json["status"], answer.json["waived_by"]) == ("open", None)
    assert await _events(api, run) == ["issue_waived", "issue_reopened"]


async def test_one_that_counts_as_fixed_is_reopened(api: Api) -> None:
    path = await _issue(api, await api.run_in(RunStatus.AWAITING_CONFIRMATION), "fixed")
    answer = await api.call("PATCH", path, {"status": "open"})
    assert (answer.status, answer.json["status"]) == (200, "reopened")


async def test_a_change_that_cannot_be_has_no_effect(api: Api) -> None:
    run = await api.run()
    path = await _issue(api, run)
    for wrong in ({"status": "fixed"}, {}, {"status": "open", "severity": "minor"}):
        assert (await api.call("PATCH", path, wrong)).status == 422
    nobody = path[:-4] + "0000"
    assert (await api.call("PATCH", nobody, {"status": "waived"})).status == 404
    await api.post(f"/api/runs/{run['id']}/cancel")
    answer = await api.call("PATCH", path, {"status": "waived"})
    assert (answer.status, answer.code) == (409, "final_status")
    assert await _events(api, run) == []
