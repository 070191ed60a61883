"""An attempt of the activity: claim, calls, commits, the stop in flight."""

from __future__ import annotations

from collections.abc import Iterator

from tests.protocol.faults import postgres_restarts, tried_again
from tests.protocol.recovery import step_dead
from tests.protocol.scenario import Scenario
from tests.protocol.state import (
    ALIVE,
    BLOCKED,
    CANCELLED,
    CLOSED,
    DEAD,
    DELETED,
    DONE,
    FAILED,
    FROZEN,
    GONE,
    HELD,
    INTERRUPTED,
    KEPT,
    MISSING,
    NONE,
    OLD,
    OPENED,
    REFINE,
    REPLIED,
    REVIEW,
    RUNNING,
    SENT,
    UNLOCKED,
    Attempt,
    Edge,
    Kind,
    State,
    activity_over,
    advanced,
    put,
    tell,
)


def attempt(c: Scenario, s: State, i: int) -> Iterator[Edge]:
    a = s.attempts[i]
    yield from _life(c, s, i, a)
    if a.life != ALIVE:
        return
    if a.ended:
        yield _returns(s, i, a)
        return
    if REPLIED not in a.parts and _must_stop(c, s, a):
        to = _stopped(c, s, i)
        yield Edge(f"attempt {i + 1}: looks, closes call and step", Kind.PROTOCOL, to)
    if not a.row:
        yield from _claim(c, s, i, a)
    for p, part in enumerate(a.parts):
        yield from _goes_on(c, s, i, p, part)
    if a.parts and all(part == KEPT for part in a.parts):
        yield from _close(c, s, i)


def _goes_on(c: Scenario, s: State, i: int, p: int, part: int) -> Iterator[Edge]:
    if part == NONE and NONE not in s.attempts[i].parts[:p]:
        yield from _call(c, s, i, p)
    elif part == OPENED:
        yield _request(s, i, p, f"attempt {i + 1}: sends the request")
    elif part == SENT:
        yield from _provider(c, s, i, p)
    elif part == REPLIED:
        yield from _commit(c, s, i, p)


def _life(c: Scenario, s: State, i: int, a: Attempt) -> Iterator[Edge]:
    name = f"attempt {i + 1}"
    if a.life in (FROZEN, DEAD, GONE) and a.current:
        how = "fails, its step left open" if a.life == GONE else "is silent for too long"
        yield Edge(f"Temporal: {name} {how}", Kind.PROTOCOL, _given_up(c, s, i, a))
    if a.life == FROZEN:
        yield Edge(f"{name}: thaws", Kind.OPTIONAL, put(s, i, life=ALIVE))
    if a.life == BLOCKED:
        yield Edge(f"{name}: its event loop goes on", Kind.PROTOCOL, put(s, i, life=ALIVE))
    if a.life in (ALIVE, GONE) and (a.sign != HELD or a.age):
        to = put(s, i, sign=HELD, age=0)
        yield Edge(f"{name}: its worker writes its row, takes its lock", Kind.PROTOCOL, to)


def _given_up(c: Scenario, s: State, i: int, a: Attempt) -> State:
    to = put(s, i, current=False)
    if a.life == GONE and not c.has["every_end_loads"]:
        return tell(activity_over(to), crashed=True, loaded=(RUNNING, a.epoch))
    return tried_again(to)


def _returns(s: State, i: int, a: Attempt) -> Edge:
    to = s._replace(attempts=(*s.attempts[:i], *s.attempts[i + 1 :]))
    if a.current:
        to = tried_again(to) if a.again else activity_over(to)
    return Edge(f"attempt {i + 1}: returns", Kind.PROTOCOL, to)


def _must_stop(c: Scenario, s: State, a: Attempt) -> bool:
    told = s.workflow.cancel or not a.current
    if told and not c.has["cancel_means_look"]:
        return True
    row_says = s.run.status != RUNNING or s.run.epoch != a.epoch or a.row == CLOSED
    return bool(a.row) and row_says and (told or c.has["worker_polls_row"])


