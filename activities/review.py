"""Closes a review: verifiers and reviewers merged into issues, score, and whether the loop ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from activities.claim import Claimed
from activities.projection import StepClosing, close_step
from activities.record import Event, RunRow, append_event
from activities.steps.outcomes import Advance, assess, finish_round
from activities.steps.verified import verified
from deploy.database import Connection, clean, new_id
from workflows.issues import AfterReview, Known, after_review, merged
from workflows.kinds.kind import Finding, Item
from workflows.scoring import ReviewHistory, loop_end, standing
from workflows.vocabulary import (
    Actor,
    EventType,
    IssueStatus,
    Reason,
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
        self.unfounded: set[str] = set()

    async def prepare(self, items: Mapping[str, list[Item]]) -> None:
        verified = await self.verifying
        plans = {part.plan.part: part.plan for part in self.claimed.parts}
        reviewed = [
            _finding(item.payload, str(plans[part].spec.get("part") or part))
            for part, kept in items.items()
            for item in kept
        ]
        self.unfounded = {part for part, kept in items.items() if not kept}
        both = [*verified, *reviewed]
        self.found = await asyncio.to_thread(merged, both, self.claimed.work.body)

    async def close(self, connection: Connection, run: RunRow) -> None:
        claimed, round_ = self.claimed, self.claimed.round
        past = await _read_past(connection, run, claimed)
        after = after_review(self.found, past.known, claimed.work.body, resolved=past.resolved)
        await self._write(connection, after, past.known)
        now, fingerprints = standing(after.standing.values()), frozenset(after.standing)
        end = loop_end(
            now,
            revision=claimed.input_revision or 0,
            found=fingerprints,
            reopened=bool(after.reopened),
            history=past.history,
            pass_score=run.pass_score,
        )
        focused = any(part.plan.spec.get("scope") for part in claimed.parts)
        again = focused and end == Reason.PASSED
        if again:
            end = None  # nothing is open any more, but not everything was looked at
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
                    "model_score": past.model_score,
                    "scope": "changes" if focused else "all",
                    "dropped": past.dropped,
                    "unfounded": sorted(self.unfounded & past.dropped.keys()),
                },
            ),
        )
        round_over = end is not None or again
        claimed.ends_work = end is not None or (again and not claimed.goes_on)
        advance = Advance(
            current_round=round_,
            reviewed=now.score,
            pending_review=None if round_over else claimed.step_id,
            outcome=end,
            ends_work=claimed.ends_work,
        )
        claimed.left = await assess(connection, run.id, claimed.input_revision or 0, now, advance)
        if round_over:
            await finish_round(connection, run.id, round_, now.score, end)

    async def _write(
        self, connection: Connection, after: AfterReview, known: Sequence[Known]
    ) -> None:
        """Raises what is new, reopens what came back, fixes what is gone."""
        claimed = self.claimed
        for one in after.reopened:
            await _tell(connection, claimed, EventType.ISSUE_REOPENED, one.number, one.finding)
        await _see(connection, claimed, [one.id for one in after.seen])
        await _worsen(connection, after)
        first = max((one.number for one in known), default=0) + 1
        fresh = [(n, key, f) for n, (key, f) in enumerate(after.fresh.items(), start=first)]
        if fresh:
            await _insert(connection, claimed, fresh)
        for one in after.fixed:
            await fix_issue(connection, claimed.run.id, one.id, one.number, claimed.round)


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


async def read_issues(connection: Connection, run_id: str) -> list[Known]:
    """All issues of a run, in order of number."""
    rows = await connection.fetch(
        """
        SELECT id, number, fingerprint, status, category, severity, quote, problem, suggestion,
               raised_by
        FROM issues WHERE run_id = $1 ORDER BY number
        """,
        run_id,
    )
    return [_known(dict(row)) for row in rows]


def _known(row: Mapping[str, Any]) -> Known:
    return Known(
        id=row["id"],
        number=row["number"],
        fingerprint=row["fingerprint"],
        status=IssueStatus(row["status"]),
        finding=Finding(
            category=row["category"],
            severity=Severity(row["severity"]),
            quote=row["quote"],
            problem=row["problem"],
            suggestion=row["suggestion"],
            raised_by=row["raised_by"],
        ),
    )


async def _see(connection: Connection, claimed: Claimed, ids: Sequence[str]) -> None:
    """They were found again; a fixed one is open again."""
    if not ids:
        return
    await connection.execute(
        """
        UPDATE issues SET seen_round = $2, revision = $3, updated_at = now(),
            status = CASE WHEN status = 'fixed' THEN 'reopened' ELSE status END,
            fixed_round = CASE WHEN status = 'fixed' THEN NULL ELSE fixed_round END
        WHERE id = ANY ($1)
        """,
        list(ids),
        claimed.round,
        claimed.input_revision,
    )


async def _worsen(connection: Connection, after: AfterReview) -> None:
    """The graver words stand; a suggestion only where it is about the same quote."""
    quotes = {one.id: one.finding.quote for one in after.seen}
    for id_, finding in after.graver.items():
        await connection.execute(
            """
            UPDATE issues SET severity = $2, problem = $3,
                suggestion = CASE WHEN $4 THEN coalesce($5, suggestion) ELSE suggestion END,
                evidence = CASE WHEN jsonb_array_length($6) > 0 THEN $6 ELSE evidence END
            WHERE id = $1
            """,
            id_,
            finding.severity,
            finding.problem,
            finding.quote == quotes[id_],
            finding.suggestion,
            list(finding.evidence),
        )


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


async def reopen_issue(connection: Connection, claimed: Claimed, issue: Known) -> None:
    """The passage it was about stands in the text again."""
    await connection.execute(
        """
        UPDATE issues SET status = 'reopened', fixed_round = NULL, updated_at = now() WHERE id = $1
        """,
        issue.id,
    )
    await _tell(connection, claimed, EventType.ISSUE_REOPENED, issue.number, issue.finding)


@dataclass(frozen=True, kw_only=True)
class _Past:
    """What a review is compared with, and what its own parts said. `known`: all issues of the run,
    in order of number; `dropped`: items by part; `model_score` is recorded, never decisive."""

    known: Sequence[Known]
    history: ReviewHistory
    resolved: frozenset[int]
    model_score: Mapping[str, Any]
    dropped: Mapping[str, int]


async def _read_past(connection: Connection, run: RunRow, claimed: Claimed) -> _Past:
    """`resolved`: issues that edits of the refine that made this text named as resolved."""
    row = await connection.fetchrow(
        """
        SELECT coalesce((
                   SELECT jsonb_agg(s.result || jsonb_build_object('revision', s.input_revision)
                                    ORDER BY s.round)
                   FROM steps s WHERE s.run_id = $1 AND s.name = 'review'
                     AND s.status = 'SUCCEEDED' AND s.round > $2), '[]') AS results,
               coalesce((
                   SELECT s.result -> 'resolved' FROM steps s
                   WHERE s.run_id = $1 AND s.name = 'refine' AND s.status = 'SUCCEEDED'
                     AND s.output_revision = $4), '[]') AS resolved,
               (SELECT jsonb_object_agg(p.part, p.result -> 'score') FROM step_parts p
                WHERE p.plan_id = $3) AS scores,
               (SELECT jsonb_object_agg(c.part, c.dropped) FROM (
                    SELECT part, sum(items_dropped) AS dropped FROM model_calls
                    WHERE plan_id = $3 AND items_dropped > 0 GROUP BY part) c) AS dropped,
               (SELECT jsonb_agg(i ORDER BY i.number) FROM (
                    SELECT id, number, fingerprint, status, category, severity, quote, problem,
                           suggestion, raised_by
                    FROM issues WHERE run_id = $1) i) AS known
        """,
        run.id,
        run.compare_from_round,
        claimed.plan_id,
        claimed.input_revision,
    )
    assert row is not None, "a select without a table gives one row"
    results = row["results"]
    history = ReviewHistory(
        found=tuple(frozenset(result["found"]) for result in results),
        penalties=tuple(result["penalty"] for result in results),
        revisions=tuple(result["revision"] or 0 for result in results),
    )
    return _Past(
        known=[_known(issue) for issue in row["known"] or ()],
        history=history,
        resolved=frozenset(row["resolved"]),
        model_score={
            part: score
            for part, score in (row["scores"] or {}).items()
            if isinstance(score, int | float)  # a model's word, shown to who may not read content
        },
        dropped=row["dropped"] or {},
    )
