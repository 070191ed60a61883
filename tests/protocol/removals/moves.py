"""Protections of sections 1 to 3 and 8, and of the sweep: moves of the row, signals, workflow."""

from __future__ import annotations

from tests.protocol.removals.removal import Removal

_LOOP = "workflows/review_run.py"
_RECORD = "activities/record.py"
_CHECKPOINT = "activities/checkpoint.py"
_EXECUTE = "activities/steps/execute.py"
_SWEEP = "activities/reconcile.py"
_CONCLUDES = "            if run is None or run.status != RunStatus.RUNNING"

_ROW = (
    Removal(
        "row_is_truth",
        _LOOP,
        "        self.news = 0\n",
        '        self.news = 0\n        self.said = ""\n',
        "the workflow remembers what the last signal said",
    ),
    Removal(
        "row_is_truth",
        _LOOP,
        "        self.news += 1\n        facts",
        "        self.news += 1\n        self.said = command\n        facts",
    ),
    Removal(
        "row_is_truth",
        _LOOP,
        "            if (later.status, later.epoch) != (now.status, now.epoch):",
        "            if self.said == Signal.INTERRUPT:",
    ),
    Removal(
        "row_is_truth",
        _LOOP,
        "            if now.next == Next.WAIT:",
        "            if now.next == Next.WAIT or self.said == Signal.INTERRUPT:",
    ),
    Removal(
        "conditional_update",
        _RECORD,
        "WHERE id = $1 AND status = $2 AND (",
        "WHERE id = $1 AND $2::text IS NOT NULL AND (",
    ),
    Removal(
        "conclude_by_epoch",
        _CHECKPOINT,
        _CONCLUDES + " or run.epoch != given.epoch:\n"
        "                return False\n"
        "            if run.outcome is None:",
        _CONCLUDES + ":\n                return False\n            if run.outcome is None:",
    ),
    Removal(
        "conclude_by_epoch",
        _CHECKPOINT,
        "                    epoch=given.epoch,\n"
        "                    reason=Reason(run.outcome or Reason.ROUND_LIMIT),",
        "                    epoch=run.epoch,\n"
        "                    reason=Reason(run.outcome or Reason.ROUND_LIMIT),",
    ),
    Removal(
        "failure_by_epoch",
        _EXECUTE,
        "    return run.status == RunStatus.RUNNING and run.epoch == step.claimed.run.epoch",
        "    return run.status == RunStatus.RUNNING",
    ),
    Removal(
        "failure_by_own_step",
        _EXECUTE,
        "    if not closed or not _is_mine(run, step):\n        return\n",
        "    if not _is_mine(run, step):\n        return\n",
    ),
    Removal(
        "failure_by_own_step",
        "activities/spending/calls.py",
        "        return refused or (",
        "        return (refused if result.done else None) or (",
        "the call's own transaction asks for the step too, just before",
    ),
    Removal(
        "fault_by_own_step",
        "activities/attempt.py",
        '        if step is not None and not step["mine"]:\n'
        "            return seconds  # somebody is at work: our fault is not the run's\n"
        "        if step is not None:\n",
        '        if step is not None and step["mine"]:\n',
    ),
    Removal(
        "move_voids_plan",
        _RECORD,
        "        WHERE p.run_id = $1 AND p.voided_at IS NULL AND NOT EXISTS (",
        "        WHERE p.run_id = $1 AND p.voided_at IS NULL AND false AND NOT EXISTS (",
    ),
    Removal(
        "move_voids_plan",
        _RECORD,
        "            pending_review_step = CASE WHEN $3 THEN NULL "
        "ELSE r.pending_review_step END,\n",
        "",
    ),
    Removal(
        "edit_beside_running",
        "api/moves/edits.py",
        "    if row.status == RunStatus.RUNNING:\n",
        "    if row.status in FINAL:\n",
    ),
    Removal(
        "signal_with_start",
        "api/moves/signals.py",
        "        if due.signal == Signal.RESUME:\n"
        "            await self._wake_or_start(client, due)\n"
        "            return\n",
        "",
    ),
    Removal(
        "signalled_seq",
        _RECORD,
        "move_seq = CASE WHEN $10 THEN event_seq + 1 ELSE move_seq END",
        "move_seq = CASE WHEN $10 THEN move_seq ELSE move_seq END",
    ),
    Removal(
        "number_not_flag",
        _RECORD,
        "SET signalled_seq = GREATEST(signalled_seq, $2) WHERE id = $1",
        "SET signalled_seq = GREATEST(move_seq, $2) WHERE id = $1",
        "whoever acknowledges clears whatever is due",
    ),
    Removal(
        "confirm_names_revision",
        "api/commands.py",
        "    if wanted.revision != row.offered_revision and not wanted.override_offered:",
        "    if wanted.revision is None:",
    ),
)

