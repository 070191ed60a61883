"""What one state of the model holds: the run's row, its workflow, the attempts, messages under way.

Only what decides something is kept, so that equal futures are equal states. Texts, items and money
are bits and numbers here; time is a few steps of age.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

RUNNING, INTERRUPTED, AWAITING = "RUNNING", "INTERRUPTED", "AWAITING_CONFIRMATION"
CONFIRMED, CANCELLED, FAILED, DELETED = "CONFIRMED", "CANCELLED", "FAILED", "DELETED"
FINAL = (CONFIRMED, CANCELLED, DELETED)
REVIEW, REFINE = range(2)
CLOSED, DONE = "CLOSED", "DONE"
"""A step row besides RUNNING: ended without a result; with one."""
ALIVE, BLOCKED, FROZEN, DEAD, GONE = "alive", "blocked", "frozen", "dead", "gone"
"""A worker; GONE is a living one in which this attempt's task died."""
NONE, OPENED, SENT, REPLIED, KEPT = range(5)
"""A part as its attempt sees it: not asked, row only, asked, answered, stored."""
HELD, UNLOCKED, OLD, MISSING = "held", "unlocked", "old", "missing"
"""A worker's row and lock as others see them: lock held; lock free; row of an earlier postmaster;
no row (the table is unlogged). The lock is free in all but the first."""
LOAD = "load"
"""What a signal means to a workflow: load the row."""


class Kind(IntEnum):
    """Of a transition. PROTOCOL happens if it stays possible; SWEEP too, but only after a minute;
    OPTIONAL may happen; FAULT and what people do are bounded by the scenario."""

    PROTOCOL = 0
    SWEEP = 1
    OPTIONAL = 2
    FAULT = 3


FAULTS = (
    *("interrupt", "resume", "edit", "rework", "cancel", "delete", "page", "profile"),
    *("hand", "stop", "kill", "freeze", "block", "vanish", "unlock", "restart", "backend"),
    *("partition", "loss", "dup", "terminate", "reset", "store", "wedge", "ghost", "error"),
    *("handover",),
)
INDEX = {fault: place for place, fault in enumerate(FAULTS)}


class Run(NamedTuple):
    """The row, with the plan in force of its unfinished step."""

    goal: int
    """Rounds granted."""
    status: str = RUNNING
    epoch: int = 1
    round: int = 1
    """Of the next piece of work; beyond `goal` nothing is left."""
    stage: int = REVIEW
    kept: int = 0
    """A bit for each stored part."""
    revision: int = 1
    """The working text."""
    plan: tuple[int, ...] = ()
    """Input revision, and the profile whose limits made the cut."""
    reviewed: int = 0
    """The text of a review that is not refined yet."""
    profile: int = 1
    due: bool = False
    """move_seq > signalled_seq"""
    asked: int = 0
    """Calls begun, where the scenario limits them."""
    raised: int = 0
    """By how much a person raised that limit."""

    @property
    def complete(self) -> bool:
        return self.round > self.goal


class Workflow(NamedTuple):
    """One execution, open or ended."""

    open: bool = True
    end: str = ""
    """completed, terminated, cancelled, not found"""
    ended_under: int = 0
    """The row's epoch at that moment."""
    phase: str = "idle"
    """idle, decide, conclude, cancel, wait"""
    news: str = LOAD
    """Signals since the last load; "" is none."""
    seen: tuple[Any, ...] = ()
    """While deciding: status, epoch, round or 0."""
    loaded: tuple[str, int] = ("", 0)
    """Status and epoch of the last load."""
    activity: str = ""
    """"" , scheduled, started"""
    epoch: int = 0
    """Of the activity, as `round`."""
    round: int = 0
    cancel: bool = False
    """The activity was asked to end."""
    command: tuple[Any, ...] = ()
    """By hand: status wanted, the load before it arrived, whether a reset brought it again."""
    stop: bool = False
    """A request for cancellation of the workflow."""
    wedged: bool = False
    """Its workflow task fails."""
    crashed: bool = False
    """Without `every_end_loads`: an activity's failure became its own."""


