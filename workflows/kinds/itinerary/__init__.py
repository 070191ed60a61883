"""A trip of several days: each day is an item that is kept, whatever happens to the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflows.kinds import attributes, schemas
from workflows.kinds.checked import CheckedText
from workflows.kinds.itinerary.plan import day_is_well_formed, render_plan, verify_plan
from workflows.kinds.kind import Finding, Item, Kind, Material, PartPlan, Payload, Refused, Work
from workflows.kinds.prompting import Block, compact
from workflows.vocabulary import StepName

DEFAULT_DAYS = 3
_DAYS = re.compile(r"(?<!\d)(\d{1,2})[\s-]*(?:days?\b|天|日游)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Itinerary(CheckedText):
    """Draft: one item a day under its number; review and refine as any text."""

    @property
    def schemas(self) -> Mapping[str, Payload]:
        return {**super().schemas, "draft": schemas.ITINERARY}

    def schema_name(self, step: str) -> str:
        return schemas.SCHEMA_NAMES["itinerary" if step == StepName.DRAFT else step]

    def drafts_without_body(self) -> bool:
        return True

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        if work.step is not StepName.DRAFT:
            return None
        return tuple(str(day) for day in range(1, days_of(work.material) + 1))

    def about(self, work: Work) -> list[Block]:
        material = work.material
        request: dict[str, Any] = {
            "title": material.title,
            "language": material.language,
            **material.attributes,
            "days": days_of(material),
        }
        given = {name: value for name, value in request.items() if value is not None}
        return [Block(name="REQUEST", text=compact(given))]

    def rest(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> str:
        expected = self.expected(work, part)
        if expected is None:
            return super().rest(work, part, kept)
        have = {item.key for item in kept}
        missing = ", ".join(key for key in expected if key not in have)
        return f"The days in the ALREADY block are kept. Answer only with the days {missing}."

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        if work.step is not StepName.DRAFT:
            return super().accept(work, part, payload, kept)
        if not day_is_well_formed(payload):
            return Refused(code="invalid")
        key = str(payload["day"])
        if not 1 <= payload["day"] <= days_of(work.material):
            return Refused(code="out_of_range")
        if any(item.key == key for item in kept):
            return Refused(code="duplicate")
        return Item(key=key, payload=dict(payload))

    def verify(self, material: Material, body: str) -> tuple[Finding, ...]:
        return verify_plan(body, days_of(material))

    def draft(self, work: Work, items: Sequence[Item]) -> str:
        return render_plan(work.material, [item.payload for item in items])


def days_of(material: Material) -> int:
    """The days of the trip: the attribute, else what the request says, else three."""
    days = material.attributes.get("days")
    if isinstance(days, int) and not isinstance(days, bool):
        return days
    for text in (material.title, *(source.text[:4000] for source in material.sources)):
        found = _DAYS.search(text)
        if found and 1 <= int(found.group(1)) <= 60:
            return int(found.group(1))
    return DEFAULT_DAYS


KIND: Kind = Itinerary(
    name="itinerary",
    folder=Path(__file__).parent,
    languages=("en", "zh"),
    verifiers={},
    fields={
        "from": attributes.string,
        "to": attributes.string,
        "days": attributes.days,
        "start_date": attributes.calendar_date,
        "people": attributes.count,
        "budget": attributes.amount,
        "currency": attributes.currency,
        "room_rule": attributes.string,
        "room_type": attributes.string,
        "transport": attributes.string,
        "minimum_nights": attributes.count,
    },
    lists={"cuisine": attributes.strings},
    output_tokens={"draft": 6000, "review": 4000, "refine": 4000},
)
