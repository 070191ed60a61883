"""Reads reference data of a trip out of a prompt: places, ways and their prices.

Sources stand in prompts with numbered lines; those that are JSON objects with keys such as
`Restaurants in CITY` or `Flight from A to B on DATE` are data, the rest is what somebody says.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deploy.offline_model.prompt import Prompt

_NUMBERED = re.compile(r"^T\d+: ?", re.MULTILINE)
_PLACES = re.compile(r"(attractions|restaurants|accommodations) in (.+)", re.IGNORECASE)
_WAY = re.compile(
    r"(flight|train|self-driving|taxi) from (.+?) to (.+?)(?: on (\d{4}-\d{2}-\d{2}))?",
    re.IGNORECASE,
)
_ROAD = re.compile(
    r"(?:(\d+) days? ?)?(?:(\d+) hours? ?)?(?:(\d+) mins?)?, distance: [\d,.]+ km, cost: ([\d,.]+)",
    re.IGNORECASE,
)
_LONGEST = 300
KINDS = {"flight": "flight", "train": "train", "self-driving": "drive", "taxi": "taxi"}
SEATS = {"drive": 5, "taxi": 4}


@dataclass(frozen=True, kw_only=True)
class Way:
    """From one city to another. A road may begin at any time; times are minutes of the day."""

    kind: str
    start: str
    end: str
    price: float
    number: str = ""
    date: str = ""
    departs: int = 0
    minutes: int = 0

    def cost(self, party: int) -> float:
        units = -(-party // SEATS[self.kind]) if self.kind in SEATS else party
        return self.price * units


@dataclass(kw_only=True)
class Data:
    """Rows of the data by city; `ways` in its order."""

    sights: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    meals: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    stays: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    ways: list[Way] = field(default_factory=list)

    @property
    def cities(self) -> Sequence[str]:
        return list(dict.fromkeys((*self.stays, *self.meals, *self.sights)))

    def between(self, start: str, end: str, date: str) -> Iterator[Way]:
        for way in self.ways:
            joins = (city_key(way.start), city_key(way.end)) == (city_key(start), city_key(end))
            if joins and (not way.date or not date or way.date == date):
                yield way


def read_data(prompt: Prompt) -> Data:
    """All reference data of the prompt; empty when it has none."""
    data = Data()
    for source in prompt.sources:
        text = _NUMBERED.sub("", source.text).strip()
        if not text.startswith("{"):
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for key, rows in value.items():
            if len(key) <= _LONGEST:
                _take(data, key, rows)
    return data


def _take(data: Data, key: str, rows: Any) -> None:
    if (found := _PLACES.fullmatch(key)) and isinstance(rows, list):
        shelves = {"a": data.sights, "r": data.meals}
        kind = found[1].lower()
        shelf = data.stays if kind == "accommodations" else shelves[kind[0]]
        lower = [
            {str(k).lower(): v for k, v in row.items()} for row in rows if isinstance(row, dict)
        ]
        named = [row for row in lower if str(row.get("name") or "").strip()]
        shelf.setdefault(found[2].strip(), []).extend(named)
    elif found := _WAY.fullmatch(key):
        data.ways.extend(_ways(KINDS[found[1].lower()], found, rows))


def _ways(kind: str, key: re.Match[str], rows: Any) -> Iterator[Way]:
    start, end = key[2].strip(), key[3].strip()
    if isinstance(rows, str) and (road := _ROAD.search(rows[:_LONGEST])):
        days, hours, minutes = (int(road[at] or 0) for at in (1, 2, 3))
        yield Way(
            kind=kind,
            start=start,
            end=end,
            price=float(road[4].replace(",", "")),
            minutes=(days * 24 + hours) * 60 + minutes,
        )
    for row in rows if isinstance(rows, list) else ():
        given = {str(k).lower(): v for k, v in row.items()} if isinstance(row, dict) else {}
        departs, arrives = clock(given.get("deptime")), clock(given.get("arrtime"))
        if departs is None or arrives is None or not isinstance(given.get("price"), int | float):
            continue
        yield Way(
            kind=kind,
            start=start,
            end=end,
            price=float(given["price"]),
            number=str(given.get("flight number") or given.get("train number") or ""),
            date=str(given.get("flightdate") or given.get("date") or key[4] or ""),
            departs=departs,
            minutes=(arrives - departs) % (24 * 60),
        )


def clock(text: object) -> int | None:
    """HH:MM as minutes of the day."""
    found = re.fullmatch(r"\s*(\d{1,2}):(\d{2})\s*", str(text))
    return int(found[1]) * 60 + int(found[2]) if found else None


def city_key(city: str) -> str:
    """A city without its state, in one case."""
    bare = re.sub(r"\s*[(（][^)）]*[)）]\s*$|,\s*[A-Za-z]{2}$", "", city.strip())
    return bare.strip().casefold()


def number(row: Mapping[str, Any], *names: str) -> float:
    """The first of the fields that is a number, else 0."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return 0.0
