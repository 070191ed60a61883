"""All reads of the API and the pages, by one name each.

The first argument is a pool or a connection; what does not exist is None, never an exception.
Lists raise `cursors.BadCursor`.
"""

from __future__ import annotations

from api.queries.calls import CallFilter, call, calls_all_page, calls_page
from api.queries.documents import (
    document,
    document_exists,
    documents_page,
    revision,
    revisions,
    revisions_page,
    said_of_revisions,
    source,
    sources_in_force,
    sources_page,
)
from api.queries.drafts import draft, standing
from api.queries.habits import habits
from api.queries.parts import (
    event_seq,
    events_page,
    issue,
    issues_page,
    items_page,
    run_exists,
    steps_page,
)
from api.queries.rows import Reader
from api.queries.run_filters import RunFilter
from api.queries.runs import NO_WEB, TemporalWeb, counts_by_status, run, runs_page
from api.queries.service import (
    frame,
    key_variable,
    newest_profile,
    profile_versions,
    profiles_page,
    switches,
    workers,
)

__all__ = [
    "NO_WEB",
    "CallFilter",
    "Reader",
    "RunFilter",
    "TemporalWeb",
    "call",
    "calls_all_page",
    "calls_page",
    "counts_by_status",
    "document",
    "document_exists",
    "documents_page",
    "draft",
    "event_seq",
    "events_page",
    "frame",
    "habits",
    "issue",
    "issues_page",
    "items_page",
    "key_variable",
    "newest_profile",
    "profile_versions",
    "profiles_page",
    "revision",
    "revisions",
    "revisions_page",
    "run",
    "run_exists",
    "runs_page",
    "said_of_revisions",
    "source",
    "sources_in_force",
    "sources_page",
    "standing",
    "steps_page",
    "switches",
    "workers",
]
