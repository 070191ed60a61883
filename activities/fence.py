"""The fence: what an activity may still write, asked after the run row is locked."""

from __future__ import annotations

from dataclasses import dataclass

from activities.record import RunRow
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


async def read_fence(connection: Connection, run: RunRow, *, step_id: str, plan_id: str) -> Fence:
    """The caller has locked the run, in a statement before this one."""
    row = await connection.fetchrow(
        """
        SELECT EXISTS (SELECT FROM steps WHERE id = $1 AND status = 'RUNNING') AS own_step_running,
               EXISTS (SELECT FROM step_plans WHERE id = $2 AND voided_at IS NULL) AS plan_in_force
        """,
        step_id,
        plan_id,
    )
    assert row is not None, "a select without a table gives one row"
    return Fence(run=run, **dict(row))
