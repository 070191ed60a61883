"""Moves, events and revisions: the one place where they are written.

Imported by the API too, so it has no side effects and reaches nothing but the connection it is
given. Lock order everywhere: document, run, step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from deploy.database import Connection, Result, new_id
from workflows.transitions import MOVED_BY_EVENT
from workflows.vocabulary import (
    FINAL,
    GUARDRAILS,
    MOVES_CHANNEL,
    EventType,
    Reason,
    RunStatus,
    Stage,
)

_STAGE = {
    RunStatus.AWAITING_CONFIRMATION: Stage.CONFIRM,
    RunStatus.CONFIRMED: Stage.ENDED,
    RunStatus.REJECTED: Stage.ENDED,
    RunStatus.CANCELLED: Stage.ENDED,
}


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """A run under its row lock: what moves and claims decide by."""

    id: str
    document_id: str
    kind: str
    kind_version: str
    status: RunStatus
    epoch: int
    stage: str
    reason_code: str | None
    guardrail: str | None
    outcome: str | None
    base_revision: int | None
    working_revision: int | None
    best_revision: int | None
    offered_revision: int | None
    baseline_revision: int
    current_round: int
    score: int | None
    pending_review_step: str | None
    compare_from_round: int
    max_rounds: int
    pass_score: int
    limits: Mapping[str, Any]
    profile: str
    instructions: str | None
    event_seq: int
    owner_worker: str | None
    unheard_source: str | None
    retry_in: float | None
    """Seconds until `retry_at`, null when there is none."""


RUN_COLUMNS = """
    r.id, r.document_id, r.kind, r.kind_version, r.status, r.epoch, r.stage, r.reason_code,
    r.guardrail, r.outcome, r.base_revision, r.working_revision, r.best_revision,
    r.offered_revision, r.baseline_revision, r.current_round, r.score, r.pending_review_step,
    r.compare_from_round, r.max_rounds, r.pass_score, r.limits, r.profile, r.instructions,
    r.event_seq, r.owner_worker, r.unheard_source,
    extract(epoch FROM r.retry_at - now())::float AS retry_in
"""
"""Of `runs r`, as `run_of` takes them."""


def run_of(values: Mapping[str, Any]) -> RunRow:
    return RunRow(**{**values, "status": RunStatus(values["status"])})


async def lock_run(connection: Connection, run_id: str, *, waits: bool = True) -> RunRow | None:
    """The run under `FOR NO KEY UPDATE`; None when it was deleted. Unless it `waits`, raises
    LockNotAvailableError where somebody holds it."""
    lock = "FOR NO KEY UPDATE" if waits else "FOR NO KEY UPDATE NOWAIT"
    statement = f"SELECT {RUN_COLUMNS} FROM runs r WHERE r.id = $1 {lock}"  # noqa: S608
    row = await connection.fetchrow(statement, run_id)
    return run_of(dict(row)) if row is not None else None


async def read_run(connection: Connection, run_id: str) -> RunRow | None:
    """The run without a lock; None when there is none."""
    row = await connection.fetchrow(f"SELECT {RUN_COLUMNS} FROM runs r WHERE r.id = $1", run_id)  # noqa: S608
    return run_of(dict(row)) if row is not None else None


async def lock_document_of(connection: Connection, run_id: str) -> str | None:
    """Locks the run's document (before the run itself); None when it was deleted."""
    found: str | None = await connection.fetchval(
        """
        SELECT id FROM documents WHERE id = (SELECT document_id FROM runs WHERE id = $1)
        FOR NO KEY UPDATE
        """,
        run_id,
    )
    return found


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a run: a code with parameters, never a sentence."""

    type: EventType
    actor: str
    data: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None


_journal: ContextVar[dict[str, list[Event]] | None] = ContextVar("journal", default=None)
"""The events of the transaction under way that are written at its end, by run."""


async def journaled(
    connection: Connection, work: Callable[[Connection], Awaitable[Result]]
) -> Result:
    """Runs `work` so that its events are written together, as its transaction's last statement."""
    told = _journal.set({})
    try:
        result = await work(connection)
        await _write_journal(connection)
        return result
    finally:
        _journal.reset(told)


async def _write_journal(connection: Connection) -> None:
    while journal := _journal.get():
        await write_events(connection, *journal.popitem())


async def append_event(connection: Connection, run_id: str, event: Event) -> None:
    """The run's next event; at the end of the transaction where that is journaled."""
    journal = _journal.get()
    if journal is None:
        await write_events(connection, run_id, [event])
    else:
        journal.setdefault(run_id, []).append(event)


