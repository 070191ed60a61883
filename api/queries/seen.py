"""What the page of a run is made of, in one row: the run, what its calls write now, and a version
of everything else, so that nothing is read again that stayed as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from api import wire
from api.http import cursors
from api.queries.overview import QUIET
from api.queries.rows import Reader
from api.queries.run_filters import STEP_AND_WORKER
from api.queries.runs import COLUMNS, NO_WEB, WAITING, TemporalWeb, run_of

# By the steps that were made of them: no index leads from a run to plans that are voided.
_PLANS = "(SELECT t.plan_id FROM steps t WHERE t.run_id = r.id)"
# How many rows, and the newest transaction that wrote one of them: any change moves one of the two.
_OF = {
    "sources": "sources x WHERE x.document_id = r.document_id",
    "revisions": "revisions x WHERE x.document_id = r.document_id",
    "profiles": "profiles x",
    "steps": "steps x WHERE x.run_id = r.id",
    "plans": f"step_plans x WHERE x.id IN {_PLANS}",
    "parts": f"step_parts x WHERE x.plan_id IN {_PLANS}",
    "items": f"step_items x WHERE x.plan_id IN {_PLANS}",
    "calls": "model_calls x WHERE x.run_id = r.id",
    "issues": "issues x WHERE x.run_id = r.id",
}
_VERSIONS = ", ".join(
    f"'{name}', (SELECT concat(count(*), ' ', max(x.xmin::text::bigint)) FROM {rows})"  # noqa: S608
    for name, rows in _OF.items()
)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """`live` is the text of each open call so far; `quiet`: it should be at work and is not;
    `failures` are the provider's in a row, since `failing_since`."""

    run: wire.Run
    document: wire.Document
    live: Mapping[str, str]
    quiet: bool
    failures: int
    failing_since: datetime | None
    versions: Mapping[str, str]


async def seen(reader: Reader, run_id: str, web: TemporalWeb = NO_WEB) -> Seen | None:
    """As it is now; None when there is no such run."""
    if not cursors.is_uuid(run_id):
        return None
    row = await reader.fetchrow(
        f"""
        WITH {WAITING}
        SELECT {COLUMNS}, {QUIET} AS quiet, r.failures, r.failing_since,
            (SELECT coalesce(jsonb_object_agg(x.id, coalesce(x.partial_text, '')), '{{}}')
                FROM model_calls x WHERE x.run_id = r.id AND x.status = 'STARTED') AS live,
            jsonb_build_object('id', d.id, 'kind', d.kind, 'title', d.title,
                'language', d.language, 'attributes', d.attributes, 'tags', d.tags,
                'newest_revision', nullif(d.revision_seq, -1), 'actor', d.actor,
                'created_at', d.created_at, 'updated_at', d.updated_at,
                'active_run', (SELECT x.id FROM runs x WHERE x.document_id = d.id
                    AND x.status IN ('RUNNING', 'INTERRUPTED', 'AWAITING_CONFIRMATION'))
            ) AS document,
            jsonb_build_object('run', r.xmin::text, 'status', r.status, 'document', d.xmin::text,
                'events', (SELECT max(x.seq) FROM run_events x WHERE x.run_id = r.id)::text,
                'shown', concat_ws(' ', r.base_revision, '-', r.working_revision, '-',
                    r.best_revision, '-', r.offered_revision),
                {_VERSIONS}) AS versions
        FROM runs r JOIN documents d ON d.id = r.document_id {STEP_AND_WORKER}
        WHERE r.id = $1
        """,  # noqa: S608
        run_id,
    )
    if row is None:
        return None
    return Seen(
        run=run_of(row, web),
        document=wire.Document(**row["document"]),
        live=row["live"],
        quiet=row["quiet"],
        failures=row["failures"],
        failing_since=row["failing_since"],
        versions=row["versions"],
    )


def shown_first(run: wire.Run) -> list[int]:
    """Numbers of revisions by what the page shows: the first that there is."""
    order = (run.offered_revision, run.working_revision, run.best_revision, run.base_revision)
    return [number for number in order if number is not None]
