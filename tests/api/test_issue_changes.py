"""A person waives an issue, or opens it again."""

from __future__ import annotations

from typing import Any

from tests.api.harness import Api
from workflows.vocabulary import EventType, Reason, RunStatus

WAIVED = {"status": "waived", "reason": "as agreed"}


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


async def _reviewed(api: Api, run: dict[str, Any]) -> None:
    """Two revisions: 0 with the major issue f1, 1 with two minors and nothing else; 1 is best and
    was reviewed last."""
    statements = (
        """
        INSERT INTO revisions (document_id, number, body, sha256, base, author, run_id, step_id,
            round) SELECT document_id, 1, 'other', 'x', 0, 'run', id, gen_random_uuid(), 1
        FROM runs WHERE id = $1
        """,
        "UPDATE documents SET revision_seq = 2 WHERE id = (SELECT document_id FROM runs "
        "WHERE id = $1)",
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote, problem,
            raised_by, raised_round, seen_round, revision, status)
        SELECT gen_random_uuid(), $1, n, 'f' || n, 'wording', 'minor', 'other', 'p', 'model:main',
            2, 2, 1, 'open' FROM generate_series(2, 3) n
        """,
        """
        INSERT INTO step_plans (id, run_id, round, name, input_revision)
        SELECT gen_random_uuid(), $1, n, 'review', n - 1 FROM generate_series(1, 2) n
        """,
        """
        INSERT INTO steps (id, run_id, epoch, plan_id, seq, name, round, attempt, status,
            input_revision, score, result, worker, ended_at)
        SELECT gen_random_uuid(), $1, 1, p.id, p.round, 'review', p.round, 1, 'SUCCEEDED',
            p.round - 1, 90, jsonb_build_object('scope', 'all', 'found',
                CASE WHEN p.round = 1 THEN '["f1"]'::jsonb ELSE '["f2", "f3"]'::jsonb END),
            'w', now()
        FROM step_plans p WHERE p.run_id = $1
        """,
        """
        INSERT INTO assessments (run_id, revision, blockers, majors, minors, score, reviewed)
        VALUES ($1, 0, 0, 1, 0, 90, true), ($1, 1, 0, 0, 2, 96, true)
        """,
        "UPDATE runs SET working_revision = 1, best_revision = 1, current_round = 2, score = 96 "
        "WHERE id = $1",
    )
    for statement in statements:
        await api.pool.execute(statement, run["id"])


async def test_score_and_best_revision_follow_from_what_is_waived(api: Api) -> None:
    """And from what stands again; the event says how the run stands by it, with the score of the
    revision that is offered."""
    run = await api.run()
    path = await _issue(api, run, "fixed")
    await _reviewed(api, run)
    await api.engine_move(run["id"], EventType.RUN_AWAITING_CONFIRMATION, Reason.ROUND_LIMIT)
    stood = []
    for change in (WAIVED, {"status": "open"}):
        assert (await api.call("PATCH", path, change)).status == 200
        now = (await api.get(f"/api/runs/{run['id']}")).json
        stood.append((now["score"], now["best_revision"], now["offered_revision"]))
    [other] = [
        issue["id"]
        for issue in (await api.get(f"/api/runs/{run['id']}/issues")).json["items"]
        if issue["number"] == 2
    ]
    await api.call("PATCH", f"/api/runs/{run['id']}/issues/{other}", WAIVED)
    now = (await api.get(f"/api/runs/{run['id']}")).json
    told = [event for event in await api.events(run["id"]) if "issue" in event["type"]]
    assert stood == [(100, 0, 0), (90, 0, 0)]
    assert (now["score"], now["best_revision"]) == (90, 0)
    assert [(event["score"], event["best_revision"]) for event in told] == [
        (100, 0),
        (90, 0),
        (90, 0),
    ]


async def test_a_round_whose_issues_are_waived_ends_without_a_refine(api: Api) -> None:
    """The loop has passed; where one of them stands again it has not, and a review follows."""
    run = await api.run(pass_score=97)
    await _reviewed(api, run)
    await api.pool.execute(
        "UPDATE runs SET pending_review_step = (SELECT id FROM steps WHERE run_id = $1 "
        "AND round = 2) WHERE id = $1",
        run["id"],
    )
    await api.post(f"/api/runs/{run['id']}/interrupt")
    now = (await api.get(f"/api/runs/{run['id']}")).json
    assert now["next_step"] == {"round": 2, "name": "refine"}
    issues = (await api.get(f"/api/runs/{run['id']}/issues")).json["items"]
    paths = [f"/api/runs/{run['id']}/issues/{issue['id']}" for issue in issues]
    await api.call("PATCH", paths[0], WAIVED)
    row = await api.pool.fetchrow("SELECT outcome, pending_review_step FROM runs")
    assert row is not None
    assert (row["outcome"], row["pending_review_step"]) == ("passed", None)
    ended = [event for event in await api.events(run["id"]) if event["type"] == "round_finished"]
    assert [(one["round"], one["score"], one["outcome"]) for one in ended] == [(2, 98, "passed")]
    await api.call("PATCH", paths[0], {"status": "open"})
    now = (await api.get(f"/api/runs/{run['id']}")).json
    assert (now["score"], now["next_step"]) == (96, {"round": 3, "name": "review"})


async def test_a_change_that_cannot_be_has_no_effect(api: Api) -> None:
    run = await api.run()
    path = await _issue(api, run)
    for wrong in ({"status": "fixed"}, {}, {"status": "open", "severity": "minor"}):
        assert (await api.call("PATCH", path, wrong)).status == 422
    for silent in ({}, {"reason": None}, {"reason": " \n"}):
        answer = await api.call("PATCH", path, {"status": "waived", **silent})
        assert (answer.status, answer.pointers()) == (422, ["/reason"])
    nobody = path[:-4] + "0000"
    assert (await api.call("PATCH", nobody, WAIVED)).status == 404
    await api.post(f"/api/runs/{run['id']}/cancel")
    answer = await api.call("PATCH", path, WAIVED)
    assert (answer.status, answer.code) == (409, "final_status")
    assert await _events(api, run) == []
