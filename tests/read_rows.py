"""Rows as the tests of reads and streams need them, inserted by SQL: no engine is involved."""

from __future__ import annotations

import hashlib
from typing import Any

from deploy.database import Pool, new_id


async def insert(pool: Pool, table: str, **values: Any) -> None:
    """One row; column names come from the tests."""
    names = ", ".join(values)
    places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
    await pool.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", *values.values())  # noqa: S608


async def add_document(pool: Pool, body: str = "# Minutes\n", **values: Any) -> str:
    """A document with revision 0; its id."""
    document_id = new_id()
    row = {"kind": "minutes", "title": "Weekly", "actor": "local", "revision_seq": 0, **values}
    await insert(pool, "documents", id=document_id, **row)
    await add_revision(pool, document_id, 0, body)
    return document_id


async def add_revision(pool: Pool, document_id: str, number: int, body: str, **values: Any) -> None:
    sha256 = hashlib.sha256(body.encode()).hexdigest()
    row = {"author": "local", "sha256": sha256, **values}
    await insert(pool, "revisions", document_id=document_id, number=number, body=body, **row)
    await pool.execute(
        "UPDATE documents SET revision_seq = greatest(revision_seq, $2) WHERE id = $1",
        document_id,
        number,
    )


async def add_run(pool: Pool, document_id: str | None = None, **values: Any) -> str:
    """A run, RUNNING unless told otherwise; its id."""
    run_id = new_id()
    status = values.get("status", "RUNNING")
    row = {
        "kind": "minutes",
        "kind_version": "k1",
        "status": "RUNNING",
        "stage": "review",
        "base_revision": 0,
        "working_revision": 0,
        "max_rounds": 5,
        "pass_score": 90,
        "profile": "default",
        "actor": "local",
        **values,
    }
    if status != "RUNNING":
        row.setdefault("running_since", None)
    if status == "AWAITING_CONFIRMATION":
        row.setdefault("offered_revision", 0)
    await insert(
        pool, "runs", id=run_id, document_id=document_id or await add_document(pool), **row
    )
    if status in ("CONFIRMED", "REJECTED", "FAILED", "CANCELLED"):
        raise ValueError("insert it RUNNING and use finish(): an ended run has its end time")
    return run_id


async def add_ended_run(
    pool: Pool, status: str, document_id: str | None = None, **values: Any
) -> str:
    """A run in a status that has an end time."""
    run_id = await add_run(pool, document_id, **values)
    sql = "UPDATE runs SET status = $2, ended_at = now(), running_since = NULL WHERE id = $1"
    if status in ("CONFIRMED", "REJECTED"):
        await pool.execute(
            "UPDATE runs SET status = 'AWAITING_CONFIRMATION', running_since = NULL, "
            "offered_revision = 0 WHERE id = $1",
            run_id,
        )
    await pool.execute(sql, run_id, status)
    return run_id


async def add_step(pool: Pool, run_id: str, **values: Any) -> tuple[str, str]:
    """A RUNNING review with one part; ids of the step and its plan."""
    step_id, plan_id = new_id(), new_id()
    row = {
        "epoch": 1,
        "seq": 1,
        "name": "review",
        "round": 1,
        "attempt": 1,
        "status": "RUNNING",
        "worker": "w1",
        **values,
    }
    await insert(
        pool,
        "step_plans",
        id=plan_id,
        run_id=run_id,
        round=row["round"],
        name=f"{row['name']}-{row['seq']}",
    )
    await insert(pool, "step_parts", plan_id=plan_id, part="all", key="all", position=0)
    await insert(pool, "steps", id=step_id, run_id=run_id, plan_id=plan_id, **row)
    return step_id, plan_id


async def add_call(pool: Pool, run_id: str, step: tuple[str, str], **values: Any) -> str:
    """An open call of the step; its id."""
    call_id = new_id()
    row = {
        "step_name": "review",
        "round": 1,
        "part": "all",
        "number": 1,
        "status": "STARTED",
        "model": "m",
        "profile": "default",
        "profile_version": 1,
        "kind_version": "k1",
        "prompt_hash": "h",
        **values,
    }
    await insert(
        pool, "model_calls", id=call_id, run_id=run_id, step_id=step[0], plan_id=step[1], **row
    )
    return call_id


async def add_issue(pool: Pool, run_id: str, number: int, **values: Any) -> str:
    issue_id = new_id()
    row = {
        "fingerprint": f"f{number}",
        "category": "number",
        "severity": "major",
        "quote": "12",
        "problem": "It was 21.",
        "raised_by": "verifier:numbers",
        "raised_round": 1,
        "seen_round": 1,
        "revision": 0,
        "status": "open",
        **values,
    }
    await insert(pool, "issues", id=issue_id, run_id=run_id, number=number, **row)
    return issue_id


async def add_worker(pool: Pool, worker_id: str = "w1", *, silent_for: float = 0.0) -> None:
    """A worker that showed itself so many seconds ago."""
    await pool.execute(
        """
        INSERT INTO workers
            (id, machine, boot, pid_ns, pid, started, lock_key, postmaster_started, seen_at)
        VALUES ($1, 'm', 'b', 'n', 1, 1.0, 1, now(), now() - make_interval(secs => $2))
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
        """,
        worker_id,
        silent_for,
    )


async def add_events(pool: Pool, run_id: str, number: int = 1, type_: str = "progress") -> None:
    """That many events, numbered as the engine does it."""
    await pool.execute(
        """
        WITH taken AS (
            UPDATE runs SET event_seq = event_seq + $2 WHERE id = $1
            RETURNING event_seq - $2 AS before
        )
        INSERT INTO run_events (run_id, seq, type, actor, data)
        SELECT $1, before + n, $3, 'worker', jsonb_build_object('n', before + n)
        FROM taken, generate_series(1, $2::integer) n
        """,
        run_id,
        number,
        type_,
    )
