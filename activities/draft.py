"""Closes a draft: the items in the kind's own order become the first body."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from activities.claim import Claimed
from activities.projection import StepClosing, close_step
from activities.record import RunRow
from activities.revision import write_revision
from deploy.database import Connection, clean
from workflows.kinds.kind import FOLLOWS, Item
from workflows.vocabulary import StepStatus


class DraftCloser:
    writes_revision = True

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.body = ""

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        made = [part for part in self.claimed.parts if part.plan.spec.get(FOLLOWS)]
        whole = {part.plan.part for part in made or self.claimed.parts}
        pieces = [item for part, kept in items.items() if part in whole for item in kept]
        self.body = await asyncio.to_thread(self.claimed.kind.draft, self.claimed.work, pieces)

    async def close(self, connection: Connection, run: RunRow) -> None:
        number = await write_revision(connection, run, self.claimed, clean(self.body))
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=self.claimed.step_id,
                status=StepStatus.SUCCEEDED,
                output_revision=number,
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