async def write_events(connection: Connection, run_id: str, events: Sequence[Event]) -> int:
    """Events with the next seqs, the last one is returned; taking them locks the run, so per-run
    order is commit order."""
    seq: int = await connection.fetchval(
        """
        WITH taken AS (
            UPDATE runs SET event_seq = event_seq + cardinality($2::text[]) WHERE id = $1
            RETURNING event_seq
        ), told AS (
            INSERT INTO run_events (run_id, seq, type, actor, request_id, data)
            SELECT $1, taken.event_seq - cardinality($2::text[]) + n.at, n.type, n.actor,
                   n.request_id, n.data
            FROM taken, unnest($2::text[], $3::text[], $4::text[], $5::jsonb[]) WITH ORDINALITY
                        AS n (type, actor, request_id, data, at)
        )
        SELECT event_seq FROM taken
        """,
        run_id,
        [event.type for event in events],
        [event.actor for event in events],
        [event.request_id for event in events],
        [dict(event.data) for event in events],
    )
    return seq


@dataclass(frozen=True, kw_only=True)
class Move:
    """One move of the status.

    `event` names it and with it where it may come from and where it leads. `from_` is the status
    the caller saw. `epoch` must be given by everybody who is no person. `by_person` makes a signal
    due and notifies the workers.
    """

    event: EventType
    actor: str
    from_: RunStatus
    epoch: int | None = None
    reason: Reason | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    request_id: str | None = None
    by_person: bool = False


async def move(connection: Connection, run_id: str, wanted: Move) -> int | None:
    """Makes the move and writes its event; the event's seq, or None when somebody was faster.

    A refused move has no effect at all.
    """
    sources, to = MOVED_BY_EVENT[wanted.event]
    if wanted.from_ not in sources:
        return None
    await _write_journal(connection)  # what was told before it has lower numbers
    seq: int | None = await connection.fetchval(
        """
        UPDATE runs SET
            status = $4, epoch = epoch + ($4 = 'RUNNING')::int,
            reason_code = $5, reason_params = $6, guardrail = $7, stage = coalesce($8, stage),
            ended_at = CASE WHEN $4 = ANY ($9::text[]) THEN now() END,
            running_since = CASE WHEN $4 = 'RUNNING' THEN now() END,
            queued_at = CASE WHEN $4 = 'RUNNING' THEN now() ELSE queued_at END,
            seconds_running = seconds_running + CASE WHEN status = 'RUNNING'
                THEN extract(epoch FROM now() - running_since) ELSE 0 END,
            offered_revision = CASE WHEN $4 = 'AWAITING_CONFIRMATION' THEN best_revision
                WHEN $4 = 'RUNNING' THEN NULL ELSE offered_revision END,
            failing_since = CASE WHEN $4 = 'RUNNING' THEN NULL ELSE failing_since END,
            woken = 0,
            last_progress_at = now(),
            event_seq = event_seq + 1,
            move_seq = CASE WHEN $10 THEN event_seq + 1 ELSE move_seq END
        WHERE id = $1 AND status = $2 AND ($3::int IS NULL OR epoch = $3)
        RETURNING event_seq
        """,
        run_id,
        wanted.from_,
        wanted.epoch,
        to,
        wanted.reason if to not in FINAL and to != RunStatus.RUNNING else None,
        dict(wanted.params) if to != RunStatus.RUNNING else {},
        wanted.reason if wanted.reason in GUARDRAILS else None,
        _STAGE.get(to),
        ["CONFIRMED", "REJECTED", "CANCELLED", "FAILED"],
        wanted.by_person,
    )
    if seq is not None:
        await _tell_of(connection, run_id, seq, wanted, to)
    return seq


async def _tell_of(
    connection: Connection, run_id: str, seq: int, wanted: Move, to: RunStatus
) -> None:
    """The event under the seq that the move took; workers hear of a person's."""
    data = {"from": str(wanted.from_), "to": str(to), **wanted.params}
    if wanted.reason is not None:
        data["reason"] = str(wanted.reason)
    await connection.execute(
        """
        WITH told AS (
            INSERT INTO run_events (run_id, seq, type, actor, request_id, data)
            VALUES ($1, $2, $3, $4, $5, $6)
        )
        SELECT pg_notify($7, $1::text) WHERE $8
        """,
        run_id,
        seq,
        *(wanted.event, wanted.actor, wanted.request_id, data),
        MOVES_CHANNEL,
        wanted.by_person,
    )


