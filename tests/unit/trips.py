"""Real trips of tests/data: requests, reference data and the plans that people made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.unit.kind_material import DATA
from workflows.kinds import load_kinds
from workflows.kinds.itinerary.costs import price_of_place
from workflows.kinds.itinerary.reference import Reference, city_key, read
from workflows.kinds.itinerary.sorts import Sort
from workflows.kinds.kind import Item, Material, SourceText, Work
from workflows.vocabulary import StepName

ITINERARY = load_kinds()["itinerary"]
NAMES = ("00", "08", "17", "23", "32", "39")
_MEALS = ("breakfast", "lunch", "dinner")
_MODES = {"Flight": "flight", "Self-driving": "drive", "Taxi": "taxi"}


@dataclass(frozen=True, kw_only=True)
class Trip:
    """One query: the material of a document, and the days of the human plan."""

    name: str
    material: Material
    days: tuple[Mapping[str, Any], ...]

    @property
    def body(self) -> str:
        return body_of(self.material, self.days)


def body_of(material: Material, days: Sequence[Mapping[str, Any]]) -> str:
    step = Work(step=StepName.DRAFT, round=0, material=material)
    return ITINERARY.draft(step, [Item(key=str(day["day"]), payload=day) for day in days])


@cache
def queries() -> Mapping[str, Mapping[str, Any]]:
    rows = json.loads((DATA / "travelplanner" / "queries_en.json").read_text(encoding="utf-8"))
    return {f"{row['train_index']:02d}": row for row in rows}


def reference_text(name: str) -> str:
    path = DATA / "travelplanner" / "ref_info" / f"train_{name}.json"
    return path.read_text(encoding="utf-8")


def fields(name: str) -> dict[str, Any]:
    """The request as fields of the document."""
    wants = queries()[name]["constraints_derived"]
    given = {
        "from": wants["org"],
        "to": wants["dest"],
        "days": wants["days"],
        "cities": wants["cities"],
        "start_date": wants["dates"][0],
        "end_date": wants["dates"][1],
        "people": wants["people"],
        "budget": wants["budget"],
        "currency": "USD",
        "room_rule": wants["room_rule"],
        "room_type": wants["room_type"],
        "transport": wants["transportation"],
        "cuisine": wants["cuisine"],
    }
    return {key: value for key, value in given.items() if value is not None}


def material(name: str, *, in_words: bool = False, reference: str | None = None) -> Material:
    """`in_words`: the sentence alone, with no field."""
    data = reference_text(name) if reference is None else reference
    sources = [SourceText(id="data", name="ref.json", media_type="application/json", text=data)]
    if in_words:
        query = queries()[name]["query"]
        words = SourceText(id="words", name="request", media_type="text/plain", text=query)
        sources.insert(0, words)
    return Material(
        title="A trip",
        language="en",
        attributes={} if in_words else fields(name),
        sources=tuple(sources),
    )


def asked_zh(sentence: str) -> Material:
    words = SourceText(id="words", name="request", media_type="text/plain", text=sentence)
    return Material(title="苏州", language="zh", attributes={}, sources=(words,))


@cache
def trip(name: str, *, in_words: bool = False) -> Trip:
    given = material(name, in_words=in_words)
    people = queries()[name]["constraints_derived"]["people"] or 1
    plan = queries()[name]["reference_plan"]
    return Trip(
        name=name,
        material=given,
        days=tuple(_day(row, reference_text(name), people) for row in plan),
    )


def _day(row: Mapping[str, Any], data: str, people: int) -> dict[str, Any]:
    cities = [part.strip() for part in re.sub(r"^from ", "", row["current_city"]).split(" to ")]
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    leg = _leg(row["transportation"], cities, people, data)
    for kind, name in _visits(row):
        entry: dict[str, Any] = {"start": "", "end": "", "kind": kind, "name": name, "cost": None}
        (place, *_) = reference_of_text(data).find(name)
        if place.sort is not Sort.SIGHT:
            entry["cost"] = price_of_place(place, people)
        behind = leg is None or city_key(place.city) == city_key(cities[-1])
        (after if behind else before).append(entry)
    entries = [*before, *([leg] if leg else []), *after]
    return {"day": row["days"], "city": cities[-1], "entries": entries}


def _visits(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    sights = [("sight", name.strip()) for name in row["attraction"].split(";")]
    meals = {meal: (meal, row[meal]) for meal in _MEALS}
    visits = [meals["breakfast"], *sights, meals["lunch"], meals["dinner"]]
    visits.append(("stay", row["accommodation"]))
    return [(kind, name) for kind, name in visits if name not in ("", "-")]


def reference_of_text(text: str) -> Reference:
    found = read(text)
    assert found
    return found


def _leg(text: str, cities: Sequence[str], people: int, data: str) -> dict[str, Any] | None:
    """As the plan says it, with the times and the cost that it names."""
    if text == "-":
        return None
    mode = next(kind for word, kind in _MODES.items() if text.startswith(word))
    number = re.search(r"F\d+", text)
    times = re.findall(r"Time: (\d\d:\d\d)", text) or ["", ""]
    cost = re.search(r"cost: ([\d,]+)", text)
    name = f"{cities[0]} → {cities[1]}"
    flights = [leg for leg in reference_of_text(data).legs if number and leg.number == number[0]]
    cars = -(-people // {"drive": 5, "taxi": 4}.get(mode, 1))
    return {
        "start": times[0],
        "end": times[1],
        "kind": mode,
        "name": f"{number.group(0)}, {name}" if number else name,
        "cost": float(cost[1].replace(",", "")) * cars if cost else flights[0].price * people,
    }
