"""Plans a trip by rule over reference data: where to sleep, how to get there, what to see and eat.

It takes the cheapest ways and stays that keep the wishes, then fills each day. It weighs nothing
else: no taste, no weather. Without reference data it only lays out plain days (`writing`).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import combinations, permutations
from typing import Any

from deploy.offline_model import writing
from deploy.offline_model.planner_data import Data, Way, city_key, number, read_data
from deploy.offline_model.planner_day import Stop, day_of
from deploy.offline_model.prompt import Prompt

_NOT = re.compile(r"\b(?:no|not|without|avoid)\b|不", re.IGNORECASE)
_MODES = {
    "flight": r"fl(?:y|ight|ying)|plane|飞",
    "train": r"\btrain|\brail|火车|高铁|动车",
    "drive": r"driv|\bcar\b|自驾",
    "taxi": r"taxi|cab|打车|出租",
}
_MOST_CITIES = 4
_MOST_DAYS = 60
_NO_WAY = 100_000.0
"""What a missing way or room counts when routes are compared."""
_HOUR = 5.0
"""What an hour on the way counts for each traveller."""


def itinerary(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_itinerary`; at most `OFFLINE_STOP_AFTER_ITEMS` days, where that is set,
    so that a continuation can be seen."""
    data = read_data(prompt)
    planned = plan(prompt, data) if data.cities else writing.itinerary(prompt)["items"]
    most = os.environ.get("OFFLINE_STOP_AFTER_ITEMS", "")
    return {"items": planned[: int(most)] if most.isdigit() and int(most) else planned}