def _ended(c: Scenario, s: State, i: int) -> State:
    """About to return: it gives up the ownership."""
    if not c.has["owner_clears_own"]:
        s = s._replace(attempts=tuple(b._replace(owner=False) for b in s.attempts))
    return put(s, i, parts=(), ended=True, owner=False)


def _stopped(c: Scenario, s: State, i: int) -> State:
    a = s.attempts[i]
    s = s._replace(lost=s.lost + a.in_flight)
    return _ended(c, put(s, i, row=CLOSED if a.row == RUNNING else a.row), i)


def _done(c: Scenario, s: State, i: int) -> State:
    """The step is committed: the next one of the same round, or of the next, or the end."""
    a, run = s.attempts[i], s.run
    if a.stage == REVIEW and (run.round, run.stage) == (a.round, REFINE):
        return put(s, i, stage=REFINE, row="", parts=())
    if c.joined and a.row and not run.complete:
        return put(s, i, round=run.round, stage=REVIEW, row="", parts=())
    return _ended(c, put(s, i, row=DONE if a.row else ""), i)


def _claim(c: Scenario, s: State, i: int, a: Attempt) -> Iterator[Edge]:
    """No edge: it waits for a living first attempt, and watches the row."""
    run = s.run
    label = f"attempt {i + 1}: claims round {a.round} {'refine' if a.stage else 'review'}"
    if (
        (run.status != RUNNING and c.has["claim_needs_running"])
        or (run.epoch != a.epoch and c.has["claim_needs_epoch"])
        or (run.round != a.round and c.has["claim_needs_round"] and run.status != DELETED)
    ):
        yield Edge(f"{label}: stale", Kind.PROTOCOL, _ended(c, s, i))
        return
    if (run.round, run.stage) > (a.round, a.stage) and c.has["claim_returns_result"]:
        yield Edge(f"{label}: is committed already", Kind.PROTOCOL, _done(c, s, i))
        return
    held = _holder(c, s, i, a)
    if held is None:
        return
    free, how = held
    yield from _opened(c, free, i, label + how)


def _holder(c: Scenario, s: State, i: int, a: Attempt) -> tuple[State, str] | None:
    """The state in which no other step is RUNNING, and how it came to it."""
    how = ""
    for j, b in enumerate(s.attempts):
        if j == i or b.row != RUNNING:
            continue
        if step_dead(c, s, b):
            if not c.has["claim_supersedes_dead"]:
                return None
            how += f", {j + 1} is dead"
        elif b.epoch == a.epoch:
            if c.has["living_wins"]:
                return None
            how += f", supersedes the living {j + 1}"
        elif c.has["old_epoch_wait_ends"]:
            how += f", supersedes {j + 1} of an old epoch after 5 s"
        else:
            return None
        s = put(s, j, row=CLOSED)
    return s, how


def _wrong_claim(c: Scenario, s: State, a: Attempt) -> str:
    run = s.run
    if run.status == DELETED:
        return "I6 a step written after delete"
    if run.status != RUNNING:
        return "I9 a step opened in a run not RUNNING"
    if run.epoch != a.epoch:
        return "I9 a step opened under another epoch"
    if a.stage == REFINE and run.reviewed not in (0, run.revision):
        return "I10 edits of a review of another text"
    if run.plan and run.kept and run.plan[1] != run.profile and not c.has["plan_frozen"]:
        return "I10 kept parts counted under another cut, text skipped"
    return ""


