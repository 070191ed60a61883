"""The text that a step has made: its revision and the event that tells of it."""

from __future__ import annotations

from activities.claim import Claimed
from activities.record import Event, NewRevision, RunRow, append_event, insert_revision
from deploy.database import Connection
from workflows.vocabulary import Actor, EventType


async def write_revision(connection: Connection, run: RunRow, claimed: Claimed, body: str) -> int:
    """Its number. The caller holds the locks of document and run."""
    number = await insert_revision(
        connection,
        NewRevision(
            document_id=run.document_id,
            body=body,
            base=claimed.input_revision,
            author="run",
            run_id=run.id,
            step_id=claimed.step_id,
            round=claimed.round,
        ),
    )
    await append_event(
        connection,
        run.id,
        Event(
            type=EventType.REVISION_CREATED,
            actor=Actor.WORKER,
            data={
                "revision": number,
                "base": claimed.input_revision,
                "step_id": claimed.step_id,
                "round": claimed.round,
            },
        ),
    )
    return number
