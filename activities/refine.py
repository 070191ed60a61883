"""Closes a refine: edits applied, verified, stored as a revision with the checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from activities.claim import Claimed
from activities.outcomes import assess, finish_round, loop_over
from activities.projection import StepClosing, close_step
from activities.record import Event, NewRevision, RunRow, append_event, insert_revision
from activities.review import fix_issue
from activities.verified import verified
from deploy.database import Connection, Row, clean
from workflows.kinds.kind import Finding, Item, Refined
from workflows.scoring import merged, standing
from workflows.vocabulary import Actor, EventType, Reason, Severity, StepStatus


class RefineCloser:
    """The new body and its verifiers are made in a thread, before the transaction."""

    writes_revision = True

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.refined: Refined | None = None
        self.findings: dict[str, Finding] = {}

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        edits = [item for kept in items.values() for item in kept]
        kind, work = self.claimed.kind, self.claimed.work
        refined = await asyncio.to_thread(kind.refine, work, edits)
        if len(refined.body) > max(kind.limits.body_characters, len(work.body)):
            # No longer than what a person may send, or nobody can edit or send it back.
            refused = {**refined.refused, "too_large": len(edits)}
            refined = Refined(body=work.body, resolved=(), refused=refused)
        self.refined = refined
        if refined.body != work.body:
            found = await asyncio.to_thread(verified, kind, work.material, refined.body)
            self.findings = merged(found)

    async def close(self, connection: Connection, run: RunRow) -> None:
        claimed, refined = self.claimed, self.refined
        assert refined is not None, "prepared before it is closed"
        changed = refined.body != claimed.work.body
        number = await self._store(connection, run, refined.body) if changed else None
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=claimed.step_id,
                status=StepStatus.SUCCEEDED,
                output_revision=number,
                result={"resolved": list(refined.resolved), "refused": dict(refined.refused)},
            ),
        )
        await connection.execute(
            """
            UPDATE runs SET pending_review_step = NULL, last_progress_at = now(),
                working_revision = coalesce($2, working_revision)
            WHERE id = $1
            """,
            run.id,
            number,
        )
        end: Reason | None = None
        if number is None:
            end = Reason.NO_PROGRESS  # another review of the same text would find the same
        elif claimed.round >= run.max_rounds:
            end = Reason.ROUND_LIMIT
        if end is not None:
            await loop_over(connection, run.id, end)
        await finish_round(connection, run.id, claimed.round, None, end)

    async def _store(self, connection: Connection, run: RunRow, body: str) -> int:
        """The revision, what it fixed, and how it stands until somebody reviews it."""
        claimed = self.claimed
        number = await insert_revision(
            connection,
            NewRevision(
                document_id=run.document_id,
                body=clean(body),
                base=claimed.input_revision,
                author="run",
                run_id=run.id,
                step_id=claimed.step_id,
                round=claimed.round,
            ),
        )
        await append_event(
            connection,
            run.id,
            Event(
                type=EventType.REVISION_CREATED,
                actor=Actor.WORKER,
                data={
                    "revision": number,
                    "base": claimed.input_revision,
                    "step_id": claimed.step_id,
                    "round": claimed.round,
                },
            ),
        )
        rows = await connection.fetch(
            """
            SELECT id, number, fingerprint, severity, quote, raised_by FROM issues
            WHERE run_id = $1 AND status IN ('open', 'reopened')
            """,
            run.id,
        )
        carried: dict[str, Severity] = {}
        for row in rows:
            if self._stands(row, body):
                carried[row["fingerprint"]] = Severity(row["severity"])
            else:
                await fix_issue(connection, run.id, row["id"], row["number"], claimed.round)
        carried |= {key: finding.severity for key, finding in self.findings.items()}
        await assess(connection, run.id, number, standing(carried.values()), reviewed=False)
        return number

    def _stands(self, row: Row, body: str) -> bool:
        """Whether an issue is still open: its passage is there. What a person said may be answered
        beside the passage, or be about no passage: there the edit's own word counts, since no
        reviewer asks again."""
        assert self.refined is not None, "prepared before it is closed"
        if row["raised_by"].startswith("person:") and row["number"] in self.refined.resolved:
            return False
        return row["quote"] in body
