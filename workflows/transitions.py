"""The table of moves of a run's status: the one place where it stands.

`activities.record.move` and the constraint trigger of the schema are held equal to it by a test.
"""

from __future__ import annotations

from workflows.vocabulary import EventType, Reason, RunStatus

_S = RunStatus

MOVES: frozenset[tuple[RunStatus, RunStatus]] = frozenset(
    {
        (_S.RUNNING, _S.INTERRUPTED),
        (_S.RUNNING, _S.AWAITING_CONFIRMATION),
        (_S.RUNNING, _S.FAILED),
        (_S.INTERRUPTED, _S.RUNNING),
        (_S.FAILED, _S.RUNNING),
        (_S.AWAITING_CONFIRMATION, _S.CONFIRMED),
        (_S.AWAITING_CONFIRMATION, _S.REJECTED),
        (_S.AWAITING_CONFIRMATION, _S.RUNNING),
        (_S.RUNNING, _S.CANCELLED),
        (_S.INTERRUPTED, _S.CANCELLED),
        (_S.FAILED, _S.CANCELLED),
        (_S.AWAITING_CONFIRMATION, _S.CANCELLED),
    }
)

MOVED_BY_EVENT: dict[EventType, tuple[frozenset[RunStatus], RunStatus]] = {
    EventType.RUN_INTERRUPTED: (frozenset({_S.RUNNING}), _S.INTERRUPTED),
    EventType.RUN_RESUMED: (frozenset({_S.INTERRUPTED, _S.FAILED}), _S.RUNNING),
    EventType.RUN_REWORK: (frozenset({_S.AWAITING_CONFIRMATION}), _S.RUNNING),
    EventType.RUN_FAILED: (frozenset({_S.RUNNING}), _S.FAILED),
    EventType.RUN_AWAITING_CONFIRMATION: (frozenset({_S.RUNNING}), _S.AWAITING_CONFIRMATION),
    EventType.RUN_CONFIRMED: (frozenset({_S.AWAITING_CONFIRMATION}), _S.CONFIRMED),
    EventType.RUN_REJECTED: (frozenset({_S.AWAITING_CONFIRMATION}), _S.REJECTED),
    EventType.RUN_CANCELLED: (
        frozenset({_S.RUNNING, _S.INTERRUPTED, _S.FAILED, _S.AWAITING_CONFIRMATION}),
        _S.CANCELLED,
    ),
}
"""What each move is called in `run_events`, where it may come from and where it leads."""

FAILED_REASONS = frozenset(
    {
        Reason.CALL_LIMIT,
        Reason.SPINNING,
        Reason.REFUSAL,
        Reason.PROVIDER_REFUSED,
        Reason.PROVIDER_UNAVAILABLE,
        Reason.INVALID_REPLY,
        Reason.INTERNAL,
        Reason.WORKFLOW_TERMINATED,
    }
)
INTERRUPTED_REASONS = frozenset(
    {
        Reason.OPERATOR,
        Reason.LIMIT_CALLS,
        Reason.LIMIT_TOKENS,
        Reason.LIMIT_COST,
        Reason.LIMIT_SECONDS,
        Reason.PRICE_UNKNOWN,
    }
)


def allowed(from_: RunStatus, to: RunStatus) -> bool:
    """Whether a run may go from one status to the other."""
    return (from_, to) in MOVES


def comes_from(to: RunStatus) -> frozenset[RunStatus]:
    """The statuses from which `to` can be reached in one move."""
    return frozenset(a for a, b in MOVES if b == to)
