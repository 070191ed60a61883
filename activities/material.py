"""Reads what a step is made from: the document's material, the working body, the open issues."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from activities.model.profile import Profile
from activities.record import RunRow
from deploy.database import Connection
from workflows.kinds.kind import Finding, Material, OpenIssue, SourceText, Work
from workflows.vocabulary import Severity, StepName


@dataclass(frozen=True, kw_only=True)
class _Document:
    """A document with one of its texts ('' for none) and what is locked in it."""

    title: str
    language: str | None
    attributes: dict[str, object]
    body: str
    locks: tuple[str, ...]
    source_ids: tuple[str, ...]
    """Of those in force, in their order."""


async def _read_document(
    connection: Connection, document_id: str, number: int | None
) -> _Document | None:
    """None when it was deleted. `number` is the revision whose text is wanted."""
    row = await connection.fetchrow(
        """
        SELECT d.title, d.language, d.attributes, coalesce(r.body, '') AS body,
               ARRAY (SELECT l.quote FROM locks l
                      WHERE l.document_id = d.id AND l.removed_at IS NULL
                      ORDER BY l.created_at) AS locks,
               ARRAY (SELECT s.id FROM sources s
                      WHERE s.document_id = d.id AND s.replaced_by IS NULL
                      ORDER BY s.position, s.created_at, s.id) AS source_ids
        FROM documents d LEFT JOIN revisions r ON r.document_id = d.id AND r.number = $2
        WHERE d.id = $1
        """,
        document_id,
        number,
    )
    if row is None:
        return None
    lists = {"locks": tuple(row["locks"]), "source_ids": tuple(row["source_ids"])}
    return _Document(**{**dict(row.items()), **lists})


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


async def read_open_issues(connection: Connection, run_id: str) -> tuple[OpenIssue, ...]:
    """Open and reopened issues, in order of number."""
    rows = await connection.fetch(
        """
        SELECT number, category, severity, quote, problem, suggestion, evidence, raised_by
        FROM issues WHERE run_id = $1 AND status IN ('open', 'reopened') ORDER BY number
        """,
        run_id,
    )
    return tuple(
        OpenIssue(
            number=row["number"],
            finding=Finding(
                category=row["category"],
                severity=Severity(row["severity"]),
                quote=row["quote"],
                problem=row["problem"],
                suggestion=row["suggestion"],
                evidence=tuple(row["evidence"]),
                raised_by=row["raised_by"],
            ),
        )
        for row in rows
    )


@dataclass(frozen=True, kw_only=True)
class _LastReview:
    """What the review before this one read, and whether what is still open lets this one pass."""

    body: str | None
    can_pass: bool


_FIRST_REVIEW = _LastReview(body=None, can_pass=True)


async def _read_last_review(
    connection: Connection, run: RunRow, revision: int | None
) -> _LastReview:
    """Since a person's last text: that one is read whole, as in a first review."""
    row = await connection.fetchrow(
        """
        SELECT r.body, coalesce(a.blockers = 0 AND a.majors = 0 AND a.score >= $5, true) AS can_pass
        FROM steps s
        JOIN revisions r ON r.document_id = $2 AND r.number = s.input_revision
        LEFT JOIN assessments a ON a.run_id = s.run_id AND a.revision = $3
        WHERE s.run_id = $1 AND s.name = 'review' AND s.status = 'SUCCEEDED' AND s.round > $4
        ORDER BY s.round DESC LIMIT 1
        """,
        run.id,
        run.document_id,
        revision,
        run.compare_from_round,
        run.pass_score,
    )
    return _FIRST_REVIEW if row is None else _LastReview(**dict(row))


@dataclass(frozen=True, kw_only=True)
class StepMaterial:
    """A step's work and the revision it is about, read outside the claim's transaction."""

    work: Work
    input_revision: int | None


async def read_step(
    connection: Connection,
    run: RunRow,
    step: tuple[int, StepName],
    *,
    input_revision: int | None,
    profile: Profile,
) -> StepMaterial | None:
    """Everything `Kind` needs for this step; None when the document is gone."""
    round_, name = step
    document = await _read_document(connection, run.document_id, input_revision)
    sources = await _read_sources(connection, document.source_ids) if document else None
    if document is None or sources is None:
        return None
    issues: tuple[OpenIssue, ...] = ()
    last = _FIRST_REVIEW
    if name == StepName.REVIEW and round_ > 1:
        last = await _read_last_review(connection, run, input_revision)
    if name == StepName.REFINE or not last.can_pass:
        issues = await read_open_issues(connection, run.id)
    work = Work(
        step=name,
        round=round_,
        material=Material(
            title=document.title,
            language=document.language,
            attributes=document.attributes,
            sources=sources,
        ),
        body=document.body,
        issues=issues,
        locks=document.locks,
        instructions=run.instructions,
        prompts=dict(profile.prompts),
        reviewed=last.body,
        can_pass=last.can_pass,
        count=profile.learned.count,
    )
    return StepMaterial(work=work, input_revision=input_revision)
