"""A trip of several days: each day is an item that is kept, whatever happens to the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from workflows.exporting import Exporter
from workflows.kinds import attributes, schemas
from workflows.kinds.checked import CheckedText
from workflows.kinds.kind import (
    Item,
    Kind,
    KindLimits,
    Material,
    PartPlan,
    Payload,
    Prompt,
    Refined,
    Refused,
    Work,
)
from workflows.kinds.prompting import Block, compact
from workflows.showing import Schedule
from workflows.vocabulary import StepName

from . import door, exports
from .costs import table, with_costs
from .days import accept_day
from .naming import name_of
from .plan import Look, parse_plan, render_plan
from .reference import requests_of
from .request import request_of
from .rewriting import for_model, refined, widened
from .schedule import schedule
from .verifiers import VERIFIERS

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Itinerary(CheckedText):
    """Draft: one item a day under its number. Review as any text. Refine: only the days in which an
    issue stands may change, and the table of costs follows its entries."""

    exporters: Mapping[str, Exporter] = field(default_factory=dict)
    begins_with_request: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self._sample

    @cached_property
    def _sample(self) -> Payload:
        sample: Payload = json.loads(
            (self.folder / "sample" / "document.json").read_text(encoding="utf-8")
        )
        return {**sample, "kind": self.name}

    def sample(self) -> Payload | None:
        return self._sample

    @property
    def schemas(self) -> Mapping[str, Payload]:
        return {**super().schemas, "draft": schemas.ITINERARY}

    def schema_name(self, step: str) -> str:
        return schemas.SCHEMA_NAMES["itinerary" if step == StepName.DRAFT else step]

    def check_attributes(self, attributes: Payload) -> list[tuple[str, str]]:
        return super().check_attributes(attributes) or door.check_together(attributes)

    def check_request(self, material: Material, today: date) -> list[tuple[str, str]]:
        """Problems of a request that is to be planned, as (JSON pointer, English sentence)."""
        return door.check_request(material, today)

    def title_of(self, material: Material) -> str:
        return name_of(request_of(material), chinese=is_chinese(material))

    def drafts_without_body(self) -> bool:
        return True

    def expected(self, work: Work, part: PartPlan) -> tuple[str, ...] | None:
        if work.step is not StepName.DRAFT:
            return None
        days = request_of(work.material).days
        return tuple(str(day) for day in range(1, days + 1))

    def about(self, work: Work) -> list[Block]:
        material = work.material
        told = {"title": material.title, "language": material.language}
        known = {**material.attributes, **request_of(material).told()}
        given = {name: value for name, value in {**told, **known}.items() if value is not None}
        return [Block(name="REQUEST", text=compact(given))]

    def prompt(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> Prompt:
        return super().prompt(for_model(work), part, kept)

    def rest(self, work: Work, part: PartPlan, kept: Sequence[Item]) -> str:
        expected = self.expected(work, part)
        if expected is None:
            return super().rest(work, part, kept)
        have = {item.key for item in kept}
        missing = ", ".join(key for key in expected if key not in have)
        if is_chinese(work.material):
            return f"ALREADY 中的日子已经保留。只回答以下各天：{missing}。"
        return f"The days in the ALREADY block are kept. Answer only with the days {missing}."

    def _text(self, work: Work, name: str) -> str:
        chinese = f"{name}_zh"
        if chinese in self.texts and not work.prompts.get(name) and is_chinese(work.material):
            return self.texts[chinese]
        return super()._text(work, name)

    def accept(
        self, work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
    ) -> Item | Refused:
        if work.step is StepName.DRAFT:
            return accept_day(payload, kept, request_of(work.material).days)
        return super().accept(widened(work), part, payload, kept)

    def draft(self, work: Work, items: Sequence[Item]) -> str:
        request = request_of(work.material)
        look = Look(
            title=work.material.title,
            chinese=is_chinese(work.material),
            currency=request.currency or "",
            first=request.first,
        )
        body = render_plan(look, [item.payload for item in items])
        costs = table(
            parse_plan(body), chinese=look.chinese, currency=look.currency, budget=request.budget
        )
        return f"{body}\n{costs}" if costs else body

    def schedule(self, material: Material, body: str) -> Schedule | None:
        """The plan day by day, as pages show and print it."""
        return schedule(material, body)

    def refine(self, work: Work, items: Sequence[Item]) -> Refined:
        made = refined(work, items)
        if made.body == work.body:
            return made
        body = with_costs(made.body, request_of(work.material).currency or "")
        cuts = any(lock in made.body and lock not in body for lock in work.locks)
        return made if cuts else replace(made, body=body)


def is_chinese(material: Material) -> bool:
    """By its language, else by its words."""
    if material.language:
        return material.language.startswith("zh")
    words = material.title + "".join(source.text[:400] for source in requests_of(material))
    wide = sum("\u3400" <= mark <= "\u9fff" for mark in words)
    return wide * 4 > len(words)


KIND: Kind = Itinerary(
    name=_FOLDER.name,
    folder=_FOLDER,
    languages=("en", "zh"),
    verifiers=VERIFIERS,
    fields={
        "from": attributes.string,
        "to": attributes.string,
        "days": door.days,
        "cities": attributes.count,
        "start_date": door.day,
        "end_date": door.day,
        "people": attributes.count,
        "budget": door.budget,
        "currency": attributes.currency,
        "room_rule": attributes.string,
        "room_type": attributes.string,
        "transport": attributes.string,
        "minimum_nights": attributes.count,
    },
    lists={"cuisine": attributes.strings},
    limits=KindLimits(body_characters=200_000, source_characters=600_000, window_tokens=60_000),
    output_tokens={"draft": 6000, "review": 4000, "refine": 4000},
    exporters=exports.EXPORTERS,
)
