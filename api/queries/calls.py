"""Reads of model calls: those of one run, the log over all runs, one with its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api import wire
from api.http import cursors
from api.queries.parts import run_exists
from api.queries.rows import Reader, counted, grouped, page_of, tokens
from deploy.database import Row
from workflows.vocabulary import CallStatus

_COLUMNS = """
    c.id, c.run_id, c.step_id, c.step_name, c.round, c.part, c.number, c.status, c.finish_reason,
    c.end_cause, c.model, c.profile, c.profile_version, c.kind_version, c.tokens_input,
    c.tokens_output, c.tokens_cached, c.tokens_reasoning, c.usage_source, c.cost, c.currency,
    c.first_token_ms, c.started_at, c.ended_at, c.provider_request_id, c.http_status,
    c.items_kept, c.items_dropped,
    ARRAY(SELECT i.key FROM step_items i
          WHERE i.plan_id = c.plan_id AND i.part = c.part AND i.call_id = c.id
          ORDER BY i.position) AS kept_keys
"""
Dropped = Mapping[str, Row]
"""What was dropped of calls, by their ids."""


async def _dropped(reader: Reader, rows: Sequence[Row]) -> Dropped:
    """By code and by key, as the events tell it; asked for only where something was dropped, and
    each run's events are read once."""
    lossy = [row for row in rows if row["items_dropped"]]
    if not lossy:
        return {}
    found = await reader.fetch(
        """
        SELECT data ->> 'call_id' AS id, data -> 'dropped' AS dropped,
               data -> 'dropped_keys' AS dropped_keys
        FROM run_events
        WHERE run_id = ANY ($1) AND type = 'call_ended' AND data ->> 'call_id' = ANY ($2)
        """,
        list({row["run_id"] for row in lossy}),
        [str(row["id"]) for row in lossy],
    )
    return {row["id"]: row for row in found}


async def calls_page(
    reader: Reader,
    run_id: str,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
    *,
    known: bool = False,
) -> wire.Page[wire.Call] | None:
    """The run's calls in the order they were started; None when there is no such run, unless it is
    `known`."""
    if not (known or await run_exists(reader, run_id)):
        return None
    after = None if cursor is None else cursors.decode_moment("calls", cursor)
    rows = await reader.fetch(
        f"""
        SELECT {_COLUMNS} FROM model_calls c
        WHERE c.run_id = $1
          AND ($2::timestamptz IS NULL OR (c.started_at, c.id) > ($2, $3::uuid))
        ORDER BY c.started_at, c.id LIMIT $4
        """,  # noqa: S608
        run_id,
        *(after or (None, None)),
        limit + 1,
    )
    dropped = await _dropped(reader, rows)
    page = page_of(rows, limit, lambda row: _call(row, dropped), lambda row: _cursor("calls", row))
    return counted(page, await _by_status(reader, CallFilter(run_id=run_id))) if count else page


_BADLY = (CallStatus.CANCELLED, CallStatus.FAILED, CallStatus.LOST)
_BADLY_SQL = ", ".join(f"'{status}'" for status in _BADLY)


@dataclass(frozen=True, kw_only=True)
class CallFilter:
    """What `GET /api/calls` may be asked for; None means any."""

    run_id: str | None = None
    status: str | None = None
    model: str | None = None
    profile: str | None = None
    step: str | None = None
    end_cause: str | None = None
    from_: datetime | None = None
    to: datetime | None = None

    def sql(self) -> tuple[str, list[Any]]:
        """Conditions and their arguments, only those that were asked for."""
        clauses, arguments = ["true"], []
        for column, value in (
            ("c.run_id =", self.run_id),
            ("c.status =", self.status),
            ("c.model =", self.model),
            ("c.profile =", self.profile),
            ("c.step_name =", self.step),
            ("c.end_cause =", self.end_cause),
            ("c.started_at >=", self.from_),
            ("c.started_at <", self.to),
        ):
            if value:
                arguments.append(value)
                clauses.append(f"{column} ${len(arguments)}")
        if self.status in _BADLY:  # of a parameter no plan knows that the index of these serves
            clauses.append(f"c.status IN ({_BADLY_SQL})")
        return " AND ".join(clauses), arguments


