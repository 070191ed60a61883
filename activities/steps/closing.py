"""Closes a step whose parts are all stored: result, checkpoint and revision in one transaction.

What was paid is committed before that, by its parts. Who dies in between loses nothing: the next
claim finds every part stored and comes straight here.
"""

from __future__ import annotations

from activities.hooks import Hook, committed
from activities.steps.step import Step
from deploy.database import Connection
from workflows.vocabulary import Reason


async def close_done(step: Step) -> bool:
    """False when the fence refuses: the step was closed by somebody, or the run went on otherwise;
    the watch says why."""
    claimed, closer = step.claimed, step.closer

    async def work(connection: Connection) -> bool:
        claimed.left = None  # what an earlier try saw others may have changed
        fence = await claimed.lock(connection, document=closer.writes_revision)
        if fence is None:
            step.watch.gone()
            return False
        if fence.refusal is None and claimed.may_commit(fence):
            await closer.close(connection, fence.run)
            return True
        if await _closed_before(connection, claimed.step_id):
            return True
        step.watch.stop(fence.refusal or Reason.INTERRUPTED)
        return False

    prepared = False

    async def close() -> bool:
        nonlocal prepared
        if not prepared:
            await closer.prepare({part.plan.part: list(part.kept) for part in claimed.parts})
            prepared = True
        return await committed(
            Hook.COMPLETE, step.tools.pool, work, patience=float("inf"), waits=False
        )

    return await step.tools.in_turn(close)


async def _closed_before(connection: Connection, step_id: str) -> bool:
    """The answer of the commit was lost and this is the second try."""
    found: bool = await connection.fetchval(
        "SELECT status = 'SUCCEEDED' FROM steps WHERE id = $1", step_id
    )
    return bool(found)
