"""Minutes of a meeting, checked against its transcript."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from workflows.kinds import attributes
from workflows.kinds.checked import CheckedText
from workflows.kinds.kind import Kind, Payload
from workflows.kinds.minutes.verifiers import VERIFIERS

_FOLDER = Path(__file__).parent


class Minutes(CheckedText):
    """A draft is made from a recording; until that exists minutes come with a body."""

    @cached_property
    def _sample(self) -> Payload:
        sample: Payload = json.loads(
            (self.folder / "sample" / "document.json").read_text(encoding="utf-8")
        )
        return sample

    def sample(self) -> Payload | None:
        return self._sample


KIND: Kind = Minutes(
    name="minutes",
    folder=_FOLDER,
    languages=("en", "zh"),
    verifiers=VERIFIERS,
    fields={
        "meeting_date": attributes.calendar_date,
        "timezone": attributes.timezone,
        "template": attributes.string,
    },
    lists={"participants": attributes.strings, "agenda": attributes.strings},
    output_tokens={"review": 6000, "refine": 8000},
)
