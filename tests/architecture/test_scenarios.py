"""The table of scenarios (`tests/scenarios.md`) names tests that are there."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT

TABLE = (ROOT / "tests" / "scenarios.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
PROMISED = {10, 17, *range(22, 32), 33, *range(36, 46)}


def test_each_scenario_names_tests_that_are_there() -> None:
    rows = {int(number): named.split(", ") for number, named in ROW.findall(TABLE)}
    assert set(rows) == PROMISED
    for name in (name for named in rows.values() for name in named):
        file, _, function = name.strip().partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), name
