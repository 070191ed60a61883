"""Proof of death, the reaper, the take-over and the sweep."""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.scenario import Scenario
from tests.protocol.state import (
    ALIVE,
    BLOCKED,
    CANCELLED,
    CLOSED,
    DEAD,
    FAILED,
    FROZEN,
    GONE,
    HELD,
    LOAD,
    MISSING,
    OLD,
    RUNNING,
    UNLOCKED,
    Attempt,
    Edge,
    Kind,
    State,
    Workflow,
    put,
    tell,
)


def recovery(c: Scenario, s: State) -> Iterator[Edge]:
    yield from _reaper(c, s)
    yield from _sweep(c, s)
    yield from _time(s)


def worker_dead(c: Scenario, s: State, a: Attempt) -> bool:
    """Proof, as another machine can have it (`activities/owning/death.py`)."""
    if a.life == GONE:
        return False  # the process lives
    locks_again = a.life in (ALIVE, BLOCKED) and c.has["lock_free_twice"]  # an own thread does
    lock_free = (
        (a.sign == UNLOCKED and not locks_again)
        or (a.sign == OLD and not c.has["this_postmaster"])
        or (a.sign == HELD and not c.has["lock_free"])
    )
    if lock_free and (a.age >= 1 or not c.has["seen_over_2s"]):
        return True
    missing = a.sign == MISSING and c.has["row_missing"]
    silent = a.age == 2 and c.has["seen_over_15s"]
    return (missing or silent) and (s.calm or not c.has["both_over_15s"])


def step_dead(c: Scenario, s: State, a: Attempt) -> bool:
    """Its worker is dead, or lives and does not list it."""
    return worker_dead(c, s, a) or (a.life == GONE and c.has["in_flight_list"])


def _accusable(c: Scenario, s: State, a: Attempt) -> bool:
    return step_dead(c, s, a) if c.has["reaper_sees_dead_steps"] else worker_dead(c, s, a)


def _reaper(c: Scenario, s: State) -> Iterator[Edge]:
    goes_on = s.run.status == RUNNING
    for i, a in enumerate(s.attempts):
        if not a.owner or not _accusable(c, s, a):
            continue
        if not goes_on and c.has["reaper_closes"]:
            to = put(s, i, row=CLOSED if a.row == RUNNING else a.row, owner=False)
            yield Edge(f"reaper: closes the step of attempt {i + 1}", Kind.PROTOCOL, to)
        if goes_on and s.workflow.open and not a.accused and c.has["take_over"]:
            to = put(s, i, accused=s.run.epoch)
            yield Edge(f"reaper: tells the workflow of attempt {i + 1}", Kind.PROTOCOL, to)


def take_over(c: Scenario, s: State, i: int) -> tuple[State, bool]:
    """The local activity, under the run's lock; whether it closed what a dead worker left."""
    a = s.attempts[i]
    s = put(s, i, accused=0)
    mine = s.run.status == RUNNING and s.run.epoch == a.accused and a.owner
    if c.has["take_over_checks"] and not (mine and _accusable(c, s, a)):
        return tell(s, news=LOAD), False
    for j, b in enumerate(s.attempts):
        if b.row == RUNNING:
            s = put(s, j, row=CLOSED)
    if c.has["take_over_clears_owner"]:
        s = put(s, i, owner=False)
    return s, True


def _sweep(c: Scenario, s: State) -> Iterator[Edge]:
    run, w = s.run, s.workflow
    running = run.status == RUNNING
    if s.sweeper:
        yield _verdict(c, s)
    elif not w.open and running and not (run.due and c.has["due_before_describe"]):
        yield from _describes(c, s)
    if not w.open and c.lossy:
        late = s._replace(workflow=Workflow())
        yield Edge("sweep: starts the workflow on an old reading", Kind.OPTIONAL, late)
    if w.open and running and not _at_work(c, s):
        if w.wedged and c.has["sweep_terminates_existing"]:
            to = s._replace(workflow=Workflow(), attempts=_unheard(s))
            yield Edge("sweep: replaces the workflow", Kind.SWEEP, to)
        asleep = w.phase == "wait" and not w.news and not w.wedged
        if asleep and c.has["sweep_wakes"]:
            yield Edge("sweep: wakes the workflow", Kind.SWEEP, tell(s, news=LOAD))
    if run.due and c.has["sweep_sends_due"]:
        to = s._replace(run=run._replace(due=False))
        if w.open:
            to = tell(to, news=LOAD)
        elif running:
            to = to._replace(workflow=Workflow())
        yield Edge("sweep: sends the due signal", Kind.SWEEP, to)


def _unheard(s: State) -> tuple[Attempt, ...]:
    return tuple(a._replace(current=False, accused=0) for a in s.attempts)


def _at_work(c: Scenario, s: State) -> bool:
    """A living owner, or a RUNNING step of the living."""
    return any(
        (a.owner or a.row == RUNNING)
        and not (c.has["sweep_sees_dead_owner"] and step_dead(c, s, a))
        for a in s.attempts
    )


def _describes(c: Scenario, s: State) -> Iterator[Edge]:
    """The row was read first. An attempt that is told to end, though its row says go on, has its
    execution looked up at once."""
    run, w = s.run, s.workflow
    told = any(a.life == ALIVE and a.row == RUNNING and a.epoch == run.epoch for a in s.attempts)
    kind = Kind.PROTOCOL if told else Kind.SWEEP
    if w.end in ("terminated", "cancelled") and c.has[f"sweep_{w.end}"]:
        status = FAILED if w.end == "terminated" else CANCELLED
        to = s._replace(sweeper=(status, run.epoch, w.ended_under))
        yield Edge(f"sweep: reads the row, then finds its workflow {w.end}", kind, to)
    elif w.end in ("completed", "not found") and c.has["sweep_starts"]:
        yield Edge("sweep: starts the workflow", kind, s._replace(workflow=Workflow()))


def _verdict(c: Scenario, s: State) -> Edge:
    status, read, ended_under = s.sweeper
    to, wrong = s._replace(sweeper=()), ""
    if s.run.status == RUNNING and (s.run.epoch == read or not c.has["sweep_by_epoch"]):
        to = to._replace(run=s.run._replace(status=status))
        if ended_under != s.run.epoch:
            wrong = "I12 a resumed run ended for the end of its former execution"
    return Edge(f"sweep: {status} by epoch {read}", Kind.PROTOCOL, to, wrong)


def _time(s: State) -> Iterator[Edge]:
    """Ages grow as far as they matter; locks and rows of the living are renewed elsewhere."""
    for i, a in enumerate(s.attempts):
        limit = {FROZEN: 2, DEAD: 2, BLOCKED: 1}.get(a.life, 0)
        if a.life == BLOCKED and a.sign == UNLOCKED:
            to = put(s, i, sign=HELD)
            yield Edge(f"attempt {i + 1}: its thread locks again", Kind.PROTOCOL, to)
        elif a.age < limit and a.sign != MISSING and (a.owner or a.row == RUNNING):
            passed = "2 s" if a.age == 0 else "15 s"
            to = put(s, i, age=a.age + 1)
            yield Edge(f"{passed} without attempt {i + 1}'s worker", Kind.PROTOCOL, to)
    present = all(
        a.life not in (ALIVE, GONE, BLOCKED) or (a.sign == HELD and not a.age) for a in s.attempts
    )
    if not s.calm and present:
        yield Edge("15 s since Postgres is back", Kind.PROTOCOL, s._replace(calm=True))
