"""`./redraft test [--fast | --local-llm] [TIER …] [pytest options]`: the tests, services included.

Without a tier all of them run, the quick ones first; beside them faults and workflows, and beside
both whole stacks, pages and the protocol's model: three lanes that take about as long.
`--fast` runs those that need no service. `--local-llm` runs none of them, but whole runs against a
small real model, which it fetches (127 MB, once). Services are started by the tests themselves
(`tests/conftest.py`) and stopped with them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.local_llm.command import run as local_llm
from tests.promised import MISSING, Part, how_to_get, in_ci, is_there

ROOT = Path(__file__).resolve().parent.parent
FAST = ("unit", "replay", "architecture", "protocol")
TIERS = (*FAST, "database", "api", "workflow", "acceptance", "faults", "pages")
BESIDE = (("faults", "workflow"), ("acceptance", "pages", "protocol"))
_NEEDS = {
    "database": (Part.POSTGRES,),
    "api": (Part.POSTGRES, Part.TEMPORAL),
    "workflow": (Part.POSTGRES, Part.TEMPORAL),
    "acceptance": (Part.POSTGRES, Part.TEMPORAL, Part.NGINX),
    "faults": (Part.POSTGRES, Part.TEMPORAL),
    "pages": (Part.POSTGRES, Part.TEMPORAL, Part.CHROMIUM),
}
_NOTHING_COLLECTED = 5


class Promises:
    """In CI a skipped test must have a reason that holds everywhere, not a part that is missing."""

    def __init__(self) -> None:
        self.broken: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple) and MISSING in report.longrepr[2]:
            self.broken.append(f"{report.nodeid}: {report.longrepr[2]}")


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="redraft test",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"tiers: {', '.join(TIERS)}",
    )
    parser.add_argument("--fast", action="store_true", help=f"only {', '.join(FAST)}")
    parser.add_argument("--local-llm", action="store_true", help="only against a real small model")
    given, rest = parser.parse_known_args(arguments)
    return given, rest


def tiers_and_options(rest: Sequence[str], *, fast: bool) -> tuple[list[str], list[str]]:
    """The folders to run and what pytest gets besides; a named file or test replaces the tiers."""
    tiers = [word for word in rest if word in TIERS]
    options = [word for word in rest if word not in TIERS]
    named = [word for word in options if word.split("::")[0].endswith(".py")]
    if not tiers and not named:
        tiers = list(FAST if fast else TIERS)
    return tiers, options


def folders(tiers: Sequence[str]) -> list[str]:
    """Of these tiers, the folders that hold tests."""
    there = (tier for tier in tiers if any((ROOT / "tests" / tier).rglob("test_*.py")))
    return [f"tests/{tier}" for tier in there]


def missing_parts(tiers: Sequence[str]) -> list[Part]:
    needed = dict.fromkeys(part for tier in tiers for part in _NEEDS.get(tier, ()))
    return [part for part in needed if not is_there(part)]


def lanes(tiers: Sequence[str]) -> list[list[str]]:
    """What runs side by side, each in a process of its own."""
    rest = [tier for tier in tiers if not any(tier in lane for lane in BESIDE)]
    beside = [[tier for tier in lane if tier in tiers] for lane in BESIDE]
    return [lane for lane in (rest, *beside) if folders(lane)] or [list(tiers)]


@contextlib.contextmanager
def _beside(lane: Sequence[str], options: Sequence[str]) -> Iterator[list[int]]:
    """Runs a lane meanwhile; prints what it said, and leaves its exit code, at the end."""
    code: list[int] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        argv = [sys.executable, "-m", "tests", *lane, *options]
        process = subprocess.Popen(argv, stdout=said, stderr=subprocess.STDOUT)
        try:
            yield code
            code.append(process.wait())
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
            said.seek(0)
            print(f"\n{' '.join(lane)}:\n{said.read()}", flush=True)


def _run(tiers: Sequence[str], options: Sequence[str], promises: Promises) -> int:
    first, *others = lanes(tiers)
    with contextlib.ExitStack() as stack:
        beside = [stack.enter_context(_beside(lane, options)) for lane in others]
        codes = [int(pytest.main([*folders(first), "-q", "-rfE", *options], plugins=[promises]))]
    codes += [code for lane in beside for code in lane]
    if len(codes) == 1:
        return codes[0]
    ran = [code for code in codes if code != _NOTHING_COLLECTED]
    return max(ran, default=_NOTHING_COLLECTED)


def main(arguments: Sequence[str] | None = None) -> int:
    given, rest = _parse(sys.argv[1:] if arguments is None else arguments)
    if given.local_llm:
        os.chdir(ROOT)
        return local_llm(rest)
    tiers, options = tiers_and_options(rest, fast=given.fast)
    for part in missing_parts(tiers):
        word = "CI promises" if in_ci() else "tests are skipped without"
        print(f"redraft test: {word} {part}: {how_to_get(part)}", file=sys.stderr)
    if in_ci() and missing_parts(tiers):
        return 1
    os.chdir(ROOT)
    promises = Promises()
    code = _run(tiers, options, promises)
    if in_ci() and promises.broken:
        print("skipped, but promised:\n  " + "\n  ".join(promises.broken), file=sys.stderr)
        return code or 1
    return 0 if code == _NOTHING_COLLECTED and given.fast else code


if __name__ == "__main__":
    sys.exit(main())
