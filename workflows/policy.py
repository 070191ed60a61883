"""Options of activities and timers, named once; and what comes next, as a pure function."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio.common import Priority, RetryPolicy

from workflows.contract import Loaded, Next
from workflows.vocabulary import FINAL, MEDIA_QUEUE, MODEL_QUEUE, RunStatus, StepName

STOP_WAIT = timedelta(seconds=10)
"""A cancelled activity is waited for this long, then abandoned."""
LOCAL: dict[str, Any] = {
    "schedule_to_close_timeout": timedelta(seconds=10),
    "retry_policy": RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=5),
}
"""Few attempts: while they go on, each workflow task's own heartbeat grows the history, and they
were seen to go on past their time limit."""
RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=1.0)
"""Of attempts that timed out, so that death costs the heartbeat's timeout and little more however
many attempts went before. Errors say themselves how long to wait."""


PRIORITY = {
    Next.TRANSCRIBE: Priority(priority_key=1),
    Next.DRAFT: Priority(priority_key=2),
    Next.ROUND: Priority(priority_key=3),
}
"""Where work waits for a slot, as after a power cut, what others wait for comes first. A server
that knows no priorities takes it in the order of arrival."""

ROW_TOLD = "row-told"
"""A patch: histories that workers of before took part in have a load behind each activity."""


def pause_before(tries: int) -> timedelta:
    """Before a local activity is tried again while the database is away: 5 s in the first minutes,
    then longer, up to a minute, since each pause grows the history."""
    return timedelta(seconds=min(5 * 2 ** (tries // 20), 60))


def work_options(loaded: Loaded) -> dict[str, Any]:
    """Of a transcription, a draft or a round: long, beating, tried again until the row says stop.

    Recordings have a queue of their own, so that long ones keep no round waiting.
    """
    return {
        "task_queue": MEDIA_QUEUE if loaded.next == Next.TRANSCRIBE else MODEL_QUEUE,
        "priority": PRIORITY[Next(loaded.next)],
        "start_to_close_timeout": timedelta(seconds=loaded.work_seconds),
        "heartbeat_timeout": timedelta(seconds=loaded.heartbeat_seconds),
        "retry_policy": RETRY,
    }


def next_step(
    *,
    working_revision: int | None,
    current_round: int,
    pending_review: bool,
    outcome: str | None,
    max_rounds: int,
    unheard: bool = False,
) -> tuple[int, StepName] | None:
    """The next step of a RUNNING run as (round, name); None when nothing is left to do. `unheard`:
    a recording of the document has no transcript yet."""
    if outcome is not None:
        return None
    if unheard:
        return 0, StepName.TRANSCRIBE
    if working_revision is None:
        return 0, StepName.DRAFT
    if pending_review:
        return current_round, StepName.REFINE
    if current_round >= max_rounds:
        return None
    return current_round + 1, StepName.REVIEW


def next_work(status: RunStatus, step: tuple[int, StepName] | None) -> tuple[Next, int]:
    """What a workflow does about a row, and the round it is about."""
    if status in FINAL:
        return Next.END, 0
    if status != RunStatus.RUNNING:
        return Next.WAIT, 0
    if step is None:
        return Next.CONCLUDE, 0
    round_, name = step
    if name in (StepName.REVIEW, StepName.REFINE):
        return Next.ROUND, round_
    return (Next.DRAFT if name == StepName.DRAFT else Next.TRANSCRIBE), round_


def details(now: Loaded) -> str:
    """What Temporal Web shows as current details: codes and numbers, no text of a document."""
    score = "-" if now.score is None else str(now.score)
    reason = f", reason: {now.reason}" if now.reason else ""
    return (
        f"**{now.status}** round {now.current_round} of {now.max_rounds}, score {score}, "
        f"next: {now.next}{reason}"
    )
