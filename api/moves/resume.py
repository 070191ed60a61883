"""Resume: the one move back into RUNNING, with what may change on the way.

A text, a profile, limits or more rounds come with it in the same transaction. A limit that stopped
the run must be raised; a guardrail must be overridden in so many words, and the override covers
that one stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from activities import record
from api.http import requests
from api.http.errors import misfit
from api.moves import checks, edits, inserts, moving
from api.moves.idempotency import Done, Tools
from deploy.database import Connection
from workflows import budget, pricing
from workflows.vocabulary import LIMITS, ErrorCode, EventType, Reason, RunStatus, Signal


async def resume(
    connection: Connection, tools: Tools, run_id: str, wanted: requests.Resume
) -> Done:
    """202: INTERRUPTED or FAILED -> RUNNING."""
    row = await moving.lock_run(connection, run_id)
    moving.require(row, RunStatus.INTERRUPTED, RunStatus.FAILED)
    given = wanted.limits.named() if wanted.limits is not None else {}
    limits = budget.changed(row.limits, given)
    await _check_resume(connection, tools, row, wanted)
    await _check_limits(connection, row, wanted, limits)
    await _change_settings(connection, tools, row, wanted, limits)
    if wanted.body is not None:
        await edits.check_base(connection, row, wanted.base_revision)
        base = row.working_revision if wanted.base_revision is None else wanted.base_revision
        await edits.adopt(connection, tools, row, wanted.body, base=base, fresh_loop=True)
    if row.guardrail is not None:
        await _raise_stop(connection, run_id)
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


async def _check_limits(
    connection: Connection, row: record.RunRow, wanted: requests.Resume, limits: Mapping[str, Any]
) -> None:
    """The limit that stopped the run is out of its way, and a cost limit has a price."""
    profile, hears = wanted.profile or row.profile, row.unheard_source is not None
    if row.reason_code in LIMITS:
        used = await _used(connection, row.id)
        if not budget.raised(Reason(row.reason_code), row.limits, limits, used):
            raise moving.conflict(
                row, ErrorCode.LIMIT_REQUIRED, "raise the limit first", limit=row.reason_code
            )
    sets_cost = wanted.limits is not None and wanted.limits.max_cost is not None
    if limits.get(budget.COST) is not None and (
        sets_cost or wanted.profile is not None or row.reason_code == Reason.PRICE_UNKNOWN
    ):
        await _require_one_currency(connection, row, profile, sets_cost=sets_cost)
    if row.reason_code == Reason.PRICE_UNKNOWN:
        unpriced = await checks.unpriced(connection, profile, hears=hears)
        if limits.get(budget.COST) is not None and unpriced:
            raise moving.conflict(
                row,
                ErrorCode.UNPRICED_PROFILE,
                "resume with a profile that has a price, or without the cost limit",
                profile=unpriced,
            )
    elif sets_cost:
        at = f"/limits/{budget.COST}"
        await checks.require_price(connection, profile, limits, at, hears=hears)
    elif wanted.profile is not None:
        await checks.require_price(connection, profile, limits, "/profile", hears=hears)


async def _require_one_currency(
    connection: Connection, row: record.RunRow, profile: str, *, sets_cost: bool
) -> None:
    """A limit holds one sum: what was paid already is in the profile's currency, or nothing was and
    the limit is of now, or was meant in it. From here on it is."""
    found = await connection.fetchrow(
        """
        SELECT (SELECT p.prices FROM profiles p WHERE p.name = $2
                ORDER BY p.version DESC LIMIT 1) AS prices,
            ARRAY (SELECT DISTINCT c.currency FROM model_calls c
                   WHERE c.run_id = $1 AND c.cost > 0 ORDER BY 1) AS paid,
            (SELECT r.currency FROM runs r WHERE r.id = $1 AND r.limits ? 'max_cost') AS meant
        """,
        row.id,
        profile,
    )
    assert found is not None, "a row without a table"
    currency, paid = pricing.currency(found["prices"]), list(found["paid"])
    if not paid and not sets_cost and found["meant"]:
        paid = [found["meant"]]
    if currency is None:
        return  # it is refused for that
    if not set(paid) - {currency}:
        await connection.execute("UPDATE runs SET currency = $2 WHERE id = $1", row.id, currency)
        return
    told = {"profile": profile, "currency": currency, "paid": ", ".join(paid)}
    raise moving.conflict(
        row,
        ErrorCode.UNPRICED_PROFILE,
        f"this run counts in {told['paid']}, and {profile} is priced in {currency}: amounts are "
        "never converted; leave the cost limit out, or choose a profile priced in the same",
        **told,
    )


async def _used(connection: Connection, run_id: str) -> dict[str, Decimal]:
    """What the run has used of what may be limited; its time stands still now."""
    row = await connection.fetchrow(
        """
        SELECT calls AS max_calls, tokens_input + tokens_output AS max_tokens,
               seconds_running AS max_seconds, coalesce((
                   SELECT sum(c.cost) FROM model_calls c WHERE c.run_id = r.id), 0) AS max_cost
        FROM runs r WHERE id = $1
        """,
        run_id,
    )
    assert row is not None, "the run is locked"
    return {name: Decimal(str(value)) for name, value in row.items()}


async def _change_settings(
    connection: Connection,
    tools: Tools,
    row: record.RunRow,
    wanted: requests.Resume,
    limits: Mapping[str, Any],
) -> None:
    """Profile, rounds and limits as asked, with their events."""
    if wanted.profile is not None and wanted.profile != row.profile:
        await connection.execute(
            "UPDATE runs SET profile = $2 WHERE id = $1", row.id, wanted.profile
        )
        told = {"from": row.profile, "to": wanted.profile}
        await moving.tell(connection, tools, row.id, EventType.PROFILE_CHANGED, told)
    changes = budget.changes(row.limits, limits)
    if changes:
        await connection.execute("UPDATE runs SET limits = $2 WHERE id = $1", row.id, dict(limits))
    if wanted.max_rounds is not None and wanted.max_rounds != row.max_rounds:
        await _set_rounds(connection, row.id, wanted.max_rounds)
        changes["max_rounds"] = {"from": row.max_rounds, "to": wanted.max_rounds}
    if changes:
        await moving.tell(connection, tools, row.id, EventType.LIMITS_RAISED, changes)


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


async def _raise_stop(connection: Connection, run_id: str) -> None:
    """An override covers one stop: only the part that was stopped, and only by what stopped it,
    has room as at the start."""
    await connection.execute(
        """
        UPDATE step_parts p SET stop = NULL,
            calls = CASE WHEN r.guardrail = 'call_limit' THEN 0 ELSE p.calls END,
            early_ends = CASE WHEN r.guardrail = 'call_limit' THEN 0 ELSE p.early_ends END,
            barren = CASE WHEN r.guardrail = 'spinning' THEN 0 ELSE p.barren END,
            reply_hashes = CASE WHEN r.guardrail = 'spinning' THEN '{}' ELSE p.reply_hashes END
        FROM runs r JOIN step_plans s ON s.run_id = r.id AND s.voided_at IS NULL
        WHERE r.id = $1 AND p.plan_id = s.id AND p.done_at IS NULL
          AND p.part = coalesce(r.reason_params ->> 'part', p.part)
          AND s.name = coalesce(r.reason_params ->> 'step', s.name)
          AND s.round = coalesce((r.reason_params ->> 'round')::int, s.round)
        """,
        run_id,
    )
