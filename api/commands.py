"""The moves that people make, and the profile that must exist before the first.

Each command runs inside one transaction (`api.moves.idempotency.perform` opens it): locks document
and run, checks, moves, writes what belongs to the move, and says which signal is due. A refused
command has no effect at all.
"""

from __future__ import annotations

from typing import Any

from activities import record
from api import queries
from api.http import requests
from api.moves import edits, inserts, moving
from api.moves.idempotency import Done, Tools
from deploy.database import Connection, Pool
from deploy.settings import Settings
from workflows.vocabulary import (
    DEFAULT_PROFILE,
    Actor,
    ErrorCode,
    EventType,
    Reason,
    RunStatus,
    Signal,
)

FIRST_MODEL = "gpt-4.1-mini"


OFFLINE_PRICES = {"currency": "USD", "tables": [{"input": "0", "output": "0"}]}


async def ensure_default_profile(pool: Pool, settings: Settings) -> None:
    """Version 1 of `default`, where no profile exists. Its model server is the environment's, so
    its price too: nothing for the offline model, unknown for any other."""
    prices = OFFLINE_PRICES if settings.offline_model else None
    await pool.execute(
        """
        INSERT INTO profiles (name, version, model, prices, actor)
        SELECT $1, 1, $2, $4, $3 WHERE NOT EXISTS (SELECT FROM profiles)
        ON CONFLICT (name, version) DO NOTHING
        """,
        DEFAULT_PROFILE,
        settings.model or FIRST_MODEL,
        Actor.SYSTEM,
        prices,
    )
    await _follow_model_server(pool, prices)


async def _follow_model_server(pool: Pool, prices: dict[str, Any] | None) -> None:
    """A new version where the model server was changed between real and offline: a real one must
    never count as free. A profile that a person made is left alone."""
    await pool.execute(
        """
        INSERT INTO profiles (name, version, model, base_url, key_env, parameters, prices, prompts,
            fallback, rate_limits, actor)
        SELECT p.name, p.version + 1, p.model, p.base_url, p.key_env, p.parameters, $2, p.prompts,
            p.fallback, p.rate_limits, p.actor
        FROM profiles p
        WHERE p.name = $1 AND p.actor = $3
            AND p.prices IS DISTINCT FROM $2 AND (p.prices IS NULL OR p.prices = $4)
            AND p.version = (SELECT max(n.version) FROM profiles n WHERE n.name = $1)
        ON CONFLICT (name, version) DO NOTHING
        """,
        DEFAULT_PROFILE,
        prices,
        Actor.SYSTEM,
        OFFLINE_PRICES,
    )


async def create_run(
    connection: Connection, tools: Tools, document_id: str, wanted: requests.NewRun
) -> Done:
    """201: a run of a document that has no active one."""
    document = await inserts.lock_document(connection, document_id)
    run_id, seq = await inserts.insert_run(
        connection, tools.caller, tools.state.kinds, document, wanted
    )
    return await moving.done(connection, tools, run_id, status=201, seq=seq, signal=Signal.RESUME)


async def create_document_and_run(
    connection: Connection, tools: Tools, wanted: requests.NewDocumentRun
) -> Done:
    """201: document and run in one transaction."""
    document = wanted.document()
    inserts.check_document(tools.state.kinds, document)
    document_id = await inserts.insert_document(connection, tools.caller, document)
    return await create_run(connection, tools, document_id, wanted.run())


async def interrupt(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Interrupt
) -> Done:
    """202: RUNNING -> INTERRUPTED."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.RUNNING)
    said = await inserts.insert_comment(connection, tools.caller, row, wanted.reason)
    seq = await moving.move(
        connection,
        tools,
        row,
        EventType.RUN_INTERRUPTED,
        reason=Reason.OPERATOR,
        params=said,
    )
    return await moving.done(
        connection, tools, run_id, status=202, seq=seq, signal=Signal.INTERRUPT
    )


async def confirm(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Confirm
) -> Done:
    """200: AWAITING_CONFIRMATION -> CONFIRMED, of the offered revision or a text made of it."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.AWAITING_CONFIRMATION)
    if wanted.revision != row.offered_revision and not wanted.override_offered:
        raise moving.conflict(
            row,
            ErrorCode.OFFERED_REVISION_CHANGED,
            f"revision {row.offered_revision} is offered, not {wanted.revision}; to confirm "
            "another, set override_offered (./redraft confirm --override)",
            offered_revision=row.offered_revision,
            revision=wanted.revision,
        )
    await inserts.require_revision(connection, row.document_id, wanted.revision, "/revision")
    confirmed = wanted.revision
    if wanted.body is not None:
        confirmed = await edits.adopt(
            connection, tools, row, wanted.body, base=wanted.revision, fresh_loop=False
        )
    elif confirmed != row.offered_revision:
        await edits.offer(connection, run_id, confirmed)
    said = await inserts.insert_comment(
        connection, tools.caller, row, wanted.comment, revision=confirmed
    )
    return await _decide(
        connection,
        tools,
        row,
        EventType.RUN_CONFIRMED,
        status=200,
        params={"revision": confirmed, **said},
    )


async def reject(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Reject
) -> Done:
    """200: AWAITING_CONFIRMATION -> REJECTED."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.AWAITING_CONFIRMATION)
    said = await inserts.insert_comment(
        connection, tools.caller, row, wanted.comment, revision=row.offered_revision
    )
    return await _decide(connection, tools, row, EventType.RUN_REJECTED, status=200, params=said)


async def cancel(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Cancel
) -> Done:
    """202: any status that is not final -> CANCELLED."""
    row = await moving.lock_run(connection, run_id)
    moving.require(
        row,
        RunStatus.RUNNING,
        RunStatus.INTERRUPTED,
        RunStatus.FAILED,
        RunStatus.AWAITING_CONFIRMATION,
    )
    said = await inserts.insert_comment(connection, tools.caller, row, wanted.reason)
    return await _decide(connection, tools, row, EventType.RUN_CANCELLED, status=202, params=said)


async def _decide(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    event: EventType,
    *,
    status: int,
    params: dict[str, Any],
) -> Done:
    """A move into a final status."""
    seq = await moving.move(connection, tools, row, event, params=params)
    return await moving.done(
        connection, tools, row.id, status=status, seq=seq, signal=Signal.DECIDE
    )


async def set_draining(
    connection: Connection, tools: Tools, wanted: requests.SwitchesChange
) -> Done:
    """200: the switch, with a line in the audit log."""
    await connection.execute(
        """
        INSERT INTO switches (name, value, note, actor, updated_at)
        VALUES ('draining', $1, $2, $3, now())
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, note = excluded.note,
            actor = excluded.actor, updated_at = excluded.updated_at
        """,
        wanted.draining,
        wanted.note,
        tools.caller.actor,
    )
    await record.insert_audit(
        connection,
        actor=tools.caller.actor,
        action="draining_set" if wanted.draining else "draining_ended",
        object_type="switch",
        object_id="draining",
        request_id=tools.caller.request_id,
    )
    return Done(status=200, body=await queries.switches(connection))
