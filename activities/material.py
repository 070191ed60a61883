"""Reads what a step is made from: the document's material, the working body, the open issues."""

from __future__ import annotations

from dataclasses import dataclass

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


async def _read_document(
    connection: Connection, document_id: str, number: int | None
) -> _Document | None:
    """None when it was deleted. `number` is the revision whose text is wanted."""
    row = await connection.fetchrow(
        """
        SELECT d.title, d.language, d.attributes, coalesce(r.body, '') AS body,
               ARRAY (SELECT l.quote FROM locks l
                      WHERE l.document_id = d.id AND l.removed_at IS NULL
                      ORDER BY l.created_at) AS locks
        FROM documents d LEFT JOIN revisions r ON r.document_id = d.id AND r.number = $2
        WHERE d.id = $1
        """,
        document_id,
        number,
    )
    if row is None:
        return None
    return _Document(**{**dict(row.items()), "locks": tuple(row["locks"])})


async def _read_sources(connection: Connection, document_id: str) -> tuple[SourceText, ...]:
    """Sources in force only, in their order."""
    rows = await connection.fetch(
        """
        SELECT id, name, media_type, text FROM sources
        WHERE document_id = $1 AND replaced_by IS NULL ORDER BY position, created_at, id
        """,
        document_id,
    )
    return tuple(SourceText(**dict(row.items())) for row in rows)


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
    prompts: dict[str, object],
) -> StepMaterial | None:
    """Everything `Kind` needs for this step; None when the document is gone."""
    round_, name = step
    document = await _read_document(connection, run.document_id, input_revision)
    if document is None:
        return None
    issues = await read_open_issues(connection, run.id) if name == StepName.REFINE else ()
    work = Work(
        step=name,
        round=round_,
        material=Material(
            title=document.title,
            language=document.language,
            attributes=document.attributes,
            sources=await _read_sources(connection, run.document_id),
        ),
        body=document.body,
        issues=issues,
        locks=document.locks,
        instructions=run.instructions,
        prompts=prompts,
    )
    return StepMaterial(work=work, input_revision=input_revision)
