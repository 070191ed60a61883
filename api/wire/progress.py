"""How far a recording is heard."""

from __future__ import annotations

from api.wire.types import Wire


class Progress(Wire):
    """Seconds of the recording. `rest_seconds` is of the clock, by the parts heard since the step
    was begun; null until one is, or while nothing is at work."""

    step: str
    done_seconds: float
    total_seconds: float
    rest_seconds: int | None
