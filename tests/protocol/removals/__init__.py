"""Where the code holds each rule, by section of the protocol.

`moves`: the row, its moves, the workflow, the sweep. `work`: claim, parts, commit, stop, death,
money. A rule may have several removals; they are applied together. `EXTRA` are rules of the code
that the model is too coarse for; `MODEL_ONLY` are those that no line of the code holds alone, with
the reason.
"""

from __future__ import annotations

from tests.protocol.removals import moves, work
from tests.protocol.removals.removal import Removal

REMOVALS: tuple[Removal, ...] = (*moves.REMOVALS, *work.REMOVALS)
MODEL_ONLY: dict[str, str] = {**moves.MODEL_ONLY, **work.MODEL_ONLY}
EXTRA: dict[str, str] = {**moves.EXTRA, **work.EXTRA}
PENDING: frozenset[str] = moves.PENDING | work.PENDING


def of(rule: str) -> list[Removal]:
    return [removal for removal in REMOVALS if removal.rule == rule]
