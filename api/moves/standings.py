"""What follows from a person's word about an issue: how each revision stands now, the score, the
best revision, and whether anything is left to refine.

A revision stands by the issues its review left open, one that nobody reviewed by those carried over
to it; waived ones count in neither. The working one stands by what is open now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from activities import record
from deploy.database import Connection
from workflows.scoring import Standing, passes, standing
from workflows.vocabulary import IssueStatus, Reason, RunStatus, Severity

_OPEN = (IssueStatus.OPEN, IssueStatus.REOPENED)


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """A revision and what was open in it: `found` by its review, or `carried` over to it, whose
    edits `resolved` some. `carried` is None where an older program did not store it."""

    revision: int
    reviewed: bool
    found: frozenset[str]
    carried: Mapping[str, str] | None
    resolved: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Issue:
    number: int
    fingerprint: str
    severity: Severity
    status: IssueStatus


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The run after all is counted anew; `finished`: its round needs no refine any more."""

    score: int | None
    best_revision: int | None
    finished: bool
    outcome: Reason | None


async def count_anew(connection: Connection, run: record.RunRow) -> Outcome:
    """Call it under the run's lock, after the issue was changed and before it is told."""
    issues = await _issues(connection, run.id)
    for one in await _assessed(connection, run.id):
        now = stands(one, issues, working=one.revision == run.working_revision)
        if now is not None:
            await _store(connection, run.id, one.revision, now)
    pending = await _pending(connection, run)
    done = pending is not None and passes(pending[0], run.pass_score)
    outcome = run.outcome
    if done:
        await record.void_unfinished(connection, run.id)
        # A review of changes only lets nothing pass: the next one looks at all.
        outcome = Reason.PASSED if pending is not None and pending[1] == "all" else None
    elif outcome == Reason.PASSED and run.status != RunStatus.AWAITING_CONFIRMATION:
        outcome = outcome if await _passes_still(connection, run) else None
    score, best = await _choose(connection, run, done=done, outcome=outcome)
    ended = Reason(outcome) if done and outcome else None
    return Outcome(score=score, best_revision=best, finished=done, outcome=ended)


def stands(one: Assessed, issues: list[Issue], *, working: bool) -> Standing | None:
    """None where it cannot be told."""
    if one.reviewed and working:
        return standing(issue.severity for issue in issues if issue.status in _OPEN)
    if one.reviewed:
        return standing(
            issue.severity
            for issue in issues
            if issue.fingerprint in one.found and issue.status != IssueStatus.WAIVED
        )
    if one.carried is None:
        return None
    known = {issue.fingerprint: issue for issue in issues}
    counted = {
        key: Severity(severity)
        for key, severity in one.carried.items()
        if key not in known or known[key].status != IssueStatus.WAIVED
    }
    if working:  # with what a person opened since
        counted |= {
            issue.fingerprint: issue.severity
            for issue in issues
            if issue.status == IssueStatus.REOPENED and issue.number not in one.resolved
        }
    return standing(counted.values())


async def _issues(connection: Connection, run_id: str) -> list[Issue]:
    rows = await connection.fetch(
        "SELECT number, fingerprint, severity, status FROM issues WHERE run_id = $1", run_id
    )
    return [
        Issue(
            number=row["number"],
            fingerprint=row["fingerprint"],
            severity=Severity(row["severity"]),
            status=IssueStatus(row["status"]),
        )
        for row in rows
    ]


async def _assessed(connection: Connection, run_id: str) -> list[Assessed]:
    rows = await connection.fetch(
        """
        SELECT a.revision, a.reviewed, made.result AS made, (
            SELECT s.result -> 'found' FROM steps s
            WHERE s.run_id = $1 AND s.name = 'review' AND s.status = 'SUCCEEDED'
                AND s.input_revision = a.revision ORDER BY s.seq DESC LIMIT 1) AS found
        FROM assessments a LEFT JOIN steps made ON made.run_id = $1 AND made.name = 'refine'
            AND made.status = 'SUCCEEDED' AND made.output_revision = a.revision
        WHERE a.run_id = $1
        """,
        run_id,
    )
    return [
        Assessed(
            revision=row["revision"],
            reviewed=row["reviewed"],
            found=frozenset(row["found"] or ()),
            carried=(row["made"] or {}).get("carried"),
            resolved=frozenset((row["made"] or {}).get("resolved") or ()),
        )
        for row in rows
    ]


