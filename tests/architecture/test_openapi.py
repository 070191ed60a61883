"""The published description of the API is the one that is kept."""

from __future__ import annotations

import json

from tests.architecture.openapi_dump import current
from tests.architecture.sources import ROOT

KEPT = (ROOT / "deploy" / "openapi.json").read_text(encoding="utf-8")


def test_the_kept_description_is_the_present_one() -> None:
    assert current() == KEPT, "if that is meant: ./redraft check --write openapi"


def test_a_route_that_is_not_built_is_not_described() -> None:
    paths = json.loads(KEPT)["paths"]
    assert "/api/audit" not in paths
    assert "/api/runs" in paths