_WORKFLOW = (
    Removal(
        "wait_by_count",
        _LOOP,
        "            if self.news != seen or self.by_hand:\n                continue\n",
        "",
    ),
    Removal(
        "wait_by_count",
        _LOOP,
        "if not await self.signalled(seen, timedelta(",
        "if not await self.signalled(self.news, timedelta(",
        "the count after the load, as a flag cleared then would be",
    ),
    Removal(
        "every_end_loads",
        _LOOP,
        "        return handle.done()\n",
        "        if handle.done():\n            handle.result()\n        return handle.done()\n",
    ),
    Removal(
        "abandon_after_10s",
        _LOOP,
        "await workflow.wait([handle], timeout=policy.STOP_WAIT.total_seconds())",
        "await workflow.wait([handle])",
    ),
    Removal(
        "hand_by_epoch",
        _CHECKPOINT,
        "run.epoch != given.epoch or run.status != given.loaded_status:",
        "run.status != given.loaded_status:",
    ),
    Removal(
        "hand_by_epoch",
        _CHECKPOINT,
        "                    epoch=given.epoch,\n                    reason=reason,",
        "                    epoch=run.epoch,\n                    reason=reason,",
    ),
    Removal(
        "hand_at_arrival",
        _LOOP,
        '            await self.local("move_by_hand", self.by_hand.popleft(), Moved)\n',
        "            asked, now = self.by_hand.popleft(), await self.load()\n"
        '            fresh = {"loaded_status": now.status, "epoch": now.epoch}\n'
        "            asked = HandMove(**{**vars(asked), **fresh})\n"
        '            await self.local("move_by_hand", asked, Moved)\n',
        "a load made for the move",
    ),
    Removal(
        "hand_names_status",
        _CHECKPOINT,
        "run.epoch != given.epoch or run.status != given.loaded_status:",
        "run.epoch != given.epoch:",
    ),
    Removal(
        "cancel_moves",
        _LOOP,
        '            await self.local("cancel_run", CancelMove(run_id=self.run_id), Moved)\n',
        "",
    ),
    Removal(
        "cancel_arrives",
        _LOOP,
        "            await asyncio.shield(body)",
        "            await body",
    ),
)

_OF_THE_SWEEP = (
    Removal(
        "sweep_by_epoch",
        _SWEEP,
        'run.status != RunStatus.RUNNING or run.epoch != row["epoch"]:',
        "run.status != RunStatus.RUNNING:",
    ),
    Removal(
        "sweep_by_epoch",
        _SWEEP,
        '                    epoch=row["epoch"],\n',
        "                    epoch=run.epoch,\n",
    ),
    Removal(
        "sweep_starts",
        _SWEEP,
        '                raise\n            await self._start(row)\n            return "started"\n',
        "                raise\n            return None\n",
    ),
    Removal(
        "sweep_starts",
        _SWEEP,
        "        if described.status in (_STATUS.COMPLETED, _STATUS.CONTINUED_AS_NEW, None):\n"
        "            await self._start(row)\n"
        '            return "started"\n',
        "        if described.status in (_STATUS.COMPLETED, _STATUS.CONTINUED_AS_NEW, None):\n"
        "            return None\n",
    ),
    Removal(
        "sweep_terminated",
        _SWEEP,
        "        return await self._tell_row(row, described.status)\n",
        "        if described.status == _STATUS.TERMINATED:\n"
        "            return None\n"
        "        return await self._tell_row(row, described.status)\n",
    ),
    Removal(
        "sweep_cancelled",
        _SWEEP,
        "        return await self._tell_row(row, described.status)\n",
        "        if described.status == _STATUS.CANCELED:\n"
        "            return None\n"
        "        return await self._tell_row(row, described.status)\n",
    ),
    Removal(
        "sweep_wakes",
        _SWEEP,
        "            return await self._wake(row, failing=failing)\n",
        '            return "woken" if failing else None\n',
    ),
    Removal(
        "sweep_terminates_existing",
        _SWEEP,
        'replace=failing or row["woken"] >= WAKES)',
        "replace=False)",
    ),
    Removal(
        "sweep_sends_due",
        _SWEEP,
        "        signalled = await self._send_due()\n",
        "        signalled = 0\n",
    ),
    Removal(
        "sweep_sees_dead_owner",
        _SWEEP,
        '                return await living(connection, self.tools.witness, row["step_id"], '
        'row["worker"])\n',
        "                return True\n",
    ),
    Removal(
        "sweep_sees_dead_owner",
        _SWEEP,
        'return not await self.tools.witness.prove(connection, row["owner_worker"])',
        "return True",
    ),
    Removal(
        "due_before_describe",
        _SWEEP,
        "            WHERE r.status = 'RUNNING' AND r.move_seq <= r.signalled_seq\n",
        "            WHERE r.status = 'RUNNING'\n",
    ),
)

REMOVALS: tuple[Removal, ...] = (*_ROW, *_WORKFLOW, *_OF_THE_SWEEP)

# Rules of the code that the model, coarser than it, has no name for.
EXTRA: dict[str, str] = {
    "fault_by_own_step": "a bug in an attempt is not the run's while somebody else is at work",
}

# Rules that no line of the code holds alone, with the reason.
MODEL_ONLY: dict[str, str] = {
    "queue_tested_again": "Temporal ends no execution with unread signals, and its SDK hands a "
    "workflow the signals of a task before the timers",
}

# Rules that still wait for their removal and their test.
PENDING: frozenset[str] = frozenset()
