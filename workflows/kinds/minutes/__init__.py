"""Minutes of a meeting, checked against its transcript."""

from __future__ import annotations

import json
from datetime import date
from functools import cached_property
from pathlib import Path

from workflows.kinds import attributes, templates
from workflows.kinds.drafting import SectionDraft
from workflows.kinds.kind import Kind, Material, Payload

from .verifiers import VERIFIERS

_FOLDER = Path(__file__).parent


class Minutes(SectionDraft):
    """Drafted by a template from a transcript or notes, unless they come with a body."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self._sample

    def check_request(self, material: Material, today: date) -> list[tuple[str, str]]:
        """Problems of a meeting that is to be drafted, as (JSON pointer, English sentence)."""
        return self.draft_problems(material)

    @cached_property
    def _sample(self) -> Payload:
        sample: Payload = json.loads(
            (self.folder / "sample" / "document.json").read_text(encoding="utf-8")
        )
        return {**sample, "kind": self.name}

    def sample(self) -> Payload | None:
        return self._sample


KIND: Kind = Minutes(
    name=_FOLDER.name,
    folder=_FOLDER,
    languages=("en", "zh"),
    verifiers=VERIFIERS,
    fields={
        "meeting_date": attributes.calendar_date,
        "timezone": attributes.timezone,
        "template": templates.attribute,
    },
    lists={"participants": attributes.strings, "agenda": attributes.strings},
    output_tokens={"draft": 8000, "review": 6000, "refine": 8000},
)
