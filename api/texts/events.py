"""Sentences about events of a run. As in `codes`, whose family they are."""

from __future__ import annotations

from collections.abc import Mapping

Wordings = Mapping[str, tuple[str, ...]]


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


EVENT: Wordings = {
    "run_created": (N_("Run created"),),
    "run_interrupted": (N_("Interrupted"),),
    "run_resumed": (N_("Resumed"),),
    "run_failed": (N_("Stopped as failed"),),
    "run_awaiting_confirmation": (N_("Ready for a decision"),),
    "run_confirmed": (N_("Revision {revision} confirmed"), N_("Confirmed")),
    "run_rejected": (N_("Rejected"),),
    "run_rework": (
        N_("Sent back for rework, further rounds at most: {extra_rounds}"),
        N_("Sent back for rework"),
    ),
    "run_cancelled": (N_("Cancelled"),),
    "limits_raised": (
        N_(
            "One round more, to review revision {revision}: rounds at most {rounds_after}, "
            "{rounds_before} before"
        ),
        N_("Limits changed; rounds at most: {rounds_before} before, {rounds_after} now"),
        N_("Limits changed"),
    ),
    "profile_changed": (
        N_("Profile {to} answers instead of {from}, after errors of the provider: {errors}"),
        N_("Profile changed from {from} to {to}"),
        N_("Profile changed"),
    ),
    "step_started": (
        N_("Round {round}: {name} started, attempt {attempt}"),
        N_("{name} started, attempt {attempt}"),
        N_("Step started"),
    ),
    "step_succeeded": (N_("Round {round}: {name} done"), N_("{name} done"), N_("Step done")),
    "step_failed": (
        N_("Round {round}: {name} stopped"),
        N_("{name} stopped"),
        N_("Step stopped"),
    ),
    "round_finished": (
        N_("Round {round} finished with score {score}"),
        N_("Round {round} finished"),
        N_("Round finished"),
    ),
    "item_kept": (N_("Items kept: {count}"), N_("Items kept")),
    "revision_created": (
        N_("Revision {revision} written"),
        N_("Revision written"),
    ),
    "issue_raised": (N_("Issue I{number} raised, {severity}"), N_("Issue raised")),
    "issue_fixed": (N_("Issue I{number} fixed"), N_("Issue fixed")),
    "issue_reopened": (N_("Issue I{number} came back"), N_("Issue came back")),
    "issue_waived": (N_("Issue I{number} waived"), N_("Issue waived")),
    "call_started": (
        N_("Round {round}: {name}, call {number} to the model for {part}"),
        N_("{name}, call {number} to the model for {part}"),
        N_("Call to the model started"),
    ),
    "call_ended": (
        N_(
            "Round {round}: {name}, call {number} for {part} ended; of about {prompt_sent} tokens "
            "the server counted {prompt_counted}: it may have cut the prompt"
        ),
        N_(
            "{name}, call {number} for {part} ended; of about {prompt_sent} tokens "
            "the server counted {prompt_counted}: it may have cut the prompt"
        ),
        N_("Round {round}: {name}, call {number} for {part} ended, items kept: {items_kept}"),
        N_("{name}, call {number} for {part} ended, items kept: {items_kept}"),
        N_("Call to the model ended"),
    ),
    "budget_warning": (N_("A limit is near: {used} of {limit} used"), N_("A limit is near")),
    "guardrail_stop": (N_("A guardrail stopped the run"),),
    "worker_lost": (N_("Worker {worker} lost"), N_("Worker lost")),
    "source_added": (N_("Source added"),),
    "lock_removed": (N_("A lock was removed"),),
    "progress": (N_("Progress"),),
}
