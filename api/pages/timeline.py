"""The timeline of a run: its steps and the waits between them as bars, each with its reason.

Pure. A bar is made of pieces on a scale of 1000; long waits are drawn short and their length is
written, so that the work stays to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from api import wire
from api.pages import view as pages_view
from api.queries.console import Move
from api.texts.text import Catalogue
from workflows.vocabulary import EventType, Phase, Reason, RunStatus, StepStatus

SCALE = 1000.0
_SHORT = 60.0
"""Seconds: a shorter wait is never drawn shorter than it was."""
_LONG_PART, _DRAWN_PART = 0.10, 0.05
"""A wait is long from this part of the whole on, and is then drawn as that part of the rest."""
_PROVIDER = frozenset(
    {
        Reason.RATE_LIMITED,
        Reason.SERVER_ERROR,
        Reason.CONNECTION,
        Reason.STALL,
        Reason.CUT,
        Reason.GARBLED,
        Reason.PROVIDER_UNAVAILABLE,
    }
)
_BACK = frozenset({EventType.RUN_RESUMED, EventType.RUN_REWORK})
_WAITING = {
    EventType.RUN_INTERRUPTED: RunStatus.INTERRUPTED,
    EventType.RUN_FAILED: RunStatus.FAILED,
    EventType.RUN_AWAITING_CONFIRMATION: RunStatus.AWAITING_CONFIRMATION,
}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """`sort` is queue, backoff, person or work; `x` and `width` are on the scale."""

    sort: str
    x: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A call to the model that began here; `is_bad`: it brought nothing to its end."""

    x: float
    is_bad: bool


