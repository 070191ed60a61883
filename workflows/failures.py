"""Types of application errors that cross Temporal, stable for ever."""

from __future__ import annotations

from enum import StrEnum


class FailureType(StrEnum):
    HANDED_OVER = "handed_over"
    """The worker shuts down; the next attempt goes on at once."""
    RETRY_LATER = "retry_later"
    """The provider asked for a pause, or is away; `next_retry_delay` carries it."""
    INTERNAL = "internal"
    """A fault of ours; retried with growing delay, then the run becomes FAILED(internal)."""
