"""Reference data: the places, flights, roads and prices that a plan may use.

The shape is a JSON object whose keys name what they hold: `Attractions in CITY`, `Restaurants in
CITY`, `Accommodations in CITY`, `Flight from A to B on DATE` (lists of objects), `Self-driving from
A to B`, `Taxi from A to B` (one sentence). A text in place of a list says that there is nothing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Material, SourceText

from .sorts import Sort

_PLACES = {
    "attractions": Sort.SIGHT,
    "restaurants": Sort.MEAL,
    "accommodations": Sort.STAY,
}
_KEY_OF_PLACES = re.compile(r"(attractions|restaurants|accommodations) in (.+)", re.IGNORECASE)
_KEY_OF_LEG = re.compile(
    r"(flight|train|self-driving|taxi) from (.+?) to (.+?)(?: on (\d{4}-\d{2}-\d{2}))?",
    re.IGNORECASE,
)
_ROAD = re.compile(
    r"duration:\s*(?:(?P<days>\d+) days?\s*)?(?:(?P<hours>\d+) hours?\s*)?(?:(?P<mins>\d+) mins?)?"
    r"\s*,\s*distance:\s*(?P<km>[\d,.]+)\s*km\s*,\s*cost:\s*(?P<cost>[\d,.]+)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONGEST_KEY = 300
"""Characters of a key, or of a sentence about a road, that are looked at."""
_MODES = {
    "flight": Sort.FLIGHT,
    "train": Sort.TRAIN,
    "self-driving": Sort.DRIVE,
    "taxi": Sort.TAXI,
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """A sight, a restaurant or a stay. `price` is per person, of a stay per room and night."""

    sort: Sort
    name: str
    city: str
    price: float | None = None
    cuisines: tuple[str, ...] = ()
    room_type: str = ""
    house_rules: str = ""
    minimum_nights: int = 1
    occupancy: int = 1
    hours: Any = None
    position: tuple[float, float] | None = None
    """Latitude and longitude in degrees."""


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A flight or train on one date (times in minutes of the day), or a road on any."""

    sort: Sort
    start: str
    end: str
    price: float
    """Per person; of a road per car."""
    number: str = ""
    date: str = ""
    departs: int | None = None
    arrives: int | None = None
    minutes: int | None = None
    """Of a road: how long it takes."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """All of it; empty when no source brings any."""

    places: tuple[Place, ...] = ()
    legs: tuple[Leg, ...] = ()
    connected: frozenset[tuple[str, str]] = frozenset()
    """Pairs of city keys that the data speaks of, also to say that nothing goes there."""
    days: frozenset[tuple[Sort, str, str, str]] = frozenset()
    """Which flights and trains it speaks of, also to say that there is none: sort, keys of both
    cities, date."""

    def __bool__(self) -> bool:
        return bool(self.places or self.legs)

    @property
    def cities(self) -> tuple[str, ...]:
        """Cities with places, as the data writes them, in its order."""
        return tuple(dict.fromkeys(place.city for place in self.places))

    @property
    def known(self) -> frozenset[str]:
        """Keys of all cities the data names."""
        ends = {city for pair in self.connected for city in pair}
        return frozenset(ends | {city_key(city) for city in self.cities})

    def find(self, name: str) -> tuple[Place, ...]:
        """Places of this name, `Name` or `Name, City`; of several, those in that city."""
        if bare := self._names.get(plain(name)):
            return bare
        head, comma, city = name.replace("，", ",").rpartition(",")
        if not comma:
            return ()
        found = self._names.get(plain(head), ())
        return tuple(place for place in found if city_key(place.city) == city_key(city))

    @cached_property
    def _names(self) -> Mapping[str, tuple[Place, ...]]:
        names: dict[str, tuple[Place, ...]] = {}
        for place in self.places:
            key = plain(place.name)
            names[key] = (*names.get(key, ()), place)
        return names


def plain(name: str) -> str:
    """A name as it is compared: one case, no marks at its ends, single spaces."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"\s+", " ", folded).strip(" .,;:!?-\t，。；：！？")


def city_key(city: str) -> str:
    """`Rockford(Illinois)`, `Rockford, IL` and `rockford` are one city; so are 苏州 and 苏州市."""
    bare = plain(re.sub(r"[(（][^)）]*[)）]\s*$|,\s*[A-Za-z]{2}$", "", city.strip()))
    return bare.removesuffix("市") if len(bare) > 2 else bare


def reference_of(material: Material) -> Reference:
    """What all sources bring together."""
    return merged(tuple(filter(None, (read(source.text) for source in material.sources))))


def requests_of(material: Material) -> tuple[SourceText, ...]:
    """The sources that are no reference data: what the traveller says."""
    return tuple(source for source in material.sources if read(source.text) is None)


