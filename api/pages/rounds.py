"""The rounds of a run as a strip: the score of each, what was found, fixed and left. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api import wire
from workflows.vocabulary import IssueStatus, StepName, StepStatus


@dataclass(frozen=True, kw_only=True)
class RoundCard:
    """One round. `raised`, `fixed` and `left` count issues: found first in it, fixed by its refine,
    open after it. `change` is that of the score since the round before."""

    number: int
    score: int | None
    change: int | None
    reviewed: int | None
    made: int | None
    raised: int
    fixed: int
    left: int
    is_best: bool
    is_under_way: bool
    attempts: int


def rounds(
    run: wire.Run, steps: Sequence[wire.Step], issues: Sequence[wire.Issue]
) -> list[RoundCard]:
    """In order, from the first review on."""
    numbers = sorted({step.round for step in steps if step.round})
    cards: list[RoundCard] = []
    for number in numbers:
        cards.append(_card(number, cards, run, steps, issues))
    return cards


def _card(
    number: int,
    before: Sequence[RoundCard],
    run: wire.Run,
    steps: Sequence[wire.Step],
    issues: Sequence[wire.Issue],
) -> RoundCard:
    own = [step for step in steps if step.round == number]
    review, refine = _done(own, StepName.REVIEW), _done(own, StepName.REFINE)
    score = review.score if review is not None else None
    earlier = next((card.score for card in reversed(before) if card.score is not None), None)
    reviewed = review.input_revision if review is not None else None
    return RoundCard(
        number=number,
        score=score,
        change=score - earlier if score is not None and earlier is not None else None,
        reviewed=reviewed,
        made=refine.output_revision if refine is not None else None,
        raised=sum(issue.raised_round == number for issue in issues),
        fixed=sum(issue.fixed_round == number for issue in issues),
        left=sum(_is_left(issue, number) for issue in issues),
        is_best=reviewed is not None and reviewed == run.best_revision,
        is_under_way=any(step.status == StepStatus.RUNNING for step in own),
        attempts=len(own),
    )


def _is_left(issue: wire.Issue, number: int) -> bool:
    if issue.raised_round > number or issue.status == IssueStatus.WAIVED:
        return False
    return issue.fixed_round is None or issue.fixed_round > number


def _done(steps: Sequence[wire.Step], name: str) -> wire.Step | None:
    done = [step for step in steps if step.name == name and step.status == StepStatus.SUCCEEDED]
    return done[-1] if done else None
