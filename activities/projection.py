"""Writes of calls, steps and parts. Every statement is fenced by the own step row.

All of these run inside a transaction whose caller has locked the run row first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from activities.model.client import Usage
from activities.model.learned import Size
from activities.model.profile import Profile
from activities.record import Event, append_event
from activities.spending import budget
from activities.spending.metering import Need
from deploy.database import Connection, Row, clean
from workflows import pricing
from workflows.vocabulary import (
    Actor,
    CallStatus,
    EventType,
    Reason,
    StepName,
    StepStatus,
    UsageSource,
)


@dataclass(frozen=True, kw_only=True)
class CallOpening:
    """A call about to be made. What it needs is an estimate, kept until usage is known."""

    call_id: str
    run_id: str
    step_id: str
    plan_id: str
    step_name: StepName
    round: int
    part: str
    profile: Profile
    kind_version: str
    prompt_hash: str
    need: Need
    size: Size
    kept: int = 0
    """Items of the part that the prompt says are there: the reply goes on behind them."""
    recipe: Mapping[str, Any] | None = None
    """How the prompt is made, None where bodies are not kept; `body_seconds`: for how long."""
    body_seconds: float = 0.0


async def open_call(connection: Connection, opening: CallOpening) -> None:
    """The row, committed before the request is sent. The caller has checked the fence."""
    number = await _insert_call(connection, opening)
    if number is None:  # the answer of a commit was lost, it is open already
        return
    await append_event(
        connection,
        opening.run_id,
        Event(
            type=EventType.CALL_STARTED,
            actor=Actor.WORKER,
            data={
                "call_id": opening.call_id,
                "step_id": opening.step_id,
                "step": opening.step_name,
                "round": opening.round,
                "part": opening.part,
                "number": number,
                "kept": opening.kept,
            },
        ),
    )


async def _insert_call(connection: Connection, opening: CallOpening) -> int | None:
    """Its number, one call more of the run and of its part; None when this row is there already."""
    number: int | None = await connection.fetchval(
        """
        WITH opened AS (
            INSERT INTO model_calls (id, run_id, step_id, plan_id, step_name, round, part, number,
                status, model, profile, profile_version, kind_version, tokens_input,
                reserved_tokens, prompt_hash, reserved_cost, estimated_input, wide, currency)
            SELECT $1, $2, $3, $4, $5, $6, $7, coalesce(max(c.number), 0) + 1,
                'STARTED', $8, $9, $10, $11, $12, $13, $14, $15, $18, $19, $20
            FROM model_calls c
            WHERE c.run_id = $2 AND c.round = $6 AND c.step_name = $5 AND c.part = $7
            ON CONFLICT (id) DO NOTHING
            RETURNING number
        ), counted AS (
            UPDATE runs SET calls = calls + 1 WHERE id = $2 AND EXISTS (SELECT FROM opened)
        ), of_part AS (
            UPDATE step_parts SET calls = calls + 1
            WHERE plan_id = $4 AND part = $7 AND EXISTS (SELECT FROM opened)
        ), body AS (
            INSERT INTO model_call_bodies (call_id, recipe, expires_at)
            SELECT $1, $16::jsonb, now() + make_interval(secs => $17)
            FROM opened WHERE $16::jsonb IS NOT NULL
        )
        SELECT number FROM opened
        """,
        opening.call_id,
        opening.run_id,
        opening.step_id,
        opening.plan_id,
        *(opening.step_name, opening.round, opening.part),
        *(opening.profile.model, opening.profile.name, opening.profile.version),
        opening.kind_version,
        opening.need.prompt,
        opening.need.tokens,
        opening.prompt_hash,
        opening.need.cost,
        None if opening.recipe is None else dict(opening.recipe),
        opening.body_seconds,
        *(opening.size.tokens, opening.size.wide, pricing.currency(opening.profile.prices)),
    )
    return number


@dataclass(frozen=True, kw_only=True)
class CallClosing:
    """How a call ended. `usage_source` says whether the numbers are the provider's."""

    call_id: str
    run_id: str
    status: CallStatus
    profile: Profile | None
    end_cause: Reason | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    usage_source: UsageSource = UsageSource.UNKNOWN
    sound: float | None = None
    """Seconds that were sent to be heard, where those are what is paid."""
    http_status: int | None = None
    provider_request_id: str | None = None
    first_token_ms: int | None = None
    error: str | None = None
    items_kept: int = 0
    items_dropped: int = 0
    text: str = ""
    form: str | None = None
    manner: str | None = None
    """What the server took, or `refused` and what it did not."""
    sample: int | None = None
    """Our count of the output that was reported."""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PartAfter:
    """A part as a call of it left it. `mark`: what is kept of a reply, to know it again; `replied`:
    something was received, which ends a row of provider failures."""

    plan_id: str
    part: str
    calls: int
    early_ends: int
    barren: int
    mark: str | None
    finished: bool
    result: Mapping[str, Any]
    replied: bool
    stop: Reason | None


