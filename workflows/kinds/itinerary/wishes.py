"""What wishes mean for the reference data, and which of them no plan can meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .costs import price_of_leg, price_of_place
from .plan import amount
from .reference import Place, Reference, city_key, plain
from .request import TripRequest
from .sorts import Sort

_MODES = (
    (Sort.FLIGHT, r"fl(?:y|ight|ights|ying)\b|plane|\bair\b|飞"),
    (Sort.TRAIN, r"\btrains?\b|\brail|火车|高铁|动车"),
    (Sort.DRIVE, r"driv|\bcar\b|自驾|开车"),
    (Sort.TAXI, r"\btaxis?\b|\bcab|打车|出租车"),
)
_NOT = re.compile(r"\b(?:no|not|without|avoid|never|exclud\w*)\b|不|禁", re.IGNORECASE)
_RULES = {"smoke": "smoking", "party": "parties", "pet": "pets", "visitor": "visitors"}
_RULES_ZH = {"吸烟": "smoking", "抽烟": "smoking", "聚会": "parties", "派对": "parties"} | {
    "宠物": "pets",
    "访客": "visitors",
    "儿童": "children under 10",
    "小孩": "children under 10",
    "孩子": "children under 10",
}


@dataclass(frozen=True, kw_only=True)
class Modes:
    """`banned` may not be used between cities; where `only` has any, nothing else may."""

    banned: frozenset[Sort] = frozenset()
    only: frozenset[Sort] = frozenset()

    def allows(self, sort: Sort) -> bool:
        return sort not in self.banned and (not self.only or sort in self.only)


def modes_of(transport: str | None) -> Modes:
    """`no flight`, `train`, 不坐飞机: how one goes from city to city."""
    named = {sort for sort, words in _MODES if re.search(words, transport or "", re.IGNORECASE)}
    if _NOT.search(transport or ""):
        return Modes(banned=frozenset(named))
    return Modes(only=frozenset(named))


def keeps_rule(place: Place, rule: str | None) -> bool:
    """`parties`: the house must not forbid them; `no parties`: it must."""
    if not rule:
        return True
    forbidden = place.house_rules.casefold()
    name = re.sub(r"^\s*no\s+", "", rule.casefold()).strip()
    zh = [known for word, known in _RULES_ZH.items() if word in rule]
    names = zh or [_RULES.get(name, name)]
    denied = [f"no {one}" in forbidden for one in names]
    return all(denied) if _NOT.search(rule) else not any(denied)


def is_room_type(place: Place, wanted: str | None) -> bool:
    """`entire room` is an entire home; `not shared room` is any other than a shared one."""
    if not wanted or not place.room_type:
        return True
    have, want = place.room_type.casefold(), wanted.casefold()
    kinds = {
        "entire": r"entire|整",
        "private": r"private|独立",
        "shared": r"shared|合住|床位",
    }
    named = [name for name, words in kinds.items() if re.search(words, want)]
    if not named:
        return True
    fits = any(have.startswith(name) for name in named)
    return not fits if _NOT.search(want) else fits


def fits_stay(place: Place, request: TripRequest, nights: int) -> bool:
    """Whether a stay keeps the wishes for rooms and may be had for so many nights."""
    return (
        place.sort is Sort.STAY
        and keeps_rule(place, request.room_rule)
        and is_room_type(place, request.room_type)
        and place.minimum_nights <= nights
    )


def knows(reference: Reference, request: TripRequest, name: str, city: str) -> bool:
    """Whether the data has the city; a region, as in "two cities in Texas", is one it may have."""
    key = city_key(city)
    if any(key == one or (len(key) > 2 and (one in key or key in one)) for one in reference.known):
        return True
    if name == "from":
        return not reference.connected
    visited = [one for one in reference.cities if city_key(one) != city_key(request.start or "")]
    return len(visited) > 1


def unknown_city(reference: Reference, city: str) -> str:
    names = [*reference.cities, *(leg.start for leg in reference.legs)]
    listed = ", ".join(dict.fromkeys(names[:200])) or "no city"
    return f"The reference data knows no {city[:80]}; it has {listed}."


def _nowhere(request: TripRequest, reference: Reference) -> str | None:
    """Where to, if the data does not know it, and the words name no other city of it."""
    if not request.to or not reference.cities or knows(reference, request, "to", request.to):
        return None
    said, home = plain(request.words), city_key(request.start or "")
    visited = {city_key(city) for city in reference.cities} - {home}
    return None if any(key in said for key in visited) else unknown_city(reference, request.to)


def impossible(request: TripRequest, reference: Reference) -> dict[str, str]:
    """Wishes that no plan over this data can meet, by the verifier that would tell of them."""
    found: dict[str, str] = {}
    if (nowhere := _nowhere(request, reference)) is not None:
        found["cities"] = nowhere
    nights = max(1, request.days - 1)
    stays = [place for place in reference.places if place.sort is Sort.STAY]
    if stays and not any(fits_stay(place, request, nights) for place in stays):
        found |= _no_room(request, stays, nights)
    served = {name.casefold() for place in reference.places for name in place.cuisines}
    lacking = [name for name in request.cuisine if served and name.casefold() not in served]
    if lacking:
        found["cuisine"] = f"No restaurant of the reference data serves {', '.join(lacking)}."
    if (way := _no_way(request, reference)) is not None:
        found["transport"] = way
    least = cheapest(request, reference)
    if request.budget is not None and least > request.budget and "transport" not in found:
        price = amount(least, request.currency or "")
        found["budget"] = (
            f"No plan fits the budget of {amount(request.budget, request.currency or '')}: "
            f"ways and nights alone cost {price}."
        )
    return found


def _no_room(request: TripRequest, stays: list[Place], nights: int) -> dict[str, str]:
    if not any(keeps_rule(place, request.room_rule) for place in stays):
        return {"room_rule": f"No stay of the reference data fits the wish {request.room_rule}."}
    if not any(is_room_type(place, request.room_type) for place in stays):
        return {"room_type": f"No stay of the reference data is of the type {request.room_type}."}
    if not any(place.minimum_nights <= nights for place in stays):
        text = f"Every stay of the reference data asks for more than {nights} nights."
        return {"minimum_nights": text}
    text = "No stay of the reference data fits all wishes for rooms and nights together."
    return dict.fromkeys(("room_rule", "room_type", "minimum_nights"), text)


def _no_way(request: TripRequest, reference: Reference) -> str | None:
    home, modes = city_key(request.start or ""), modes_of(request.transport)
    ways = [leg for leg in reference.legs if city_key(leg.start) == home]
    if ways and not any(modes.allows(leg.sort) for leg in ways):
        return f"Nothing in the reference data leaves {request.start} with {request.transport}."
    return None


def cheapest(request: TripRequest, reference: Reference) -> float:
    """The least that ways from and to home and the nights cost, whatever is chosen; 0 when the data
    does not say it."""
    home, modes = city_key(request.start or ""), modes_of(request.transport)
    nights = request.days - 1
    least = 0.0
    for outward in (True, False):
        ways = [
            price_of_leg(leg, request.party)
            for leg in reference.legs
            if city_key(leg.start if outward else leg.end) == home and modes.allows(leg.sort)
        ]
        least += min(ways, default=0.0)
    rooms = [
        price
        for place in reference.places
        if fits_stay(place, request, max(1, nights))
        and (price := price_of_place(place, request.party)) is not None
    ]
    return least + min(rooms, default=0.0) * nights
