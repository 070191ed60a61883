"""Situations that the full protocol must be able to reach, so that "clean" is not empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.protocol.scenario import Scenario
from tests.protocol.search import following, initial
from tests.protocol.state import (
    ALIVE,
    AWAITING,
    CANCELLED,
    CLOSED,
    CONFIRMED,
    FAILED,
    FROZEN,
    INTERRUPTED,
    KEPT,
    MISSING,
    NONE,
    RUNNING,
    Edge,
    State,
)

Seen = Callable[[State, Edge], bool]


@dataclass(frozen=True)
class Witness:
    scenario: str
    seen: Seen


def _advances(s: State, e: Edge) -> bool:
    def place(t: State) -> tuple[int, ...]:
        return t.run.round, t.run.stage, t.run.kept

    return "commits" in e.label and "refused" not in e.label and place(s) < place(e.to)


def _waits(s: State, e: Edge) -> bool:
    first = any(a.row == RUNNING and a.life == ALIVE and not a.current for a in e.to.attempts)
    return first and any(a.current and not a.row and not a.ended for a in e.to.attempts)


def _nobody_counts(s: State, e: Edge) -> bool:
    return _advances(s, e) and not any(a.current and a.row for a in s.attempts)


def _living_closed(s: State, e: Edge) -> bool:
    closed = any(a.life == ALIVE and a.row == CLOSED for a in e.to.attempts)
    return "take_over of" in e.label and closed


WITNESSES: dict[str, Witness] = {
    "a run is confirmed": Witness("full", lambda s, e: e.to.run.status == CONFIRMED),
    "a second attempt waits for a living first": Witness("single partition", _waits),
    "it returns what the first has committed": Witness(
        "short partition", lambda s, e: "committed already" in e.label
    ),
    "a commit of one whom Temporal gave up is taken": Witness("single partition", _nobody_counts),
    "a zombie's commit is refused": Witness("single freeze", lambda s, e: "refused" in e.label),
    "two requests are in flight": Witness(
        "single freeze",
        lambda s, e: sum(a.in_flight and a.life == ALIVE for a in e.to.attempts) == 2,
    ),
    "a worker silent for 15 s thaws before its take-over": Witness("single freeze", _living_closed),
    "a complete reply is kept, the run stays INTERRUPTED": Witness(
        "single interrupt resume",
        lambda s, e: _advances(s, e) and e.to.run.status == INTERRUPTED,
    ),
    "a step of an old epoch is superseded after 5 s": Witness(
        "single interrupt resume", lambda s, e: "old epoch after 5 s" in e.label
    ),
    "a claim is stale": Witness("single interrupt resume", lambda s, e: "stale" in e.label),
    "an abandoned activity is at work under a new epoch": Witness(
        "single interrupt resume",
        lambda s, e: (
            "schedules" in e.label and e.to.run.epoch == 2 and any(a.row for a in e.to.attempts)
        ),
    ),
    "resume starts a parked run": Witness(
        "single interrupt resume",
        lambda s, e: "signals" in e.label and not s.workflow.open and e.to.workflow.open,
    ),
    "one part is kept, the other alone asked for": Witness(
        "wide kill",
        lambda s, e: "claims" in e.label and any(a.parts == (KEPT, NONE) for a in e.to.attempts),
    ),
    "a part's commit lands, its answer is lost, it is repeated": Witness(
        "single restart", lambda s, e: "finds it committed" in e.label
    ),
    "so does the commit that closes the step": Witness(
        "single restart", lambda s, e: "finds it closed" in e.label
    ),
    "who finds all parts stored closes the step": Witness(
        "wide kill",
        lambda s, e: "claims" in e.label and any(a.parts == (KEPT, KEPT) for a in e.to.attempts),
    ),
    "the reaper closes a frozen step of an interrupted run": Witness(
        "single interrupt freeze",
        lambda s, e: "reaper: closes" in e.label and any(a.life == FROZEN for a in e.to.attempts),
    ),
    "a late take_over changes nothing": Witness(
        "single kill",
        lambda s, e: "take_over of" in e.label and any(a.row == RUNNING for a in e.to.attempts),
    ),
    "a take-over runs again after its marker was lost": Witness(
        "single kill ghost",
        lambda s, e: "take_over of" in e.label and s.count("ghost") == 1 and e.to.run == s.run,
    ),
    "a missing row is proof": Witness(
        "single kill backend",
        lambda s, e: "reaper: tells" in e.label and any(a.sign == MISSING for a in e.to.attempts),
    ),
    "a handed over step is done by another attempt": Witness(
        "single handover", lambda s, e: s.count("handover") == 1 and _advances(s, e)
    ),
    "an edit makes a commit refused": Witness(
        "single interrupt edit",
        lambda s, e: "is refused" in e.label and e.to.run.revision == 2,
    ),
    "a pending review is voided and a round more granted": Witness(
        "short interrupt resume edit",
        lambda s, e: e.to.run.goal == 3 and e.to.run.status == RUNNING,
    ),
    "an old page is refused": Witness("single edit page", lambda s, e: "refused" in e.label),
    "a resume of FAILED is confirmed": Witness(
        "single error resume",
        lambda s, e: e.to.run.status == CONFIRMED and e.to.run.epoch == 2,
    ),
    "a conclude that runs again after rework changes nothing": Witness(
        "single rework ghost",
        lambda s, e: (
            "runs again" in e.label and s.run.epoch == 2 and s.run.complete and e.to.run == s.run
        ),
    ),
    "a replayed signal by hand is refused": Witness(
        "single hand resume reset",
        lambda s, e: "hand INTER" in e.label and s.run.epoch == 2 and e.to.run == s.run,
    ),
    "a workflow cancel arrives during an activity": Witness(
        "single stop",
        lambda s, e: e.to.run.status == CANCELLED and bool(s.workflow.activity),
    ),
    "a verdict of the sweep comes too late": Witness(
        "single interrupt resume terminate",
        lambda s, e: "by epoch 1" in e.label and e.to.run == s.run and s.run.epoch == 2,
    ),
    "terminated, FAILED, resumed, offered": Witness(
        "single terminate resume",
        lambda s, e: s.run.status != FAILED and e.to.run.status == AWAITING and e.to.run.epoch == 2,
    ),
    "the bound is tight: three lost of three disturbances": Witness(
        "single interrupt:2 resume:2 kill", lambda s, e: e.to.lost == 3
    ),
}


def reach(name: str) -> int:
    """How many transitions away the situation is; -1 when it is out of reach."""
    witness = WITNESSES[name]
    scenario = Scenario(witness.scenario)
    start = initial(scenario)
    known, layer, depth = {start}, [start], 0
    while layer:
        depth, after = depth + 1, []
        for s in layer:
            for edge in following(scenario, s):
                if witness.seen(s, edge):
                    return depth
                if edge.to not in known:
                    known.add(edge.to)
                    after.append(edge.to)
        layer = after
    return -1