async def close_call(
    connection: Connection, closing: CallClosing, after: PartAfter | None = None
) -> bool:
    """Closes a STARTED call, and with it writes its part; corrects one that was given up as LOST if
    usage was reported: it stays LOST, for the same cause and with the items kept of it.

    False when there was nothing to close (deleted, or closed already).
    """
    cost = _cost(closing)
    priced = closing.profile is not None and (closing.sound is None or bool(cost))
    currency = pricing.currency(closing.profile.prices) if closing.profile and priced else None
    written = await _write_end(connection, _end_of(closing, cost, currency) + _part_after(after))
    if written is None:
        return False
    await _tell_end(connection, closing, written)
    await budget.warn(connection, closing.run_id, written["limits"] or {})
    return True


def _cost(closing: CallClosing) -> Decimal | None:
    """Of sound by its minutes where those have a price, else by the tokens a server reported."""
    if closing.profile is None:
        return None
    prices, at = closing.profile.prices, datetime.now(UTC).date()
    if closing.sound is not None:
        by_minutes = pricing.sound(prices, seconds=closing.sound, at=at)
        if by_minutes is not None or closing.usage_source != UsageSource.REPORTED:
            return by_minutes
    return pricing.price(prices, **vars(closing.usage), at=at) if closing.usage else None


async def _write_end(connection: Connection, values: tuple[Any, ...]) -> Row | None:
    """Row, part and totals of the run, of a call given up before by difference."""
    return await connection.fetchrow(
        """
        WITH before AS (
            SELECT id, coalesce(tokens_input, 0) AS input, coalesce(tokens_output, 0) AS output,
                   coalesce(tokens_cached, 0) AS cached, coalesce(tokens_reasoning, 0) AS reasoning,
                   status, (status = 'LOST')::int AS late
            FROM model_calls
            WHERE id = $1 AND (status = 'STARTED' OR status = 'LOST' AND $9 = 'reported') FOR UPDATE
        ), ended AS (
            UPDATE model_calls c SET
                status = CASE WHEN before.status = 'LOST' THEN 'LOST' ELSE $2 END,
                end_cause = CASE WHEN before.status = 'LOST' THEN c.end_cause ELSE $3 END,
                items_kept = CASE WHEN before.status = 'LOST' THEN c.items_kept ELSE $16 END,
                finish_reason = $4, tokens_input = $5, tokens_output = $6, tokens_cached = $7,
                tokens_reasoning = $8, usage_source = $9, cost = $10, currency = $11,
                http_status = $12, provider_request_id = $13, first_token_ms = $14, error = $15,
                items_dropped = $17, partial_text = NULL, partial_length = $18, ended_at = now(),
                manner = $22, estimated_output = $23
            FROM before WHERE c.id = before.id
            RETURNING c.status, c.end_cause, c.items_kept, part, number, step_id, round, step_name
        ), body AS (
            UPDATE model_call_bodies b SET reply = $20,
                recipe = b.recipe || jsonb_strip_nulls(jsonb_build_object('form', $21::text))
            FROM before WHERE b.call_id = before.id
        ), part AS (
            UPDATE step_parts p SET calls = $26, early_ends = $27, barren = $28,
                reply_hashes = CASE WHEN $29::text IS NULL OR $29 = ANY (reply_hashes)
                    THEN reply_hashes ELSE reply_hashes || $29 END,
                done_at = CASE WHEN $30 THEN now() ELSE done_at END,
                result = CASE WHEN $30 THEN $31 ELSE result END, stop = coalesce($33, stop)
            FROM before WHERE p.plan_id = $24 AND p.part = $25
        ), totals AS (
            UPDATE runs r SET
                tokens_input = r.tokens_input + coalesce($5, 0) - late * input,
                tokens_output = r.tokens_output + coalesce($6, 0) - late * output,
                tokens_cached = r.tokens_cached + coalesce($7, 0) - late * cached,
                tokens_reasoning = r.tokens_reasoning + coalesce($8, 0) - late * reasoning,
                (cost, currency) = (SELECT
                  CASE WHEN bool_and(n.cost IS NOT NULL OR n.made = 'unknown') AND count(n.cost) > 0
                    AND count(DISTINCT n.paid) < 2 THEN least(sum(n.cost), 999999999) END, CASE WHEN
                    count(DISTINCT n.paid) < 2 THEN coalesce(min(n.paid), r.currency, $11) END
                    FROM (SELECT c.cost, c.usage_source AS made,
                              CASE WHEN c.cost > 0 THEN c.currency END AS paid FROM model_calls c
                          WHERE c.run_id = $19 AND c.status <> 'STARTED' AND c.id <> $1
                          UNION ALL SELECT $10, $9, CASE WHEN $10 > 0 THEN $11 END) n),
                cost_is_estimate = r.cost_is_estimate
                    OR $9 <> 'reported' AND coalesce(greatest($5::bigint + $6, $10), 1) > 0,
                failures = CASE WHEN $32 THEN 0 ELSE r.failures END,
                failing_since = CASE WHEN $32 THEN NULL ELSE r.failing_since END,
                last_error_code = CASE WHEN $32 AND (r.failures > 0 OR r.failing_since IS NOT NULL)
                    THEN NULL ELSE r.last_error_code END, last_progress_at = now()
            FROM before WHERE r.id = $19 RETURNING r.limits
        )
        SELECT status, end_cause, items_kept, part, number, step_id, round, step_name,
               (SELECT limits FROM totals) AS limits FROM ended
        """,
        *values,
    )


