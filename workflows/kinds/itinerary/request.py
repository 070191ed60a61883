"""What a trip is asked to be: the fields of the document, and what its words say beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Material

from . import saying
from .reference import requests_of

DEFAULT_DAYS = 3
MOST_DAYS = 30
LATEST = date(2199, 12, 31)
"""A later first day is a slip, and some day after it no date at all."""
_LONGEST_READ = 4000


@dataclass(frozen=True, kw_only=True)
class TripRequest(saying.Wishes):
    """A field wins over words; `conflicts` names where the two differ, as English sentences."""

    days: int
    minimum_nights: int | None = None
    conflicts: tuple[str, ...] = ()
    words: str = field(default="", repr=False)
    """What was said beside the fields."""

    @property
    def party(self) -> int:
        return self.people or 1

    def told(self) -> dict[str, Any]:
        """The request as prompts give it, without what nobody asked for."""
        given = {
            "from": self.start,
            "to": self.to,
            "also_to": list(self.others) or None,
            "cities": self.cities,
            "days": self.days,
            "start_date": self.first.isoformat() if self.first else None,
            "end_date": self.last.isoformat() if self.last else None,
            "people": self.people,
            "budget": self.budget,
            "currency": self.currency,
            "room_rule": self.room_rule,
            "room_type": self.room_type,
            "cuisine": list(self.cuisine) or None,
            "transport": self.transport,
            "minimum_nights": self.minimum_nights,
        }
        return {name: value for name, value in given.items() if value is not None}


def request_of(material: Material) -> TripRequest:
    """Fields first, then what title and sources say in words."""
    words = "\n".join((material.title, *(s.text[:_LONGEST_READ] for s in requests_of(material))))
    return _merged(_frozen(material.attributes), words)


def _frozen(attributes: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value)
        for name, value in sorted(attributes.items())
        if value is not None
    )


@kept_by_text
def _merged(fields: tuple[tuple[str, Any], ...], words: str) -> TripRequest:
    given, said = dict(fields), saying.read(words)
    first = _near(_date(given.get("start_date")) or said.first)
    said_last = said.last if "start_date" not in given else None
    last = _near(_date(given.get("end_date")) or said_last)
    spanned = (last - first).days + 1 if first and last and last >= first else None
    days = given.get("days") or spanned or said.days or DEFAULT_DAYS
    days = max(1, min(int(days), MOST_DAYS))
    budget = _number(given.get("budget"))
    return TripRequest(
        days=days,
        start=given.get("from") or said.start,
        to=given.get("to") or said.to,
        others=() if given.get("to") else said.others,
        cities=given.get("cities") or said.cities,
        first=first,
        last=first + timedelta(days=days - 1) if first else None,
        month=None if first else said.month,
        people=given.get("people") or said.people,
        budget=budget if budget is not None else said.budget,
        currency=given.get("currency") or said.currency,
        room_rule=given.get("room_rule") or said.room_rule,
        room_type=given.get("room_type") or said.room_type,
        cuisine=tuple(given.get("cuisine") or said.cuisine),
        transport=given.get("transport") or said.transport,
        minimum_nights=given.get("minimum_nights"),
        conflicts=_conflicts(given, said, days),
        words=words,
    )


def _conflicts(given: Mapping[str, Any], said: saying.Said, days: int) -> tuple[str, ...]:
    """Where the fields ask for something else than the words do."""
    spanned = (said.last - said.first).days + 1 if said.first and said.last else None
    pairs = [
        ("days", days, said.sure_days),
        ("days", days, spanned),
        ("people", given.get("people"), said.people),
        ("budget", _number(given.get("budget")), said.budget),
        ("start_date", _date(given.get("start_date")), said.first),
    ]
    found = (
        f"The request contradicts itself: {name} is {_shown(one)} in one place and "
        f"{_shown(other)} in another."
        for name, one, other in pairs
        if one is not None and other is not None and one != other
    )
    return tuple(dict.fromkeys(found))


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _date(value: object) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _near(day: date | None) -> date | None:
    return day if day is not None and day <= LATEST else None


def _number(value: object) -> float | None:
    try:
        return None if value is None else float(str(value))
    except ValueError:
        return None
