"""`./redraft bench protections [RULE …] [--json FILE]`: is each protection needed?

For each rule the project is copied, the lines that hold it are taken out (tests/protocol/removals)
and the tests that carry its marker are run there. One of them must fail, in its own body. The exit
code is 1 when all pass (the protection is not proved) or when nothing could be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.architecture.sources import ROOT, tracked
from tests.protocol import removals
from tests.protocol.markers import files_by_rule
from tests.protocol.removals.removal import apply_all

LIMIT_SECONDS = 900.0
NEEDED, SURVIVED, NOT_TRIED = "needed", "SURVIVED", "NOT TRIED"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of one rule's removal; `test` failed and `said` why, if the rule is needed."""

    rule: str
    outcome: str
    files: list[str]
    test: str = ""
    said: str = ""
    seconds: float = 0.0


def try_rule(rule: str, marked: dict[str, list[str]]) -> Trial:
    began = time.monotonic()
    edits = removals.of(rule)
    files = sorted({edit.path for edit in edits})
    if not edits or rule not in marked:
        missing = "no removal" if not edits else "no test carries its marker"
        return Trial(rule=rule, outcome=NOT_TRIED, files=files, said=missing)
    with tempfile.TemporaryDirectory(prefix="redraft-without-") as folder:
        root = Path(folder) / "redraft"
        _copy(root)
        problems = apply_all(root, edits) or _undefined(root, files)
        if problems:
            return Trial(rule=rule, outcome=NOT_TRIED, files=files, said="; ".join(problems))
        outcome, test, said = _judge(_run(root, rule, marked[rule]))
    seconds = time.monotonic() - began
    return Trial(rule=rule, outcome=outcome, files=files, test=test, said=said, seconds=seconds)


def _copy(root: Path) -> None:
    """The files of the project as they stand, with the environment shared."""
    for name in tracked():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    (root / ".venv").symlink_to(sys.prefix)


def _undefined(root: Path, files: Sequence[str]) -> list[str]:
    """Names that the edit left without a meaning: a test would fail for those instead."""
    python = [name for name in files if name.endswith(".py")]
    if not python:
        return []
    ruff = [sys.executable, "-m", "ruff", "check", "-q", "--select", "F821", *python]
    done = subprocess.run(ruff, cwd=root, capture_output=True, text=True, check=False)
    return [done.stdout.strip()[:500] or done.stderr.strip()[:500]] if done.returncode else []


def _run(root: Path, rule: str, files: Sequence[str]) -> dict[str, Any]:
    told = root / ".told.json"
    options = ("-p", "tests.bench.chosen_rule", "--rule", rule, "--told", str(told))
    quiet = ("-q", "--no-header", "-p", "no:cacheprovider")
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTHONPYCACHEPREFIX": str(root / ".pycache"),
    }
    log = root / ".log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "pytest", *options, *quiet, *files],
            cwd=root,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
    if not told.exists():
        said = log.read_text(encoding="utf-8", errors="replace").strip()[-500:]
        return {"ran": [], "failed": [], "errors": [{"test": "", "said": said}]}
    heard: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    return heard


def _judge(heard: dict[str, Any]) -> tuple[str, str, str]:
    """Outcome, the test it rests on, and what that test said."""
    if heard["failed"]:
        first = heard["failed"][0]
        return NEEDED, first["test"], first["said"]
    if heard["errors"]:
        first = heard["errors"][0]
        return NOT_TRIED, first["test"], f"error outside of the test: {first['said']}"
    if not heard["ran"]:
        return NOT_TRIED, "", "every test was skipped"
    return SURVIVED, "", f"all pass without it: {', '.join(heard['ran'])}"


def _show(trial: Trial) -> None:
    head = f"{trial.outcome:9}  {trial.rule:26} {trial.seconds:5.0f} s  {', '.join(trial.files)}"
    print(head)
    for line in filter(None, (trial.test, trial.said)):
        print(f"           {line}")
    sys.stdout.flush()


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="redraft bench protections",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rules", nargs="*", metavar="RULE", help="only these; all without one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes there")
    given = parser.parse_args(arguments)
    known = {edit.rule for edit in removals.REMOVALS}
    for rule in given.rules:
        if rule not in known:
            parser.error(f"no removal of {rule!r}; there are {', '.join(sorted(known))}")
    given.rules = given.rules or list(dict.fromkeys(edit.rule for edit in removals.REMOVALS))
    return given


def main(arguments: Sequence[str]) -> int:
    given, began = _parse(arguments), time.monotonic()
    marked = files_by_rule()
    trials = []
    for rule in given.rules:
        trials.append(try_rule(rule, marked))
        _show(trials[-1])
    if given.json is not None:
        content = json.dumps([asdict(trial) for trial in trials], indent=2, ensure_ascii=False)
        given.json.write_text(content + "\n", encoding="utf-8")
    needed = sum(trial.outcome == NEEDED for trial in trials)
    took = time.monotonic() - began
    print(f"{needed} of {len(trials)} protections proved needed, {took:.0f} s")
    return 0 if needed == len(trials) else 1
