"""Closes a review: verifiers and reviewers merged into issues, score, and whether the loop ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from activities.claim import Claimed
from activities.outcomes import assess, finish_round, loop_over
from activities.projection import StepClosing, close_step
from activities.record import Event, RunRow, append_event
from activities.verified import verified
from deploy.database import Connection, Row, clean, new_id
from workflows.kinds.kind import Finding, Item
from workflows.scoring import ReviewHistory, Standing, loop_end, merged, standing
from workflows.vocabulary import (
    Actor,
    EventType,
    IssueStatus,
    Severity,
    StepStatus,
)


class ReviewCloser:
    """Verifiers run beside the reviewers, in a thread, on the plan's input revision."""

    writes_revision = False

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.verifying = asyncio.create_task(
            asyncio.to_thread(verified, claimed.kind, claimed.work.material, claimed.work.body)
        )
        self.found: dict[str, Finding] = {}

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        verified = await self.verifying
        reviewed = [_finding(item.payload, part) for part, kept in items.items() for item in kept]
        self.found = merged([*verified, *reviewed])

    async def close(self, connection: Connection, run: RunRow) -> None:
        claimed, round_ = self.claimed, self.claimed.round
        known = await _issues(connection, run.id)
        reopened = await _write_issues(connection, claimed, known, self.found)
        now, fingerprints = await self._open_now(connection, known)
        history, model_score = await _history(connection, run, claimed.plan_id)
        end = loop_end(
            now,
            found=fingerprints,
            reopened=reopened,
            history=history,
            pass_score=run.pass_score,
        )
        await assess(connection, run.id, claimed.input_revision or 0, now, reviewed=True)
        await close_step(
            connection,
            StepClosing(
                run_id=run.id,
                step_id=claimed.step_id,
                status=StepStatus.SUCCEEDED,
                score=now.score,
                result={
                    "found": sorted(fingerprints),
                    "penalty": now.penalty,
                    "blockers": now.blockers,
                    "majors": now.majors,
                    "minors": now.minors,
                    "model_score": model_score,
                },
            ),
        )
        await connection.execute(
            """
            UPDATE runs SET current_round = $2, score = $3, pending_review_step = $4,
                last_progress_at = now()
            WHERE id = $1
            """,
            run.id,
            round_,
            now.score,
            None if end else claimed.step_id,
        )
        if end is not None:
            await loop_over(connection, run.id, end)
            await finish_round(connection, run.id, round_, now.score, end)

    async def _open_now(
        self, connection: Connection, known: Mapping[str, Row]
    ) -> tuple[Standing, frozenset[str]]:
        """What is open after this review. An older issue whose passage is gone counts as fixed; one
        that nobody mentioned again but still stands there stays open."""
        claimed, still = self.claimed, {}
        for key, finding in self.found.items():
            row = known.get(key)
            if row is None:
                still[key] = finding.severity
            elif row["status"] != IssueStatus.WAIVED:
                still[key] = Severity(row["severity"])
        for key, row in known.items():
            if key in self.found or row["status"] not in (IssueStatus.OPEN, IssueStatus.REOPENED):
                continue
            if row["quote"] in claimed.work.body:
                still[key] = Severity(row["severity"])
            else:
                await fix_issue(connection, claimed.run.id, row["id"], row["number"], claimed.round)
        return standing(still.values()), frozenset(still)


def _finding(payload: Mapping[str, Any], part: str) -> Finding:
    return Finding(
        category=clean(str(payload["category"]))[:100],
        severity=Severity(payload["severity"]),
        quote=str(payload["quote"]),
        problem=str(payload["problem"]),
        # An empty suggestion says: remove the quote.
        suggestion=None if payload.get("suggestion") is None else str(payload["suggestion"]),
        evidence=tuple(str(line) for line in payload.get("evidence") or ()),
        raised_by=f"model:{part}",
    )


async def _issues(connection: Connection, run_id: str) -> dict[str, Row]:
    rows = await connection.fetch(
        """
        SELECT id, number, fingerprint, status, severity, quote FROM issues WHERE run_id = $1
        """,
        run_id,
    )
    return {row["fingerprint"]: row for row in rows}


