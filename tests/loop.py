"""The loop of a run without its engine: review, refine, review, in this process and without rows.

It decides by the same pure functions as the engine (`workflows.issues`, `workflows.scoring`); what
a model answers is a function from a prompt to the items of its reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from activities.model import tokens
from workflows.issues import Known, after_refine, after_review, merged
from workflows.kinds.kind import (
    Finding,
    Item,
    Kind,
    Material,
    OpenIssue,
    PartPlan,
    Prompt,
    Refused,
    RefusedItem,
    Work,
)
from workflows.scoring import ReviewHistory, Standing, loop_end, passes, standing
from workflows.vocabulary import IssueStatus, Reason, Severity, StepName

Answer = Callable[[Prompt], Sequence[Mapping[str, Any]]]


@dataclass(kw_only=True)
class Loop:
    """One run over a document. `calls` counts requests, `prompts` keeps them by round and step."""

    kind: Kind
    material: Material
    answer: Answer
    prompts: Mapping[str, Any] = field(default_factory=dict)
    side_by_side: bool = False
    """Whether the parts of a step are asked at the same time, as the engine does."""
    max_rounds: int = 5
    pass_score: int = 90
    known: list[Known] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    stood: dict[int, Standing] = field(default_factory=dict)
    asked: list[tuple[int, str, Prompt]] = field(default_factory=list)

    def run(self, body: str) -> tuple[str, Reason]:
        """The body it offers, and why it ended."""
        self.bodies = [body]
        working, history, resolved = 0, ReviewHistory(), frozenset[int]()
        for round_ in range(1, self.max_rounds + 1):
            end, history = self._review(round_, working, history, resolved)
            if end is not None:
                return self.bodies[self._best()], end
            number, resolved = self._refine(round_, working)
            if number is None:
                return self.bodies[self._best()], Reason.NO_PROGRESS
            working = self._best()
        return self.bodies[self._best()], Reason.ROUND_LIMIT

    def _best(self) -> int:
        def rank(number: int) -> tuple[int, int, int, int]:
            stands = self.stood[number]
            return stands.blockers, stands.majors, -stands.score, -number

        return min(self.stood, key=rank)

    def _review(
        self, round_: int, working: int, history: ReviewHistory, resolved: frozenset[int]
    ) -> tuple[Reason | None, ReviewHistory]:
        body = self.bodies[working]
        before = self.stood.get(working)
        reviewed = self.bodies[history.revisions[-1]] if history.revisions else None
        work = Work(
            step=StepName.REVIEW,
            round=round_,
            material=self.material,
            body=body,
            prompts=self.prompts,
            reviewed=reviewed,
            can_pass=before is None or passes(before, self.pass_score),
            issues=self._open() if before is not None else (),
            count=tokens.count,
        )
        found = [*self.kind.verify(self.material, body)]
        found += [_finding(item.payload) for item in self._parts(work)]
        after = after_review(merged(found, body), self.known, body, resolved=resolved)
        self._mark({one.id for one in after.fixed}, IssueStatus.FIXED)
        self._mark({one.id for one in after.reopened}, IssueStatus.REOPENED)
        for at, one in enumerate(self.known):
            if graver := after.graver.get(one.id):
                quoted = replace(graver, quote=one.finding.quote)
                self.known[at] = replace(one, finding=quoted)
        for key, fresh in after.fresh.items():
            number = len(self.known) + 1
            self.known.append(
                Known(
                    id=str(number),
                    number=number,
                    fingerprint=key,
                    status=IssueStatus.OPEN,
                    finding=fresh,
                )
            )
        now, names = standing(after.standing.values()), frozenset(after.standing)
        self.stood[working] = now
        end = loop_end(
            now,
            revision=working,
            found=names,
            reopened=bool(after.reopened),
            history=history,
            pass_score=self.pass_score,
        )
        return end, ReviewHistory(
            found=(*history.found, names),
            penalties=(*history.penalties, now.penalty),
            revisions=(*history.revisions, working),
        )

    def _refine(self, round_: int, working: int) -> tuple[int | None, frozenset[int]]:
        body = self.bodies[working]
        work = Work(
            step=StepName.REFINE,
            round=round_,
            material=self.material,
            body=body,
            prompts=self.prompts,
            issues=self._open(),
            count=tokens.count,
        )
        refined = self.kind.refine(work, self._parts(work))
        if refined.body in self.bodies:
            return None, frozenset()
        self.bodies.append(refined.body)
        verified = merged(self.kind.verify(self.material, refined.body), refined.body)
        after = after_refine(self.known, refined.body, verified, resolved=refined.resolved)
        self.stood[len(self.bodies) - 1] = standing(after.carried.values())
        if self._best() == len(self.bodies) - 1:
            self._mark({one.id for one in after.gone}, IssueStatus.FIXED)
        return len(self.bodies) - 1, frozenset(refined.resolved)

    def _parts(self, work: Work) -> list[Item]:
        parts = self.kind.parts(work)
        with ThreadPoolExecutor(len(parts) if self.side_by_side else 1) as pool:
            kept = list(pool.map(lambda part: self._part(work, part), parts))
        return [item for items in kept for item in items]

    def _part(self, work: Work, part: PartPlan) -> list[Item]:
        """What is kept of a part, which is told once what could not be."""
        kept: list[Item] = []
        for _ in range(2):
            prompt = self.kind.prompt(work, part, kept)
            self.asked.append((work.round, work.step.value, prompt))
            refused = []
            for payload in self.answer(prompt):
                item = self.kind.accept(work, part, payload, kept)
                if isinstance(item, Refused):
                    refused.append(RefusedItem(payload=payload, code=item.code))
                else:
                    kept.append(item)
            work = replace(work, refused=tuple(refused))
            if not refused or not self.kind.ask_again(work, part, kept):
                break
        return kept

    def _open(self) -> tuple[OpenIssue, ...]:
        return tuple(
            OpenIssue(number=one.number, finding=one.finding)
            for one in self.known
            if one.status in (IssueStatus.OPEN, IssueStatus.REOPENED)
        )

    def _mark(self, ids: set[str], status: IssueStatus) -> None:
        self.known = [replace(one, status=status) if one.id in ids else one for one in self.known]


def _finding(payload: Mapping[str, Any]) -> Finding:
    return Finding(
        category=str(payload["category"]),
        severity=Severity(payload["severity"]),
        quote=str(payload["quote"]),
        problem=str(payload["problem"]),
        suggestion=payload.get("suggestion"),
        evidence=tuple(payload.get("evidence") or ()),
        raised_by="model",
    )
