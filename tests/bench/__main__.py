"""`./redraft bench [NAME …] [--json FILE] [--quick]`: measures this machine's Redraft.

Without a NAME everything is measured, in about five minutes on two quiet cores. Exit code 0 also
when a target is missed (the table says so); 1 when something broke, 2 for a wrong NAME.
`./redraft bench PROGRAM [options]` runs a long proof instead; each has its own --help.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from tests.bench import faults, loop, machine, pages, protections, recovery, report
from tests.bench.figures import Figure
from tests.bench.measure_history import history
from tests.bench.measure_load import throughput
from tests.bench.measure_restart import restart
from tests.bench.measure_steps import commit, overhead
from tests.bench.measure_stops import interrupt, resume
from tests.bench.peers import program as peers
from tests.bench.rig import Rig, rig
from tests.protocol import __main__ as protocol

Measure = Callable[[Rig], AsyncIterator[Figure]]
Program = Callable[[Sequence[str]], int]

MEASURES: dict[str, Measure] = {
    measure.__name__: measure
    for measure in (overhead, commit, resume, history, throughput, restart, interrupt)
}

# Long proofs with options of their own: what follows the name goes to them, their code is ours.
PROGRAMS: dict[str, Program] = {
    "machine": machine.main,
    "faults": faults.main,
    "loop": loop.main,
    "pages": pages.main,
    "peers": peers.main,
    "protections": protections.main,
    "recovery": recovery.main,
    "protocol": lambda words: protocol.main(["--all", "--deep", *words]),
}


async def measure(names: Sequence[str], *, small: bool) -> tuple[list[Figure], list[str]]:
    """The figures, and the names of the measures that broke. Prints as it goes."""
    figures: list[Figure] = []
    broken: list[str] = []
    async with rig(small=small) as made:
        report.print_head()
        for name in names:
            try:
                async for figure in MEASURES[name](made):
                    figures.append(figure)
                    report.print_figure(figure)
            except Exception:
                traceback.print_exc()
                print(f"{name} broke; the logs say:\n{made.stack.logs()}", file=sys.stderr)
                broken.append(name)
                await made.cancel_all()
    return figures, broken


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in PROGRAMS:
        return PROGRAMS[words[0]](words[1:])
    return measures(words)


def measures(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="redraft bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"names: {', '.join(MEASURES)}\nprograms: {', '.join(PROGRAMS)}",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these measures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--quick", action="store_true", help="few samples, to try the tool")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in MEASURES]
    if unknown:
        parser.error(f"no measure {unknown[0]!r}; there are {', '.join(MEASURES)}")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    facts, began = report.machine(), time.monotonic()
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    figures, broken = asyncio.run(measure(given.names or list(MEASURES), small=given.quick))
    if given.json is not None:
        report.write_json(given.json, facts, figures)
    missed = sum(figure.met is False for figure in figures)
    held = sum(figure.met is True for figure in figures)
    print(f"\n{held} targets met, {missed} missed, {time.monotonic() - began:.0f} s")
    if broken:
        print(f"broke: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
