"""All reads of the API and the pages, by one name each.

The first argument is a pool or a connection; what does not exist is None, never an exception.
Lists raise `cursors.BadCursor`.
"""

from __future__ import annotations

from api.queries_rows import Reader
from api.queries_runs import (
    NO_WEB,
    RunFilter,
    TemporalWeb,
    counts_by_status,
    run,
    runs_page,
)

__all__ = [
    "NO_WEB",
    "Reader",
    "RunFilter",
    "TemporalWeb",
    "counts_by_status",
    "run",
    "runs_page",
]