class Attempt(NamedTuple):
    """One attempt of an activity, in a worker of its own; in the order of scheduling."""

    epoch: int
    round: int
    stage: int = REVIEW
    row: str = ""
    """Its step: none yet, RUNNING, CLOSED, DONE"""
    parts: tuple[int, ...] = ()
    input: int = 0
    """The plan's input revision."""
    ended: bool = False
    """Only its return is left; `again`: it asks to be tried again."""
    again: bool = False
    life: str = ALIVE
    sign: str = HELD
    age: int = 0
    """Of seen_at: 0 fresh, 1 over 2 s, 2 over 15 s"""
    current: bool = True
    """Temporal takes its result."""
    owner: bool = False
    """runs.owner_worker is its worker."""
    accused: int = 0
    """The epoch of a take-over about its worker that is under way."""

    @property
    def in_flight(self) -> bool:
        return self.row != DONE and (SENT in self.parts or REPLIED in self.parts)


class Send(NamedTuple):
    """An API process between the commit of a move and the end of its request."""

    behind: int
    """Moves made since."""
    says: str
    start: bool
    sent: bool = False


class Move(NamedTuple):
    """A move by a local activity."""

    by: str
    """conclude, hand, cancel, crash"""
    status: str
    loaded: tuple[str, int]
    replayed: bool = False


class State(NamedTuple):
    run: Run
    workflow: Workflow = Workflow()
    attempts: tuple[Attempt, ...] = ()
    sends: tuple[Send, ...] = ()
    ghosts: tuple[tuple[Move, bool], ...] = ()
    """Local activities that will run again; whether they had moved the row."""
    sweeper: tuple[Any, ...] = ()
    """A verdict under way: status, epoch read, epoch the execution ended under."""
    calm: bool = True
    """Postgres and the sessions of those who prove are over 15 s old."""
    page: int = 0
    """The revision a second person has on screen."""
    hand: tuple[Any, ...] = ()
    """The command by hand: status, epoch of its load."""
    hand_moved: bool = False
    lost: int = 0
    """Step attempts that had a call in flight when they were stopped."""
    used: tuple[int, ...] = (0,) * len(FAULTS)

    def count(self, fault: str) -> int:
        return self.used[INDEX[fault]]


class Edge(NamedTuple):
    """A transition; `wrong` is the property it breaks, if any."""

    label: str
    kind: Kind
    to: State
    wrong: str = ""


def put(s: State, i: int, **change: Any) -> State:
    """With a change of attempt i."""
    changed = s.attempts[i]._replace(**change)
    return s._replace(attempts=(*s.attempts[:i], changed, *s.attempts[i + 1 :]))


def tell(s: State, **change: Any) -> State:
    """With a change of the workflow."""
    return s._replace(workflow=s.workflow._replace(**change))


def abandoned(s: State) -> State:
    """Temporal counts on no attempt any more."""
    return s._replace(attempts=tuple(a._replace(current=False) for a in s.attempts))


def activity_over(s: State) -> State:
    """Whatever it ended with, the workflow loads the row."""
    return tell(s, activity="", cancel=False, news=LOAD)


def execution_over(s: State, end: str) -> State:
    """Nobody hears its attempts or its signals any more."""
    attempts = tuple(a._replace(current=False, accused=0) for a in s.attempts)
    under = s.run.epoch if end in ("terminated", "cancelled") else 0
    ended = Workflow(open=False, end=end, ended_under=under, news="")
    return s._replace(workflow=ended, attempts=attempts)


def advanced(run: Run) -> Run:
    """The step is committed: result, checkpoint, next piece of work."""
    if run.stage == REVIEW and run.round < run.goal:
        return run._replace(stage=REFINE, kept=0, plan=(), reviewed=run.revision)
    return run._replace(
        kept=0,
        plan=(),
        revision=run.revision + (run.stage == REFINE),
        reviewed=0,
        round=run.round + 1,
        stage=REVIEW,
    )


def voided(run: Run) -> Run:
    """Another text: the plan is void, a pending review too, and then one round more is granted."""
    run = run._replace(plan=(), kept=0)
    if run.stage == REFINE:
        return run._replace(round=run.round + 1, stage=REVIEW, goal=run.goal + 1, reviewed=0)
    return run._replace(goal=run.goal + 1) if run.complete else run
