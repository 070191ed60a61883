"""Whether a revision can be had as a calendar: a plan without dates has none, and no link."""

from __future__ import annotations

import asyncio

from api import wire
from api.files.export import exportable
from api.files.exports import exporter
from api.http.state import State
from workflows.exporting import NotExportable

CALENDAR = "ics"
_LONGEST = 200_000


async def has_calendar(
    state: State, document: wire.Document, revision: wire.Revision | None
) -> bool:
    """Asked of the kind's own exporter, in a thread; False for a kind without one."""
    make = exporter(state.kinds.get(document.kind), CALENDAR)
    if make is None or revision is None or len(revision.body) > _LONGEST:
        return False
    try:
        await asyncio.to_thread(make, exportable(document, revision, {}))
    except NotExportable:
        return False
    return True
