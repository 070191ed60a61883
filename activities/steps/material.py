"""Reads what a step is made from: the document's material, the working body, the open issues."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from activities.model.profile import Profile
from activities.record import RunRow
from deploy.database import Connection, Row
from workflows.kinds.kind import Finding, Material, OpenIssue, SourceText, Work
from workflows.vocabulary import Severity, StepName


async def _read_rows(
    connection: Connection,
    run: RunRow,
    name: StepName,
    number: int | None,
    planned: Sequence[str] | None,
) -> Row | None:
    """The document, one of its texts ('' for none), what is locked in it and the sources of the
    step's plan, else those in force, in their order; for a draft the templates its run keeps; for a
    review what the one before it read, and whether what is still open lets this one pass; the open
    issues of a refine, or of a review that cannot pass. None: deleted.

    A review compares with what was read since a person's last text: that one is read whole, as in a
    first review.
    """
    return await connection.fetchrow(
        """
        SELECT d.title, d.language, d.attributes, coalesce(t.body, '') AS body,
               ARRAY (SELECT l.quote FROM locks l
                      WHERE l.document_id = d.id AND l.removed_at IS NULL
                      ORDER BY l.created_at) AS locks,
               coalesce($7::uuid[], ARRAY (
                   SELECT s.id FROM sources s
                   WHERE s.document_id = d.id AND s.replaced_by IS NULL
                   ORDER BY s.position, s.created_at, s.id)) AS source_ids,
               (SELECT r.templates FROM runs r WHERE r.id = $3 AND $4 = 'draft') AS templates,
               last.body AS reviewed, coalesce(last.can_pass, true) AS can_pass,
               (SELECT jsonb_agg(o ORDER BY o.number) FROM (
                    SELECT number, category, severity, quote, problem, suggestion, evidence,
                           raised_by
                    FROM issues WHERE run_id = $3 AND status IN ('open', 'reopened')
                      AND ($4 = 'refine' OR NOT last.can_pass)) o) AS issues
        FROM documents d LEFT JOIN revisions t ON t.document_id = d.id AND t.number = $2
        LEFT JOIN LATERAL (
            SELECT r.body,
                   coalesce(a.blockers = 0 AND a.majors = 0 AND a.score >= $6, true) AS can_pass
            FROM steps s
            JOIN revisions r ON r.document_id = d.id AND r.number = s.input_revision
            LEFT JOIN assessments a ON a.run_id = s.run_id AND a.revision = $2
            WHERE $4 = 'review' AND s.run_id = $3 AND s.name = 'review'
              AND s.status = 'SUCCEEDED' AND s.round > $5
            ORDER BY s.round DESC LIMIT 1) last ON true
        WHERE d.id = $1
        """,
        *(run.document_id, number, run.id),
        *(name, run.compare_from_round, run.pass_score, planned),
    )


def _open_issue(row: Mapping[str, Any]) -> OpenIssue:
    facts = {**row, "severity": Severity(row["severity"]), "evidence": tuple(row["evidence"])}
    return OpenIssue(number=facts.pop("number"), finding=Finding(**facts))


_KEPT_CHARACTERS = 8_000_000
_sources: OrderedDict[str, SourceText] = OrderedDict()
"""Source versions are immutable, long, and wanted by every step of a run."""


async def _read_sources(
    connection: Connection, ids: tuple[str, ...]
) -> tuple[SourceText, ...] | None:
    """In the order given; None when one is gone."""
    found = {id_: _sources[id_] for id_ in ids if id_ in _sources}
    missing = [id_ for id_ in ids if id_ not in found]
    if missing:
        rows = await connection.fetch(
            "SELECT id, name, media_type, text FROM sources WHERE id = ANY ($1::uuid[])", missing
        )
        found |= {row["id"]: SourceText(**dict(row.items())) for row in rows}
    if len(found) < len(ids):
        return None
    for source in found.values():
        _sources[source.id] = source
        _sources.move_to_end(source.id)
    while sum(len(source.text) for source in _sources.values()) > _KEPT_CHARACTERS:
        _sources.popitem(last=False)
    return tuple(found[id_] for id_ in ids)


@dataclass(frozen=True, kw_only=True)
class StepMaterial:
    """A step's work and the revision it is about, read outside the claim's transaction."""

    work: Work
    input_revision: int | None

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the versions it is made from."""
        return tuple(source.id for source in self.work.material.sources)


async def read_step(
    connection: Connection,
    run: RunRow,
    step: tuple[int, StepName],
    *,
    plan: Mapping[str, Any] | None,
    profile: Profile,
) -> StepMaterial | None:
    """Everything `Kind` needs for this step; None when the document is gone.

    What was planned goes on with the text and the source versions it was planned with, though a
    person corrected one meanwhile: its windows are lines of these. The next step sees the new ones.
    """
    round_, name = step
    input_revision = plan["input_revision"] if plan is not None else run.working_revision
    planned = plan["sources"] if plan is not None else None
    row = await _read_rows(connection, run, name, input_revision, planned)
    sources = await _read_sources(connection, tuple(row["source_ids"])) if row else None
    if row is None or sources is None:
        return None
    work = Work(
        step=name,
        round=round_,
        material=Material(
            title=row["title"],
            language=row["language"],
            attributes=row["attributes"],
            sources=sources,
            templates=tuple(row["templates"] or ()),
        ),
        body=row["body"],
        issues=tuple(map(_open_issue, row["issues"] or ())),
        locks=tuple(row["locks"]),
        instructions=run.instructions,
        prompts=dict(profile.prompts),
        reviewed=row["reviewed"],
        can_pass=row["can_pass"],
        count=profile.learned.count,
    )
    return StepMaterial(work=work, input_revision=input_revision)
