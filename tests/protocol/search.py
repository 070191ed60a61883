"""Breadth-first search over all states of a scenario; the first violation has a shortest trace."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from tests.protocol.faults import faults
from tests.protocol.people import people
from tests.protocol.properties import rests_well, slow, wrong_move, wrong_state
from tests.protocol.recovery import recovery
from tests.protocol.scenario import Scenario
from tests.protocol.state import DEAD, GONE, RUNNING, Attempt, Edge, Kind, Run, State
from tests.protocol.worker import attempt
from tests.protocol.workflow import ghosts, workflow

MOST_STATES = 6_000_000


@dataclass(frozen=True, kw_only=True)
class Found:
    """`violation` is empty when the scenario is clean; `trace` has a line a transition."""

    violation: str
    trace: list[str]
    states: int
    edges: int
    seconds: float
    most_lost: int


def initial(c: Scenario) -> State:
    return State(Run(c.goal))


def following(c: Scenario, s: State) -> Iterator[Edge]:
    """Every transition out of `s`, each leading to a normal state."""
    for edge in _edges(c, s):
        yield edge._replace(to=_normal(c, edge.to))


def _edges(c: Scenario, s: State) -> Iterator[Edge]:
    yield from people(c, s)
    yield from workflow(c, s)
    yield from ghosts(c, s)
    for i in range(len(s.attempts)):
        yield from attempt(c, s, i)
    yield from recovery(c, s)
    yield from faults(c, s)


def _normal(c: Scenario, s: State) -> State:
    """Forgets what can do nothing any more, so that equal futures are one state."""
    attempts = tuple(_plain(a) for a in s.attempts if _matters(a) and not _hopeless(c, s, a))
    if attempts != s.attempts:
        s = s._replace(attempts=attempts)
    if c.has["number_not_flag"] and any(send.sent and send.behind for send in s.sends):
        s = s._replace(sends=tuple(send for send in s.sends if not (send.sent and send.behind)))
    w = s.workflow
    decides = w.phase in ("decide", "conclude", "cancel") or w.crashed or c.commanded
    if w.loaded[1] and not decides:
        w = w._replace(loaded=("", 0))
    if w.epoch and not w.activity:
        w = w._replace(epoch=0, round=0)
    return s if w is s.workflow else s._replace(workflow=w)


def _matters(a: Attempt) -> bool:
    over = a.ended or a.life in (DEAD, GONE)
    return a.current or a.row == RUNNING or a.owner or a.accused > 0 or not over


def _hopeless(c: Scenario, s: State, a: Attempt) -> bool:
    """A zombie that has claimed nothing: all it can still do is to find itself stale."""
    stale = a.epoch != s.run.epoch and c.has["claim_needs_epoch"]
    return stale and not (a.row or a.current or a.owner or a.accused)


def _plain(a: Attempt) -> Attempt:
    """What is left of one that has ended, or that is dead and holds nothing."""
    if a.ended:
        return Attempt(0, 0, ended=True, again=a.again, life=a.life, current=a.current)
    if a.life == DEAD and a.row != RUNNING and not a.owner and not a.accused:
        return Attempt(0, 0, life=DEAD, current=a.current)
    return a


class Search:
    """`run` explores; what it has seen stays for the trace."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        start = initial(scenario)
        self.states, self.number = [start], {start: 0}
        self.parent = array("i", [-1])
        self.sources, self.targets = array("i"), array("i")
        """Of transitions that happen if they stay possible."""
        self.edges = self.most_lost = 0

    def run(self) -> Found:
        began, i, violation, at = time.monotonic(), 0, "", -1
        trace: list[str] = []
        while i < len(self.states) and not violation:
            edge = self._expand(i)
            if edge is not None:
                violation, at, trace = edge.wrong, i, [_line(edge.label, edge.to)]
            elif wrong := self._rest(i):
                violation, at = wrong, i
            elif len(self.states) > MOST_STATES:
                violation, at = "too many states", i
            i += 1
        if not violation and (at := self._cycle()) >= 0:
            violation = "L3 goes round for ever"
        while violation and at >= 0:
            trace.append(self._step_to(at))
            at = self.parent[at]
        return Found(
            violation=violation,
            trace=trace[::-1],
            states=len(self.states),
            edges=self.edges,
            seconds=time.monotonic() - began,
            most_lost=self.most_lost,
        )

    def _expand(self, i: int) -> Edge | None:
        """Adds what follows state i; the transition that breaks a property, if one does."""
        s = self.states[i]
        self.kinds = 0
        for edge in following(self.scenario, s):
            self.edges += 1
            self.kinds |= 1 << edge.kind
            wrong = edge.wrong or wrong_move(s, edge.to)
            n = self.number.get(edge.to)
            if n is None:
                n = self.number[edge.to] = len(self.states)
                self.states.append(edge.to)
                self.parent.append(i)
                wrong = wrong or wrong_state(edge.to)
                self.most_lost = max(self.most_lost, edge.to.lost)
            if edge.kind <= Kind.SWEEP:
                self.sources.append(i)
                self.targets.append(n)
            if wrong:
                return edge._replace(wrong=wrong)
        return None

    def _rest(self, i: int) -> str:
        s = self.states[i]
        if self.kinds & 1 << Kind.PROTOCOL:
            return ""
        if not self.kinds & 1 << Kind.SWEEP and not rests_well(s):
            return "L1 comes to rest in a bad state"
        if s.run.status == RUNNING and not slow(s):
            return "L2 a RUNNING row waits for the sweep"
        return ""

    def _cycle(self) -> int:
        """Takes away states without a way on, backwards; one that is left over, or -1."""
        count = len(self.states)
        out, first = array("i", bytes(4 * count)), array("i", [-1]) * count
        after = array("i", bytes(4 * len(self.sources)))
        for e, (a, b) in enumerate(zip(self.sources, self.targets, strict=True)):
            out[a] += 1
            after[e], first[b] = first[b], e
        ends = [i for i in range(count) if not out[i]]
        taken = 0
        while ends:
            taken += 1
            e = first[ends.pop()]
            while e >= 0:
                out[self.sources[e]] -= 1
                if not out[self.sources[e]]:
                    ends.append(self.sources[e])
                e = after[e]
        return -1 if taken == count else next(i for i in range(count) if out[i])

    def _step_to(self, i: int) -> str:
        if self.parent[i] < 0:
            return _line("start", self.states[i])
        edges = following(self.scenario, self.states[self.parent[i]])
        label = next(edge.label for edge in edges if edge.to == self.states[i])
        return _line(label, self.states[i])


def explore(scenario: Scenario) -> Found:
    return Search(scenario).run()


def _line(label: str, s: State) -> str:
    """`RUNNING e1 1a r1`: epoch, round, review or refine, revision; then workflow and attempts."""
    w, run = s.workflow, s.run
    rows = " ".join(
        f"{i + 1}:{a.life}{'' if a.current else ' zombie'}{' owner' if a.owner else ''}"
        f" {a.row.lower() or 'no step'}"
        for i, a in enumerate(s.attempts)
    )
    phase = (w.phase + (f"+{w.activity}" if w.activity else "")) if w.open else f"ended {w.end}"
    due = " due" if run.due else ""
    at = f"{run.round}{'ab'[run.stage]}"
    row = f"{run.status} e{run.epoch} {at} r{run.revision}{due}"
    return f"{label:64} {row} | {phase} | {rows}".rstrip(" |")
