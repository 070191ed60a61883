"""Rows around the opening of a step: what is due, what is there already, the plan and the own row.

Who decides by them is the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from activities.record import RUN_COLUMNS, Event, RunRow, append_event, run_of
from deploy.database import Connection, Row
from workflows.kinds.kind import PartPlan
from workflows.vocabulary import Actor, EventType, StepName

Plans = Mapping[tuple[int, StepName], Mapping[str, Any]]
"""By round and step; `id`, `input_revision`, `sources`, `recut`."""


async def read_due(connection: Connection, run_id: str) -> tuple[RunRow | None, Plans]:
    """The run without a lock, and its plans in force of rounds that are not over."""
    row = await connection.fetchrow(
        f"""
        SELECT {RUN_COLUMNS}, (
            SELECT jsonb_agg(p) FROM (
                SELECT id, round, name, input_revision, sources, recut FROM step_plans
                WHERE run_id = r.id AND voided_at IS NULL
                  AND (round >= r.current_round OR round = 0)) p) AS plans
        FROM runs r WHERE r.id = $1
        """,  # noqa: S608
        run_id,
    )
    if row is None:
        return None, {}
    values = dict(row)
    plans = values.pop("plans") or ()
    return run_of(values), {(plan["round"], StepName(plan["name"])): plan for plan in plans}


async def read_there(connection: Connection, run_id: str, round_: int, name: StepName) -> Row:
    """The plan in force and the run's RUNNING step, each null when there is none.

    A claim does not wait for the disk: the commit of its first call does, and with it what came
    before it in the log.
    """
    row = await connection.fetchrow(
        """
        SELECT plan.id AS plan_id, s.id AS step_id, s.attempt, s.worker, s.epoch
        FROM (SELECT (
            SELECT id FROM step_plans
            WHERE run_id = $1 AND round = $2 AND name = $3 AND voided_at IS NULL) AS id,
            set_config('synchronous_commit', 'off', true)) plan
        LEFT JOIN steps s ON s.run_id = $1 AND s.status = 'RUNNING'
        """,
        run_id,
        round_,
        name,
    )
    assert row is not None, "a left join from one row gives one row"
    return row


@dataclass(frozen=True, kw_only=True)
class StepOpening:
    """An execution about to begin. `cut`: the parts of a new plan, None where one is in force."""

    run_id: str
    epoch: int
    step_id: str
    plan_id: str
    name: StepName
    round: int
    input_revision: int | None
    sources: Sequence[str]
    """Versions that the parts of a new plan cover."""
    worker: str
    cut: Sequence[PartPlan] | None


async def open_step(connection: Connection, opening: StepOpening) -> int:
    """The own row with its plan, and the ownership; its attempt, which counts executions. Its seq
    is the run's next."""
    cut = opening.cut or ()
    row = await connection.fetchrow(
        """
        WITH plan AS (
            INSERT INTO step_plans (id, run_id, round, name, input_revision, sources)
            SELECT $3, $2, $6, $5, $7, $13 WHERE $9 RETURNING id
        ), parts AS (
            INSERT INTO step_parts (plan_id, part, key, position, spec)
            SELECT plan.id, n.part, n.key, n.position - 1, n.spec
            FROM plan, unnest($10::text[], $11::text[], $12::jsonb[]) WITH ORDINALITY
                           AS n (part, key, spec, position)
        ), owned AS (
            UPDATE runs SET owner_worker = $8, stage = $5, started_at = coalesce(started_at, now()),
                retry_at = NULL, last_progress_at = now(), woken = 0
            WHERE id = $2
        )
        INSERT INTO steps (id, run_id, plan_id, epoch, seq, name, round, attempt, status,
                           input_revision, worker, queued_at)
        SELECT $1, $2, $3, $4, coalesce(max(s.seq), 0) + 1, $5, $6,
               1 + count(*) FILTER (WHERE s.round = $6 AND s.name = $5), 'RUNNING', $7, $8,
               greatest(max(s.ended_at), (SELECT queued_at FROM runs WHERE id = $2))
        FROM steps s WHERE s.run_id = $2
        RETURNING seq, attempt
        """,
        *(opening.step_id, opening.run_id, opening.plan_id, opening.epoch),
        *(opening.name, opening.round, opening.input_revision, opening.worker),
        opening.cut is not None,
        [part.part for part in cut],
        [part.key for part in cut],
        [dict(part.spec) for part in cut],
        list(opening.sources),
    )
    assert row is not None, "an insert returns its row"
    await append_event(
        connection,
        opening.run_id,
        Event(
            type=EventType.STEP_STARTED,
            actor=Actor.WORKER,
            data={
                "step_id": opening.step_id,
                "seq": row["seq"],
                "name": opening.name,
                "round": opening.round,
                "attempt": row["attempt"],
                "input_revision": opening.input_revision,
            },
        ),
    )
    attempt: int = row["attempt"]
    return attempt
