"""Closes a refine: edits applied, verified, stored as a revision with the checkpoint."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

from activities.claim import Claimed
from activities.projection import StepClosing, close_step
from activities.record import RunRow
from activities.review import fix_issue, read_issues, reopen_issue
from activities.steps.outcomes import Advance, assess, finish_round, go_on
from activities.steps.revision import write_revision
from activities.steps.verified import verified
from deploy.database import Connection, clean
from workflows.issues import Known, after_refine, back_to, merged
from workflows.kinds.kind import Finding, Item, Refined
from workflows.scoring import standing
from workflows.vocabulary import Reason, Severity, StepStatus


class RefineCloser:
    """The new body and its verifiers are made in a thread, before the transaction."""

    writes_revision = True

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.refined: Refined | None = None
        self.findings: dict[str, Finding] = {}

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        edits = [item for kept in items.values() for item in kept]
        self.refined, self.findings = await asyncio.to_thread(self._make, edits)

    def _make(self, edits: Sequence[Item]) -> tuple[Refined, dict[str, Finding]]:
        """All of it at once: each change of threads costs as much as a statement."""
        kind, work = self.claimed.kind, self.claimed.work
        refined = kind.refine(work, edits)
        if len(refined.body) > max(kind.limits.body_characters, len(work.body)):
            # No longer than what a person may send, or nobody can edit or send it back.
            refused = {**refined.refused, "too_large": len(edits)}
            refined = Refined(body=work.body, resolved=(), refused=refused)
        if refined.body == work.body:
            return refined, {}
        return refined, merged(verified(kind, work.material, refined.body), refined.body)

    async def close(self, connection: Connection, run: RunRow) -> None:
        claimed, refined = self.claimed, self.refined
        assert refined is not None, "prepared before it is closed"
        number: int | None = None
        repeated: int | None = None
        carried: Mapping[str, Severity] = {}
        over = Reason.ROUND_LIMIT if claimed.round >= run.max_rounds else None
        claimed.ends_work = over is not None or not claimed.goes_on
        if refined.body != claimed.work.body:
            number, repeated = await self._insert(connection, run, clean(refined.body))
        if number is not None:
            carried = await self._store(connection, run, refined, number, over)
        else:
            over = Reason.NO_PROGRESS  # another review of the same text would find the same
            claimed.ends_work = True
            advance = Advance(current_round=claimed.round, outcome=over, ends_work=True)
            claimed.left = await go_on(connection, run.id, advance)
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=claimed.step_id,
                status=StepStatus.SUCCEEDED,
                output_revision=number,
                result={
                    "resolved": list(refined.resolved),
                    "refused": dict(refined.refused),
                    "repeats_revision": repeated,
                    "carried": dict(carried),
                },
            ),
        )
        await finish_round(connection, run.id, claimed.round, None, over)

    async def _store(
        self,
        connection: Connection,
        run: RunRow,
        refined: Refined,
        number: int,
        over: Reason | None,
    ) -> Mapping[str, Severity]:
        """What is open in the revision until somebody reviews it, and what became of issues.

        Where it stands worse than an earlier one, work goes on from that one.
        """
        claimed, body = self.claimed, clean(refined.body)
        known = await read_issues(connection, run.id)
        after = after_refine(known, body, self.findings, resolved=refined.resolved)
        now = standing(after.carried.values())
        advance = Advance(
            current_round=claimed.round,
            outcome=over,
            works_on_best=True,
            ends_work=claimed.ends_work,
        )
        claimed.left = await assess(connection, run.id, number, now, advance)
        best = claimed.left.best_revision
        assert best is not None, "the revision just assessed is one to choose from"
        gone: Sequence[Known] = after.gone
        if best != number:
            again, gone = back_to(known, await _body_of(connection, run.document_id, best))
            for one in again:
                await reopen_issue(connection, claimed, one)
        for one in gone:
            await fix_issue(connection, run.id, one.id, one.number, claimed.round)
        return after.carried

    async def _insert(
        self, connection: Connection, run: RunRow, body: str
    ) -> tuple[int | None, int | None]:
        """The number of the new revision, or of the earlier one that says the same."""
        claimed = self.claimed
        repeated = await _seen_before(connection, run, body)
        if repeated is not None:
            return None, repeated
        return await write_revision(connection, run, claimed, body), None


async def _body_of(connection: Connection, document_id: str, number: int) -> str:
    body: str = await connection.fetchval(
        "SELECT body FROM revisions WHERE document_id = $1 AND number = $2", document_id, number
    )
    return body


async def _seen_before(connection: Connection, run: RunRow, body: str) -> int | None:
    """An earlier text of this run, since a person's last one, that says the same to the byte:
    edits that go back and forth get nowhere."""
    found: int | None = await connection.fetchval(
        """
        SELECT min(number) FROM revisions
        WHERE document_id = $1 AND number >= $2 AND sha256 = $3
        """,
        run.document_id,
        run.baseline_revision,
        hashlib.sha256(body.encode()).hexdigest(),
    )
    return found
