"""Reads that only the page of one run needs: its moves, its neighbours, what was paid in vain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from api.queries.rows import Reader
from workflows.vocabulary import EventType

_MOVES = [
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
    """What calls of one kind of waste used; `cost` is None where no price is known."""

    kind: str
    calls: int
    tokens: int
    cost: Decimal | None
    is_estimate: bool


async def moves(reader: Reader, run_id: str) -> Sequence[Move]:
    """In order."""
    rows = await reader.fetch(
        """
        SELECT type, at, actor, data FROM run_events
        WHERE run_id = $1 AND type = ANY ($2::text[]) ORDER BY seq
        """,
        run_id,
        _MOVES,
    )
    return [Move(**dict(row)) for row in rows]


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
    """`lost`: calls that ended without an item kept and did not succeed. `replaced`: calls whose
    plan a new text made void. `repeated`: prompts sent again to go on with a part that had items.
    `saved`: replies of calls that ended early, whose items were not asked for again."""
    rows = await reader.fetch(
        """
        WITH told AS (
            SELECT c.tokens_input, c.tokens_output, c.cost, c.usage_source,
                c.status IN ('FAILED', 'CANCELLED', 'LOST') AS early, c.items_kept,
                p.voided_at IS NOT NULL AS void,
                coalesce(sum(c.items_kept) OVER (PARTITION BY c.plan_id, c.part ORDER BY c.number
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) > 0 AS further,
                lead(c.id) OVER (PARTITION BY c.plan_id, c.part ORDER BY c.number)
                    IS NOT NULL AS continued
            FROM model_calls c JOIN step_plans p ON p.id = c.plan_id
            WHERE c.run_id = $1 AND c.status <> 'STARTED'
        ), sorted AS (
            SELECT CASE WHEN early AND items_kept = 0 THEN 'lost' WHEN void THEN 'replaced'
                    WHEN further THEN 'repeated' END AS kind,
                tokens_input, tokens_output, cost, usage_source
            FROM told
            UNION ALL
            SELECT 'saved', 0, tokens_output, NULL, usage_source FROM told
            WHERE early AND continued AND items_kept > 0 AND NOT void
        )
        SELECT kind, count(*) AS calls, sum(CASE WHEN kind = 'repeated' THEN tokens_input
                ELSE coalesce(tokens_input, 0) + coalesce(tokens_output, 0) END)::bigint AS tokens,
            CASE WHEN kind = 'repeated' THEN NULL ELSE sum(cost) END AS cost,
            bool_or(usage_source <> 'reported') AS is_estimate
        FROM sorted WHERE kind IS NOT NULL GROUP BY kind
        """,
        run_id,
    )
    return {row["kind"]: Waste(**{**dict(row), "tokens": row["tokens"] or 0}) for row in rows}
