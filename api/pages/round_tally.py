"""What became of issues in each round, counted from the events: what a round did stays told as it
was, whatever later rounds do to the same issues. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.queries.pages import IssueMove
from workflows.vocabulary import EventType

_PERSON = "person:"
_NEW = EventType.ISSUE_RAISED
_BACK = EventType.ISSUE_REOPENED
_OPEN = frozenset({_NEW, _BACK})


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Of one round: issues found first, fixed, waived and come back in it, and open at its end."""

    raised: int = 0
    fixed: int = 0
    waived: int = 0
    returned: int = 0
    left: int = 0


def tallies(moves: Sequence[IssueMove], numbers: Sequence[int]) -> Mapping[int, Tally]:
    """By number of round. A comment that asks for rework belongs to the round it asks for; a
    waiver belongs to the round that was the newest when it was given."""
    within: dict[int, list[IssueMove]] = {number: [] for number in numbers}
    newest = 0
    for move in moves:
        newest = max(newest, _round(move, newest))
        within.setdefault(_round(move, newest), []).append(move)
    found: dict[int, Tally] = {}
    still: set[int] = set()
    for number in sorted(within):
        for move in within[number]:
            (still.add if move.type in _OPEN else still.discard)(move.number)
        types = [move.type for move in within[number]]
        found[number] = Tally(
            raised=types.count(_NEW),
            fixed=types.count(EventType.ISSUE_FIXED),
            waived=types.count(EventType.ISSUE_WAIVED),
            returned=types.count(_BACK),
            left=len(still),
        )
    return found


def _round(move: IssueMove, newest: int) -> int:
    if move.round is None:
        return newest
    asked_for = move.type == _NEW and move.raised_by.startswith(_PERSON)
    return move.round + 1 if asked_for else move.round
