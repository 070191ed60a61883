"""What a finished step does to its run: standing of revisions, the best one, the loop's end."""

from __future__ import annotations

from dataclasses import dataclass

from activities.record import RUN_COLUMNS, Event, RunRow, append_event, run_of
from deploy.database import Connection
from workflows.scoring import Standing
from workflows.vocabulary import Actor, EventType, Reason


@dataclass(frozen=True, kw_only=True)
class Advance:
    """Where a finished step leaves its run. `reviewed`: the score of the review that ended the
    round's first half; `works_on_best`: the best revision becomes the working one; `ends_work`: the
    activity has nothing left to do, so nobody owns the run."""

    current_round: int
    reviewed: int | None = None
    pending_review: str | None = None
    outcome: Reason | None = None
    works_on_best: bool = False
    ends_work: bool = False


async def assess(
    connection: Connection, run_id: str, revision: int, now: Standing, advance: Advance
) -> RunRow:
    """Stores how a revision stands, picks the best one anew and moves the run on: the run then.

    Best = fewest blockers, then majors, then score; of equals the newest. Only revisions from the
    baseline on count: a person's text is never outvoted by an older one.
    """
    row = await connection.fetchrow(
        f"""
        WITH assessed AS (
            INSERT INTO assessments (run_id, revision, blockers, majors, minors, score, reviewed)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (run_id, revision) DO UPDATE SET
                blockers = EXCLUDED.blockers, majors = EXCLUDED.majors, minors = EXCLUDED.minors,
                score = EXCLUDED.score, reviewed = EXCLUDED.reviewed, updated_at = now()
            RETURNING revision, blockers, majors, score
        ), standing AS (
            SELECT revision, blockers, majors, score FROM assessments
            WHERE run_id = $1 AND revision <> $2
            UNION ALL SELECT revision, blockers, majors, score FROM assessed
        ), best AS (
            SELECT coalesce((
                SELECT s.revision FROM standing s JOIN runs b ON b.id = $1
                WHERE s.revision >= b.baseline_revision
                ORDER BY s.blockers, s.majors, s.score DESC, s.revision DESC LIMIT 1), $2) AS number
        )
        UPDATE runs r SET best_revision = best.number,
            working_revision = CASE WHEN $8 THEN best.number ELSE r.working_revision END,
            current_round = $9, score = coalesce($10, r.score), pending_review_step = $11,
            outcome = coalesce($12, r.outcome),
            owner_worker = CASE WHEN $13 THEN NULL ELSE r.owner_worker END,
            last_progress_at = now()
        FROM best WHERE r.id = $1
        RETURNING {RUN_COLUMNS}
        """,  # noqa: S608
        *(run_id, revision, now.blockers, now.majors, now.minors, now.score),
        advance.reviewed is not None,
        *(advance.works_on_best, advance.current_round, advance.reviewed, advance.pending_review),
        *(advance.outcome, advance.ends_work),
    )
    assert row is not None, "the caller holds the row's lock"
    return run_of(dict(row))


async def go_on(connection: Connection, run_id: str, advance: Advance) -> RunRow:
    """The same for a step that made no revision."""
    row = await connection.fetchrow(
        f"""
        UPDATE runs r SET current_round = $2, pending_review_step = $3,
            outcome = coalesce($4, outcome),
            owner_worker = CASE WHEN $5 THEN NULL ELSE owner_worker END, last_progress_at = now()
        WHERE id = $1
        RETURNING {RUN_COLUMNS}
        """,  # noqa: S608
        run_id,
        *(advance.current_round, advance.pending_review, advance.outcome, advance.ends_work),
    )
    assert row is not None, "the caller holds the row's lock"
    return run_of(dict(row))


async def loop_over(connection: Connection, run_id: str, end: Reason) -> None:
    """Nothing is left to do: the workflow's next load concludes."""
    await connection.execute("UPDATE runs SET outcome = $2 WHERE id = $1", run_id, end)


async def finish_round(
    connection: Connection, run_id: str, round_: int, score: int | None, end: Reason | None
) -> None:
    """One such event a round, in the transaction that ends it."""
    await append_event(
        connection,
        run_id,
        Event(
            type=EventType.ROUND_FINISHED,
            actor=Actor.WORKER,
            data={"round": round_, "score": score, "outcome": end},
        ),
    )
