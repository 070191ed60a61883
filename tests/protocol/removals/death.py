"""Protections of sections 5 to 8 but the sweep: stops, proofs of death, whose run it is, keys."""

from __future__ import annotations

from tests.protocol.removals.removal import Removal

ATTEMPT, DEATH, REAPER = "activities/attempt.py", "activities/owning/death.py", "worker/reaper.py"
OWNERSHIP = "activities/owning/ownership.py"
CHECKPOINT = "activities/checkpoint.py"

_FREE = 'free = not row["locked"] and row["this_postmaster"] and row["age"] > 2'
_OLD_ROW = '        if row["age"] is None or row["age"] > 15:\n'

STOPS = (
    Removal(
        "cancel_means_look",
        ATTEMPT,
        "            watch.told = True\n            watch.look.set()\n",
        "            watch.stop(Reason.INTERRUPTED)\n",
    ),
    Removal(
        "worker_polls_row",
        "worker/interrupts.py",
        "        if watches:\n            try:",
        "        if not watches:\n            try:",
    ),
    Removal(
        "worker_sees_closed_step",
        "worker/interrupts.py",
        '            _doubt(watch, step_id, row["step_id"])\n',
        "            pass\n",
    ),
    Removal(
        "notify_is_only_a_hint",
        "worker/interrupts.py",
        "                await check(connection, watches)\n",
        "                any(watch.stop(Reason.INTERRUPTED) for watch in watches)\n",
    ),
)

PROOFS = (
    Removal("lock_free", DEATH, _FREE, 'free = row["this_postmaster"] and row["age"] > 2'),
    Removal("seen_over_2s", DEATH, _FREE, 'free = not row["locked"] and row["this_postmaster"]'),
    Removal("this_postmaster", DEATH, _FREE, 'free = not row["locked"] and row["age"] > 2'),
    Removal(
        "lock_free_twice",
        DEATH,
        "        return self.free.still(worker, True)\n",
        "        return True\n",
    ),
    Removal(
        "looks_together",
        DEATH,
        " if now - look[2] <= LOOKS_TOGETHER}\n",
        "}\n",
    ),
    Removal(
        "row_missing",
        DEATH,
        _OLD_ROW,
        '        if row["age"] is None:\n            return False\n        if row["age"] > 15:\n',
    ),
    Removal("seen_over_15s", DEATH, _OLD_ROW, '        if row["age"] is None:\n'),
    Removal(
        "both_over_15s",
        DEATH,
        '            if not row["calm"]:\n                self.silent.forget(worker)\n',
        "",
    ),
    Removal(
        "proof_by_goodbye",
        DEATH,
        '        if row["goodbye"]:\n            return True\n',
        "",
    ),
    Removal(
        "proof_by_pid",
        DEATH,
        "    except psutil.NoSuchProcess:\n        return True\n",
        "    except psutil.NoSuchProcess:\n        return False\n",
    ),
    Removal(
        "proof_by_zombie",
        DEATH,
        "        return reused or process.status() == psutil.STATUS_ZOMBIE\n",
        "        return reused\n",
    ),
    Removal(
        "proof_by_reuse",
        DEATH,
        "        reused = all(abs(one - other.started) > 1.0 for one in begun)\n",
        "        reused = False\n",
    ),
    Removal(
        "proof_by_boot",
        DEATH,
        "    if other.boot != mine.boot:\n        return True\n",
        "",
    ),
    Removal(
        "pid_lives",
        DEATH,
        "        if not free or (other is not None and process_lives(other, self.mine)):\n",
        "        if not free:\n",
    ),
    Removal(
        "pid_of_this_namespace",
        DEATH,
        "    if (other.machine, other.pid_ns) != (mine.machine, mine.pid_ns):\n"
        "        return False\n",
        "",
    ),
)

OWNERS = (
    Removal(
        "unclaimed_taken_over",
        REAPER,
        "        left += await self.unclaimed.find(connection)\n",
        "",
    ),
    Removal(
        "reaper_closes",
        REAPER,
        "lambda c: self._close(c, row), collisions=0",
        'lambda c: c.fetchval("SELECT false"), collisions=0',
    ),
    Removal(
        "reaper_sees_dead_steps",
        REAPER,
        "            if step_dead or await self.tools",
        "            if await self.tools",
    ),
    Removal(
        "take_over",
        REAPER,
        "        if now - before < pause:\n",
        "        if key:\n",
        "the workflow is never told",
    ),
    Removal(
        "take_over_checks",
        CHECKPOINT,
        "            if run is None or run.owner_worker != given.worker "
        "or run.epoch != given.epoch:\n",
        "            if run is None:\n",
    ),
    Removal(
        "take_over_checks",
        CHECKPOINT,
        "if run.status != RunStatus.RUNNING or not await self._dead(connection, given):\n",
        "if False:\n",
    ),
    Removal(
        "take_over_clears_owner",
        CHECKPOINT,
        'await connection.execute("UPDATE runs SET owner_worker = NULL WHERE id = $1", run_id)',
        "pass",
    ),
    Removal(
        "owner_clears_own",
        OWNERSHIP,
        "WHERE r.id = $1 AND r.owner_worker = $2 AND NOT EXISTS (",
        "WHERE r.id = $1 AND $2::text IS NOT NULL AND NOT EXISTS (",
    ),
    Removal(
        "owner_kept_by_step",
        OWNERSHIP,
        "WHERE s.run_id = r.id AND s.status = 'RUNNING')",
        "WHERE s.run_id = r.id AND s.status = 'NEVER')",
    ),
)

PEOPLE = (
    Removal(
        "key_with_effect",
        "api/moves/idempotency.py",
        """    if once is not None:
        await _keep(connection, once, done, body)
""",
        "",
    ),
    Removal(
        "key_with_effect",
        "api/moves/idempotency.py",
        "        answer = await transaction(tools.state.pool, lambda c: _run(c, work, once))\n",
        """        answer = await transaction(tools.state.pool, lambda c: _run(c, work, once))
        if once is not None and not answer.replayed:
            done = Done(status=answer.status, body=None, location=answer.location)
            async with tools.state.pool.acquire() as connection:
                await _keep(connection, once, done, answer.body)
""",
    ),
    Removal(
        "people_lock_first",
        "api/moves/moving.py",
        """    if await record.lock_document_of(connection, run_id) is None:
        raise not_found("run")
    row = await record.lock_run(connection, run_id)
""",
        "    row = await record.read_run(connection, run_id)\n",
    ),
)

REMOVALS: tuple[Removal, ...] = (*STOPS, *PROOFS, *OWNERS, *PEOPLE)
