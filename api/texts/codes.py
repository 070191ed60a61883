"""Sentences by code, in English: runs, phases, reasons, events, refusals.

Each code has wordings from the fullest to the barest; the first whose {places} are all among the
code's parameters is used. They are msgids: translated through the catalogue, never glued.
"""

from __future__ import annotations

from collections.abc import Mapping

from api.texts import events, fields, files, findings

Wordings = Mapping[str, tuple[str, ...]]


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


STATUS: Wordings = {
    "RUNNING": (N_("Running"),),
    "INTERRUPTED": (N_("Interrupted"),),
    "AWAITING_CONFIRMATION": (N_("Needs you"),),
    "CONFIRMED": (N_("Confirmed"),),
    "REJECTED": (N_("Rejected"),),
    "FAILED": (N_("Failed"),),
    "CANCELLED": (N_("Cancelled"),),
    "SUCCEEDED": (N_("Done"),),
    "STARTED": (N_("In progress"),),
    "LOST": (N_("Lost"),),
}

PHASE: Wordings = {
    "queued": (N_("Queued"),),
    "working": (N_("Running"),),
    "waiting_retry": (N_("Retrying"),),
    "rate_limited": (N_("Rate limited"),),
    "worker_lost": (N_("Worker lost"),),
    "stopping": (N_("Stopping"),),
}

WAITS: Wordings = {
    "queued": (
        N_("Waits for a free worker; {ahead} ahead of it."),
        N_("Waits for a free worker."),
    ),
    "working": (
        N_("At work: {step}, round {round}."),
        N_("At work: {step}."),
        N_("Work is under way."),
    ),
    "waiting_retry": (
        N_("{last_error_sentence} The next try begins by itself."),
        N_("The last try failed. The next one begins by itself."),
    ),
    "rate_limited": (N_("The profile's rate limit is used up for now; it goes on by itself."),),
    "worker_lost": (
        N_("Worker {worker} gave no sign of life; another one takes over by itself."),
        N_("The worker gave no sign of life; another one takes over by itself."),
    ),
    "stopping": (N_("Closes the call to the model and keeps what has arrived."),),
    "INTERRUPTED": (N_("Waits for a person to resume it."),),
    "FAILED": (N_("Waits for a person: repair the cause, then resume."),),
    "AWAITING_CONFIRMATION": (
        N_("Waits for a person to decide about revision {revision}."),
        N_("Waits for a person to decide about the offered revision."),
    ),
    "CONFIRMED": (
        N_("Revision {revision} was confirmed. Nothing is waiting."),
        N_("It is finished. Nothing is waiting."),
    ),
    "REJECTED": (N_("The offer was rejected. Nothing is waiting."),),
    "CANCELLED": (N_("The run was cancelled. Nothing is waiting."),),
}

CAN: Wordings = {
    "RUNNING": (
        N_("You can watch, interrupt it and keep all that is done, or cancel it for good."),
    ),
    "stopping": (N_("Nothing to do: it stops within a second or two."),),
    "INTERRUPTED": (N_("You can edit the text, resume, or cancel it for good."),),
    "FAILED": (N_("You can repair the cause, edit the text, resume, or cancel it for good."),),
    "INTERRUPTED_textless": (N_("You can resume, or cancel it for good. There is no text yet."),),
    "FAILED_textless": (N_("You can repair the cause and resume, or cancel it for good."),),
    "AWAITING_CONFIRMATION": (
        N_(
            "You can confirm it, also with your edits, send it back for one more round, "
            "or reject it."
        ),
    ),
    "CONFIRMED": (N_("You can export it or start a new run from any revision."),),
    "REJECTED": (N_("You can start a new run from any revision."),),
    "CANCELLED": (N_("You can start a new run from any revision."),),
}

STAGE: Wordings = {
    "transcribe": (N_("Transcribing"),),
    "draft": (N_("Writing the draft"),),
    "review": (N_("Round {round} of at most {max_rounds}: reviewing"), N_("Reviewing")),
    "refine": (N_("Round {round} of at most {max_rounds}: refining"), N_("Refining")),
    "confirm": (N_("The loop has ended after {rounds} rounds"), N_("The loop has ended")),
    "ended": (N_("Ended after {rounds} rounds"), N_("Ended")),
}

STOPPED: Wordings = {
    "transcribe": (N_("Stopped while transcribing"),),
    "draft": (N_("Stopped while writing the draft"),),
    "review": (N_("Stopped while reviewing, round {round} of at most {max_rounds}"),),
    "refine": (N_("Stopped while refining, round {round} of at most {max_rounds}"),),
}

STEP: Wordings = {
    "transcribe": (N_("transcribe"),),
    "draft": (N_("draft"),),
    "review": (N_("review"),),
    "refine": (N_("refine"),),
}

