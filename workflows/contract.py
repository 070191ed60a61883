"""What crosses Temporal: ids, numbers and verdicts; never a text, a prompt or a key.

Plain frozen dataclasses with defaults on later fields, so an older history still replays.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Next(StrEnum):
    """What a loaded row says comes next."""

    TRANSCRIBE = "transcribe"
    DRAFT = "draft"
    ROUND = "round"
    CONCLUDE = "conclude"
    WAIT = "wait"
    END = "end"


@dataclass(frozen=True, kw_only=True)
class RunInput:
    run_id: str


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The row as one load saw it. `next` is what the workflow does; `round` for ROUND.

    The settings a workflow needs come with the load, since it may not read the environment;
    `searchable` says whether the namespace knows our search attributes.
    """

    status: str
    epoch: int
    next: str
    round: int = 0
    current_round: int = 0
    max_rounds: int = 0
    score: int | None = None
    kind: str = ""
    document_id: str = ""
    reason: str | None = None
    searchable: bool = False
    heartbeat_seconds: float = 30.0
    work_seconds: float = 7200.0
    parking_seconds: float = 3600.0


@dataclass(frozen=True, kw_only=True)
class WorkInput:
    """One activity: a transcription or draft (round 0) or a round, under its epoch."""

    run_id: str
    epoch: int
    round: int = 0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an activity ended. The workflow goes by the row whatever this says.

    `row`: as the activity's last commit left it, which is a load like any other; None where it
    ended without one.
    """

    code: str
    steps: int = 0
    items: int = 0
    row: Loaded | None = None


@dataclass(frozen=True, kw_only=True)
class ConcludeInput:
    run_id: str
    epoch: int


@dataclass(frozen=True, kw_only=True)
class HandMove:
    """A command that somebody sent by hand: checked against the load before it arrived."""

    run_id: str
    command: str
    loaded_status: str
    epoch: int
    actor: str = "temporal"
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class CancelMove:
    run_id: str


@dataclass(frozen=True, kw_only=True)
class TakeOver:
    """Internal signal and local activity: the reaper proved `worker` dead under `epoch`.
    `unclaimed`: it was given the run's activity and had not claimed the step yet."""

    run_id: str
    epoch: int
    worker: str
    unclaimed: bool = False

    @staticmethod
    def read(run_id: str, facts: Any) -> TakeOver | None:
        """A signal's argument; None for what nobody of ours sent."""
        if not isinstance(facts, dict):
            return None
        epoch, worker = facts.get("epoch"), facts.get("worker")
        if not isinstance(epoch, int) or not isinstance(worker, str):
            return None
        unclaimed = facts.get("unclaimed") is True
        return TakeOver(run_id=run_id, epoch=epoch, worker=worker, unclaimed=unclaimed)


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Whether the move was made, or why not."""

    moved: bool
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Answer of the `progress` query."""

    status: str
    round: int
    max_rounds: int
    score: int | None
    waits_for: str
    epoch: int

    @staticmethod
    def of(now: Loaded) -> Progress:
        return Progress(
            status=now.status,
            round=now.current_round,
            max_rounds=now.max_rounds,
            score=now.score,
            waits_for=now.next,
            epoch=now.epoch,
        )