async def _store(connection: Connection, run_id: str, revision: int, now: Standing) -> None:
    await connection.execute(
        """
        UPDATE assessments SET blockers = $3, majors = $4, minors = $5, score = $6,
            updated_at = now()
        WHERE run_id = $1 AND revision = $2
        """,
        run_id,
        revision,
        now.blockers,
        now.majors,
        now.minors,
        now.score,
    )


async def _pending(connection: Connection, run: record.RunRow) -> tuple[Standing, str] | None:
    """How the text stands whose review waits for a refine of which no edit was kept yet and that
    does not run, and what that review looked at."""
    row = await connection.fetchrow(
        """
        SELECT a.blockers, a.majors, a.minors, coalesce(s.result ->> 'scope', 'all') AS scope
        FROM steps s JOIN assessments a ON a.run_id = $1 AND a.revision = s.input_revision
        WHERE s.id = $2 AND NOT EXISTS (
            SELECT FROM steps r WHERE r.run_id = $1 AND r.name = 'refine' AND r.status = 'RUNNING'
        ) AND NOT EXISTS (
            SELECT FROM step_plans p JOIN step_items i ON i.plan_id = p.id
            WHERE p.run_id = $1 AND p.round = s.round AND p.name = 'refine'
                AND p.voided_at IS NULL)
        """,
        run.id,
        run.pending_review_step,
    )
    if row is None:
        return None
    counts = (
        (Severity.BLOCKER, "blockers"),
        (Severity.MAJOR, "majors"),
        (Severity.MINOR, "minors"),
    )
    return standing(one for one, name in counts for _ in range(row[name])), row["scope"]


async def _passes_still(connection: Connection, run: record.RunRow) -> bool:
    row = await connection.fetchrow(
        """
        SELECT blockers, majors, score FROM assessments WHERE run_id = $1 AND revision = $2
        """,
        run.id,
        run.working_revision,
    )
    return row is not None and (
        row["score"] >= run.pass_score and not row["blockers"] and not row["majors"]
    )


async def _choose(
    connection: Connection, run: record.RunRow, *, done: bool, outcome: str | None
) -> tuple[int | None, int | None]:
    """The best revision since a person's last text, which is the one that is offered, where one is;
    and the score: of the offered revision where it was reviewed, else of what was reviewed last."""
    row = await connection.fetchrow(
        """
        WITH chosen AS (
            SELECT (SELECT a.revision FROM assessments a
                    WHERE a.run_id = $1 AND a.revision >= $2
                    ORDER BY a.blockers, a.majors, a.score DESC, a.revision DESC LIMIT 1) AS best,
                   (SELECT a.score FROM steps s
                    JOIN assessments a ON a.run_id = $1 AND a.revision = s.input_revision
                    WHERE s.run_id = $1 AND s.name = 'review' AND s.status = 'SUCCEEDED'
                    ORDER BY s.seq DESC LIMIT 1) AS score
        )
        UPDATE runs r SET best_revision = coalesce(chosen.best, r.best_revision),
            score = coalesce(chosen.score, r.score), outcome = $4,
            pending_review_step = CASE WHEN $3 THEN NULL ELSE r.pending_review_step END,
            offered_revision = CASE WHEN r.status = 'AWAITING_CONFIRMATION'
                THEN coalesce(chosen.best, r.offered_revision) ELSE r.offered_revision END
        FROM chosen WHERE r.id = $1
        RETURNING r.best_revision, coalesce((
            SELECT o.score FROM assessments o WHERE o.run_id = r.id
                AND o.revision = r.offered_revision AND o.reviewed), r.score) AS score
        """,
        run.id,
        run.baseline_revision,
        done,
        outcome,
    )
    assert row is not None, "the run is locked"
    return row["score"], row["best_revision"]
