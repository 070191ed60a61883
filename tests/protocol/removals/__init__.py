"""Where the code holds each rule, by section of the protocol. `PENDING` and `MODEL_ONLY` have none.

`moves`: the row, its moves, the workflow, the sweep. `work`: claim, parts, commit, stop, death,
money. A rule may have several removals; they are applied together.
"""

from __future__ import annotations

from tests.protocol.removals import moves, work
from tests.protocol.removals.removal import Removal

REMOVALS: tuple[Removal, ...] = (*moves.REMOVALS, *work.REMOVALS)
MODEL_ONLY: dict[str, str] = {**moves.MODEL_ONLY, **work.MODEL_ONLY}
PENDING: frozenset[str] = moves.PENDING | work.PENDING


def of(rule: str) -> list[Removal]:
    return [removal for removal in REMOVALS if removal.rule == rule]