def _end_of(closing: CallClosing, cost: Decimal | None, currency: str | None) -> tuple[Any, ...]:
    return (
        *(closing.call_id, closing.status, closing.end_cause),
        _short(closing.finish_reason, 100),
        *_tokens(closing.usage),
        *(closing.usage_source, cost, currency, closing.http_status),
        *(_short(closing.provider_request_id, 200), closing.first_token_ms),
        _short(closing.error, 500),
        *(closing.items_kept, closing.items_dropped, len(closing.text)),
        *(closing.run_id, clean(closing.text), closing.form, closing.manner, closing.sample),
    )


def _part_after(after: PartAfter | None) -> tuple[Any, ...]:
    if after is None:
        return (None, None, 0, 0, 0, None, False, {}, False, None)
    counters = after.calls, after.early_ends, after.barren, after.mark
    ended = after.finished, dict(after.result), after.replied, after.stop
    return (after.plan_id, after.part, *counters, *ended)


def _short(text: str | None, length: int) -> str | None:
    return clean(text)[:length] if text else None


def _tokens(usage: Usage | None) -> tuple[int | None, ...]:
    """input, output, cached, reasoning"""
    if usage is None:
        return None, None, None, None
    return usage.input, usage.output, usage.cached, usage.reasoning


async def _tell_end(connection: Connection, closing: CallClosing, written: Row) -> None:
    usage = closing.usage
    await append_event(
        connection,
        closing.run_id,
        Event(
            type=EventType.CALL_ENDED,
            actor=Actor.WORKER,
            data={
                "call_id": closing.call_id,
                "step_id": written["step_id"],
                "step": written["step_name"],
                "round": written["round"],
                "part": written["part"],
                "number": written["number"],
                "status": written["status"],
                "end_cause": written["end_cause"],
                "items_kept": written["items_kept"],
                "items_dropped": closing.items_dropped,
                "tokens": {"input": usage.input, "output": usage.output} if usage else None,
                **closing.facts,
            },
        ),
    )


async def write_partial(
    connection: Connection, call_id: str, text: str, thought_tokens: int = 0
) -> None:
    """Live text of a call in flight, and how much the model thought aloud before it: no event, no
    lock on the run."""
    await connection.execute(
        """
        UPDATE model_calls SET partial_text = $2, partial_length = $3, tokens_reasoning = $4
        WHERE id = $1 AND status = 'STARTED'
        """,
        call_id,
        clean(text),
        len(text),
        thought_tokens,
    )


@dataclass(frozen=True, kw_only=True)
class StepClosing:
    """How an execution ended. A stopped one stays FAILED for ever."""

    run_id: str
    step_id: str
    status: StepStatus
    reason: Reason | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    output_revision: int | None = None
    score: int | None = None
    result: Mapping[str, Any] | None = None
    actor: str = Actor.WORKER


async def close_step(connection: Connection, closing: StepClosing) -> bool:
    """False when the step was closed already (then nothing is written)."""
    row = await connection.fetchrow(
        """
        UPDATE steps SET status = $2, reason_code = $3, reason_params = $4, output_revision = $5,
            score = $6, result = $7, ended_at = now()
        WHERE id = $1 AND status = 'RUNNING'
        RETURNING seq, name, round, attempt
        """,
        closing.step_id,
        closing.status,
        closing.reason,
        dict(closing.params),
        closing.output_revision,
        closing.score,
        dict(closing.result) if closing.result is not None else None,
    )
    if row is None:
        return False
    data: dict[str, Any] = {
        "step_id": closing.step_id,
        "seq": row["seq"],
        "name": row["name"],
        "round": row["round"],
        "attempt": row["attempt"],
    }
    if closing.reason is not None:
        data |= {"reason": str(closing.reason), **closing.params}
    if closing.output_revision is not None:
        data["output_revision"] = closing.output_revision
    if closing.score is not None:
        data["score"] = closing.score
    succeeded = closing.status == StepStatus.SUCCEEDED
    await append_event(
        connection,
        closing.run_id,
        Event(
            type=EventType.STEP_SUCCEEDED if succeeded else EventType.STEP_FAILED,
            actor=closing.actor,
            data=data,
        ),
    )
    return True
