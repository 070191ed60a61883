"""Reads that only the page of one run needs: its moves, its neighbours, what was paid in vain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api import wire
from api.queries.pages import ISSUE_MOVES
from api.queries.parts import event
from api.queries.rows import Reader
from deploy.database import Row
from workflows.vocabulary import EventType

MOVES = [
    str(type_)
    for type_ in (
        EventType.RUN_INTERRUPTED,
        EventType.RUN_FAILED,
        EventType.RUN_AWAITING_CONFIRMATION,
        EventType.RUN_RESUMED,
        EventType.RUN_REWORK,
        EventType.RUN_CONFIRMED,
        EventType.RUN_REJECTED,
        EventType.RUN_CANCELLED,
    )
]


@dataclass(frozen=True, kw_only=True)
class Move:
    """A move of the run after its creation."""

    type: str
    at: datetime
    actor: str
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The runs before and after it in the list of all, newest first."""

    newer: str | None
    older: str | None


@dataclass(frozen=True, kw_only=True)
class Waste:
    """What calls of one kind of waste used; `costs` by currency, empty where no price is known."""

    kind: str
    calls: int
    tokens: int
    costs: Mapping[str, str | None]
    is_estimate: bool


async def told(reader: Reader, run_id: str, newest: int) -> Sequence[wire.Event]:
    """The newest events, and of the older ones those that the page's other parts are made of: moves
    of the run and of its issues, and other limits of its rounds. In order."""
    rows = await reader.fetch(
        """
        SELECT e.seq, e.type, e.at, e.actor, e.request_id, e.data,
            (SELECT c.text FROM comments c
                WHERE c.id = (e.data->>'comment_id')::uuid) AS comment
        FROM run_events e WHERE e.run_id = $1 AND (e.type = ANY ($3::text[]) OR e.seq > (
            SELECT max(n.seq) - $2 FROM run_events n WHERE n.run_id = $1))
        ORDER BY e.seq
        """,
        run_id,
        newest,
        [*MOVES, *ISSUE_MOVES, EventType.LIMITS_RAISED],
    )
    return [event(row) for row in rows]


def moves(events: Iterable[wire.Event]) -> list[Move]:
    """Of the run, in order."""
    return [
        Move(type=one.type, at=one.at, actor=one.actor, data=one.model_extra or {})
        for one in events
        if one.type in MOVES
    ]


def rounds_change(events: Sequence[wire.Event]) -> Mapping[str, Any] | None:
    """The newest event that set another limit of rounds: its type, and its data."""
    for one in reversed(events):
        data = one.model_extra or {}
        if one.type == EventType.RUN_REWORK or (
            one.type == EventType.LIMITS_RAISED and "max_rounds" in data
        ):
            return {"type": one.type, **data}
    return None


async def neighbours(reader: Reader, created_at: datetime, run_id: str) -> Neighbours:
    row = await reader.fetchrow(
        """
        SELECT (SELECT r.id FROM runs r WHERE (r.created_at, r.id) > ($1, $2::uuid)
                ORDER BY r.created_at, r.id LIMIT 1) AS newer,
            (SELECT r.id FROM runs r WHERE (r.created_at, r.id) < ($1, $2::uuid)
                ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS older
        """,
        created_at,
        run_id,
    )
    return Neighbours(newer=None, older=None) if row is None else Neighbours(**dict(row))


async def waste(reader: Reader, run_id: str) -> Mapping[str, Waste]:
    """As `/api/observe` counts it. With nothing kept: `lost` died with its process, `repeated`
    failed or was stopped, `unkept` too but nothing asked for its part again so far (both are
    `repeated` of `/api/observe`). `replaced` was kept for a step that a person's change began anew;
    `saved` ended early, also with its process, and items were kept: the reply that was not paid a
    second time."""
    rows = await reader.fetch(
        """
        SELECT kind, CASE WHEN kind <> 'saved' AND cost IS NOT NULL THEN currency END AS currency,
            count(*) AS calls, bool_or(usage_source <> 'reported') AS is_estimate,
            sum(cost) AS cost,
            (coalesce(sum(tokens_input) FILTER (WHERE kind <> 'saved'), 0)
                + coalesce(sum(tokens_output), 0))::bigint AS tokens
        FROM (
            SELECT c.tokens_input, c.tokens_output, c.cost, c.currency, c.usage_source,
                CASE WHEN c.status <> 'SUCCEEDED' AND c.items_kept = 0 THEN
                        CASE WHEN c.status = 'LOST' THEN 'lost' WHEN EXISTS (
                            SELECT FROM model_calls n WHERE n.run_id = c.run_id
                                AND n.round = c.round AND n.step_name = c.step_name
                                AND n.part = c.part AND n.number > c.number
                        ) THEN 'repeated' ELSE 'unkept' END
                    WHEN p.voided_at IS NOT NULL THEN 'replaced'
                    WHEN c.status <> 'SUCCEEDED' THEN 'saved' END AS kind
            FROM model_calls c JOIN step_plans p ON p.id = c.plan_id
            WHERE c.run_id = $1 AND c.status <> 'STARTED'
        ) told
        WHERE kind IS NOT NULL GROUP BY kind, 2 ORDER BY kind, 2
        """,
        run_id,
    )
    by_kind = {row["kind"]: [one for one in rows if one["kind"] == row["kind"]] for row in rows}
    return {kind: _waste(kind, found) for kind, found in by_kind.items()}


def _waste(kind: str, rows: Sequence[Row]) -> Waste:
    """Of one row for each currency, and one for what has none."""
    return Waste(
        kind=kind,
        calls=sum(row["calls"] for row in rows),
        tokens=sum(row["tokens"] for row in rows),
        costs={row["currency"]: wire.money(row["cost"]) for row in rows if row["currency"]},
        is_estimate=any(row["is_estimate"] for row in rows),
    )