def _opened(c: Scenario, s: State, i: int, label: str) -> Iterator[Edge]:
    """Plan and own row, in one transaction."""
    a, run = s.attempts[i], s.run
    wrong = _wrong_claim(c, s, a)
    plan = run.plan if run.plan and c.has["plan_frozen"] else (run.revision, run.profile)
    kept, count = run.kept if c.has["parts_alone"] else 0, c.parts[a.stage]
    owners = tuple(b._replace(owner=j == i) for j, b in enumerate(s.attempts))
    s = s._replace(attempts=owners, run=run._replace(plan=plan))
    if kept + 1 == 1 << count and not c.has["claim_closes_complete"]:
        return
    if c.has["claim_writes_seen"] and (a.age or a.sign in (OLD, MISSING)):
        s = put(s, i, age=0, sign=UNLOCKED if a.sign in (OLD, MISSING) else a.sign)
    parts = tuple(KEPT if kept >> p & 1 else NONE for p in range(count))
    yield Edge(label, Kind.PROTOCOL, put(s, i, row=RUNNING, parts=parts, input=plan[0]), wrong)


def _part(a: Attempt, p: int, value: int) -> tuple[int, ...]:
    return (*a.parts[:p], value, *a.parts[p + 1 :])


def _limited(c: Scenario, s: State) -> bool:
    """Closed + reserved + mine is more than the limit. Calls that are open are asked for, too."""
    open_calls = sum(
        part in (OPENED, SENT, REPLIED) for a in s.attempts if a.row == RUNNING for part in a.parts
    )
    counted = s.run.asked - (0 if c.has["reserve_before_call"] else open_calls)
    return counted + 1 > c.limit + s.run.raised


def _out_of_limit(c: Scenario, s: State, i: int, label: str) -> Iterator[Edge]:
    """Siblings settle first; then the step is closed and the run asks a person."""
    a = s.attempts[i]
    if SENT in a.parts or REPLIED in a.parts:
        return
    to = _stopped(c, s, i)
    yield Edge(f"{label}, a limit refuses", Kind.PROTOCOL, _interrupted(to))


def _interrupted(s: State) -> State:
    return s._replace(run=s.run._replace(status=INTERRUPTED))


def _call(c: Scenario, s: State, i: int, p: int) -> Iterator[Edge]:
    """The call's row, under the run's lock; with it the request."""
    a, run = s.attempts[i], s.run
    label = f"attempt {i + 1}: calls for part {p + 1}"
    goes_on = run.status == RUNNING and run.epoch == a.epoch
    refused = (a.row != RUNNING and c.has["call_fenced"]) or (
        not goes_on and c.has["call_needs_running"]
    )
    if refused:
        yield Edge(f"{label}, is refused", Kind.PROTOCOL, _stopped(c, s, i))
        return
    if c.limit and _limited(c, s):
        yield from _out_of_limit(c, s, i, label)
        return
    if c.limit:
        s = s._replace(run=run._replace(asked=run.asked + 1))
    if not c.has["request_with_row"]:
        yield Edge(f"{label}, its row", Kind.PROTOCOL, put(s, i, parts=_part(a, p, OPENED)))
        return
    edge = _request(s, i, p, label)
    late = "" if goes_on else "I11 a call begun after the stop"
    over = "I13 parts asked for more than the limit" if _overspent(c, s) else ""
    yield edge._replace(wrong=edge.wrong or late or over)


def _overspent(c: Scenario, s: State) -> bool:
    return bool(c.limit) and s.run.asked > c.limit + s.run.raised


def _request(s: State, i: int, p: int, label: str) -> Edge:
    a, run = s.attempts[i], s.run
    here, there = (a.round, a.stage), (run.round, run.stage)
    stored = here == there and run.kept >> p & 1 and run.plan[:1] == (a.input,)
    wrong = "I1 a request for a reply that is kept" if stored or here < there else ""
    return Edge(label, Kind.PROTOCOL, put(s, i, parts=_part(a, p, SENT)), wrong)


