"""Chains of deaths around moves: made by hand, told to the row, sent by the sweep; and goodbyes."""

from __future__ import annotations

import signal
import time

from tests.eventually import eventually
from tests.fake_llm import Reply, good_reviewer
from tests.faults.chains_of_calls import SLOW
from tests.faults.dying import PATIENCE, Chain, Dying
from tests.faults.kit import PATIENT, planted, worker_seen
from tests.stack import Json, minutes

SWEEPING = {"REDRAFT_HEARTBEAT_TIMEOUT": "4", "REDRAFT_SWEEP_SECONDS": "1"}


async def _events(workers: Dying, run: Json, type_: str) -> int:
    events = await workers.stack.events(run["id"])
    return sum(event["type"] == type_ for event in events)


async def by_hand(workers: Dying) -> None:
    """An interrupt and a cancel from Temporal Web: each moves the row once."""
    stack, llm = workers.stack, workers.llm
    llm.script(Reply(hang=True))
    first = await stack.create(minutes(errors=1))
    process = workers.begins()
    await workers.asked(1)
    await stack.workflow(first["id"]).signal("interrupt")
    await workers.died(process)
    await workers.dies()
    assert (await stack.run(first["id"]))["status"] == "INTERRUPTED"
    second = await stack.create(minutes(errors=1))
    process = workers.begins()
    await workers.asked(2)
    await stack.workflow(second["id"]).cancel()
    await workers.died(process)
    await workers.dies()
    assert (await stack.run(second["id"]))["status"] == "CANCELLED"
    await workers.lives()
    await workers.settled(first)
    await workers.settled(second)
    assert await _events(workers, first, "run_interrupted") == 1
    assert await _events(workers, second, "run_cancelled") == 1
    assert len(llm.requests) == 2
    llm.script(good_reviewer(errors=planted(1)))
    await workers.command(first, "resume")
    await workers.all_is_well(first)


async def swept(workers: Dying) -> None:
    """What the sweep does is done again after a death, and is harmless when done twice."""
    stack = workers.stack
    workers.llm.script(good_reviewer(errors=planted(1)))
    run = await stack.create(minutes(errors=1))
    await workers.command(run, "interrupt")
    await stack.sql("UPDATE runs SET signalled_seq = 0")
    await workers.dies(2)  # at its signal
    await workers.command(run, "resume")
    await stack.workflow(run["id"]).terminate()
    await stack.sql("UPDATE runs SET signalled_seq = 0")
    await workers.dies(2)  # at its start
    other = await stack.create(minutes(errors=1))
    await stack.workflow(other["id"]).terminate()
    await stack.sql(
        "UPDATE runs SET last_progress_at = now() - interval '1 min' WHERE id = $1", other["id"]
    )
    await workers.dies(2)  # when it tells the row
    failed = await stack.run(other["id"])
    assert (failed["status"], failed["reason"]["code"]) == ("FAILED", "workflow_terminated")
    assert await _events(workers, other, "run_failed") == 1
    await _asleep(workers, other)
    await workers.lives()
    await workers.all_is_well(run)
    await workers.all_is_well(other, failed=1)


async def _asleep(workers: Dying, run: Json) -> None:
    """A RUNNING row whose open workflow believes that it waits for a person."""
    stack = workers.stack
    await workers.command(run, "resume")
    await workers.command(run, "interrupt")
    process = workers.begins()
    handle = stack.workflow(run["id"])

    async def waits() -> bool:
        return bool((await handle.query("progress"))["status"] == "INTERRUPTED")

    await eventually(waits, seconds=PATIENCE, what="a workflow that waits")
    await stack.sql(
        """
        UPDATE runs SET status = 'RUNNING', epoch = epoch + 1, reason_code = NULL,
            running_since = now(), last_progress_at = now() - interval '5 min'
        WHERE id = $1
        """,
        run["id"],
    )
    await workers.died(process)
    await workers.dies()


async def goodbye(workers: Dying) -> None:
    """Told to end, it hands over what it has, and dies in place of saying goodbye or after it."""
    stack, llm = workers.stack, workers.llm
    llm.script(good_reviewer(errors=planted(1)))
    llm.queue(Reply(hang=True), Reply(hang=True))
    run = await stack.create(minutes(errors=1))
    for asked in (1, 2):
        process = workers.begins()
        await worker_seen(stack, process, PATIENCE)
        await workers.asked(asked)
        told = time.time()
        process.send_signal(signal.SIGTERM)
        await workers.died(process)
        assert time.time() - told < 2 + SLOW, "handed over at once"
    await workers.lives()
    await workers.all_is_well(run)
    await workers.nothing_repaid(run)
    steps = await stack.rows(run["id"], "steps")
    assert [step["reason"]["code"] for step in steps[:2]] == ["handed_over"] * 2
    assert len(llm.requests) == 2 + 3


CHAINS = [
    Chain(
        play=by_hand,
        environment=PATIENT,
        points=["by_hand.written", "by_hand.committed", "cancel.written", "cancel.committed"],
    ),
    Chain(
        play=swept,
        environment=SWEEPING,
        points=[
            "signal.before",
            "signal.after",
            "start.before",
            "start.after",
            "tell_row.written",
            "tell_row.committed",
            "woken.before",
            "woken.after",
        ],
    ),
    Chain(
        play=goodbye,
        environment={**PATIENT, "REDRAFT_SHUTDOWN_GRACE": "0"},
        points=["goodbye.before", "goodbye.after"],
    ),
]