REASON: Wordings = {
    "operator": (N_("Interrupted by {by}."), N_("Interrupted by a person.")),
    "operator_temporal": (N_("Interrupted by a signal from Temporal."),),
    "limit_calls": (
        N_("The limit of calls ({limit}) is reached."),
        N_("The limit of calls is reached."),
    ),
    "limit_tokens": (
        N_(
            "The next call may pass the limit of tokens ({limit}): {used} are used, and with a "
            "full reply it is {needed}."
        ),
        N_("The limit of tokens ({limit}) is reached."),
        N_("The limit of tokens is reached."),
    ),
    "limit_cost": (
        N_(
            "The next call may pass the cost limit of {limit}: {used} is used, and with a full "
            "reply it is {needed}."
        ),
        N_("The cost limit of {limit} is reached."),
        N_("The cost limit is reached."),
    ),
    "limit_seconds": (
        N_("The time limit ({limit} s) is reached."),
        N_("The time limit is reached."),
    ),
    "price_unknown": (
        N_("There is a cost limit in {paid}; {profile} costs {currency}: never converted."),
        N_("There is a cost limit, and the price of the model is not known."),
    ),
    "call_limit": (
        N_("Stopped by a guardrail: the part {part} is not complete; calls made: {calls}."),
        N_("Stopped by a guardrail: the calls allowed for one part are used up."),
    ),
    "spinning": (N_("Stopped by a guardrail: the model repeats itself or adds nothing new."),),
    "refusal": (N_("Stopped by a guardrail: the model or its filter refused to answer."),),
    "provider_refused": (N_("The model server refused the request: key, quota, model or length."),),
    "provider_unavailable": (N_("The model server could not be reached for too long."),),
    "invalid_reply": (N_("The model's replies could not be used."),),
    "internal": (N_("A fault of Redraft itself lasted through all retries."),),
    "workflow_terminated": (N_("The workflow was terminated in Temporal."),),
    "passed": (
        N_("The review passed with score {score}."),
        N_("The review passed."),
    ),
    "round_limit": (
        N_("The limit of rounds ({max_rounds}) is reached; the best revision is offered."),
        N_("The limit of rounds is reached; the best revision is offered."),
    ),
    "no_progress": (N_("Another round would change nothing more; the best revision is offered."),),
    "interrupted": (N_("Stopped by a person; items that had arrived whole are kept."),),
    "worker_lost": (N_("The worker died or lost its connection; another one took over."),),
    "superseded": (N_("Replaced by a newer attempt."),),
    "handed_over": (N_("The worker shut down and handed the work over."),),
    "length": (N_("The reply reached the model's length limit."),),
    "cut": (N_("The connection ended in the middle of the reply."),),
    "stall": (N_("The reply stood still for too long."),),
    "garbled": (N_("The reply was not readable."),),
    "rate_limited": (N_("The model server asked for a pause."),),
    "server_error": (
        N_("The model server answered with an error (HTTP {http_status})."),
        N_("The model server answered with an error."),
    ),
    "connection": (N_("The model server could not be reached."),),
}

PROVIDER: Wordings = {
    "rate_limited": (N_("The model server asked for a pause."),),
    "bucket": (N_("The profile's rate limit is used up for the moment."),),
    "overloaded": (N_("The model server is overloaded."),),
    "context_shared": (N_("Its context was full with other requests: start it with more."),),
    "stream_error": (N_("The model server reported an error in the middle of its reply."),),
    "no_stream": (N_("The address answers, but not as a model server does."),),
    "unreachable": (N_("The model server cannot be reached."),),
    "timeout": (N_("The model server did not answer in time."),),
    "connection_lost": (N_("The connection ended before anything arrived."),),
    "key_not_set": (
        N_("The worker has no key: set the variable the profile names, restart it, resume."),
    ),
    "bad_key": (N_("It does not accept the key: set a valid one, restart the worker, resume."),),
    "no_quota": (N_("Its account has no quota left: raise it there, then resume."),),
    "unknown_model": (N_("It does not know this model: correct the profile, then resume."),),
    "context_too_long": (
        N_("The text is too long for this model: use another profile, then resume."),
    ),
    "prompt_cut": (
        N_("It read only part of the text: give it more context, or lower window_tokens, resume."),
    ),
    **files.MISSING,
    "bad_address": (N_("Its address is wrong: correct the profile, then resume."),),
    "proxy_refused": (
        N_("The proxy in between refused: correct its variables, restart the worker, resume."),
    ),
    "untrusted": (N_("Its certificate is not trusted: set SSL_CERT_FILE for the worker, resume."),),
    "bad_request": (N_("It found the request wrong: correct the profile, then resume."),),
    "content_filter": (N_("A content filter of the model server refused."),),
    "refusal": (N_("The model refused to answer."),),
    "http": (N_("The model server answered with an error (HTTP {status})."),),
}

SEVERITY: Wordings = {
    "blocker": (N_("Blocker"),),
    "major": (N_("Major"),),
    "minor": (N_("Minor"),),
}

ISSUE_STATUS: Wordings = {
    "open": (N_("Open"),),
    "fixed": (N_("Fixed"),),
    "reopened": (N_("Reopened"),),
    "waived": (N_("Waived"),),
}

