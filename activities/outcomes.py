"""What a finished step does to its run: standing of revisions, the best one, the loop's end."""

from __future__ import annotations

from activities.record import Event, append_event
from deploy.database import Connection
from workflows.scoring import Standing
from workflows.vocabulary import Actor, EventType, Reason


async def assess(
    connection: Connection, run_id: str, revision: int, now: Standing, *, reviewed: bool
) -> int:
    """Stores how a revision stands and picks the best one anew; its number.

    Best = fewest blockers, then majors, then score; of equals the newest. Only revisions from the
    baseline on count: a person's text is never outvoted by an older one.
    """
    best: int = await connection.fetchval(
        """
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
        )
        UPDATE runs r SET best_revision = coalesce((
            SELECT s.revision FROM standing s WHERE s.revision >= r.baseline_revision
            ORDER BY s.blockers, s.majors, s.score DESC, s.revision DESC LIMIT 1), $2)
        WHERE r.id = $1
        RETURNING r.best_revision
        """,
        run_id,
        revision,
        now.blockers,
        now.majors,
        now.minors,
        now.score,
        reviewed,
    )
    return best


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