@dataclass(frozen=True, kw_only=True)
class Line:
    """A step, or a wait (`step` is None), whose kind is `wait`. Seconds are None where none are."""

    step: wire.Step | None
    wait: str
    word: str
    why: str
    tone: str
    began: datetime
    ended: datetime | None
    queued_seconds: float | None
    is_short: bool
    pieces: tuple[Piece, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """`began` and `ended` are the ends of the scale; `has_short`: a wait is drawn short."""

    lines: tuple[Line, ...]
    began: datetime
    ended: datetime
    has_short: bool

    @property
    def tones(self) -> frozenset[str]:
        """Those that the bars of its steps have: the legend tells them and no other."""
        return frozenset(line.tone for line in self.lines if line.step)


@dataclass(frozen=True, kw_only=True)
class _Wait:
    sort: str
    began: datetime
    ended: datetime | None
    word: str
    why: str
    tone: str


class _Scale:
    """From a moment to its place, with the long gaps between works drawn short."""

    def __init__(
        self, began: datetime, ended: datetime, busy: Sequence[tuple[datetime, datetime]]
    ) -> None:
        self._began = began
        whole = max((ended - began).total_seconds(), 0.001)
        gaps = [(self._at(a), self._at(b)) for a, b in _gaps(began, ended, busy)]
        self.long = [g for g in gaps if g[1] - g[0] > max(_SHORT, _LONG_PART * whole)]
        rest = max(whole - sum(b - a for a, b in self.long), 1.0)
        self._drawn = rest * _DRAWN_PART
        self._whole = rest + self._drawn * len(self.long) if self.long else whole

    def _at(self, moment: datetime) -> float:
        return (moment - self._began).total_seconds()

    def place(self, moment: datetime) -> float:
        at = self._at(moment)
        for began, ended in self.long:
            passed = min(max(self._at(moment) - began, 0.0), ended - began)
            at -= passed * (1 - self._drawn / (ended - began))
        return round(min(max(at / self._whole, 0.0), 1.0) * SCALE, 1)

    def piece(self, sort: str, began: datetime, ended: datetime) -> Piece:
        x = self.place(began)
        return Piece(sort=sort, x=x, width=max(round(self.place(ended) - x, 1), 2.0))

    def is_short(self, began: datetime, ended: datetime) -> bool:
        """Whether a long gap lies within."""
        return any(
            a < self._at(ended) - 0.001 and b > self._at(began) + 0.001 for a, b in self.long
        )


def _gaps(
    began: datetime, ended: datetime, busy: Sequence[tuple[datetime, datetime]]
) -> list[tuple[datetime, datetime]]:
    found, at = [], began
    for start, stop in sorted(busy):
        if start > at:
            found.append((at, start))
        at = max(at, stop)
    return [*found, (at, ended)] if ended > at else found


def timeline(
    run: wire.Run,
    steps: Sequence[wire.Step],
    calls: Sequence[wire.Call],
    moves: Sequence[Move],
    *,
    now: datetime,
    words: Catalogue,
) -> Timeline | None:
    """None as long as nothing happened. `now` ends what goes on."""
    waits = _waits(run, steps, moves, words)
    ends = [step.ended_at or now for step in steps] + [wait.ended or now for wait in waits]
    if not ends:
        return None
    began, ended = run.created_at, max(ends)
    scale = _Scale(began, ended, [(step.started_at, step.ended_at or now) for step in steps])
    lines = [
        _step_line(step, before, calls, scale=scale, now=now, words=words)
        for before, step in zip([None, *steps], steps, strict=False)
    ]
    lines += [_wait_line(wait, scale, now) for wait in waits]
    return Timeline(
        lines=tuple(sorted(lines, key=lambda line: line.began)),
        began=began,
        ended=ended,
        has_short=bool(scale.long),
    )


def _step_line(
    step: wire.Step,
    before: wire.Step | None,
    calls: Sequence[wire.Call],
    *,
    scale: _Scale,
    now: datetime,
    words: Catalogue,
) -> Line:
    ended = step.ended_at or now
    reason = before.reason.code if before is not None and before.reason is not None else None
    queued = max((step.started_at - step.queued_at).total_seconds(), 0.0)
    sort = "backoff" if reason in _PROVIDER else "queue"
    pieces = [scale.piece("work", step.started_at, ended)]
    if queued >= 0.05:
        pieces.insert(0, scale.piece(sort, step.queued_at, step.started_at))
    return Line(
        step=step,
        wait="",
        word=words.sentence("step", step.name),
        why=words.sentence("reason", step.reason.code, step.reason.params) if step.reason else "",
        tone=_tone(step),
        began=step.queued_at,
        ended=step.ended_at,
        queued_seconds=queued,
        is_short=queued > _SHORT and scale.is_short(step.queued_at, step.started_at),
        pieces=tuple(pieces),
        marks=tuple(
            Mark(x=scale.place(call.started_at), is_bad=call.status in ("FAILED", "LOST"))
            for call in calls
            if call.step_id == step.id
        ),
    )


def _tone(step: wire.Step) -> str:
    if step.status == StepStatus.RUNNING:
        return "running"
    if step.status == StepStatus.SUCCEEDED:
        return "done"
    stopped = (Reason.INTERRUPTED, Reason.HANDED_OVER, Reason.SUPERSEDED)
    return "interrupted" if step.reason and step.reason.code in stopped else "failed"


def _wait_line(wait: _Wait, scale: _Scale, now: datetime) -> Line:
    ended = wait.ended or now
    return Line(
        step=None,
        wait=wait.sort,
        word=wait.word,
        why=wait.why,
        tone=wait.tone,
        began=wait.began,
        ended=wait.ended,
        queued_seconds=None,
        is_short=scale.is_short(wait.began, ended),
        pieces=(scale.piece(wait.sort, wait.began, ended),),
    )


def _waits(
    run: wire.Run, steps: Sequence[wire.Step], moves: Sequence[Move], words: Catalogue
) -> list[_Wait]:
    """For a person between moves, and for a worker or the next try after them."""
    found: list[_Wait] = []
    for number, move in enumerate(moves):
        status = _WAITING.get(EventType(move.type))
        if status is None:
            continue
        following = moves[number + 1] if number + 1 < len(moves) else None
        found.append(
            _Wait(
                sort="person",
                began=move.at,
                ended=following.at if following is not None else None,
                word=words.text("wait for a person"),
                why=_person_why(move, following, status, words),
                tone=pages_view.TONES[status],
            )
        )
    if run.status == RunStatus.RUNNING and run.active_step is None and run.phase is not None:
        found.append(_open_wait(run, steps, moves, words))
    return found


def _person_why(move: Move, following: Move | None, status: RunStatus, words: Catalogue) -> str:
    """Why it waited, and who ended it."""
    code = move.data.get("reason") or move.data.get("reason_code")
    params: Mapping[str, object] = {"by": move.actor}
    told = words.sentence("reason", code, params) if isinstance(code, str) else ""
    told = told or words.sentence("status", status)
    if following is None:
        return told
    event = words.sentence("event", following.type, following.data)
    then = words.text("Then: {what}, {actor}.").format(what=event, actor=following.actor)
    return f"{told} {then}"


def _open_wait(
    run: wire.Run, steps: Sequence[wire.Step], moves: Sequence[Move], words: Catalogue
) -> _Wait:
    phase = run.phase.code if run.phase is not None else Phase.QUEUED
    since = [run.created_at, *(step.ended_at for step in steps if step.ended_at)]
    since += [move.at for move in moves if move.type in _BACK]
    retries = phase in (Phase.WAITING_RETRY, Phase.RATE_LIMITED)
    return _Wait(
        sort="backoff" if retries else "queue",
        began=max(since),
        ended=None,
        word=words.text("wait for the next try") if retries else words.text("wait for a worker"),
        why=words.sentence("phase", phase),
        tone=pages_view.TONES.get(phase, "neutral"),
    )
