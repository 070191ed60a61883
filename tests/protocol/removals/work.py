"""Protections of sections 4 to 8 but the sweep. Here: claim, parts, commit, the call's row."""

from __future__ import annotations

from tests.protocol.removals import death
from tests.protocol.removals.removal import Removal

CLAIM, CALLS, FENCE = (
    "activities/claim.py",
    "activities/spending/calls.py",
    "activities/owning/fence.py",
)
PROJECTION, STEP = "activities/projection.py", "activities/steps/step.py"

# Rules of the code that the model, coarser than it, has no name for.
EXTRA: dict[str, str] = {
    "metered_in_the_stream": "a reply that takes more than is left is cut while it streams",
    "stop_stays_with_part": "who goes on without an override finds the guardrail's stop again",
    "override_once": "an override gives room for the stop it names, and the next stop asks again",
    "call_row_before_request": "the row of a call is committed before its request is sent",
    "items_lock_run": "items lock the run, so none lands after the next claim read the ledger",
    "retry_at_kept": "interrupt and resume do not skip what the provider asked to wait",
    "own_step_known_again": "a claim whose answer was lost holds the step that it made",
    "own_call_known_again": "a call's row that was written without an answer is its own",
    "own_items_known_again": "an item that was stored without an answer is there once",
    "reply_before_result": "a reply is committed before anything is made of it",
    "own_close_known_again": "a step that was closed without an answer is done",
    "caps_by_cause": "only calls that ended early for the model's reasons count against the five",
    "deletion_is_a_stop": "a run that is gone stops its attempt and is no failure",
    "late_usage_corrects_lost_row": "usage that comes after LOST corrects row and totals",
    "notify_is_only_a_hint": "a notification makes an attempt look, the row makes it stop",
    "worker_sees_closed_step": "an attempt whose step somebody closed ends within seconds",
    "owner_kept_by_step": "an attempt leaves the owner while a step of the run is RUNNING",
    "looks_together": "two looks at a lock prove nothing when they are far apart",
    "unclaimed_taken_over": "what a dead worker was given and had not claimed is taken over",
    "proof_by_goodbye": "proof: it said goodbye",
    "proof_by_pid": "proof: same machine and namespace, and the pid is gone",
    "proof_by_zombie": "proof: same machine and namespace, and nobody reaped it yet",
    "proof_by_reuse": "proof: same machine and namespace, and the pid is another process's",
    "proof_by_boot": "proof: same machine and namespace, and another boot",
    "pid_of_this_namespace": "a pid of another machine or namespace proves nothing",
    "pid_lives": "a lock that is free is no proof against a process that is seen to live",
    "key_with_effect": "an idempotency key and its effect are one transaction",
    "people_lock_first": "a person's move locks document and run before it looks at the status",
}

