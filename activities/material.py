"""Reads what a step is made from: the document's material, the working body, the open issues."""

from __future__ import annotations

from dataclasses import dataclass

from activities.record import RunRow
from deploy.database import Connection
from workflows.kinds.kind import Finding, Material, OpenIssue, SourceText, Work
from workflows.vocabulary import Severity, StepName


async def read_material(connection: Connection, document_id: str) -> Material | None:
    """None when the document was deleted. Sources in force only, in their order."""
    row = await connection.fetchrow(
        "SELECT title, language, attributes FROM documents WHERE id = $1", document_id
    )
    if row is None:
        return None
    sources = await connection.fetch(
        """
        SELECT id, name, media_type, text FROM sources
        WHERE document_id = $1 AND replaced_by IS NULL ORDER BY position, created_at, id
        """,
        document_id,
    )
    return Material(
        title=row["title"],
        language=row["language"],
        attributes=row["attributes"],
        sources=tuple(SourceText(**dict(source.items())) for source in sources),
    )


async def read_body(connection: Connection, document_id: str, number: int | None) -> str:
    """The text of a revision; '' for none."""
    if number is None:
        return ""
    body: str | None = await connection.fetchval(
        "SELECT body FROM revisions WHERE document_id = $1 AND number = $2", document_id, number
    )
    return body or ""


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


async def read_locks(connection: Connection, document_id: str) -> tuple[str, ...]:
    rows = await connection.fetch(
        "SELECT quote FROM locks WHERE document_id = $1 AND removed_at IS NULL ORDER BY created_at",
        document_id,
    )
    return tuple(row["quote"] for row in rows)


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
    material = await read_material(connection, run.document_id)
    if material is None:
        return None
    issues = await read_open_issues(connection, run.id) if name == StepName.REFINE else ()
    work = Work(
        step=name,
        round=round_,
        material=material,
        body=await read_body(connection, run.document_id, input_revision),
        issues=issues,
        locks=await read_locks(connection, run.document_id),
        instructions=run.instructions,
        prompts=prompts,
    )
    return StepMaterial(work=work, input_revision=input_revision)
