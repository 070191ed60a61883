"""What a run needs and no later attempt will find: it fails at once, with a code that says what.

A person puts it back and resumes; to retry for an hour would only hide it.
"""

from __future__ import annotations

from workflows.kinds.templates import BadTemplate


class RecordingMissing(Exception):
    """Its row is there, its file is not."""


class KindMissing(Exception):
    """No folder of this worker has the run's kind."""


CODES: dict[type[BaseException], str] = {
    # A run older than the templates that runs keep drafts by those of today: its own may be gone.
    BadTemplate: "template_missing",
    RecordingMissing: "recording_missing",
    KindMissing: "kind_missing",
}


def code_of(error: BaseException) -> str | None:
    return CODES.get(type(error))
