"""A person's word about an issue: it is waived, or stands again. The next step of the run goes by
it, score and best revision at once; a waived one counts for nothing however often it is found."""

from __future__ import annotations

from activities import record
from api import queries, wire
from api.http import requests
from api.http.errors import misfit, not_found
from api.moves import moving, standings
from api.moves.idempotency import Done, Tools
from deploy.database import Connection
from workflows.vocabulary import FINAL, EventType, IssueStatus, RunStatus


async def change_issue(
    connection: Connection, tools: Tools, run_id: str, issue_id: str, wanted: requests.IssueChange
) -> Done:
    """200, also where the issue is so already: then nothing is written. Raises 422 for a waiver
    that does not say why: that is what the next reader finds instead of the issue."""
    if wanted.status == "waived" and not (wanted.reason or "").strip():
        raise misfit("/reason", "say why it is waived", kind="blank")
    row = await moving.lock_run(connection, run_id)
    moving.require(row, *(status for status in RunStatus if status not in FINAL))
    before = await queries.issue(connection, run_id, issue_id)
    if before is None:
        raise not_found("issue")
    is_waived = before.status == IssueStatus.WAIVED
    is_open = before.status in (IssueStatus.OPEN, IssueStatus.REOPENED)
    if wanted.status == "waived" and not is_waived:
        await _waive(connection, issue_id, tools.caller.actor, wanted.reason)
        await _tell(connection, tools, row, before, EventType.ISSUE_WAIVED)
    elif wanted.status == "open" and not is_open:
        await _open(connection, issue_id)
        await _tell(connection, tools, row, before, EventType.ISSUE_REOPENED)
    after = await queries.issue(connection, run_id, issue_id)
    return Done(status=200, body=after, document_id=row.document_id)


async def _tell(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    issue: wire.Issue,
    event: EventType,
) -> None:
    """The event says how the run stands by it; a round that needs no refine any more ends."""
    now = await standings.count_anew(connection, row)
    data = {
        "number": issue.number,
        "severity": issue.severity,
        "category": issue.category,
        "score": now.score,
        "best_revision": now.best_revision,
    }
    await moving.tell(connection, tools, row.id, event, data)
    if now.finished:
        ended = {"round": row.current_round, "score": now.score, "outcome": now.outcome}
        await moving.tell(connection, tools, row.id, EventType.ROUND_FINISHED, ended)


async def _waive(connection: Connection, issue_id: str, actor: str, reason: str | None) -> None:
    await connection.execute(
        """
        UPDATE issues SET status = 'waived', waived_by = $2, waived_reason = $3, updated_at = now()
        WHERE id = $1
        """,
        issue_id,
        actor,
        reason,
    )


async def _open(connection: Connection, issue_id: str) -> None:
    """`reopened` where it counted as fixed, `open` where it was waived."""
    await connection.execute(
        """
        UPDATE issues SET status = CASE WHEN status = 'fixed' THEN 'reopened' ELSE 'open' END,
            waived_by = NULL, waived_reason = NULL, fixed_round = NULL, updated_at = now()
        WHERE id = $1
        """,
        issue_id,
    )
