"""Plans whose parts did not fit the model: the next claim cuts the open ones smaller.

A plan is frozen so that no text is skipped when a profile changes (PROTOCOL 4). A part that the
provider found too long would then be refused for ever, whatever window the operator sets. So such a
failure marks the plan, and whoever claims next cuts each open part again, within what that part
covered: what is done stays done, what is kept stays with the first piece.
"""

from __future__ import annotations

from collections.abc import Sequence

from activities.items import read_parts
from deploy.database import Connection
from workflows.kinds.kind import Kind, PartPlan, Work

TOO_LONG = frozenset({"context_too_long", "prompt_cut"})
"""Codes of failures that a smaller part may mend."""

Pieces = tuple[tuple[PartPlan, ...], ...]
"""Of each open part; the first piece has its name."""


async def mark_plan(connection: Connection, plan_id: str) -> None:
    """In the transaction that fails the run, so that every way to resume finds it."""
    await connection.execute("UPDATE step_plans SET recut = true WHERE id = $1", plan_id)


async def read_marked(connection: Connection, plan_id: str) -> tuple[PartPlan, ...]:
    """The open parts of a plan that is marked."""
    parts = await read_parts(connection, plan_id)
    return tuple(part.plan for part in parts if not part.done)


def in_pieces(kind: Kind, work: Work, parts: Sequence[PartPlan]) -> Pieces:
    return tuple(kind.recut(work, part) for part in parts)


async def cut_plan(connection: Connection, plan_id: str, pieces: Pieces) -> None:
    """In the claim's transaction, once a mark."""
    marked = await connection.fetchval(
        "UPDATE step_plans SET recut = false WHERE id = $1 AND recut RETURNING true", plan_id
    )
    for first, *others in pieces if marked else ():
        await connection.execute(
            """
            WITH first AS (
                UPDATE step_parts SET key = $3, spec = $4
                WHERE plan_id = $1 AND part = $2 AND done_at IS NULL
                RETURNING plan_id, position
            )
            INSERT INTO step_parts (plan_id, part, key, position, spec)
            SELECT first.plan_id, n.part, n.key, first.position, n.spec
            FROM first, unnest($5::text[], $6::text[], $7::jsonb[]) AS n (part, key, spec)
            ON CONFLICT (plan_id, part) DO NOTHING
            """,
            plan_id,
            first.part,
            first.key,
            dict(first.spec),
            [part.part for part in others],
            [part.key for part in others],
            [dict(part.spec) for part in others],
        )