_STALE = "    if run.status != RunStatus.RUNNING or run.epoch != watch.epoch:\n"
_NOT_NEXT = "    if step is None or step[0] != round_ or step[1] not in names:\n"
_LIVING = "    elif await living(connection, tools.witness, step_id, worker):\n"
CLAIMS = (
    Removal(
        "plan_frozen",
        CLAIM,
        "        run, plans = (left, {}) if left else await read_due(connection, watch.run_id)\n",
        '''        await connection.execute(
            """
            UPDATE step_plans SET voided_at = now() WHERE run_id = $1 AND voided_at IS NULL
            """,
            watch.run_id,
        )
        run, plans = (left, {}) if left else await read_due(connection, watch.run_id)
''',
        "each claim makes the cut anew",
    ),
    Removal("claim_needs_running", CLAIM, _STALE, "    if run.epoch != watch.epoch:\n"),
    Removal("claim_needs_epoch", CLAIM, _STALE, "    if run.status != RunStatus.RUNNING:\n"),
    Removal(
        "claim_needs_round", CLAIM, _NOT_NEXT, "    if step is None or step[1] not in names:\n"
    ),
    Removal(
        "claim_returns_result", CLAIM, _NOT_NEXT, "    if step is None or step[0] != round_:\n"
    ),
    Removal(
        "claim_closes_complete",
        "activities/steps/execute.py",
        "    if all(end.code == PartEndCode.DONE for",
        "    if ends and all(end.code == PartEndCode.DONE for",
    ),
    Removal(
        "living_wins",
        CLAIM,
        _LIVING
        + "        return _Held(step_id=step_id, worker=worker, "
        + 'older_epoch=there["epoch"] != run.epoch)\n',
        "",
    ),
    Removal(
        "old_epoch_wait_ends",
        CLAIM,
        "if got.older_epoch and time.monotonic() - since > OLD_EPOCH_WAIT:",
        "if got.older_epoch and time.monotonic() - since > 3600:",
    ),
    Removal("claim_supersedes_dead", CLAIM, _LIVING, "    else:\n"),
    Removal(
        "in_flight_list",
        "activities/owning/death.py",
        "    if await step_dead_inside(connection, step_id):\n        return False\n",
        "",
    ),
    Removal(
        "claim_writes_seen",
        CLAIM,
        "        if time.monotonic() - tools.in_flight.shown > SHOWN_LATELY:\n",
        "        if time.monotonic() - tools.in_flight.shown < 0:\n",
    ),
    Removal(
        "retry_at_kept",
        CLAIM,
        """    if run.retry_in is not None and run.retry_in > 0:
        return NotClaimed(code="later", seconds=run.retry_in)
""",
        "",
    ),
    Removal(
        "parts_alone",
        "activities/steps/execute.py",
        "_in_turn(gate, step, part)) for part in parts if not part.done]\n",
        "_in_turn(gate, step, part)) for part in parts]\n",
    ),
)

COMMITS = (
    Removal(
        "commit_by_own_step",
        FENCE,
        "        if not self.own_step_running:\n            return Reason.SUPERSEDED\n",
        "",
    ),
    Removal(
        "commit_by_epoch",
        FENCE,
        "            self.run.epoch == epoch\n            and self",
        "            self",
    ),
    Removal(
        "commit_by_revision",
        FENCE,
        "            and self.run.working_revision == input_revision\n",
        "",
        "a person's text also voids the plan, so both go",
    ),
    Removal("commit_by_revision", FENCE, "            and self.plan_in_force\n", ""),
    Removal(
        "commit_by_status",
        FENCE,
        "        if self.run.status not in (",
        "        if self.run.status == RunStatus.CONFIRMED and self.run.status not in (",
    ),
    Removal(
        "commit_repeats",
        STEP,
        'committed(Hook.SETTLE, self.tools.pool, work, patience=float("inf"))',
        "committed(Hook.SETTLE, self.tools.pool, work, patience=0.0)",
    ),
    Removal(
        "reply_before_result",
        CALLS,
        "        fence = await claimed.lock(connection)\n"
        "        if fence is None:\n"
        "            self.step.watch.gone()\n"
        "            return Reason.INTERRUPTED\n",
        "        fence = await claimed.lock(\n"
        "            connection, document=result.done and self.step.closer.writes_revision\n"
        "        )\n"
        "        if fence is None:\n"
        "            self.step.watch.gone()\n"
        "            return Reason.INTERRUPTED\n",
        "as where the last part's commit closes the step",
    ),
    Removal(
        "items_lock_run",
        "activities/items.py",
        "        fence = await lock_fence(connection, place.run_id, step_id=step, plan_id=plan)\n",
        """        run = await read_run(connection, place.run_id)
        running = await connection.fetchval(
            "SELECT status = 'RUNNING' FROM steps WHERE id = $1", step
        )
        fence = run and Fence(run=run, own_step_running=running, plan_in_force=True)
""",
    ),
    Removal(
        "items_lock_run",
        "activities/items.py",
        "from activities.owning.fence import lock_fence\n",
        "from activities.owning.fence import Fence\nfrom activities.record import read_run\n",
    ),
    Removal(
        "deletion_is_a_stop",
        CALLS,
        """        if fence is None:
            self.step.watch.gone()
            return Reason.INTERRUPTED
        refused""",
        """        assert fence is not None
        refused""",
    ),
)