def merged(found: Sequence[Reference]) -> Reference:
    if len(found) == 1:
        return found[0]
    return Reference(
        places=tuple(place for one in found for place in one.places),
        legs=tuple(leg for one in found for leg in one.legs),
        connected=frozenset().union(*(one.connected for one in found)),
        days=frozenset().union(*(one.days for one in found)),
    )


@kept_by_text
def read(text: str) -> Reference | None:
    """The reference data in a text; None when it is something else, empty when it has nothing."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return None
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    if value in ({}, []):
        return Reference()
    if not isinstance(value, dict):
        return None
    short = [key for key in value if len(key) <= _LONGEST_KEY]
    keys = [key for key in short if _KEY_OF_PLACES.fullmatch(key) or _KEY_OF_LEG.fullmatch(key)]
    if not keys:
        return None
    places = [place for key in keys for place in _places(key, value[key])]
    legs = [leg for key in keys for leg in _legs(key, value[key])]
    return Reference(
        places=tuple(places),
        legs=tuple(legs),
        connected=frozenset(_pairs(keys)),
        days=frozenset(_days(keys, legs)),
    )


def _days(keys: Sequence[str], legs: Sequence[Leg]) -> Iterator[tuple[Sort, str, str, str]]:
    for key in keys:
        if (found := _KEY_OF_LEG.fullmatch(key)) and found[4]:
            yield _MODES[found[1].lower()], city_key(found[2]), city_key(found[3]), found[4]
    for leg in legs:
        if _DATE.fullmatch(leg.date):
            yield leg.sort, city_key(leg.start), city_key(leg.end), leg.date


def _pairs(keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        if found := _KEY_OF_LEG.fullmatch(key):
            yield city_key(found[2]), city_key(found[3])


def _places(key: str, value: Any) -> Iterator[Place]:
    found = _KEY_OF_PLACES.fullmatch(key)
    if found is None or not isinstance(value, list):
        return
    for one in value:
        row = {str(name).lower(): given for name, given in _rows(one)}
        name = str(row.get("name") or "").strip()
        if not name:
            continue
        yield Place(
            sort=_PLACES[found[1].lower()],
            name=name,
            city=found[2].strip(),
            price=_number(row, "price", "average cost", "ticket"),
            cuisines=tuple(
                part.strip() for part in str(row.get("cuisines") or "").split(",") if part.strip()
            ),
            room_type=str(row.get("room type") or ""),
            house_rules=str(row.get("house_rules") or row.get("house rules") or ""),
            minimum_nights=int(_number(row, "minimum nights") or 1),
            occupancy=max(1, int(_number(row, "maximum occupancy") or 1)),
            hours=row.get("opening hours"),
            position=_position(row),
        )


def _legs(key: str, value: Any) -> Iterator[Leg]:
    found = _KEY_OF_LEG.fullmatch(key)
    if found is None:
        return
    sort, start, end = _MODES[found[1].lower()], found[2].strip(), found[3].strip()
    if isinstance(value, str) and (road := _ROAD.search(value[:_LONGEST_KEY])):
        parts = {name: int(road[name] or 0) for name in ("days", "hours", "mins")}
        yield Leg(
            sort=sort,
            start=start,
            end=end,
            price=float(road["cost"].replace(",", "")),
            minutes=(parts["days"] * 24 + parts["hours"]) * 60 + parts["mins"],
        )
    for one in value if isinstance(value, list) else ():
        row = {str(name).lower(): given for name, given in _rows(one)}
        price = _number(row, "price")
        if price is not None:
            yield Leg(
                sort=sort,
                start=start,
                end=end,
                price=price,
                number=str(row.get("flight number") or row.get("train number") or "").strip(),
                date=str(row.get("flightdate") or row.get("date") or found[4] or ""),
                departs=minutes_of(str(row.get("deptime") or "")),
                arrives=minutes_of(str(row.get("arrtime") or "")),
            )


def minutes_of(clock: str) -> int | None:
    """Minutes since midnight of HH:MM; None for anything else."""
    found = re.fullmatch(r"\s*(\d{1,2})[:：](\d{2})\s*", clock)
    if found is None:
        return None
    minutes = int(found[1]) * 60 + int(found[2])
    return minutes if int(found[2]) < 60 and minutes <= 24 * 60 else None


def _rows(one: Any) -> Iterator[tuple[str, Any]]:
    return iter(one.items()) if isinstance(one, dict) else iter(())


def _number(row: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9:
            return float(value)
    return None


def _position(row: Mapping[str, Any]) -> tuple[float, float] | None:
    pair = row.get("latitude"), row.get("longitude")
    if all(isinstance(one, int | float) and -180 <= one <= 180 for one in pair):
        return float(pair[0] or 0), float(pair[1] or 0)
    return None
