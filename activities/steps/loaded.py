"""What a workflow is told of its row."""

from __future__ import annotations

from activities.record import RunRow
from activities.steps.upcoming import step_of
from activities.tools import Tools
from workflows.contract import Loaded, Next
from workflows.policy import next_work


def loaded(tools: Tools, run: RunRow) -> Loaded:
    """The row as it was read, what comes next of it, and the settings that a workflow needs."""
    next_, round_ = next_work(run.status, step_of(run))
    settings = tools.settings
    longest = settings.round_timeout
    if next_ == Next.TRANSCRIBE:
        longest = settings.transcribe_timeout
    return Loaded(
        status=run.status,
        epoch=run.epoch,
        next=next_,
        round=round_,
        current_round=run.current_round,
        max_rounds=run.max_rounds,
        score=run.score,
        kind=run.kind,
        document_id=run.document_id,
        reason=run.reason_code,
        searchable=tools.searchable,
        heartbeat_seconds=settings.heartbeat_timeout,
        work_seconds=longest,
        parking_seconds=settings.parking_seconds,
    )
