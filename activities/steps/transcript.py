"""Closes a transcription: a new version of the source, with the lines of all parts."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from activities.claim import Claimed
from activities.projection import StepClosing, close_step
from activities.record import Event, Move, RunRow, append_event, move
from activities.steps.recording import seconds_of
from deploy.database import Connection, new_id
from workflows.kinds.kind import Item
from workflows.spoken import Line, evidence, line_of, transcript
from workflows.vocabulary import Actor, EventType, Reason, RunStatus, StepStatus

NOTHING_HEARD = "nothing_heard"


class TranscriptCloser:
    """Its source version is written under the document's lock, as revisions are."""

    writes_revision = True

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.lines: list[Line] = []
        self.text = ""

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        kept = [item.payload for found in items.values() for item in found]
        self.lines = [line_of(payload) for payload in kept]
        self.text = await asyncio.to_thread(transcript, self.lines)

    async def close(self, connection: Connection, run: RunRow) -> None:
        if not evidence(self.lines):
            await self._nothing_heard(connection, run)
            return
        source_id = await self._store(connection)
        if source_id is not None:
            await append_event(
                connection,
                run.id,
                Event(
                    type=EventType.SOURCE_ADDED,
                    actor=Actor.WORKER,
                    data={
                        "source": source_id,
                        "replaces": self.claimed.run.unheard_source,
                        "step_id": self.claimed.step_id,
                    },
                ),
            )
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=self.claimed.step_id,
                status=StepStatus.SUCCEEDED,
                result={**self._facts(), "source": source_id},
            ),
        )
        await self._next_recording(connection, run)

    def _facts(self) -> dict[str, Any]:
        return {
            "seconds": seconds_of([part.plan for part in self.claimed.parts]),
            "lines": len(self.lines),
            "marked": len(self.lines) - len(evidence(self.lines)),
        }

    async def _store(self, connection: Connection) -> str | None:
        """The new version's id; None when a person brought a transcript meanwhile."""
        source_id: str | None = await connection.fetchval(
            """
            WITH replaced AS (
                UPDATE sources SET replaced_by = $2 WHERE id = $1 AND replaced_by IS NULL
                RETURNING document_id, name, version, blob_id, position
            )
            INSERT INTO sources (id, document_id, name, media_type, version, replaces, text,
                                 sha256, blob_id, position, actor)
            SELECT $2, document_id, name, 'text/plain', version + 1, $1, $3, $4, blob_id,
                   position, $5
            FROM replaced
            RETURNING id
            """,
            self.claimed.run.unheard_source,
            new_id(),
            self.text,
            hashlib.sha256(self.text.encode()).hexdigest(),
            Actor.WORKER,
        )
        return source_id

    async def _next_recording(self, connection: Connection, run: RunRow) -> None:
        """Another that nobody has heard yet is transcribed by a plan of its own; else the run goes
        on."""
        await connection.execute(
            """
            WITH told AS (
                UPDATE runs SET last_progress_at = now(), unheard_source = (
                    SELECT s.id FROM sources s
                    WHERE s.document_id = $2 AND s.replaced_by IS NULL AND s.blob_id IS NOT NULL
                      AND s.text = '' ORDER BY s.position LIMIT 1)
                WHERE id = $1 RETURNING unheard_source
            )
            UPDATE step_plans SET voided_at = now()
            FROM told WHERE id = $3 AND told.unheard_source IS NOT NULL
            """,
            run.id,
            run.document_id,
            self.claimed.plan_id,
        )

    async def _nothing_heard(self, connection: Connection, run: RunRow) -> None:
        """No word that could be evidence: nothing can be written from it. A transcript that a
        person brings as a new version of the source lets the run go on."""
        params = {"code": NOTHING_HEARD, **self._facts()}
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=self.claimed.step_id,
                status=StepStatus.FAILED,
                reason=Reason.INVALID_REPLY,
                params=params,
            ),
        )
        if run.status != RunStatus.RUNNING:
            return
        await move(
            connection,
            run.id,
            Move(
                event=EventType.RUN_FAILED,
                actor=Actor.WORKER,
                from_=RunStatus.RUNNING,
                epoch=run.epoch,
                reason=Reason.INVALID_REPLY,
                params={"step": str(self.claimed.name), "round": 0, **params},
            ),
        )