@dataclass(frozen=True, kw_only=True)
class NewRevision:
    """`author` is `run` (then run, step and round are set) or the person's name."""

    document_id: str
    body: str
    base: int | None
    author: str
    run_id: str | None = None
    step_id: str | None = None
    round: int | None = None
    comment: str | None = None


async def insert_revision(connection: Connection, new: NewRevision) -> int:
    """Its number, taken from `documents.revision_seq` under that row's lock.

    The caller holds the document's lock before the run's (lock order). Writes no event.
    """
    number: int = await connection.fetchval(
        """
        WITH taken AS (
            UPDATE documents SET revision_seq = revision_seq + 1, updated_at = now()
            WHERE id = $1 RETURNING revision_seq
        )
        INSERT INTO revisions
            (document_id, number, body, sha256, base, author, run_id, step_id, round, comment)
        SELECT $1, revision_seq, $2, $3, $4, $5, $6, $7, $8, $9 FROM taken
        RETURNING number
        """,
        new.document_id,
        new.body,
        hashlib.sha256(new.body.encode()).hexdigest(),
        new.base,
        *(new.author, new.run_id, new.step_id, new.round, new.comment),
    )
    return number


async def void_unfinished(connection: Connection, run_id: str) -> None:
    """Plans without a stored result are void: edits of the old text never reach the new one. What
    was heard of a recording belongs to no text."""
    await connection.execute(
        """
        UPDATE step_plans p SET voided_at = now()
        WHERE p.run_id = $1 AND p.voided_at IS NULL AND NOT EXISTS (
            SELECT FROM steps s WHERE s.plan_id = p.id AND s.status = 'SUCCEEDED')
          AND p.name <> 'transcribe'
        """,
        run_id,
    )


async def rebase(
    connection: Connection, run_id: str, number: int, *, fresh_loop: bool
) -> tuple[int, int]:
    """A person's revision becomes working, best and the new baseline; `fresh_loop` reviews it: a
    pending review is void but stays counted, and one round more is granted for it. Rounds at most
    before and after. Without `fresh_loop` (an edit while the run waits) the text is only offered.
    """
    if fresh_loop:
        await void_unfinished(connection, run_id)
    row = await connection.fetchrow(
        """
        UPDATE runs r SET
            working_revision = $2, best_revision = $2, baseline_revision = $2,
            offered_revision = CASE WHEN r.status = 'AWAITING_CONFIRMATION' THEN $2
                ELSE r.offered_revision END,
            max_rounds = r.max_rounds + ($3 AND (
                r.pending_review_step IS NOT NULL OR r.current_round >= r.max_rounds))::int,
            pending_review_step = CASE WHEN $3 THEN NULL ELSE r.pending_review_step END,
            compare_from_round = CASE WHEN $3 THEN r.current_round ELSE r.compare_from_round END,
            outcome = CASE WHEN $3 THEN NULL ELSE r.outcome END
        FROM runs b WHERE r.id = $1 AND b.id = r.id
        RETURNING b.max_rounds AS before, r.max_rounds AS after
        """,
        *(run_id, number, fresh_loop),
    )
    assert row is not None, "the caller holds its lock"
    return row["before"], row["after"]


async def acknowledge(connection: Connection, run_id: str, seq: int) -> None:
    """The signal for this move was taken by Temporal. A number, never a flag: a slower process
    must not clear what a later move made due."""
    await connection.execute(
        "UPDATE runs SET signalled_seq = GREATEST(signalled_seq, $2) WHERE id = $1", run_id, seq
    )


async def insert_comment(
    connection: Connection,
    run: RunRow,
    text: str,
    *,
    actor: str,
    revision: int | None = None,
    quote: str | None = None,
) -> str:
    """A person's words, of a passage if `quote`; its id. Events hold no content, so rows do."""
    comment_id = new_id()
    await connection.execute(
        """
        INSERT INTO comments (id, document_id, run_id, revision, quote, text, actor)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        *(comment_id, run.document_id, run.id, revision, quote, text, actor),
    )
    return comment_id


async def insert_audit(
    connection: Connection,
    *,
    actor: str,
    action: str,
    object_type: str,
    object_id: str,
    request_id: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> None:
    """One line that survives deletion: codes and ids only."""
    await connection.execute(
        """
        INSERT INTO audit_events (id, actor, action, object_type, object_id, request_id, params)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        new_id(),
        actor,
        action,
        object_type,
        object_id,
        request_id,
        dict(params or {}),
    )
