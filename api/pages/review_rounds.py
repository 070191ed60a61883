"""The rounds of a run as a reviewer reads them, and what is odd about their scores. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api import wire
from api.pages.round_tally import Tally, tallies
from api.queries.pages import IssueMove
from workflows.vocabulary import IssueStatus, StepName, StepStatus


@dataclass(frozen=True, kw_only=True)
class Round:
    """`read` is the revision that was reviewed, `made` what refining made of it. Without `made`,
    `refined` says that refining changed nothing; `again` names an older revision with that text."""

    number: int
    read: int | None
    score: int | None
    found: int
    fixed: int
    refined: bool
    made: int | None
    again: int | None


@dataclass(frozen=True, kw_only=True)
class Setback:
    """A later round scored less than an earlier one, whose revision is `best`."""

    round: int
    score: int
    best_round: int
    best_score: int
    best: int | None


def rounds(steps: Sequence[wire.Step], moves: Sequence[IssueMove]) -> tuple[Round, ...]:
    """The rounds whose review was stored, in order; of a repeated step the newest counts."""
    done = [step for step in steps if step.status == StepStatus.SUCCEEDED]
    reviews = {step.round: step for step in done if step.name == StepName.REVIEW}
    refines = {step.round: step for step in done if step.name == StepName.REFINE}
    counted = tallies(moves, list(reviews))
    return tuple(
        _round(review, refines.get(number), counted[number])
        for number, review in sorted(reviews.items())
    )


def _round(review: wire.Step, refine: wire.Step | None, tally: Tally) -> Round:
    result = {} if refine is None else refine.result or {}
    again = result.get("repeats_revision")
    return Round(
        number=review.round,
        read=review.input_revision,
        score=review.score,
        found=tally.raised,
        fixed=tally.fixed,
        refined=refine is not None,
        made=None if refine is None else refine.output_revision,
        again=again if isinstance(again, int) else None,
    )


def setback(found: Sequence[Round]) -> Setback | None:
    """Whether the newest score is below an earlier one."""
    scored = [(one, one.score) for one in found if one.score is not None]
    if len(scored) < 2:
        return None
    last, score = scored[-1]
    best, best_score = max(scored[:-1], key=lambda pair: pair[1])
    if score >= best_score:
        return None
    return Setback(
        round=last.number,
        score=score,
        best_round=best.number,
        best_score=best_score,
        best=best.read,
    )


def reopened(issues: Sequence[wire.Issue]) -> int:
    """How many issues came back."""
    return sum(issue.status == IssueStatus.REOPENED for issue in issues)