CALL_ROWS = (
    Removal(
        "reserve_before_call",
        "activities/spending/budget.py",
        "    if over is not None:\n        return Refused(",
        "    if over is not None and over.used > over.limit:\n        return Refused(",
        "a call is asked for as long as the limit is not passed yet",
    ),
    Removal(
        "metered_in_the_stream",
        "activities/spending/metering.py",
        "        if self.over is not None:\n            self.cut()\n",
        "",
    ),
    Removal(
        "stop_stays_with_part",
        CALLS,
        "            stop=stop if stop in GUARDRAILS else None,\n",
        "            stop=None,\n",
    ),
    Removal(
        "override_once",
        "api/moves/resume.py",
        "        UPDATE step_parts p SET stop = NULL,\n"
        "            calls = CASE WHEN r.guardrail = 'call_limit' THEN 0 ELSE p.calls END,\n",
        "        UPDATE step_parts p SET stop = NULL, calls = -1000000,\n",
        "the part has room for ever, so no later stop asks again",
    ),
    Removal(
        "override_once",
        "api/moves/resume.py",
        "early_ends = CASE WHEN r.guardrail = 'call_limit' THEN 0 ELSE p.early_ends END,",
        "early_ends = -1000000,",
    ),
    Removal(
        "call_fenced",
        STEP,
        """            if fence.refusal is not None or not fence.plan_in_force:
                return await _unsent(connection, opening)
""",
        "",
    ),
    Removal(
        "call_needs_running",
        STEP,
        """            if run.status != RunStatus.RUNNING or run.epoch != claimed.run.epoch:
                return await _unsent(connection, opening)
""",
        "",
    ),
    Removal(
        "call_row_before_request",
        "activities/steps/parts.py",
        """        if not await _opened(step, call):
            return _not_opened(step, part, call)
        end = await call.stream()
""",
        """        opening = asyncio.create_task(call.open())
        end = await call.stream()
        if not await opening:
            return _not_opened(step, part, call)
""",
    ),
    Removal(
        "caps_by_cause",
        CALLS,
        "        if end is None or end.failure is not None:\n            return part.calls",
        "        if end is not None and end.failure is not None:\n            return part.calls",
    ),
    Removal(
        "caps_by_cause",
        CALLS,
        "early = end.cause is not None or self.lacking",
        "early = end is None or end.cause is not None or self.lacking",
    ),
    Removal(
        "late_usage_corrects_lost_row",
        PROJECTION,
        "AND (status = 'STARTED' OR status = 'LOST' AND $9 = 'reported')",
        "AND status = 'STARTED'",
    ),
)

LOST_ANSWERS = (
    Removal(
        "own_step_known_again",
        CLAIM,
        'if there["step_id"] != step_id:  # else',
        "if there is not None:  # else",
    ),
    Removal("own_call_known_again", PROJECTION, "            ON CONFLICT (id) DO NOTHING\n", ""),
    Removal(
        "own_items_known_again",
        "activities/items.py",
        "        ON CONFLICT (plan_id, part, key) DO NOTHING\n",
        "",
    ),
    Removal(
        "own_close_known_again",
        "activities/steps/closing.py",
        "        if await _closed_before(connection, claimed.step_id):\n            return True\n",
        "",
    ),
)

REMOVALS: tuple[Removal, ...] = (
    *CLAIMS,
    *COMMITS,
    *CALL_ROWS,
    *LOST_ANSWERS,
    *death.REMOVALS,
)

# Rules that no line of the code holds alone, with the reason.
MODEL_ONLY: dict[str, str] = {}

# Rules that still wait for their removal and their test.
PENDING: frozenset[str] = frozenset()
