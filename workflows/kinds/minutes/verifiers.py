"""The verifiers of minutes, by name. Each is measured for false alarms before it may stay."""

from __future__ import annotations

from collections.abc import Mapping

from workflows.kinds.checked import Verifier
from workflows.kinds.facts.dates import verify_dates
from workflows.kinds.facts.names import verify_names
from workflows.kinds.facts.numbers import verify_numbers
from workflows.kinds.facts.wording import verify_wording

VERIFIERS: Mapping[str, Verifier] = {
    "numbers": verify_numbers,
    "dates": verify_dates,
    "names": verify_names,
    "wording": verify_wording,
}
