"""Protections of sections 1 to 3 and 8, and of the sweep: moves of the row, signals, workflow."""

from __future__ import annotations

from tests.protocol.removals.removal import Removal

REMOVALS: tuple[Removal, ...] = ()

# Rules that no line of the code holds alone, with the reason.
MODEL_ONLY: dict[str, str] = {}

# Rules that still wait for their removal and their test.
PENDING = frozenset(
    {
        "row_is_truth",
        "conditional_update",
        "conclude_by_epoch",
        "failure_by_epoch",
        "failure_by_own_step",
        "sweep_by_epoch",
        "move_voids_plan",
        "signal_with_start",
        "signalled_seq",
        "number_not_flag",
        "confirm_names_revision",
        "wait_by_count",
        "every_end_loads",
        "abandon_after_10s",
        "hand_by_epoch",
        "hand_at_arrival",
        "hand_names_status",
        "cancel_moves",
        "cancel_arrives",
        "queue_tested_again",
        "sweep_starts",
        "sweep_terminated",
        "sweep_cancelled",
        "sweep_wakes",
        "sweep_terminates_existing",
        "sweep_sends_due",
        "sweep_sees_dead_owner",
        "due_before_describe",
    }
)
