"""The closed lists of words: statuses, steps, reasons, events, codes, signals, queues.

The same words stand in SQL, JSON, pages and logs. A test compares the enums with the schema and
with the published list of codes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

RunId = NewType("RunId", str)
RevisionNumber = NewType("RevisionNumber", int)

WORKFLOW_NAME = "ReviewRun"
RECONCILE_WORKFLOW = "Reconcile"
NAMESPACE = "redraft"
QUEUE = "redraft"
MODEL_QUEUE = "redraft-model"
MEDIA_QUEUE = "redraft-media"
MOVES_CHANNEL = "redraft_moves"
DEFAULT_PROFILE = "default"
SPEECH_PROFILE = "speech"
SPEECH_KEY = "SPEECH_API_KEY"
"""Hears recordings, whatever profile the run has."""


def workflow_id(run_id: str) -> str:
    return f"redraft-run-{run_id}"


class RunStatus(StrEnum):
    RUNNING = "RUNNING"
    INTERRUPTED = "INTERRUPTED"
    AWAITING_CONFIRMATION = "AWAITING_CONFIRMATION"
    CONFIRMED = "CONFIRMED"
    REJECTED = "REJECTED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


FINAL = frozenset({RunStatus.CONFIRMED, RunStatus.REJECTED, RunStatus.CANCELLED})
ENDED = FINAL | {RunStatus.FAILED}
"""Statuses with an end time; a FAILED run may be resumed, which clears it."""
ACTIVE = frozenset({RunStatus.RUNNING, RunStatus.INTERRUPTED, RunStatus.AWAITING_CONFIRMATION})
"""At most one run of a document may be in one of these."""


class Phase(StrEnum):
    QUEUED = "queued"
    WORKING = "working"
    WAITING_RETRY = "waiting_retry"
    RATE_LIMITED = "rate_limited"
    WORKER_LOST = "worker_lost"
    STOPPING = "stopping"


class Stage(StrEnum):
    TRANSCRIBE = "transcribe"
    DRAFT = "draft"
    REVIEW = "review"
    REFINE = "refine"
    CONFIRM = "confirm"
    ENDED = "ended"


class StepName(StrEnum):
    TRANSCRIBE = "transcribe"
    DRAFT = "draft"
    REVIEW = "review"
    REFINE = "refine"


class StepStatus(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


class CallStatus(StrEnum):
    STARTED = "STARTED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    LOST = "LOST"


class UsageSource(StrEnum):
    REPORTED = "reported"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    BLOCKER = "blocker"
    MAJOR = "major"
    MINOR = "minor"


class IssueStatus(StrEnum):
    OPEN = "open"
    FIXED = "fixed"
    REOPENED = "reopened"
    WAIVED = "waived"


class Reason(StrEnum):
    """Why a run, a step or a call is not going on. Closed list (CONTRACT 3)."""

    OPERATOR = "operator"
    LIMIT_CALLS = "limit_calls"
    LIMIT_TOKENS = "limit_tokens"
    LIMIT_COST = "limit_cost"
    LIMIT_SECONDS = "limit_seconds"
    PRICE_UNKNOWN = "price_unknown"
    CALL_LIMIT = "call_limit"
    SPINNING = "spinning"
    REFUSAL = "refusal"
    PROVIDER_REFUSED = "provider_refused"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    INVALID_REPLY = "invalid_reply"
    INTERNAL = "internal"
    WORKFLOW_TERMINATED = "workflow_terminated"
    PASSED = "passed"
    ROUND_LIMIT = "round_limit"
    NO_PROGRESS = "no_progress"
    # of steps and calls
    INTERRUPTED = "interrupted"
    WORKER_LOST = "worker_lost"
    SUPERSEDED = "superseded"
    HANDED_OVER = "handed_over"
    LENGTH = "length"
    CUT = "cut"
    STALL = "stall"
    GARBLED = "garbled"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"


GUARDRAILS = frozenset({Reason.CALL_LIMIT, Reason.SPINNING, Reason.REFUSAL})
LIMITS = frozenset(
    {Reason.LIMIT_CALLS, Reason.LIMIT_TOKENS, Reason.LIMIT_COST, Reason.LIMIT_SECONDS}
)
LOOP_ENDS = frozenset({Reason.PASSED, Reason.ROUND_LIMIT, Reason.NO_PROGRESS})


class EventType(StrEnum):
    RUN_CREATED = "run_created"
    RUN_INTERRUPTED = "run_interrupted"
    RUN_RESUMED = "run_resumed"
    RUN_FAILED = "run_failed"
    RUN_AWAITING_CONFIRMATION = "run_awaiting_confirmation"
    RUN_CONFIRMED = "run_confirmed"
    RUN_REJECTED = "run_rejected"
    RUN_REWORK = "run_rework"
    RUN_CANCELLED = "run_cancelled"
    LIMITS_RAISED = "limits_raised"
    PROFILE_CHANGED = "profile_changed"
    STEP_STARTED = "step_started"
    STEP_SUCCEEDED = "step_succeeded"
    STEP_FAILED = "step_failed"
    ROUND_FINISHED = "round_finished"
    ITEM_KEPT = "item_kept"
    REVISION_CREATED = "revision_created"
    ISSUE_RAISED = "issue_raised"
    ISSUE_FIXED = "issue_fixed"
    ISSUE_REOPENED = "issue_reopened"
    ISSUE_WAIVED = "issue_waived"
    CALL_STARTED = "call_started"
    CALL_ENDED = "call_ended"
    BUDGET_WARNING = "budget_warning"
    GUARDRAIL_STOP = "guardrail_stop"
    WORKER_LOST = "worker_lost"
    SOURCE_ADDED = "source_added"
    LOCK_REMOVED = "lock_removed"
    PROGRESS = "progress"


class ErrorCode(StrEnum):
    """Codes of refusals over HTTP. Closed list (CONTRACT 1)."""

    INVALID_REQUEST = "invalid_request"
    INVALID_CURSOR = "invalid_cursor"
    UNSUPPORTED_MEDIA = "unsupported_media"
    TOO_LARGE = "too_large"
    UNKNOWN_KIND = "unknown_kind"
    UNKNOWN_PROFILE = "unknown_profile"
    UNPRICED_PROFILE = "unpriced_profile"
    UNKNOWN_REVISION = "unknown_revision"
    NOT_FOUND = "not_found"
    DELETED = "deleted"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    CSRF = "csrf"
    BAD_ORIGIN = "bad_origin"
    RUN_ACTIVE = "run_active"
    STATUS_CHANGED = "status_changed"
    STALE_BASE = "stale_base"
    OFFERED_REVISION_CHANGED = "offered_revision_changed"
    FINAL_STATUS = "final_status"
    LIMIT_REQUIRED = "limit_required"
    GUARDRAIL_OVERRIDE_REQUIRED = "guardrail_override_required"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    DRAINING = "draining"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    DISK_FULL = "disk_full"
    NOT_BUILT = "not_built"
    INTERNAL = "internal"


class Signal(StrEnum):
    INTERRUPT = "interrupt"
    RESUME = "resume"
    DECIDE = "decide"
    TAKE_OVER = "take_over"


class Actor(StrEnum):
    """Actors that are no person: a person's is the name of the principal."""

    LOCAL = "local"
    SYSTEM = "system"
    WORKER = "worker"
    TEMPORAL = "temporal"
