"""Which days of a reply are kept: the first complete valid one under each number asked for.

A day that is dropped is counted by one of these codes: `invalid` (its form), `out_of_range` (beyond
the days asked for), `empty` (a number and no entries), `duplicate` (said before in the same words),
`changed_earlier` (another day under the number of a kept one). Nothing is ever renumbered. A day
that only repeats another is kept: the verifier of repeats tells of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from workflows.kinds.kind import Item, Payload, Refused

from .reference import minutes_of

_LONGEST = 300
_LONGEST_KEY = 6
_MOST_ENTRIES = 60
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TEXTS = ("start", "end", "kind", "name")


def accept_day(payload: Payload, kept: Sequence[Item], days: int) -> Item | Refused:
    """The day as an item under its number, or why it is dropped. `days` are asked for."""
    if not is_well_formed(payload):
        return Refused(code="invalid")
    number = payload["day"]
    key = str(number)
    if not 1 <= number <= days:
        return Refused(code="out_of_range", key=key[:_LONGEST_KEY])
    if not payload["entries"]:
        return Refused(code="empty", key=key)
    for item in kept:
        if item.key == key:
            same = _clean(item.payload) == _clean(payload)
            return Refused(code="duplicate" if same else "changed_earlier", key=key)
    return Item(key=key, payload=_clean(payload))


def is_well_formed(payload: Payload) -> bool:
    """A day number, a city and entries of texts; further fields are let through and left out."""
    entries = payload.get("entries")
    if isinstance(payload.get("day"), bool) or not isinstance(payload.get("day"), int):
        return False
    if not _is_text(payload.get("city")) or not isinstance(entries, list):
        return False
    return len(entries) <= _MOST_ENTRIES and all(_is_entry(entry) for entry in entries)


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not all(_is_text(entry.get(name)) for name in _TEXTS):
        return False
    if not entry["name"].strip() or not entry["kind"].strip():
        return False
    times = [entry[name].strip() for name in ("start", "end")]
    if any(time and minutes_of(time) is None for time in times):
        return False
    cost = entry.get("cost")
    if cost is None:
        return True
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
    return is_number and math.isfinite(cost) and 0 <= cost < 1e9


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and not _UNSTORABLE.search(value)


def _clean(payload: Payload) -> dict[str, Any]:
    entries = [
        {**{name: entry[name].strip() for name in _TEXTS}, "cost": entry.get("cost")}
        for entry in payload["entries"]
    ]
    return {"day": payload["day"], "city": payload["city"].strip(), "entries": entries}
