"""`./redraft bench` as a user runs it: one measure, few samples, bounds that only a broken path
exceeds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.promised import Part, require
from tests.services import ROOT

pytestmark = [pytest.mark.stack, pytest.mark.timeout(150)]


def test_bench_writes_figures_within_ten_times_their_targets(tmp_path: Path) -> None:
    require(Part.POSTGRES)
    require(Part.TEMPORAL)
    file = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "history", "resume", "--quick", "--json", str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=140,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads(file.read_text())
    figures = {figure["name"]: figure for figure in written["figures"]}
    assert set(figures) == {
        "history events",
        "history size",
        "history largest payload",
        "resume",
    }
    assert figures["history events"]["met"]
    assert figures["history size"]["met"]
    assert figures["history largest payload"]["max"] < 2000  # ids and numbers, no text
    assert figures["resume"]["n"] >= 4
    assert figures["resume"]["max"] < 10 * 300
    assert written["machine"]["cores"] == os.cpu_count()


def test_unknown_measure_is_refused_with_the_names_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["speed"])
    assert ended.value.code == 2
    assert "overhead" in capsys.readouterr().err
