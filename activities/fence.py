"""The fence: what an activity may still write, asked after the run row is locked."""

from __future__ import annotations

from activities.record import RunRow
from deploy.database import Connection
from workflows.vocabulary import Reason, RunStatus


async def refusal(connection: Connection, status: RunStatus, step_id: str) -> Reason | None:
    """Why nothing may be kept: the own step is closed, or the run was cancelled. None: keep.

    Items are kept while the own step is RUNNING, under any epoch.
    """
    running: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM steps WHERE id = $1 AND status = 'RUNNING')", step_id
    )
    if not running:
        return Reason.SUPERSEDED
    if status not in (RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.FAILED):
        return Reason.INTERRUPTED
    return None


async def may_commit(
    connection: Connection, run: RunRow, *, epoch: int, input_revision: int | None, plan_id: str
) -> bool:
    """Epoch equal, the plan in force and about the working text. The own step was asked before."""
    if run.epoch != epoch or run.working_revision != input_revision:
        return False
    in_force: bool = await connection.fetchval(
        "SELECT voided_at IS NULL FROM step_plans WHERE id = $1", plan_id
    )
    return in_force


async def open_parts(connection: Connection, plan_id: str) -> int:
    """Counted after the run's lock was taken, or two siblings each see the other open."""
    count: int = await connection.fetchval(
        "SELECT count(*) FROM step_parts WHERE plan_id = $1 AND done_at IS NULL", plan_id
    )
    return count
