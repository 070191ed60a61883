"""People: moves through the API, pages that are out of date, commands by hand in Temporal Web.

The API sends a move's signal in a process that may die, repeat itself, or be slower than another.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.scenario import Scenario
from tests.protocol.state import (
    AWAITING,
    CANCELLED,
    CLOSED,
    CONFIRMED,
    DELETED,
    FAILED,
    FINAL,
    INTERRUPTED,
    LOAD,
    RUNNING,
    Edge,
    Kind,
    Run,
    Send,
    State,
    Workflow,
    tell,
    voided,
)


def people(c: Scenario, s: State) -> Iterator[Edge]:
    yield from _operator(c, s)
    yield from _second_page(c, s)
    yield from _by_hand(c, s)
    yield from _sends(c, s)


def _into_running(run: Run) -> Run:
    return run._replace(status=RUNNING, epoch=run.epoch + 1)


def _rewritten(c: Scenario, run: Run) -> Run:
    """A person's text becomes the working one; where the run awaits a person it is only offered."""
    if run.status != AWAITING and c.has["move_voids_plan"]:
        run = voided(run)
    return run._replace(revision=run.revision + 1)


def _moved(c: Scenario, s: State, run: Run) -> State:
    """The move has committed; its signal is still to be sent."""
    start = run.status == RUNNING and c.has["signal_with_start"]
    older = (send._replace(behind=send.behind + 1) for send in s.sends)
    sends = tuple(sorted((*older, Send(0, run.status, start))))
    return s._replace(run=run._replace(due=c.has["signalled_seq"]), sends=sends)


def _operator(c: Scenario, s: State) -> Iterator[Edge]:
    run, status = s.run, s.run.status
    if status == RUNNING and (t := c.spend(s, "interrupt")):
        yield _act("interrupt", _moved(c, t, run._replace(status=INTERRUPTED)))
    if status in (INTERRUPTED, FAILED) and (t := c.spend(s, "resume")):
        yield from _resume(c, t)
    waits = status in (INTERRUPTED, FAILED, AWAITING)
    beside = status == RUNNING and c.has["edit_beside_running"]
    if (waits or status == RUNNING) and not beside and (t := c.spend(s, "edit")):
        yield _act("a person's edit", t._replace(run=_rewritten(c, run)))
    if status == AWAITING:
        yield _act("confirm", _moved(c, s, run._replace(status=CONFIRMED)))
        if t := c.spend(s, "rework"):  # in the table of moves; no page offers it yet
            again = _into_running(run._replace(revision=run.revision + 1, goal=run.goal + 1))
            yield _act("rework", _moved(c, t, again))
    if status not in FINAL and (t := c.spend(s, "cancel")):
        yield _act("cancel", _moved(c, t, run._replace(status=CANCELLED)))
    if status != DELETED and (t := c.spend(s, "delete")):
        rows = tuple(a._replace(row=a.row and CLOSED, owner=False) for a in t.attempts)
        gone = Run(0, DELETED, 0, 0, revision=0, profile=0)
        yield _act("delete", _moved(c, t, gone)._replace(attempts=rows))


def _act(what: str, to: State) -> Edge:
    return Edge(f"API: {what}", Kind.FAULT, to)


def _resume(c: Scenario, s: State) -> Iterator[Edge]:
    run = s.run._replace(raised=s.run.raised + 1) if c.limit else s.run
    yield _act("resume", _moved(c, s, _into_running(run)))
    if t := c.spend(s, "edit"):
        yield _act("resume with a text", _moved(c, t, _into_running(_rewritten(c, run))))
    if t := c.spend(s, "profile"):
        other = run._replace(profile=run.profile + 1)
        yield _act("resume with another profile", _moved(c, t, _into_running(other)))


def _second_page(c: Scenario, s: State) -> Iterator[Edge]:
    """Somebody whose page may be older than the last edit."""
    run = s.run
    if run.status != AWAITING:
        return
    if not s.page and (t := c.spend(s, "page")):
        yield Edge("page: shows what is offered", Kind.FAULT, t._replace(page=run.revision))
    if not s.page:
        return
    t, stale = s._replace(page=0), s.page != run.revision
    if stale and c.has["confirm_names_revision"]:
        yield Edge("page: refused, another revision is offered", Kind.FAULT, t)
        return
    wrong = "I10 a person's edit silently overwritten" if stale else ""
    confirmed = run._replace(status=CONFIRMED)
    yield Edge("page: confirm", Kind.FAULT, _moved(c, t, confirmed), wrong)
    edited = _rewritten(c, run)._replace(status=CONFIRMED)
    yield Edge("page: confirm with an edit", Kind.FAULT, _moved(c, t, edited), wrong)


def _by_hand(c: Scenario, s: State) -> Iterator[Edge]:
    w = s.workflow
    if w.open and not w.command and (t := c.spend(s, "hand")):
        for status in (INTERRUPTED, RUNNING):
            to = tell(t, command=(status, w.loaded, False))._replace(hand=(status, w.loaded[1]))
            yield Edge(f"by hand: signal {status}", Kind.FAULT, to)
    if w.open and not w.stop and (t := c.spend(s, "stop")):
        if w.activity and not c.has["cancel_arrives"]:
            swallowed = tell(t, cancel=w.activity == "started")
            yield Edge("by hand: workflow cancel, an activity swallows it", Kind.FAULT, swallowed)
        else:
            yield Edge("by hand: workflow cancel", Kind.FAULT, tell(t, stop=True))


def _delivered(c: Scenario, s: State, send: Send) -> State:
    """The Temporal server takes a signal, or a signal with start."""
    if s.workflow.open:
        return tell(s, news=LOAD if c.has["row_is_truth"] else send.says)
    return s._replace(workflow=Workflow()) if send.start else s


def _sends(c: Scenario, s: State) -> Iterator[Edge]:
    for i, send in enumerate(s.sends):
        rest = (*s.sends[:i], *s.sends[i + 1 :])
        name = f"API: {send.says} ({send.behind} behind)"
        if send.sent:
            due = s.run.due and send.behind > 0 and c.has["number_not_flag"]
            to = s._replace(run=s.run._replace(due=due), sends=rest)
            yield Edge(f"{name} acknowledged", Kind.PROTOCOL, to)
        else:
            to = _delivered(c, s, send)
            if c.lossy:
                later = tuple(sorted((*rest, send._replace(sent=True))))
                to = to._replace(sends=later)
            else:  # nothing comes between the signal and its acknowledgement
                due = s.run.due and send.behind > 0
                to = to._replace(run=s.run._replace(due=due), sends=rest)
            yield Edge(f"{name} signals", Kind.PROTOCOL, to)
            if again := c.spend(_delivered(c, s, send), "dup"):
                yield Edge(f"{name} signals, and once more later", Kind.FAULT, again)
        if died := c.spend(s, "loss"):
            yield Edge(f"{name} process dies", Kind.FAULT, died._replace(sends=rest))
