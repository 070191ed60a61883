"""What a new run begins with: a recording that nobody heard, the templates of its first draft."""

from __future__ import annotations

from api.http.errors import misfit
from deploy.database import Connection
from workflows.kinds.kind import Kind
from workflows.kinds.templates import BadTemplate, DraftsByTemplates


async def begin_with_recording(connection: Connection, run_id: str, document_id: str) -> bool:
    """What nobody has heard yet is transcribed first. Whether there is such a recording."""
    heard = await connection.fetchval(
        """
        UPDATE runs SET unheard_source = s.id, stage = 'transcribe'
        FROM (SELECT id FROM sources WHERE document_id = $2 AND replaced_by IS NULL
                AND blob_id IS NOT NULL AND text = '' ORDER BY position LIMIT 1) s
        WHERE runs.id = $1
        RETURNING true
        """,
        run_id,
        document_id,
    )
    return heard is not None


async def keep_templates(connection: Connection, run_id: str, document_id: str, kind: Kind) -> None:
    """With the run, whose draft may be made hours later: files are changed and removed meanwhile.

    Raises 422 where the document names a template that is no more.
    """
    if not isinstance(kind, DraftsByTemplates):
        return
    attributes = await connection.fetchval(
        "SELECT attributes FROM documents WHERE id = $1", document_id
    )
    try:
        kept = kind.templates_for(attributes)
    except BadTemplate as problem:
        raise misfit("", f"the document's template: {problem}") from None
    await connection.execute(
        "UPDATE runs SET templates = $2 WHERE id = $1", run_id, [one.kept() for one in kept]
    )
