"""The fence: what an activity may still write, asked of rows that are locked with the run."""

from __future__ import annotations

from dataclasses import dataclass

from activities.record import RUN_COLUMNS, RunRow, run_of
from deploy.database import Connection
from workflows.vocabulary import Reason, RunStatus


@dataclass(frozen=True, kw_only=True)
class Fence:
    """What stands between an activity and its rows, as it was when the run was locked."""

    run: RunRow
    own_step_running: bool
    plan_in_force: bool

    @property
    def refusal(self) -> Reason | None:
        """Why nothing may be kept: the own step is closed, or the run was cancelled. None: keep.

        Items are kept while the own step is RUNNING, under any epoch.
        """
        if not self.own_step_running:
            return Reason.SUPERSEDED
        if self.run.status not in (RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.FAILED):
            return Reason.INTERRUPTED
        return None

    def lets_commit(self, *, epoch: int, input_revision: int | None) -> bool:
        """Epoch equal, the plan in force and about the working text. `refusal` is asked before."""
        return (
            self.run.epoch == epoch
            and self.run.working_revision == input_revision
            and self.plan_in_force
        )


async def lock_fence(
    connection: Connection, run_id: str, *, step_id: str, plan_id: str, document: bool = False
) -> Fence | None:
    """Locks the run, the own step and its plan, before them the document where its text may grow;
    None when they were deleted.

    One statement, since all of it is locked: a row that somebody else held is read as he left it,
    one that is only looked at would be read as it was before.
    """
    row = await connection.fetchrow(
        f"""
        SELECT {RUN_COLUMNS}, s.status = 'RUNNING' AS own_step_running,
               p.voided_at IS NULL AS plan_in_force
        FROM runs r
        JOIN documents d ON d.id = r.document_id
        JOIN steps s ON s.run_id = r.id AND s.id = $2
        JOIN step_plans p ON p.run_id = r.id AND p.id = $3
        WHERE r.id = $1
        FOR NO KEY UPDATE OF {"d, " if document else ""}r, s, p
        """,  # noqa: S608
        run_id,
        step_id,
        plan_id,
    )
    if row is None:
        return None
    values = dict(row)
    own_step_running, plan_in_force = values.pop("own_step_running"), values.pop("plan_in_force")
    return Fence(run=run_of(values), own_step_running=own_step_running, plan_in_force=plan_in_force)
