"""What comes next of a run, by its row: where rows meet the rule of `workflows.policy`."""

from __future__ import annotations

from activities.record import RunRow
from workflows.policy import next_step
from workflows.vocabulary import StepName


def step_of(run: RunRow) -> tuple[int, StepName] | None:
    """(round, name) while it is RUNNING; None when nothing is left to do."""
    return next_step(
        working_revision=run.working_revision,
        current_round=run.current_round,
        pending_review=run.pending_review_step is not None,
        outcome=run.outcome,
        max_rounds=run.max_rounds,
        unheard=run.unheard_source is not None,
    )
