"""`python -m tests.protocol`: searches the model of the protocol.

(nothing)        every scenario must be clean
--without RULE   one rule taken away; prints the shortest way to the failure
--all            the scenarios, each rule taken away, and what must be within reach
--deep           the larger scenarios too
--list           rules and scenarios
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from tests.protocol.rules import ASSUMPTIONS, RULES
from tests.protocol.scenario import DEEP, SCENARIOS, Scenario, without
from tests.protocol.search import Found, explore
from tests.protocol.witness import WITNESSES, reach


@dataclass(frozen=True, kw_only=True)
class Said:
    """One line of the report, and the trace below it if somebody should see it."""

    fine: bool
    line: str
    trace: Sequence[str] = ()


def clean(name: str, text: str) -> Said:
    found = explore(Scenario(text))
    line = f"{name}: {found.violation or 'clean'} {_size(found)}"
    return Said(fine=not found.violation, line=line, trace=found.trace)


def removed(name: str, *, traced: bool = False) -> Said:
    rule = (RULES | ASSUMPTIONS)[name]
    found = explore(without(name, rule))
    also = f" (and {', '.join(rule.also)})" if rule.also else ""
    said = found.violation or (f"not shown: {rule.hidden}" if rule.hidden else "SURVIVES")
    fine = bool(found.violation) != bool(rule.hidden)
    trace = found.trace if traced or not fine else ()
    return Said(fine=fine, line=f"without {name}{also}: {said} {_size(found)}", trace=trace)


def reached(name: str) -> Said:
    depth = reach(name)
    where = f"{depth} transitions away" if depth >= 0 else "OUT OF REACH"
    return Said(fine=depth >= 0, line=f"{name}: {where}")


def _size(found: Found) -> str:
    steps = f"{len(found.trace) - 1} transitions, " if found.violation else ""
    return f"[{steps}{found.states} states, {found.edges} edges, {found.seconds:.1f} s]"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _listing() -> None:
    for name, rule in (RULES | ASSUMPTIONS).items():
        _say(f"{rule.section}  {name:26} {rule.says}")
    for name, text in (SCENARIOS | DEEP).items():
        _say(f"   {name:32} {text}")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.protocol",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--without", choices=[*RULES, *ASSUMPTIONS], metavar="RULE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--scenario", help="only this scenario")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)


def _work(given: argparse.Namespace) -> list[Callable[[], Said]]:
    if given.without:
        return [partial(removed, given.without, traced=True)]
    scenarios = SCENARIOS | (DEEP if given.deep else {})
    if given.scenario:
        return [partial(clean, given.scenario, (SCENARIOS | DEEP)[given.scenario])]
    work: list[Callable[[], Said]] = [partial(clean, *item) for item in scenarios.items()]
    if given.all:
        work += [partial(removed, name) for name in (*RULES, *ASSUMPTIONS)]
        work += [partial(reached, name) for name in WITNESSES]
    return work


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parse(sys.argv[1:] if arguments is None else arguments)
    if given.list:
        _listing()
        return 0
    began, fine, work = time.monotonic(), 0, _work(given)
    with ProcessPoolExecutor(given.jobs) as processes:
        for said in [processes.submit(one) for one in work]:
            told = said.result()
            fine += told.fine
            _say(f"{'ok  ' if told.fine else 'FAIL'} {told.line}")
            for n, line in enumerate(told.trace):
                _say(f"    {n:2} {line}")
    _say(f"{fine} of {len(work)} as expected, {time.monotonic() - began:.0f} s")
    return 0 if fine == len(work) else 1


if __name__ == "__main__":
    sys.exit(main())
