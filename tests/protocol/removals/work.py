"""Protections of sections 4 to 7 but the sweep: claim, parts, commit, stop, death, money."""

from __future__ import annotations

from tests.protocol.removals.removal import Removal

REMOVALS: tuple[Removal, ...] = ()

# Rules that no line of the code holds alone, with the reason.
MODEL_ONLY: dict[str, str] = {}

# Rules that still wait for their removal and their test.
PENDING = frozenset(
    {
        "plan_frozen",
        "claim_needs_running",
        "claim_needs_epoch",
        "claim_needs_round",
        "claim_returns_result",
        "claim_closes_complete",
        "living_wins",
        "old_epoch_wait_ends",
        "claim_supersedes_dead",
        "in_flight_list",
        "commit_by_own_step",
        "commit_by_epoch",
        "commit_by_revision",
        "commit_by_status",
        "commit_repeats",
        "parts_alone",
        "count_after_lock",
        "worker_polls_row",
        "cancel_means_look",
        "lock_free",
        "seen_over_2s",
        "this_postmaster",
        "row_missing",
        "seen_over_15s",
        "both_over_15s",
        "reaper_closes",
        "take_over",
        "take_over_checks",
        "call_fenced",
        "owner_clears_own",
        "take_over_clears_owner",
        "reaper_sees_dead_steps",
        "lock_free_twice",
        "claim_writes_seen",
        "call_needs_running",
    }
)
