"""Any text, checked against any source."""

from __future__ import annotations

from pathlib import Path

from workflows.kinds.checked import CheckedText
from workflows.kinds.kind import Kind
from workflows.kinds.text.verifiers import VERIFIERS

KIND: Kind = CheckedText(
    name="text",
    folder=Path(__file__).parent,
    languages=("en", "zh"),
    verifiers=VERIFIERS,
    output_tokens={"review": 6000, "refine": 8000},
)
