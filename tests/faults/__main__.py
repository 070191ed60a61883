"""`./redraft fault [NAME] [--seed S]`: does one fault to a small stack of its own with a few runs
in flight, and says what came of it. Without a NAME it lists them.

Everything is started for this and gone afterwards; exit code 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.faults.kit import FAULTS, Fault, Place
from tests.faults.kit.place import own_folder, remove_folder
from tests.faults.random_campaign import Campaign, Done
from tests.faults.random_report import told

UNAVAILABLE = 5


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def listed() -> list[str]:
    """Each fault with what it does and how it is undone."""
    lines = []
    for name, fault in sorted(FAULTS.items()):
        cost = "may cost calls under way" if fault.costly else "may cost nothing"
        lines += [f"{name}", f"    {fault.about}; {cost}.", f"    Undone: {fault.undone}."]
    return lines


async def do(fault: Fault, *, seed: int, runs: int, folder: Path) -> Done | str:
    """The fault once, after all runs have begun; why it cannot be done here, if so."""
    async with Place(folder / "logs") as place:
        lacking = fault.lacking(place)
        if lacking is not None:
            return lacking
        began = time.monotonic()
        return await Campaign(
            place,
            seed=seed,
            minutes=1,
            runs=runs,
            only=[fault],
            evidence=folder / "evidence",
            say=lambda line: say(f"{time.monotonic() - began:6.1f}  {line}"),
        ).run()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="redraft fault",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", help="the fault; without it all are listed")
    parser.add_argument("--seed", type=int, default=1, help="of every choice (1)")
    parser.add_argument("--runs", type=int, default=6, help="in flight (6)")
    given = parser.parse_args(arguments)
    if given.name is None:
        say("\n".join(listed()))
        return 0
    if given.name not in FAULTS:
        parser.error(f"no fault {given.name!r}; ./redraft fault lists them")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    folder = own_folder()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing stays mounted
    done = asyncio.run(do(FAULTS[given.name], seed=given.seed, runs=given.runs, folder=folder))
    if isinstance(done, str):
        say(f"{given.name} cannot be done here: {done}")
        remove_folder(folder)
        return UNAVAILABLE
    say("\n" + "\n".join(told(done)))
    if done.violations:
        say(f"evidence: {folder}")
        return 1
    remove_folder(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
