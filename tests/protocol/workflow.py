"""The workflow (`workflows/review_run.py`) and the Temporal server that runs it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.recovery import take_over
from tests.protocol.scenario import Scenario
from tests.protocol.state import (
    ALIVE,
    AWAITING,
    CANCELLED,
    DELETED,
    FAILED,
    FINAL,
    HELD,
    INTERRUPTED,
    LOAD,
    RUNNING,
    Attempt,
    Edge,
    Kind,
    Move,
    State,
    Workflow,
    abandoned,
    activity_over,
    execution_over,
    tell,
)


def workflow(c: Scenario, s: State) -> Iterator[Edge]:
    w = s.workflow
    if not w.open:
        return
    if w.activity == "scheduled":
        yield from _start(s, w)
    if w.wedged:
        return
    if (w.phase == "wait" and not w.news) or (w.phase == "idle" and w.activity):
        yield from _take_overs(c, s, w)
    yield from _turn(c, s, w)
    if w.cancel and c.has["abandon_after_10s"]:
        to = activity_over(abandoned(s))
        yield Edge("workflow: abandons the activity after 10 s", Kind.PROTOCOL, to)
    unread = w.news or w.command or w.stop or any(a.accused for a in s.attempts)
    if w.phase == "wait" and not (unread and c.has["queue_tested_again"]):
        yield Edge("workflow: parks", Kind.OPTIONAL, execution_over(s, "completed"))


def _turn(c: Scenario, s: State, w: Workflow) -> Iterator[Edge]:
    """What the loop does next."""
    if w.phase == "decide":
        yield _decide(c, s, w)
    elif w.phase in ("conclude", "cancel"):
        status = AWAITING if w.phase == "conclude" else CANCELLED
        yield from _local(c, _loop(s), Move(w.phase, status, w.loaded))
    elif w.crashed:
        yield from _local(c, _loop(s), Move("crash", FAILED, w.loaded))
    elif w.command and (c.has["hand_at_arrival"] or not w.news):
        status, arrived, replayed = w.command
        loaded = arrived if c.has["hand_at_arrival"] else w.loaded
        obeyed = tell(s, command=(), news=LOAD)
        yield from _local(c, obeyed, Move("hand", status, loaded, replayed))
    elif w.news or w.stop:
        yield _load(s, w)


def _start(s: State, w: Workflow) -> Iterator[Edge]:
    """Where a worker just thawed takes the task, its row is still the old one."""
    thawed = {(a.sign, a.age) for a in s.attempts if a.life == ALIVE and a.age and not a.current}
    for sign, age in {(HELD, 0)} | thawed:
        attempt = Attempt(w.epoch, w.round, sign=sign, age=age)
        to = tell(s, activity="started")._replace(attempts=(*s.attempts, attempt))
        where = " on a worker just thawed" if age else ""
        yield Edge(f"Temporal: attempt of round {w.round} starts{where}", Kind.PROTOCOL, to)


def _take_overs(c: Scenario, s: State, w: Workflow) -> Iterator[Edge]:
    for i, a in enumerate(s.attempts):
        if not a.accused:
            continue
        if not w.activity:  # it waits for a person: the signal only wakes it
            to = tell(s._replace(attempts=_pardoned(s)), news=LOAD)
            yield Edge("workflow: hears of a dead worker, loads", Kind.PROTOCOL, to)
            return
        label = f"workflow: take_over of attempt {i + 1}"
        to, moved = take_over(c, s, i)
        yield Edge(label, Kind.PROTOCOL, activity_over(abandoned(to)) if moved else to)
        if moved and (t := c.spend(to, "ghost")):
            lost = t._replace(attempts=(*t.attempts[:i], _accused(t, i, a), *t.attempts[i + 1 :]))
            yield Edge(f"{label} commits, its marker is lost", Kind.FAULT, lost)


def _pardoned(s: State) -> tuple[Attempt, ...]:
    return tuple(a._replace(accused=0) for a in s.attempts)


def _accused(s: State, i: int, before: Attempt) -> Attempt:
    return s.attempts[i]._replace(accused=before.accused)


def _loop(s: State) -> State:
    """A local activity ended: back to the top, where the row is loaded."""
    return tell(s, phase="idle", seen=(), news=LOAD, crashed=False)


def _load(s: State, w: Workflow) -> Edge:
    run = s.run
    status = w.news if w.news not in ("", LOAD) else run.status
    seen = (status, run.epoch, 0 if run.complete else run.round)
    to = tell(s, phase="decide", news="", seen=seen, loaded=(status, run.epoch))
    return Edge("workflow: loads the row", Kind.PROTOCOL, to)


def _decide(c: Scenario, s: State, w: Workflow) -> Edge:
    """By what was loaded. Signals that came meanwhile are still unread afterwards."""
    status, epoch, round_ = w.seen
    idle = w._replace(phase="idle", seen=(), news=w.news if c.has["wait_by_count"] else "")
    resting = s._replace(workflow=idle)
    if w.stop:
        return _cancelled(c, s, status)
    if w.activity:
        return _about_the_activity(s, resting, (status, epoch))
    if idle.news:
        return Edge("workflow: hears something meanwhile, loads again", Kind.PROTOCOL, resting)
    if status == RUNNING and round_:
        to = tell(resting, activity="scheduled", epoch=epoch, round=round_)
        return Edge(f"workflow: schedules round {round_}, epoch {epoch}", Kind.PROTOCOL, to)
    if status == RUNNING:
        return Edge("workflow: decides to conclude", Kind.PROTOCOL, tell(s, phase="conclude"))
    if status in FINAL:
        return Edge("workflow: completes", Kind.PROTOCOL, execution_over(s, "completed"))
    return Edge("workflow: waits for a person", Kind.PROTOCOL, tell(resting, phase="wait"))


def _cancelled(c: Scenario, s: State, status: str) -> Edge:
    if c.has["cancel_moves"] and status not in FINAL:
        to = tell(s, phase="cancel")
        return Edge("workflow: was cancelled, moves to CANCELLED", Kind.PROTOCOL, to)
    return Edge("workflow: ends as cancelled", Kind.PROTOCOL, execution_over(s, "cancelled"))


def _about_the_activity(s: State, resting: State, loaded: tuple[str, int]) -> Edge:
    w = s.workflow
    if loaded == (RUNNING, w.epoch):
        return Edge("workflow: lets the activity go on", Kind.PROTOCOL, resting)
    if w.activity == "scheduled":
        to = activity_over(resting)
        return Edge("workflow: cancels the activity before it starts", Kind.PROTOCOL, to)
    return Edge("workflow: asks the activity to end", Kind.PROTOCOL, tell(resting, cancel=True))


def _local(c: Scenario, s: State, move: Move) -> Iterator[Edge]:
    """Temporal may run it a second time: it drops a task's markers when a signal arrives."""
    label = f"local activity: {move.by} {move.status}, epoch {move.loaded[1]}"
    to, wrong = _applied(c, s, move)
    yield Edge(label, Kind.PROTOCOL, to, wrong)
    if t := c.spend(to, "ghost"):
        repeated = t._replace(ghosts=(*t.ghosts, (move, t.run != s.run)))
        yield Edge(f"{label}, will run again", Kind.FAULT, repeated, wrong)