@dataclass(kw_only=True)
class Wishes:
    """The request, as far as rules can follow it."""

    request: Mapping[str, Any]
    days: int
    party: int
    home: str
    first: date | None

    def on(self, day: int) -> str:
        """The date of a day as the data writes it; empty when the request names none."""
        return (self.first + timedelta(days=day - 1)).isoformat() if self.first else ""

    def allows(self, way: Way) -> bool:
        wanted = str(self.request.get("transport") or "")
        named = {kind for kind, words in _MODES.items() if re.search(words, wanted, re.IGNORECASE)}
        if _NOT.search(wanted):
            return way.kind not in named
        return not named or way.kind in named

    def fits(self, stay: Mapping[str, Any], nights: int) -> bool:
        rules = str(stay.get("house_rules") or stay.get("house rules") or "").casefold()
        rule = str(self.request.get("room_rule") or "").casefold()
        bare = re.sub(r"^\s*no\s+", "", rule).strip()
        denied = f"no {bare}" in rules
        kept = not rule or denied is bool(_NOT.search(rule))
        wanted = str(self.request.get("room_type") or "").casefold()
        kinds = [kind for kind in ("entire", "private", "shared") if kind in wanted]
        is_kind = not kinds or any(
            str(stay.get("room type") or "").casefold().startswith(kind) for kind in kinds
        ) is not bool(_NOT.search(wanted))
        return kept and is_kind and number(stay, "minimum nights") <= nights

    def price(self, stay: Mapping[str, Any]) -> float:
        rooms = -(-self.party // max(1, int(number(stay, "maximum occupancy"))))
        return number(stay, "price") * rooms


@dataclass(kw_only=True)
class Route:
    """Nights by city in order, the ways between them, the stays; `cost` to compare routes by."""

    nights: Sequence[tuple[str, int]]
    ways: list[Way | None] = field(default_factory=list)
    stays: list[Mapping[str, Any] | None] = field(default_factory=list)
    cost: float = 0.0


def plan(prompt: Prompt, data: Data) -> list[Mapping[str, Any]]:
    """Every day that is not kept already."""
    wishes = _wishes(prompt)
    kept = {item.get("day"): item for item in prompt.already}
    route = min((_priced(r, data, wishes) for r in _routes(data, wishes)), key=lambda r: r.cost)
    used = {
        _bare(str(entry.get("name")))
        for item in kept.values()
        for entry in item.get("entries") or ()
        if isinstance(entry, dict)
    }
    wanted = [str(name) for name in prompt.request.get("cuisine") or ()]
    eaten = {
        name
        for rows in data.meals.values()
        for row in rows
        if str(row["name"]).casefold() in used
        for name in _cuisines(row)
    }
    lacking = [name for name in wanted if name.casefold() not in eaten]
    chosen = _Choice(data=data, wishes=wishes, used=used, lacking=lacking)
    stops = _stops(route, wishes)
    return [day_of(stop, chosen, wishes.party) for stop in stops if stop.day not in kept]


def _bare(name: str) -> str:
    return name.rpartition(", ")[0].casefold() or name.casefold()


def _cuisines(row: Mapping[str, Any]) -> set[str]:
    return {part.strip().casefold() for part in str(row.get("cuisines") or "").split(",")}


def _wishes(prompt: Prompt) -> Wishes:
    request = prompt.request
    days, people = request.get("days"), request.get("people")
    try:
        first = date.fromisoformat(str(request.get("start_date")))
    except ValueError:
        first = None
    return Wishes(
        request=request,
        days=min(days, _MOST_DAYS) if isinstance(days, int) and days > 0 else 3,
        party=people if isinstance(people, int) and people > 0 else 1,
        home=str(request.get("from") or ""),
        first=first,
    )


def _routes(data: Data, wishes: Wishes) -> Iterator[Route]:
    """Every order of the wished cities with every share of the nights."""
    home, target = city_key(wishes.home), city_key(str(wishes.request.get("to") or ""))
    cities = [city for city in data.cities if city_key(city) != home][:_MOST_CITIES]
    cities = cities or list(data.cities)
    nights = max(1, wishes.days - 1)
    named = [city for city in cities if city_key(city) == target]
    count = wishes.request.get("cities")
    if not isinstance(count, int) or count < 1:
        count = 1 if named else len(cities)
    count = min(count, len(cities), nights)
    for order in permutations(cities, count):
        if named and named[0] not in order:
            continue
        for cuts in combinations(range(1, nights), count - 1):
            ends = (0, *cuts, nights)
            yield Route(nights=[(c, ends[i + 1] - ends[i]) for i, c in enumerate(order)])


def _priced(route: Route, data: Data, wishes: Wishes) -> Route:
    here, day = wishes.home, 1
    for city, nights in (*route.nights, (wishes.home, 0)):
        ways = [way for way in data.between(here, city, wishes.on(min(day, wishes.days)))]
        allowed = [way for way in ways if wishes.allows(way)]
        way = min(allowed or ways, key=lambda one: _weight(one, wishes), default=None)
        route.cost += _NO_WAY if ways and not allowed else 0
        route.ways.append(way)
        route.cost += _weight(way, wishes) if way else (_NO_WAY if wishes.home and city else 0)
        if nights:
            stay = _stay(data, wishes, city, nights)
            route.stays.append(stay)
            route.cost += wishes.price(stay) * nights if stay else _NO_WAY
            if stay and not wishes.fits(stay, nights):
                route.cost += _NO_WAY
        here, day = city, day + nights
    return route


def _weight(way: Way, wishes: Wishes) -> float:
    return way.cost(wishes.party) + way.minutes / 60 * _HOUR * wishes.party


def _stay(data: Data, wishes: Wishes, city: str, nights: int) -> Mapping[str, Any] | None:
    """The cheapest that keeps the wishes, else the cheapest at all."""
    stays = data.stays.get(city, [])
    fitting = [stay for stay in stays if wishes.fits(stay, nights)]
    return min(fitting or stays, key=wishes.price, default=None)


def _stops(route: Route, wishes: Wishes) -> Iterator[Stop]:
    """What is settled of each day: where one wakes and sleeps, the way between, the stay."""
    day, here = 1, ""
    for at, (city, nights) in enumerate(route.nights):
        for night in range(nights):
            if day < wishes.days:
                yield Stop(
                    day=day,
                    date=wishes.on(day),
                    wakes=here if night == 0 else city,
                    sleeps=city,
                    way=route.ways[at] if night == 0 else None,
                    stay=route.stays[at],
                )
            day += 1
        here = city
    way = route.ways[-1]
    first = route.ways[0] if wishes.days == 1 else None
    yield Stop(
        day=wishes.days,
        date=wishes.on(wishes.days),
        wakes=here,
        sleeps=wishes.home if way and wishes.home else here,
        way=way,
        outward=first,
        stay=None,
    )


@dataclass(kw_only=True)
class _Choice:
    """Picks sights and meals that nobody had yet: first what is wanted, then what is cheap."""

    data: Data
    wishes: Wishes
    used: set[str]
    lacking: list[str]

    def sight(self, city: str, opens: Any) -> Mapping[str, Any] | None:
        rows = self.data.sights.get(city, [])
        return self._take(next((row for row in rows if self._fresh(row) and opens(row)), None))

    def meal(self, city: str, opens: Any) -> Mapping[str, Any] | None:
        rows = [row for row in self.data.meals.get(city, []) if self._fresh(row) and opens(row)]
        lacking = {name.casefold() for name in self.lacking}
        row = min(
            rows,
            key=lambda one: (
                -len(lacking & _cuisines(one)),
                number(one, "average cost", "price"),
            ),
            default=None,
        )
        if row is not None:
            self.lacking = [name for name in self.lacking if name.casefold() not in _cuisines(row)]
        return self._take(row)

    def stay_price(self, stay: Mapping[str, Any]) -> float:
        return self.wishes.price(stay)

    def _fresh(self, row: Mapping[str, Any]) -> bool:
        return str(row["name"]).casefold().strip() not in self.used

    def _take(self, row: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if row is not None:
            self.used.add(str(row["name"]).casefold().strip())
        return row