def _provider(c: Scenario, s: State, i: int, p: int) -> Iterator[Edge]:
    a, run = s.attempts[i], s.run
    to = put(s, i, parts=_part(a, p, REPLIED))
    yield Edge(f"provider: completes part {p + 1} of attempt {i + 1}", Kind.PROTOCOL, to)
    if REPLIED in a.parts or not (t := c.spend(s, "error")):
        return
    to, wrong = _stopped(c, t, i), ""
    mine = run.epoch == a.epoch or not c.has["failure_by_epoch"]
    own = a.row == RUNNING or not c.has["failure_by_own_step"]
    if run.status == RUNNING and mine and own:
        to = to._replace(run=run._replace(status=FAILED))
        if run.epoch != a.epoch:
            wrong = "I3 FAILED by an attempt of an older epoch"
        if a.row != RUNNING:
            wrong = "I3 FAILED by an attempt without its own step"
    yield Edge(f"provider: refuses attempt {i + 1} for good", Kind.FAULT, to, wrong)


def _commit(c: Scenario, s: State, i: int, p: int) -> Iterator[Edge]:
    """What was paid, part by part: one transaction each, before anything is made of it."""
    a, run = s.attempts[i], s.run
    label, parts = f"attempt {i + 1}: commits part {p + 1}", _part(a, p, KEPT)
    here = (a.round, a.stage) == (run.round, run.stage) and a.row == RUNNING
    if here and run.kept >> p & 1:
        yield Edge(f"{label} again, finds it committed", Kind.PROTOCOL, put(s, i, parts=parts))
        return
    kept = put(s._replace(run=run._replace(kept=run.kept | 1 << p)), i, parts=parts)
    yield from _written(c, s, i, label, kept)


def _close(c: Scenario, s: State, i: int) -> Iterator[Edge]:
    """All parts are stored: result and checkpoint."""
    label = f"attempt {i + 1}: closes its step"
    if s.attempts[i].row == DONE:
        yield Edge(f"{label} again, finds it closed", Kind.PROTOCOL, _done(c, s, i))
        return
    closed = put(s._replace(run=advanced(s.run)), i, row=DONE)
    yield from _written(c, s, i, label, closed)


def _written(c: Scenario, s: State, i: int, label: str, to: State) -> Iterator[Edge]:
    """Behind the fence; its answer may be lost with Postgres, and then it is written again."""
    a = s.attempts[i]
    if _fenced_off(c, s, a):
        yield Edge(f"{label}, is refused", Kind.PROTOCOL, _stopped(c, s, i))
        return
    wrong, done = _wrong_commit(s, a), to.attempts[i].row == DONE
    yield Edge(label, Kind.PROTOCOL, _done(c, to, i) if done else to, wrong)
    if t := c.spend(s, "restart"):
        away = postgres_restarts(t)
        landed = put(away._replace(run=to.run), i, row=to.attempts[i].row)  # its parts as they were
        for how, after in (("lands", landed), ("does not land", away)):
            unsure = after if c.has["commit_repeats"] else _stopped(c, after, i)
            yield Edge(f"{label}, it {how}, Postgres restarts", Kind.FAULT, unsure, wrong)


def _fenced_off(c: Scenario, s: State, a: Attempt) -> bool:
    run = s.run
    return (
        run.status == DELETED
        or (a.row != RUNNING and c.has["commit_by_own_step"])
        or (run.epoch != a.epoch and c.has["commit_by_epoch"])
        or (run.status not in (RUNNING, INTERRUPTED, FAILED) and c.has["commit_by_status"])
        or (a.input != run.revision and c.has["commit_by_revision"])
    )


def _wrong_commit(s: State, a: Attempt) -> str:
    run = s.run
    if (a.round, a.stage) < (run.round, run.stage):
        return "I1 committed twice"
    if a.row != RUNNING:
        return "I3 a commit without the own step RUNNING"
    if a.input != run.revision:
        return "I10 a result committed for another revision"
    if run.epoch != a.epoch:
        return "I3 a commit under a newer epoch"
    return "I6 a result written after CANCELLED" if run.status == CANCELLED else ""
