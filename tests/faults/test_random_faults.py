"""Random faults over many runs at once, by a fixed seed: a sample of `./redraft bench faults`.

`REDRAFT_TEST_FAULT_MINUTES`, `…_SEED` and `…_RUNS` make it longer, or another one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.kit import FAULTS, Place
from tests.faults.random_campaign import Campaign
from tests.faults.random_report import told
from tests.promised import Part, require


def _given(name: str, default: str) -> float:
    return float(os.environ.get(f"REDRAFT_TEST_FAULT_{name}", default))


@pytest.mark.timeout(1200 + 60 * int(_given("MINUTES", "2")))
async def test_nothing_is_lost_repaid_or_stuck_whatever_dies(tmp_path: Path) -> None:
    require(Part.POSTGRES, Part.TEMPORAL)
    said: list[str] = []
    async with Place(tmp_path / "logs") as place:
        done = await Campaign(
            place,
            seed=int(_given("SEED", "11")),
            minutes=_given("MINUTES", "1.5"),
            runs=int(_given("RUNS", "12")),
            evidence=tmp_path / "evidence",
            say=said.append,
        ).run()
    assert not done.violations, "\n".join([*said, *told(done)])
    assert done.faults.total() >= 3, said
    assert done.counted.runs >= 12, told(done)


def test_each_fault_says_what_it_does_and_how_it_is_undone() -> None:
    assert len(FAULTS) > 25
    for fault in FAULTS.values():
        assert fault.about, fault.name
        assert fault.undone, fault.name
        assert fault.lasts[0] <= fault.lasts[1], fault.name
        assert fault.touches, fault.name
