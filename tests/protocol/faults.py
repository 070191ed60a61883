"""What may happen to workers, Postgres and Temporal."""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.scenario import Scenario
from tests.protocol.state import (
    ALIVE,
    BLOCKED,
    CLOSED,
    DEAD,
    FROZEN,
    GONE,
    HELD,
    INTERRUPTED,
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
    activity_over,
    execution_over,
    put,
    tell,
)


def faults(c: Scenario, s: State) -> Iterator[Edge]:
    for i, a in enumerate(s.attempts):
        concerned = a.current or a.row == RUNNING or a.owner
        if concerned and a.life in (ALIVE, BLOCKED, FROZEN):
            yield from _of_a_worker(c, s, i, a)
    if any(a.sign != MISSING for a in s.attempts):
        if t := c.spend(s, "restart"):
            yield Edge("Postgres restarts", Kind.FAULT, postgres_restarts(t))
        if t := c.spend(s, "backend"):
            yield Edge("a Postgres backend crashes", Kind.FAULT, postgres_restarts(t, MISSING))
    if s.workflow.open:
        yield from _of_temporal(c, s)


def postgres_restarts(s: State, sign: str = OLD) -> State:
    """Every lock is free; rows are of the old postmaster, or the unlogged table is empty."""
    away = tuple(
        a._replace(sign=MISSING if a.sign == MISSING else sign, age=2 if sign == OLD else 0)
        for a in s.attempts
    )
    return s._replace(attempts=away, calm=False)


def tried_again(s: State) -> State:
    """Temporal gives the work to another attempt, unless it was told to end it."""
    return activity_over(s) if s.workflow.cancel else tell(s, activity="scheduled")


def _of_a_worker(c: Scenario, s: State, i: int, a: Attempt) -> Iterator[Edge]:
    name = f"attempt {i + 1}"
    if t := c.spend(s, "kill"):
        sign = UNLOCKED if a.sign == HELD else a.sign
        to = put(t._replace(lost=s.lost + a.in_flight), i, life=DEAD, sign=sign, parts=())
        yield Edge(f"kill -9 of {name}'s worker", Kind.FAULT, to)
    if a.life in (ALIVE, BLOCKED) and a.sign == HELD and (t := c.spend(s, "unlock")):
        yield Edge(f"{name}: its lock's connection drops", Kind.FAULT, put(t, i, sign=UNLOCKED))
    if a.life == ALIVE:
        yield from _of_the_living(c, s, i, a)


def _of_the_living(c: Scenario, s: State, i: int, a: Attempt) -> Iterator[Edge]:
    name = f"attempt {i + 1}"
    if t := c.spend(s, "freeze"):
        yield Edge(f"{name}: its worker freezes", Kind.FAULT, put(t, i, life=FROZEN))
    if t := c.spend(s, "block"):
        to = put(t, i, life=BLOCKED)
        yield Edge(f"{name}: its event loop blocks, under 15 s", Kind.FAULT, to)
    lost = s.lost + a.in_flight
    if a.row == RUNNING and (t := c.spend(s, "vanish")):
        to = put(t._replace(lost=lost), i, life=GONE, parts=())
        yield Edge(f"{name}: its task dies in a living worker", Kind.FAULT, to)
    if not a.ended and (t := c.spend(s, "handover")):  # SIGTERM, or its provider is away
        row = CLOSED if a.row == RUNNING else a.row
        to = put(t._replace(lost=lost), i, row=row, parts=(), ended=True, again=True, owner=False)
        yield Edge(f"{name}: closes its step, asks to come again", Kind.FAULT, to)
    if a.current and not a.ended and (t := c.spend(s, "partition")):
        to = tried_again(put(t, i, current=False))
        yield Edge(f"Temporal: gives the living {name} up", Kind.FAULT, to)


def _of_temporal(c: Scenario, s: State) -> Iterator[Edge]:
    if t := c.spend(s, "terminate"):
        yield Edge("Temporal: terminated", Kind.FAULT, execution_over(t, "terminated"))
    if t := c.spend(s, "store"):
        yield Edge("Temporal: its store is lost", Kind.FAULT, execution_over(t, "not found"))
    if not s.workflow.wedged and (t := c.spend(s, "wedge")):
        yield Edge("Temporal: workflow tasks fail", Kind.FAULT, tell(t, wedged=True))
    if t := c.spend(s, "reset"):
        yield from _resets(s, execution_over(t, "reset"))


def _resets(s: State, t: State) -> Iterator[Edge]:
    """To any load that may have been; signals after it come again, or are dropped."""
    statuses = (RUNNING, INTERRUPTED) if s.count("interrupt") else (RUNNING,)
    for epoch in range(1, s.run.epoch + 1):
        for status in statuses:
            load, to = (status, epoch), f"to {status}, epoch {epoch}"
            reset = Workflow(phase="decide", seen=(*load, 1), loaded=load)
            yield _reset(t, to, reset)
            yield _reset(t, f"{to}, signals dropped", reset._replace(news=""))
            if s.hand and s.hand[1] >= epoch:
                again = reset._replace(command=(s.hand[0], load, True))
                yield _reset(t, f"{to}, {s.hand[0]} by hand comes again", again)


def _reset(t: State, how: str, to: Workflow) -> Edge:
    assert to.news in ("", LOAD)
    return Edge(f"Temporal: reset {how}", Kind.FAULT, t._replace(workflow=to))
