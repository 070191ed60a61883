"""The judge of random faults sees what it is there for: each case is clean but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faults.kit.members import Blame
from tests.faults.kit.model import Asked, canonical
from tests.faults.random_judge import Case, Window
from tests.faults.random_rows import Rows

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
WORKER = f"m/b/n/7/{BEGAN.timestamp() - 60:.2f}/x"
ITEM = {"quote": "E1x"}
_STEP = {"name": "review", "round": 1, "output_revision": None}


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def moment(seconds: float) -> float:
    return at(seconds).timestamp()


def call(number: int, since: float, until: float, **more: Any) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "plan_id": "p1",
        "step_name": "review",
        "round": 1,
        "part": "main",
        "status": "SUCCEEDED",
        "end_cause": None,
        "reason_code": None,
        "prompt_hash": f"h{number}",
        "provider_request_id": f"req-{number}",
        "usage_source": "reported",
        "tokens_input": 100,
        "tokens_output": 10,
        "cost": 1,
        "worker": WORKER,
        "started_at": at(since),
        "ended_at": at(until),
        **more,
    }


def asked(number: int, since: float, until: float, **more: Any) -> Asked:
    made = Asked(
        number=number,
        at=moment(since),
        tag="t",
        step="review",
        part="main",
        prompt_hash=f"h{number}",
        already=frozenset(),
        key="sk-worker-0-1",
        outcome="done",
        ended_at=moment(until),
        input=100,
        output=10,
    )
    return replace(made, **more)


@dataclass
class World:
    """A run whose first call was lost with its worker and continued from the one item it brought:
    one review, nothing found that could not pass, confirmed."""

    run: dict[str, Any] = field(
        default_factory=lambda: {
            "status": "CONFIRMED",
            "event_seq": 2,
            "move_seq": 2,
            "signalled_seq": 2,
            "current_round": 1,
            "working_revision": 0,
            "tokens_input": 200,
            "tokens_output": 20,
            "cost": 2,
        }
    )
    steps: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"id": "s1", "seq": 1, "status": "FAILED", **_STEP},
            {"id": "s2", "seq": 2, "status": "SUCCEEDED", **_STEP},
        ]
    )
    calls: list[dict[str, Any]] = field(
        default_factory=lambda: [
            call(1, 1, 4, status="LOST", end_cause="worker_lost", reason_code="worker_lost"),
            call(2, 5, 8),
        ]
    )
    items: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"plan_id": "p1", "part": "main", "key": "k", "payload": ITEM, "created_at": at(2)}
        ]
    )
    parts: list[dict[str, Any]] = field(
        default_factory=lambda: [{"plan_id": "p1", "part": "main", "done_at": at(8)}]
    )
    events: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"seq": 1, "type": "run_awaiting_confirmation", "at": at(9), "data": {}},
            {"seq": 2, "type": "run_confirmed", "at": at(10), "data": {}},
        ]
    )
    revisions: list[dict[str, Any]] = field(
        default_factory=lambda: [{"number": 0, "step_id": None, "run_id": None}]
    )
    asked: list[Asked] = field(
        default_factory=lambda: [
            asked(1, 1.1, 3, outcome="gone"),
            asked(2, 5.1, 7.9, already=frozenset({canonical(ITEM)})),
        ]
    )
    blames: list[Blame] = field(
        default_factory=lambda: [Blame(pid=7, how="killed", since=moment(3))]
    )

    def judged(self) -> list[str]:
        said: list[str] = []
        rows = Rows(**{name: getattr(self, name) for name in Rows.__dataclass_fields__})
        windows = [Window(name="kill-worker", touches=frozenset({"worker"}), since=moment(3))]
        case = Case(
            rows,
            self.asked,
            blames=self.blames,
            windows=windows,
            say=lambda kind, _: said.append(kind),
        )
        case.judge("CONFIRMED")
        return said


def test_a_run_that_lost_a_call_to_a_kill_is_clean() -> None:
    assert World().judged() == []


def _asks_again_after_the_end(world: World) -> None:
    world.calls.append(call(3, 9, 11))
    world.asked.append(asked(3, 9.1, 11, already=frozenset({canonical(ITEM)})))
    world.run.update(tokens_input=300, tokens_output=30, cost=3)


def _pays_twice(world: World) -> None:
    world.calls[0].update(status="SUCCEEDED", prompt_hash="h2", end_cause=None)
    world.asked[0].outcome = "done"


def _two_at_once(world: World) -> None:
    world.asked[0].ended_at = moment(6)
    world.blames[0] = Blame(pid=7, how="stopped", since=moment(20))
    world.calls[0].update(end_cause="cut", reason_code="cut")


def _stopped_by_nobody(world: World) -> None:
    world.calls[0].update(status="CANCELLED", end_cause="interrupted")
    world.blames.clear()


def _not_taken(world: World) -> None:
    world.calls[0].update(status="FAILED", end_cause="cut")
    world.asked[0].outcome = "done"


WRONG: dict[str, Callable[[World], object]] = {
    "asked for a stored item": lambda world: setattr(world.asked[1], "already", frozenset()),
    "a request without a row": lambda world: world.asked.append(asked(3, 2, 3)),
    "a reply without a request": lambda world: world.asked.pop(),
    "repeat": _asks_again_after_the_end,
    "repeat ": _pays_twice,
    "two requests at once": _two_at_once,
    "a living worker was given up": lambda world: world.blames.clear(),
    "a call was stopped by nobody": _stopped_by_nobody,
    "a whole reply was not taken": _not_taken,
    "money": lambda world: world.calls[1].update(tokens_input=99),
    "money ": lambda world: world.run.update(cost=3),
    "a gap": lambda world: world.steps[1].update(seq=3),
    "drift": lambda world: world.run.update(current_round=2),
    "drift ": lambda world: world.run.update(event_seq=3),
    "status went back": lambda world: world.events.reverse(),
    "not what was wanted": lambda world: world.run.update(status="REJECTED"),
    "a signal is due for ever": lambda world: world.run.update(move_seq=3),
}


def test_a_stop_counts_where_its_event_stands_not_when_its_transaction_began() -> None:
    world = World()
    _stopped_by_nobody(world)
    world.events[:] = [
        {"seq": 1, "type": "call_started", "at": at(1), "data": {"call_id": world.calls[0]["id"]}},
        {"seq": 2, "type": "run_interrupted", "at": at(-60), "data": {}},
        {"seq": 3, "type": "call_ended", "at": at(4), "data": {"call_id": world.calls[0]["id"]}},
        {"seq": 4, "type": "run_resumed", "at": at(5), "data": {}},
        *({**event, "seq": event["seq"] + 4} for event in world.events),
    ]
    world.run.update(event_seq=6)
    assert world.judged() == []


@pytest.mark.parametrize("kind", WRONG)
def test_one_thing_wrong_is_seen(kind: str) -> None:
    world = World()
    WRONG[kind](world)
    assert kind.strip() in world.judged()
