"""The verifiers of minutes, by name."""

from __future__ import annotations

from collections.abc import Mapping

from workflows.kinds.checked import Verifier

VERIFIERS: Mapping[str, Verifier] = {}
