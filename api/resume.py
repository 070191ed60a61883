"""Resume: the one move back into RUNNING, with what may change on the way.

A text, a profile or more rounds come with it in the same transaction; a guardrail must be
overridden in so many words, and the override covers that one stop.
"""

from __future__ import annotations

from activities import record
from api import edits, inserts, moving, requests
from api.errors import misfit
from api.idempotency import Done, Tools
from deploy.database import Connection
from workflows.vocabulary import LIMITS, ErrorCode, EventType, Reason, RunStatus, Signal


async def resume(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Resume
) -> Done:
    """202: INTERRUPTED or FAILED -> RUNNING."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.INTERRUPTED, RunStatus.FAILED)
    await _check_resume(connection, tools, row, wanted)
    await _change_settings(connection, tools, row, wanted)
    if wanted.body is not None:
        await edits.check_base(connection, row, wanted.base_revision)
        base = row.working_revision if wanted.base_revision is None else wanted.base_revision
        await edits.adopt(connection, tools, row, wanted.body, base=base, fresh_loop=True)
    if row.guardrail is not None:
        await _reset_counters(connection, run_id)
    said = await inserts.insert_comment(connection, tools.caller, row, wanted.note)
    override = {"override_guardrail": row.guardrail} if row.guardrail is not None else {}
    seq = await moving.move(
        connection, tools, row, EventType.RUN_RESUMED, params={**override, **said}
    )
    return await moving.done(connection, tools, run_id, status=202, seq=seq, signal=Signal.RESUME)


async def _check_resume(
    connection: Connection, tools: Tools, row: record.RunRow, wanted: requests.Resume
) -> None:
    await inserts.refuse_draining(connection)
    if row.status == RunStatus.FAILED:
        await inserts.refuse_second_run(connection, row.document_id)
    if row.reason_code in LIMITS or row.reason_code == Reason.PRICE_UNKNOWN:
        raise moving.conflict(
            row, ErrorCode.LIMIT_REQUIRED, "raise the limit first", limit=row.reason_code
        )
    if row.guardrail is not None and not wanted.override_guardrail:
        raise moving.conflict(
            row,
            ErrorCode.GUARDRAIL_OVERRIDE_REQUIRED,
            "a guardrail stopped this run; resume it with override_guardrail",
            guardrail=row.guardrail,
        )
    if wanted.base_revision is not None and wanted.body is None:
        raise misfit("/base_revision", "belongs to a body; send both")
    if wanted.max_rounds is not None and wanted.max_rounds < row.current_round:
        raise misfit("/max_rounds", f"{row.current_round} rounds are done already")
    if wanted.profile is not None:
        kind = inserts.find_kind(tools.state.kinds, row.kind)
        await inserts.require_profile(connection, wanted.profile, kind)


async def _change_settings(
    connection: Connection, tools: Tools, row: record.RunRow, wanted: requests.Resume
) -> None:
    """Profile and rounds as asked, each with its event."""
    if wanted.profile is not None and wanted.profile != row.profile:
        await connection.execute(
            "UPDATE runs SET profile = $2 WHERE id = $1", row.id, wanted.profile
        )
        await moving.tell(
            connection,
            tools,
            row.id,
            EventType.PROFILE_CHANGED,
            {"from": row.profile, "to": wanted.profile},
        )
    if wanted.max_rounds is not None and wanted.max_rounds != row.max_rounds:
        await _set_rounds(connection, row.id, wanted.max_rounds)
        await moving.tell(
            connection,
            tools,
            row.id,
            EventType.LIMITS_RAISED,
            {"max_rounds": {"from": row.max_rounds, "to": wanted.max_rounds}},
        )


async def _set_rounds(connection: Connection, run_id: str, max_rounds: int) -> None:
    """With rounds left, a loop that had ended at its limit goes on."""
    await connection.execute(
        """
        UPDATE runs SET max_rounds = $2, outcome = CASE
            WHEN outcome = 'round_limit' AND current_round < $2 THEN NULL ELSE outcome END
        WHERE id = $1
        """,
        run_id,
        max_rounds,
    )


async def _reset_counters(connection: Connection, run_id: str) -> None:
    """An override covers one stop: the unfinished parts may try as often as at the start."""
    await connection.execute(
        """
        UPDATE step_parts SET calls = 0, early_ends = 0, barren = 0, reply_hashes = '{}'
        WHERE done_at IS NULL AND plan_id IN (
            SELECT id FROM step_plans WHERE run_id = $1 AND voided_at IS NULL)
        """,
        run_id,
    )
