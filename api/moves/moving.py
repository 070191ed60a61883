"""What every move of a person has in common: locks, the check of the status, the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from activities import record
from api import queries
from api.http.errors import Refusal, not_found
from api.moves.idempotency import Done, Tools
from api.moves.signals import Due
from deploy.database import Connection
from workflows.vocabulary import FINAL, ErrorCode, EventType, Reason, RunStatus, Signal


async def lock_run(connection: Connection, run_id: str) -> record.RunRow:
    """Document first, then run; 404 when either was deleted."""
    if await record.lock_document_of(connection, run_id) is None:
        raise not_found("run")
    row = await record.lock_run(connection, run_id)
    if row is None:
        raise not_found("run")
    return row


def require(row: record.RunRow, *statuses: RunStatus) -> None:
    if row.status in statuses:
        return
    raise Refusal(
        409,
        ErrorCode.FINAL_STATUS if row.status in FINAL else ErrorCode.STATUS_CHANGED,
        f"the run is {row.status}",
        params={"status": str(row.status), "expected": [str(status) for status in statuses]},
        run_id=row.id,
    )


def conflict(row: record.RunRow, code: ErrorCode, detail: str, **params: Any) -> Refusal:
    return Refusal(409, code, detail, params=params, run_id=row.id)


async def move(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    event: EventType,
    *,
    reason: Reason | None = None,
    params: Mapping[str, Any],
) -> int:
    """The move of the locked run, whose status was checked; the seq of its event."""
    seq = await record.move(
        connection,
        row.id,
        record.Move(
            event=event,
            actor=tools.caller.actor,
            from_=row.status,
            reason=reason,
            params=params,
            request_id=tools.caller.request_id,
            by_person=True,
        ),
    )
    assert seq is not None, "under the lock nobody can have been faster"
    return seq


async def tell(
    connection: Connection, tools: Tools, run_id: str, event: EventType, data: Mapping[str, Any]
) -> None:
    """An event of this caller."""
    await record.append_event(
        connection,
        run_id,
        record.Event(
            type=event, actor=tools.caller.actor, request_id=tools.caller.request_id, data=data
        ),
    )


async def done(
    connection: Connection, tools: Tools, run_id: str, *, status: int, seq: int, signal: Signal
) -> Done:
    """The run as it is now, and the signal that its move owes."""
    run = await queries.run(connection, run_id, web=tools.web)
    assert run is not None, "the run is locked"
    due = Due(
        run_id=run_id,
        signal=signal,
        seq=seq,
        kind=run.kind,
        title=run.title,
        document_id=run.document_id,
        round=run.current_round,
        score=run.score,
    )
    location = f"/api/runs/{run_id}" if status == 201 else None
    return Done(status=status, body=run, location=location, document_id=run.document_id, due=(due,))
