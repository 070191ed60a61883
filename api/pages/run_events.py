"""The events of a run in words, and what they tell about who moved it and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api import wire
from api.pages import view as pages_view
from api.texts.text import Catalogue
from workflows.vocabulary import EventType, RunStatus

NEWEST = 60
_MOVED_BY = {
    RunStatus.INTERRUPTED: EventType.RUN_INTERRUPTED,
    RunStatus.CONFIRMED: EventType.RUN_CONFIRMED,
    RunStatus.REJECTED: EventType.RUN_REJECTED,
    RunStatus.CANCELLED: EventType.RUN_CANCELLED,
}


@dataclass(frozen=True, kw_only=True)
class EventLine:
    """One event in words."""

    seq: int
    type: str
    sentence: str
    why: str
    actor: str
    at: Any
    said: str = ""


def interrupter(events: Sequence[wire.Event]) -> str | None:
    """Who made the newest interruption."""
    for event in reversed(events):
        if event.type == EventType.RUN_INTERRUPTED:
            return event.actor
    return None


def said(run: wire.Run, events: Sequence[wire.Event]) -> wire.Event | None:
    """The newest move into the present status, if the person who made it said something."""
    wanted = _MOVED_BY.get(RunStatus(run.status))
    newest = next((event for event in reversed(events) if event.type == wanted), None)
    return newest if newest is not None and newest.comment else None


def line(event: wire.Event, words: Catalogue) -> EventLine:
    facts = dict(event.model_extra or {})
    if isinstance(facts.get("keys"), list):
        facts["count"] = len(facts["keys"])
    facts |= pages_view.rounds_of(facts)
    if isinstance(facts.get("severity"), str):
        facts["severity"] = words.sentence("severity", facts["severity"])
    name = facts.get("name") or facts.get("step")
    if isinstance(name, str):
        facts["name"] = words.sentence("step", name)
    reason = facts.get("reason") or facts.get("reason_code") or facts.get("end_cause")
    why = words.sentence("reason", reason, facts) if isinstance(reason, str) else ""
    return EventLine(
        seq=event.seq,
        type=event.type,
        sentence=words.sentence("event", event.type, facts),
        why=why,
        actor=event.actor,
        at=event.at,
        said=event.comment or "",
    )
