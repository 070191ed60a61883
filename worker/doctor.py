"""`./redraft doctor`: looks at everything Redraft needs and says what to do.

It reads and asks; it changes nothing. Exit code 0 when nothing failed, else 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from deploy import terminal
from deploy.settings import SettingsError, load
from worker.doctor_database import check_database
from worker.doctor_findings import Finding, Level, fail, ok
from worker.doctor_machine import check_machine, check_stack, data_directory, joined_environment
from worker.doctor_services import check_model, check_temporal

_WIDTH = 11


async def examine(environment: Mapping[str, str], data: Path) -> list[Finding]:
    """All findings, in the order of what stands on what; services are asked side by side."""
    findings = check_machine(data) + check_stack(environment, data)
    joined = joined_environment(environment, data)
    try:
        settings = load(joined)
    except SettingsError as error:
        lines = [line.strip() for line in str(error).splitlines()[1:]]
        return findings + [fail("settings", line, "") for line in lines]
    findings.append(ok("settings", "all variables can be used"))
    database, temporal, model = await asyncio.gather(
        check_database(settings), check_temporal(settings, joined), check_model(settings, joined)
    )
    return [*findings, *database, *temporal, model]


def _print(findings: Sequence[Finding]) -> None:
    for one in findings:
        terminal.say(f"{one.level:5} {one.area:{_WIDTH}} {terminal.told(one.text)}")
        if one.act:
            terminal.say(f"{'':5} {'':{_WIDTH}} -> {terminal.told(one.act)}")
    failed = sum(one.level is Level.FAIL for one in findings)
    warned = sum(one.level is Level.WARN for one in findings)
    terminal.say(f"\n{failed} failed, {warned} warnings")


def parser_of() -> argparse.ArgumentParser:
    parser = terminal.Parser(prog="redraft doctor", description=__doc__)
    parser.add_argument("--data-dir", metavar="DIR", help="of the stack to look at")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--lang", help="en or zh (default: as LC_ALL or LANG says)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words, parser = sys.argv[1:] if arguments is None else arguments, parser_of()
    if terminal.speak(words, os.environ):
        terminal.say_in_chinese(parser)
    given = parser.parse_args(words)
    data = data_directory(os.environ, given.data_dir)
    findings = asyncio.run(examine(os.environ, data))
    if given.json:
        print(json.dumps([asdict(one) for one in findings], ensure_ascii=False))
    else:
        _print(findings)
    return 1 if any(one.level is Level.FAIL for one in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
