"""The rounds of a run as a strip: the score of each, what was found, fixed and left. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from api import wire
from api.pages.round_tally import Tally, tallies
from api.queries.pages import IssueMove
from workflows.vocabulary import StepName, StepStatus


@dataclass(frozen=True, kw_only=True)
class RoundCard:
    """One round. `tally` counts its issues; `change` is that of the score since the round before.
    `is_again`: the round before it that was scored had read the same revision."""

    number: int
    score: int | None
    change: int | None
    reviewed: int | None
    made: int | None
    tally: Tally
    is_best: bool
    is_again: bool
    is_under_way: bool
    attempts: int


def rounds(
    run: wire.Run, steps: Sequence[wire.Step], moves: Sequence[IssueMove]
) -> list[RoundCard]:
    """In order, from the first review on. Of several that read the best revision, the one with the
    best score is the best."""
    numbers = sorted({step.round for step in steps if step.round})
    counted = tallies(moves, numbers)
    cards: list[RoundCard] = []
    for number in numbers:
        cards.append(_card(number, cards, steps, counted[number]))
    scored = [
        (card.score, card.number)
        for card in cards
        if card.score is not None and card.reviewed == run.best_revision
    ]
    best = max(scored, default=(0, 0))[1]
    return [replace(card, is_best=card.number == best) for card in cards]


def _card(
    number: int,
    before: Sequence[RoundCard],
    steps: Sequence[wire.Step],
    tally: Tally,
) -> RoundCard:
    own = [step for step in steps if step.round == number]
    review, refine = _done(own, StepName.REVIEW), _done(own, StepName.REFINE)
    score = review.score if review is not None else None
    last = next((card for card in reversed(before) if card.score is not None), None)
    earlier = last.score if last is not None else None
    reviewed = review.input_revision if review is not None else None
    return RoundCard(
        number=number,
        score=score,
        change=score - earlier if score is not None and earlier is not None else None,
        reviewed=reviewed,
        made=refine.output_revision if refine is not None else None,
        tally=tally,
        is_best=False,
        is_again=last is not None and reviewed is not None and reviewed == last.reviewed,
        is_under_way=any(step.status == StepStatus.RUNNING for step in own),
        attempts=len(own),
    )


def _done(steps: Sequence[wire.Step], name: str) -> wire.Step | None:
    done = [step for step in steps if step.name == name and step.status == StepStatus.SUCCEEDED]
    return done[-1] if done else None
