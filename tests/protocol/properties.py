"""What must hold in every state, on every transition, and where a run comes to rest.

Safety:
  I1   no step is committed twice; no request goes out for a part whose reply is stored
  I2   at most one RUNNING step
  I3   results and failures are written with the own step RUNNING, under the run's epoch
  I4   the status moves along the table; FAILED has a cause
  I5   lost attempts <= disturbances: restarts of Postgres, partitions from Temporal, dropped locks,
       short blocks, lost or doubled signals cost nothing
  I6   nothing is written after delete, no result after CANCELLED
  I7   one decision moves the row at most once, and not late
  I8   nothing is offered with work left
  I9   a step is opened while the run is RUNNING, under its epoch
  I10  a result is of the working text and of one cut; no person's edit is overwritten unseen
  I11  no call begins after the run left RUNNING or the epoch
  I12  the end of an execution ends a run of that epoch only
  I13  no more calls are begun than a limit allows, also by parts side by side
Liveness, without further disturbance:
  L1   where nothing more must happen the run rests well (`rests_well`)
  L2   while no signal was lost and nobody tampered with Temporal, nothing waits for the sweep
  L3   nothing goes round for ever
"""

from __future__ import annotations

from tests.protocol.state import (
    ALIVE,
    AWAITING,
    DELETED,
    FAILED,
    FINAL,
    INDEX,
    RUNNING,
    State,
)
from workflows.transitions import MOVES

MOST_ATTEMPTS = 8
_DISTURBING = tuple(
    INDEX[fault]
    for fault in (
        *("interrupt", "cancel", "delete", "hand", "stop", "kill", "freeze", "vanish"),
        *("error", "terminate", "reset", "handover"),
    )
)
_SLOW = tuple(INDEX[fault] for fault in ("loss", "terminate", "reset", "store", "wedge"))
_CAUSES = tuple(INDEX[fault] for fault in ("error", "terminate"))
_TABLE = frozenset((str(before), str(after)) for before, after in MOVES)


def wrong_state(s: State) -> str:
    if sum(a.row == RUNNING for a in s.attempts) > 1:
        return "I2 two RUNNING steps"
    if s.lost > sum(s.used[i] for i in _DISTURBING):
        return "I5 more attempts lost than disturbances"
    if len(s.attempts) > MOST_ATTEMPTS:
        return "L3 attempts pile up"
    if s.run.status == AWAITING and not s.run.complete:
        return "I8 offered with work left"
    return ""


def wrong_move(s: State, t: State) -> str:
    before, after = s.run.status, t.run.status
    if before == after:
        return ""
    if after != DELETED and (before, after) not in _TABLE:
        return f"I4 moved from {before} to {after}"
    if after == FAILED and not any(t.used[i] for i in _CAUSES):
        return "I4 FAILED without a cause"
    return ""


def rests_well(s: State) -> bool:
    """Not RUNNING, nothing due, no step open, nobody at work, the workflow ended or waiting, a
    cancel by hand obeyed."""
    w, run = s.workflow, s.run
    waits = w.phase == "wait" and not w.activity and not w.news
    obeyed = not s.count("stop") or run.status in FINAL or w.wedged or slow(s)
    quiet = all(a.row != RUNNING and a.life != ALIVE for a in s.attempts)
    rests = not w.open or w.wedged or waits
    return rests and obeyed and quiet and run.status != RUNNING and not run.due


def slow(s: State) -> bool:
    """Whether something happened that only the sweep repairs."""
    return any(s.used[i] for i in _SLOW)
