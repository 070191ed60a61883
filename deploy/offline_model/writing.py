"""Writes first itineraries by rule from their request alone: plain slots of a day."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from deploy.offline_model.prompt import Prompt
from deploy.offline_model.words import is_chinese

_PLACE = r"([A-Z][\w.'-]*(?: [A-Z][\w'-]*)*)"
_PLACES = {
    "from": re.compile(
        rf"\b(?:from|departs? from|leaving)\s+{_PLACE}|当前位置([\u3400-\u9fff]{{2,4}})"
    ),
    "to": re.compile(
        rf"\b(?:to|in|visit|visits)\s+{_PLACE}|(?:去|到)([\u3400-\u9fff]{{2,4}}?)(?=玩|旅|看|，|,)"
    ),
}
MOST_DAYS = 60


def itinerary(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_itinerary`: each day of the request that is not kept already."""
    told = " ".join(
        [*(line.text for line in prompt.lines[:50]), str(prompt.request.get("title") or "")]
    )
    request = {**_places(told), **prompt.request}
    days = _number(request.get("days"), 1)
    kept = {item.get("day") for item in prompt.already}
    language = str(request.get("language") or "")
    chinese = language.startswith("zh") or (not language and is_chinese(told))
    items = [
        {"day": day, "city": _city(request, day, days), "entries": list(entries)}
        for day in range(1, min(days, MOST_DAYS) + 1)
        if day not in kept
        for entries in [_entries(request, day, days, chinese=chinese)]
    ]
    return {"items": items}


def _places(told: str) -> Mapping[str, str]:
    """Where from and where to, by the words of a request that does not say it apart."""
    found = {name: pattern.search(told) for name, pattern in _PLACES.items()}
    return {name: match[match.lastindex or 0] for name, match in found.items() if match}


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise


def _city(request: Mapping[str, Any], day: int, days: int) -> str:
    """The destination; where the request names several, each gets its share of the days."""
    target = request.get("to") or request.get("title")
    cities = [str(city) for city in target] if isinstance(target, list) else [str(target or "")]
    cities = [city for city in cities if city] or [str(request.get("from") or "-")]
    several = _number(request.get("cities"), 1)
    if len(cities) == 1 and 1 < several < days:
        region = cities[0]
        name = "{0}第{1}城" if is_chinese(region) else "City {1} of {0}"
        cities = [name.format(region, number) for number in range(1, several + 1)]
    return cities[min((day - 1) * len(cities) // days, len(cities) - 1)]


def _entries(
    request: Mapping[str, Any], day: int, days: int, *, chinese: bool
) -> Iterable[Mapping[str, Any]]:
    """Travel where the city changes, meals by the wanted cuisine, a walk, a stay for each night.

    Nothing is known about prices, and an invented one would look like knowledge: no costs.
    """
    city, home = _city(request, day, days), str(request.get("from") or "")
    cuisines = request.get("cuisine") or []
    cuisine = (
        str(cuisines[(day - 1) % len(cuisines)]) if isinstance(cuisines, list) and cuisines else ""
    )
    transport = str(request.get("transport") or ("交通" if chinese else "travel"))
    before = _city(request, day - 1, days) if day > 1 else home
    if before and before != city:
        yield _entry("08:00", "11:00", "transport", _trip(transport, before, city, chinese=chinese))
    else:
        walk = f"第{day}天{city}市区游览" if chinese else f"Walk in {city} on day {day}"
        yield _entry("09:00", "11:30", "visit", walk)
    lunch = f"{cuisine}午餐" if chinese else f"{cuisine} lunch".strip().capitalize()
    yield _entry("12:00", "13:00", "meal", lunch)
    sights = f"第{day}天{city}景点" if chinese else f"Sights of {city} on day {day}"
    yield _entry("14:00", "17:00", "visit", sights)
    if day == days and home and days > 1:
        yield _entry("18:00", "21:00", "transport", _trip(transport, city, home, chinese=chinese))
    elif day < days:
        room = str(request.get("room_type") or "")
        stay = f"{city}住宿 {room}" if chinese else f"Stay in {city} {room}"
        yield _entry("20:00", "23:59", "stay", stay.strip())


def _trip(transport: str, start: str, end: str, *, chinese: bool) -> str:
    return f"{transport}：{start} - {end}" if chinese else f"{transport}: {start} to {end}"


def _entry(start: str, end: str, kind: str, name: str) -> Mapping[str, Any]:
    return {"start": start, "end": end, "kind": kind, "name": name, "cost": None}
