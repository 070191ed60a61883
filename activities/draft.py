"""Closes a draft: the items in the kind's own order become the first body."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from activities.claim import Claimed
from activities.projection import StepClosing, close_step
from activities.record import RunRow
from activities.steps.revision import write_revision
from deploy.database import Connection, clean
from workflows.kinds.kind import FOLLOWS, Item
from workflows.vocabulary import StepStatus


class DraftCloser:
    writes_revision = True

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.body, self.too_large = "", 0

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        made = [part for part in self.claimed.parts if part.plan.spec.get(FOLLOWS)]
        whole = {part.plan.part for part in made or self.claimed.parts}
        pieces = [item for part, kept in items.items() if part in whole for item in kept]
        self.body, self.too_large = await asyncio.to_thread(self._made_of, pieces)

    def _made_of(self, pieces: list[Item]) -> tuple[str, int]:
        """The body, no longer than what a person may send back, and how many items that leaves
        out: the longest, which stay in the ledger."""
        kind, work = self.claimed.kind, self.claimed.work
        left_out = 0
        body = kind.draft(work, pieces)
        while len(body) > kind.limits.body_characters and pieces:
            longest = max(pieces, key=lambda item: len(str(item.payload)))
            pieces = [item for item in pieces if item is not longest]
            body, left_out = kind.draft(work, pieces), left_out + 1
        return body, left_out

    async def close(self, connection: Connection, run: RunRow) -> None:
        number = await write_revision(connection, run, self.claimed, clean(self.body))
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=self.claimed.step_id,
                status=StepStatus.SUCCEEDED,
                output_revision=number,
                result={"refused": {"too_large": self.too_large}} if self.too_large else None,
            ),
        )
        await connection.execute(
            """
            UPDATE runs SET working_revision = $2, best_revision = $2, baseline_revision = $2,
                base_revision = coalesce(base_revision, $2), last_progress_at = now()
            WHERE id = $1
            """,
            run.id,
            number,
        )