def ghosts(c: Scenario, s: State) -> Iterator[Edge]:
    for i, (move, had_moved) in enumerate(s.ghosts):
        before = s._replace(ghosts=(*s.ghosts[:i], *s.ghosts[i + 1 :]))
        to, wrong = _applied(c, before, move)
        if to.run != s.run:
            late = "one decision moved the row twice" if had_moved else "a refused move came late"
            wrong = wrong or f"I7 {late}"
        label = f"local activity: {move.by} {move.status} runs again"
        yield Edge(label, Kind.OPTIONAL, to, wrong)


def _comes_from(move: Move) -> tuple[str, ...]:
    if move.by == "cancel":
        return (RUNNING, INTERRUPTED, FAILED, AWAITING)
    return (INTERRUPTED, FAILED) if move.status == RUNNING else (RUNNING,)


def _applied(c: Scenario, s: State, move: Move) -> tuple[State, str]:
    """One conditional UPDATE under the run's lock. A cancel needs no epoch: nothing follows it."""
    run, (status, epoch) = s.run, move.loaded
    if run.status == DELETED:
        return s, ""
    if run.status not in _comes_from(move) and c.has["conditional_update"]:
        return s, ""
    rule = {"cancel": "", "hand": "hand_by_epoch"}.get(move.by, "conclude_by_epoch")
    if rule and c.has[rule] and run.epoch != epoch:
        return s, ""
    if move.by == "hand" and c.has["hand_names_status"] and run.status != status:
        return s, ""
    wrong = "I7 a replayed signal moved the row again" if move.replayed and s.hand_moved else ""
    moved = run._replace(status=move.status, epoch=run.epoch + (move.status == RUNNING))
    return s._replace(run=moved, hand_moved=s.hand_moved or move.by == "hand"), wrong