REFUSAL: Wordings = {
    "invalid_request": (
        N_("Something in the form does not fit. See the notes beside the fields."),
    ),
    "invalid_cursor": (N_("This page of the list no longer exists. Start at the first page."),),
    "unsupported_media": (N_("This type of file is not understood."),),
    "too_large": (
        N_("The text is larger than the {limit} allowed."),
        N_("The text is too large."),
    ),
    "unknown_kind": (N_("There is no such kind of document."),),
    "unknown_profile": (N_("There is no such profile."),),
    "unpriced_profile": (
        N_("This run counts in {paid}, {profile} costs {currency}: no cost limit can hold both."),
        N_("A cost limit needs a profile with a price."),
    ),
    "unknown_revision": (
        N_("There is no text yet: run {run} has not written its draft."),
        N_("There is no such revision."),
    ),
    "not_found": (N_("There is nothing at this address."),),
    "deleted": (N_("This was deleted."),),
    "unauthenticated": (N_("Please sign in first."),),
    "forbidden": (N_("You are not allowed to do this."),),
    "csrf": (N_("The form was too old to be trusted. Nothing was done; please send it again."),),
    "bad_origin": (N_("The form came from another site. Nothing was done."),),
    "run_active": (
        N_("This document already has a run under way. Finish or cancel that one first."),
    ),
    "status_changed": (N_("Nothing was done: the run had moved on. Below is how it stands now."),),
    "stale_base": (
        *fields.STALE_DRAFT,
        N_("Somebody else wrote a newer revision meanwhile. Your text is kept in the form below."),
    ),
    "offered_revision_changed": (
        N_(
            "Nothing was confirmed: revision {offered_revision} is offered, not {revision}. "
            "Look at it, then decide."
        ),
        N_("Nothing was confirmed: another revision is offered now. Look at it, then decide."),
    ),
    "final_status": (N_("Nothing was done: this run has ended for good."),),
    "limit_required": (N_("The run stopped at a limit. Raise that limit to resume."),),
    "guardrail_override_required": (
        N_("A guardrail stopped this run. Tick the override to resume it once."),
    ),
    "idempotency_mismatch": (
        N_("This form was already sent with other contents. Reload the page and try again."),
    ),
    "idempotency_in_progress": (N_("This form is being worked on already. Reload in a moment."),),
    "draining": (
        N_(
            "The service takes no new work at the moment. Nothing in flight is touched. Its "
            "operator says: “{note}”"
        ),
        N_("The service takes no new work at the moment. Nothing in flight is touched."),
    ),
    "rate_limited": (N_("Too many requests. Try again in a moment."),),
    "unavailable": (
        N_(
            "Another program has held the rows of this document for {waited} seconds. Nothing was "
            "changed; try again, and see ./redraft doctor."
        ),
        N_("The database cannot answer at the moment. Nothing was lost; try again."),
    ),
    "disk_full": (N_("The disk of the database is full. Free some space, then try again."),),
    "not_built": (N_("This page is not built yet."),),
    "internal": (N_("Redraft made a mistake here. It was recorded under the request id below."),),
}

FIELD: Wordings = {
    "missing": (N_("This is needed."),),
    "blank": (N_("This must not be empty."),),
    "string_too_short": (N_("This must not be empty."),),
    "string_too_long": (N_("This is too long."),),
    "string_pattern_mismatch": (N_("This does not have the form that is asked for."),),
    "int_type": (N_("This must be a whole number."),),
    "int_parsing": (N_("This must be a whole number."),),
    "greater_than_equal": (N_("This number is too small."),),
    "less_than_equal": (N_("This number is too large."),),
    "too_large": (N_("This text is too large: {detail}."), N_("This text is too large.")),
    "nul": (N_("This holds a character that cannot be stored (NUL)."),),
    "lone_surrogate": (N_("This holds half of a character; paste it again."),),
    "unknown_kind": (N_("There is no such kind of document."),),
    "unknown_profile": (N_("There is no such profile."),),
    "unpriced_profile": (N_("A cost limit needs a profile with a price."),),
    "unknown_revision": (N_("There is no such revision."),),
    "not_built": (N_("This cannot be set yet; leave it empty."),),
    "invalid_request": (N_("{detail}"),),
    "attribute": (N_("{detail}"),),
}

KIND: Wordings = {
    "minutes": (N_("Minutes of a meeting"),),
    "itinerary": (N_("Itinerary of a trip"),),
    "text": (N_("Text"),),
}

WORDINGS: Mapping[str, Wordings] = {
    "status": STATUS,
    "phase": PHASE,
    "waits": WAITS,
    "can": CAN,
    "stage": STAGE,
    "stopped": STOPPED,
    "provider": PROVIDER,
    "step": STEP,
    "reason": REASON,
    "severity": SEVERITY,
    "issue_status": ISSUE_STATUS,
    "event": events.EVENT,
    "refusal": REFUSAL,
    "field": {**FIELD, **files.UNREADABLE, **fields.FORM},
    "kind": KIND,
    **fields.WORDINGS,
    **files.WORDINGS,
    **findings.WORDINGS,
}