async def _write_issues(
    connection: Connection,
    claimed: Claimed,
    known: Mapping[str, Row],
    found: Mapping[str, Finding],
) -> bool:
    """Raises new ones, reopens those that came back; whether any came back."""
    reopened = False
    number = max((row["number"] for row in known.values()), default=0)
    fresh: list[tuple[int, str, Finding]] = []
    seen: list[str] = []
    for fingerprint, finding in found.items():
        row = known.get(fingerprint)
        if row is None:
            number += 1
            fresh.append((number, fingerprint, finding))
            continue
        if row["status"] == IssueStatus.FIXED:
            reopened = True
            await _tell(connection, claimed, EventType.ISSUE_REOPENED, row["number"], finding)
        seen.append(row["id"])
    if seen:
        await connection.execute(
            """
            UPDATE issues SET seen_round = $2, revision = $3, updated_at = now(),
                status = CASE WHEN status = 'fixed' THEN 'reopened' ELSE status END,
                fixed_round = CASE WHEN status = 'fixed' THEN NULL ELSE fixed_round END
            WHERE id = ANY ($1)
            """,
            seen,
            claimed.round,
            claimed.input_revision,
        )
    if fresh:
        await _insert(connection, claimed, fresh)
    return reopened


async def _insert(
    connection: Connection, claimed: Claimed, fresh: Sequence[tuple[int, str, Finding]]
) -> None:
    await connection.executemany(
        """
        INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote,
            problem, suggestion, evidence, raised_by, raised_round, seen_round, revision,
            status)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, 'open')
        """,
        [
            (
                new_id(),
                claimed.run.id,
                number,
                fingerprint,
                finding.category,
                finding.severity,
                clean(finding.quote),
                clean(finding.problem),
                None if finding.suggestion is None else clean(finding.suggestion),
                list(finding.evidence),
                finding.raised_by,
                claimed.round,
                claimed.input_revision,
            )
            for number, fingerprint, finding in fresh
        ],
    )
    for number, _, finding in fresh:
        await _tell(connection, claimed, EventType.ISSUE_RAISED, number, finding)


async def _tell(
    connection: Connection, claimed: Claimed, type_: EventType, number: int, finding: Finding
) -> None:
    await append_event(
        connection,
        claimed.run.id,
        Event(
            type=type_,
            actor=Actor.WORKER,
            data={
                "number": number,
                "severity": str(finding.severity),
                "category": finding.category,
                "round": claimed.round,
                "raised_by": finding.raised_by,
            },
        ),
    )


async def fix_issue(
    connection: Connection, run_id: str, issue_id: str, number: int, round_: int
) -> None:
    """The passage it was about is gone."""
    await connection.execute(
        """
        UPDATE issues SET status = 'fixed', fixed_round = $2, updated_at = now() WHERE id = $1
        """,
        issue_id,
        round_,
    )
    await append_event(
        connection,
        run_id,
        Event(
            type=EventType.ISSUE_FIXED, actor=Actor.WORKER, data={"number": number, "round": round_}
        ),
    )


async def _history(
    connection: Connection, run: RunRow, plan_id: str
) -> tuple[ReviewHistory, dict[str, Any]]:
    """Earlier reviews to compare with, and the models' own scores of this one by part: those are
    recorded, never decisive."""
    row = await connection.fetchrow(
        """
        SELECT ARRAY (SELECT s.result FROM steps s
                      WHERE s.run_id = $1 AND s.name = 'review' AND s.status = 'SUCCEEDED'
                        AND s.round > $2 ORDER BY s.round) AS results,
               (SELECT jsonb_object_agg(p.part, p.result -> 'score') FROM step_parts p
                WHERE p.plan_id = $3) AS scores
        """,
        run.id,
        run.compare_from_round,
        plan_id,
    )
    assert row is not None, "a select without a table gives one row"
    results = row["results"]
    history = ReviewHistory(
        found=tuple(frozenset(result["found"]) for result in results),
        penalties=tuple(result["penalty"] for result in results),
    )
    return history, row["scores"] or {}