async def calls_all_page(
    reader: Reader,
    wanted: CallFilter | None = None,
    limit: int = 50,
    cursor: str | None = None,
    count: bool = False,
) -> wire.Page[wire.Call]:
    """The call log, newest first."""
    wanted = wanted or CallFilter()
    where, arguments = wanted.sql()
    if cursor is not None:
        arguments += cursors.decode_moment("call-log", cursor)
        where += f" AND (c.started_at, c.id) < (${len(arguments) - 1}, ${len(arguments)})"
    rows = await reader.fetch(
        f"""
        SELECT {_COLUMNS} FROM model_calls c WHERE {where}
        ORDER BY c.started_at DESC, c.id DESC LIMIT {limit + 1:d}
        """,  # noqa: S608
        *arguments,
    )
    lost = await _dropped(reader, rows)
    page = page_of(rows, limit, lambda row: _call(row, lost), lambda row: _cursor("call-log", row))
    return counted(page, await _by_status(reader, wanted)) if count else page


async def _by_status(reader: Reader, wanted: CallFilter) -> dict[str, int]:
    where, arguments = wanted.sql()
    return grouped(
        await reader.fetch(
            f"""
            SELECT c.status, count(*) AS number FROM model_calls c WHERE {where}
            GROUP BY c.status
            """,  # noqa: S608
            *arguments,
        )
    )


async def call(reader: Reader, call_id: str) -> wire.CallWithBody | None:
    """One call with what was said in it, as far as it is still kept."""
    if not cursors.is_uuid(call_id):
        return None
    row = await reader.fetchrow(
        f"""
        SELECT {_COLUMNS}, c.prompt_hash, c.error, c.partial_text, b.reply, b.recipe,
            CASE WHEN c.step_name = 'transcribe'
                THEN (p.spec ->> 'end')::float8 - (p.spec ->> 'start')::float8 END AS sound
        FROM model_calls c
            LEFT JOIN model_call_bodies b ON b.call_id = c.id
            LEFT JOIN step_parts p ON p.plan_id = c.plan_id AND p.part = c.part
        WHERE c.id = $1
        """,  # noqa: S608
        call_id,
    )
    if row is None:
        return None
    more = {n: row[n] for n in ("prompt_hash", "error", "partial_text", "reply", "recipe")}
    sound = None if row["sound"] is None else round(row["sound"], 3)
    values = _values(row, await _dropped(reader, [row]))
    return wire.CallWithBody(**values, **more, seconds_of_sound=sound)


async def models_called(reader: Reader) -> list[str]:
    """The models of the newest thousand calls: what the log can be narrowed to."""
    rows = await reader.fetch(
        """
        SELECT DISTINCT n.model FROM (
            SELECT c.model FROM model_calls c ORDER BY c.started_at DESC, c.id DESC LIMIT 1000) n
        ORDER BY n.model
        """
    )
    return [row["model"] for row in rows]


async def attempts_of(reader: Reader, call: wire.Call) -> list[wire.Attempt]:
    """All calls for the same part of the same step, in their order."""
    rows = await reader.fetch(
        """
        SELECT c.id, c.number, c.status, c.items_kept FROM model_calls c
        WHERE c.run_id = $1 AND c.round = $2 AND c.step_name = $3 AND c.part = $4
        ORDER BY c.number
        """,
        call.run_id,
        call.round,
        call.step,
        call.part,
    )
    return [wire.Attempt(**dict(row)) for row in rows]


def _cursor(scope: str, row: Row) -> str:
    return cursors.encode_moment(scope, row["started_at"], row["id"])


def _call(row: Row, dropped: Dropped) -> wire.Call:
    return wire.Call(**_values(row, dropped))


def _values(row: Row, dropped: Dropped) -> dict[str, Any]:
    lost = dropped.get(str(row["id"]))
    return {
        "id": row["id"],
        "run_id": row["run_id"],
        "step_id": row["step_id"],
        "step": row["step_name"],
        "round": row["round"],
        "part": row["part"],
        "number": row["number"],
        "status": row["status"],
        "finish_reason": row["finish_reason"],
        "end_cause": row["end_cause"],
        "model": row["model"],
        "profile": wire.ProfileRef(name=row["profile"], version=row["profile_version"]),
        "kind_version": row["kind_version"],
        "tokens": tokens(row),
        "usage_source": row["usage_source"],
        "cost": wire.money(row["cost"]),
        "currency": row["currency"],
        "first_token_ms": row["first_token_ms"],
        "started_at": row["started_at"],
        "ended_at": row["ended_at"],
        "provider_request_id": row["provider_request_id"],
        "http_status": row["http_status"],
        "items_kept": row["items_kept"],
        "items_dropped": row["items_dropped"],
        "kept_keys": row["kept_keys"],
        "dropped": (lost and lost["dropped"]) or {},
        "dropped_keys": (lost and lost["dropped_keys"]) or {},
    }
