"""Any text, checked against any source."""

from __future__ import annotations

from pathlib import Path

from workflows.kinds.checked import CheckedText
from workflows.kinds.facts.dates import verify_dates
from workflows.kinds.facts.numbers import verify_numbers
from workflows.kinds.kind import Kind

KIND: Kind = CheckedText(
    name="text",
    folder=Path(__file__).parent,
    languages=("en", "zh"),
    verifiers={"numbers": verify_numbers, "dates": verify_dates},
    output_tokens={"review": 6000, "refine": 8000},
)
