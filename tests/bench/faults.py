"""`./redraft bench faults --minutes N --seed S [--json FILE]`: random faults over 20 runs at all
times, in a stack of its own. Exit code 1 when a promise was broken; the evidence is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import report
from tests.faults.kit import FAULTS, Fault, Place
from tests.faults.kit.place import own_folder, remove_folder
from tests.faults.random_campaign import Campaign, Done
from tests.faults.random_report import as_json, told


async def campaign(given: argparse.Namespace, folder: Path) -> Done:
    async with Place(folder / "logs", workers=given.workers) as place:
        began = time.monotonic()

        def say(line: str) -> None:
            if not given.quiet:
                print(f"{time.monotonic() - began:7.1f}  {line}", flush=True)

        return await Campaign(
            place,
            seed=given.seed,
            minutes=given.minutes,
            runs=given.runs,
            only=_named(given, place),
            evidence=folder / "evidence",
            say=say,
        ).run()


def _named(given: argparse.Namespace, place: Place) -> list[Fault]:
    """Each fault that can be done here, or those of these names; none: by chance."""
    names = FAULTS if given.each else given.only
    return [FAULTS[name] for name in names if FAULTS[name].lacking(place) is None]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="redraft bench faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="of faults (2)")
    parser.add_argument("--seed", type=int, default=None, help="of every choice (the clock)")
    parser.add_argument("--each", action="store_true", help="each fault once, not --minutes")
    parser.add_argument(
        "--only", nargs="*", default=[], choices=sorted(FAULTS), metavar="FAULT", help="these once"
    )
    parser.add_argument("--runs", type=int, default=20, help="at all times (20)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="for logs and evidence")
    parser.add_argument("--quiet", action="store_true", help="only the table at the end")
    given = parser.parse_args(arguments)
    if given.seed is None:
        given.seed = int(time.time()) % 100_000
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    facts = report.machine()
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print(f"seed {given.seed}, {given.minutes:g} minutes, {given.runs} runs at all times")
    folder = given.keep or own_folder()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing stays mounted
    done = asyncio.run(campaign(given, folder))
    print("\n" + "\n".join(told(done)))
    if given.json is not None:
        content = {"machine": facts, "minutes": given.minutes, **as_json(done)}
        given.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if done.violations:
        print(f"evidence: {folder}", file=sys.stderr)
        return 1
    if given.keep is None:
        remove_folder(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
