"""The rules of the protocol by name: what each says, and the scenario that cannot do without it.

`shows` is a shape of work and faults (`tests.protocol.scenario`). `also` are rules that must go
with it, because they heal the same failure. `hidden` says why its removal shows nothing here: the
model has no clock, so what is only late is not wrong.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    section: str
    says: str
    shows: str
    also: tuple[str, ...] = ()
    hidden: str = ""


_LATER = "no clock: another road leads to the same, later"

RULES: dict[str, Rule] = {
    "row_is_truth": Rule(
        "1", "a message only wakes; what is done is read from the row", "short interrupt resume"
    ),
    "cancel_means_look": Rule(
        "1", "an attempt told to cancel looks at the row, which alone stops it", "single partition"
    ),
    "conditional_update": Rule(
        "2", "a move names the status it comes from, in its one UPDATE", "short interrupt"
    ),
    "conclude_by_epoch": Rule("2", "concluding names the epoch", "single rework ghost"),
    "failure_by_epoch": Rule(
        "2",
        "a permanent failure names the epoch",
        "single interrupt resume error",
        also=("failure_by_own_step",),
    ),
    "failure_by_own_step": Rule(
        "2", "a permanent failure needs the own step RUNNING", "single freeze error"
    ),
    "move_voids_plan": Rule(
        "2", "another working text voids plan and pending review", "short interrupt resume edit"
    ),
    "edit_beside_running": Rule(
        "2", "while a run is at work a person's text is kept beside it", "single edit"
    ),
    "signal_with_start": Rule(
        "2", "a move into RUNNING starts a workflow where none is open", "single interrupt resume"
    ),
    "signalled_seq": Rule(
        "2",
        "a move makes a signal due, until somebody acknowledges it",
        "single interrupt resume loss",
        also=("sweep_wakes", "sweep_starts"),
    ),
    "number_not_flag": Rule(
        "2",
        "what is due is a number, which a slower acknowledgement cannot clear",
        "single interrupt resume loss",
        also=("sweep_wakes",),
    ),
    "confirm_names_revision": Rule(
        "2", "who confirms or edits names the revision they saw", "single edit page"
    ),
    "wait_by_count": Rule(
        "3", "a wait compares counts of signals; no flag is cleared", "single interrupt resume"
    ),
    "every_end_loads": Rule(
        "3", "whatever an activity ends with, the workflow loads", "single vanish"
    ),
    "abandon_after_10s": Rule(
        "3",
        "a cancelled activity is waited for 10 s",
        "single interrupt resume freeze",
        hidden=_LATER,
    ),
    "hand_by_epoch": Rule(
        "3", "a move by hand names the epoch of its load", "single interrupt resume hand ghost"
    ),
    "hand_at_arrival": Rule(
        "3", "that load is the last one before the signal arrived", "single hand resume reset"
    ),
    "hand_names_status": Rule(
        "3", "the status of that load must allow the move", "single interrupt hand ghost"
    ),
    "cancel_moves": Rule("3", "a cancelled workflow cancels the run, then ends", "single stop"),
    "cancel_arrives": Rule("3", "no activity swallows the workflow's cancel", "single stop"),
    "queue_tested_again": Rule(
        "3", "signals are looked for again before every end", "single interrupt resume"
    ),
    "plan_frozen": Rule(
        "4", "the first claim's cut stays until the step is done", "wide interrupt resume profile"
    ),
    "claim_needs_running": Rule("4", "nothing is claimed unless RUNNING", "single interrupt"),
    "claim_needs_epoch": Rule("4", "nothing is claimed for an epoch", "single interrupt resume"),
    "claim_needs_round": Rule(
        "4",
        "nothing is claimed but the row's next round",
        "short interrupt resume edit partition",
        hidden="implied: within an epoch a round that is not the next one is committed",
    ),
    "claim_returns_result": Rule("4", "a committed step is not done again", "short kill"),
    "claim_closes_complete": Rule("4", "a step whose parts are all stored is closed", "wide kill"),
    "living_wins": Rule("4", "a second attempt waits for a living first", "single partition"),
    "old_epoch_wait_ends": Rule(
        "4",
        "a step of an older epoch is waited for 5 s",
        "single interrupt resume freeze",
        hidden=_LATER,
    ),
    "claim_supersedes_dead": Rule(
        "4", "a claim closes the step of the dead", "single vanish", also=("take_over",)
    ),
    "in_flight_list": Rule("4", "a step its living worker does not list is dead", "single vanish"),
    "commit_by_own_step": Rule("4", "a commit needs the own step RUNNING", "single freeze"),
    "commit_by_epoch": Rule("4", "a commit needs its epoch", "single interrupt resume"),
    "commit_by_revision": Rule(
        "4", "a commit needs its input still the working text", "single interrupt edit"
    ),
    "commit_by_status": Rule("4", "nothing is committed after CANCELLED", "single cancel"),
    "commit_repeats": Rule("4", "a failed commit is repeated, its call is not", "single restart"),
    "parts_alone": Rule("4", "a stored part is never asked for again", "wide kill"),
    "worker_polls_row": Rule(
        "5",
        "a worker asks each second what its rows say",
        "single interrupt resume loss",
        hidden=_LATER,
    ),
    "lock_free": Rule("6", "death: the worker's lock is free", "single block"),
    "lock_free_twice": Rule("6", "death: free at two looks, 0.5 s apart", "single block unlock"),
    "seen_over_2s": Rule(
        "6", "death: not seen for 2 s", "single unlock", also=("lock_free_twice",)
    ),
    "this_postmaster": Rule("6", "death: its row is of this postmaster", "single restart"),
    "row_missing": Rule("6", "death: it has no row any more", "single interrupt backend kill"),
    "seen_over_15s": Rule("6", "death: not seen for 15 s", "single interrupt freeze"),
    "both_over_15s": Rule(
        "6", "death by silence: only if the witness listened for 15 s", "single backend"
    ),
    "claim_writes_seen": Rule("6", "a claim renews the row of its worker", "single freeze"),
    "owner_clears_own": Rule(
        "6", "an activity gives up its own ownership only", "single interrupt resume freeze"
    ),
    "reaper_closes": Rule(
        "6", "where the run does not go on, the reaper closes", "single interrupt kill"
    ),
    "reaper_sees_dead_steps": Rule(
        "6", "so for a step that died in a living worker", "single interrupt vanish"
    ),
    "take_over": Rule(
        "6", "where the run goes on, its workflow is told", "single kill", hidden=_LATER
    ),
    "take_over_checks": Rule("6", "a take-over proves owner, epoch and death again", "single kill"),
    "take_over_clears_owner": Rule("6", "who closes clears the owner", "single kill"),
    "sweep_by_epoch": Rule(
        "6", "the sweep's verdict names the epoch it read", "single interrupt resume terminate"
    ),
    "sweep_starts": Rule("6", "a RUNNING row without workflow gets one", "single store"),
    "sweep_terminated": Rule("6", "terminated: the run has FAILED", "single terminate"),
    "sweep_cancelled": Rule(
        "6", "cancelled: the run is CANCELLED", "single stop", also=("cancel_moves",)
    ),
    "sweep_wakes": Rule(
        "6", "an open workflow that nobody works for is woken", "single interrupt resume reset"
    ),
    "sweep_terminates_existing": Rule("6", "one that does not wake is replaced", "single wedge"),
    "sweep_sends_due": Rule("6", "due signals are sent", "single interrupt loss"),
    "sweep_sees_dead_owner": Rule(
        "6", "the dead do not count as at work", "single kill reset wedge"
    ),
    "due_before_describe": Rule(
        "6", "a row with a due signal gets no verdict", "single interrupt resume terminate"
    ),
    "call_fenced": Rule("7", "no call without the own step RUNNING", "wide freeze"),
    "reserve_before_call": Rule(
        "7", "a call begins only if it fits beside all that is closed and reserved", "wide limit:1"
    ),
    "call_needs_running": Rule(
        "7", "no call once the run left RUNNING or the epoch", "single interrupt"
    ),
}

ASSUMPTIONS: dict[str, Rule] = {
    "request_with_row": Rule(
        "9",
        "between a call's row and its request nothing happens; no rule could hold it",
        "wide freeze",
    ),
}
