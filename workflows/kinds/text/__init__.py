"""Any text, checked against any source."""

from __future__ import annotations

from pathlib import Path

from workflows.kinds.checked import CheckedText
from workflows.kinds.kind import Kind

from .verifiers import VERIFIERS

_FOLDER = Path(__file__).parent

KIND: Kind = CheckedText(
    name=_FOLDER.name,
    folder=_FOLDER,
    languages=("en", "zh"),
    verifiers=VERIFIERS,
    output_tokens={"review": 6000, "refine": 8000},
)
