"""`./redraft eval [--texts]`: precision and recall of the verifiers of minutes.

True statements of real meetings must stay alone; facts planted into them must be found. Half of
the meetings are held out: nothing was tuned by them. Exit code 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.evaluate.measure import HELD_OUT, MINUTES, TUNED, Counts, labelled, measure

FACTS = {
    "number": "numbers",
    "date": "dates",
    "time": "times",
    "name": "names",
    "term": "terms",
    "owner": "owners",
    "decision": "decisions",
    "number said elsewhere": "numbers",
    "time said elsewhere": "times",
}
"""What is planted, and which verifier is to find it."""
BOUNDED = ("number", "date", "time", "name")
LEAST_RECALL = 0.9
MOST_ALARMS = 0.1
"""Blocker or major findings a true statement, of each verifier."""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="redraft eval", description=__doc__)
    parser.add_argument("--texts", action="store_true", help="also show alarms and what was missed")
    given = parser.parse_args(words)
    counts = measure()
    lines = [*alarm_table(counts), "", *recall_table(counts), "", *labelled(), ""]
    broken = misses(counts)
    lines += [*counts.texts, ""] if given.texts else []
    sys.stdout.write("\n".join([*lines, *(broken or ["All bounds hold."])]) + "\n")
    return 1 if broken else 0


def alarm_table(counts: Counts) -> list[str]:
    halves = (TUNED, HELD_OUT)
    total = " / ".join(str(counts.statements[half]) for half in halves)
    rows = [f"True statements: {total} ({TUNED} / {HELD_OUT})", ""]
    rows.append(f"{'verifier':12}{'blocker or major':>20}{'a statement':>16}{'minor':>12}")
    for name in MINUTES.verifiers:  # type: ignore[attr-defined]  # of the built-in kinds
        alarms = [counts.alarms[name, half] for half in halves]
        shares = [alarms[at] / max(1, counts.statements[half]) for at, half in enumerate(halves)]
        rows.append(
            f"{name:12}{alarms[0]:>14} / {alarms[1]:>3}{shares[0]:>9.3f} / {shares[1]:.3f}"
            f"{counts.minors[name, TUNED]:>6} / {counts.minors[name, HELD_OUT]:>3}"
        )
    return rows


def recall_table(counts: Counts) -> list[str]:
    head = f"{'planted':24}{'tuned':>22}{'held out':>22}"
    rows = [f"{head}{'corrected':>12}{'wrongly':>9}{'precision':>11}"]
    for fact, verifier in FACTS.items():
        cells = []
        for half in (TUNED, HELD_OUT):
            found, planted = counts.found[fact, half], counts.planted[fact, half]
            cells.append(f"{found:>10} of {planted:<4}{counts.recall(fact, half):>5.2f}")
        found = counts.found[fact, TUNED] + counts.found[fact, HELD_OUT]
        alarms = counts.alarms[verifier, TUNED] + counts.alarms[verifier, HELD_OUT]
        corrected = counts.corrected[fact, TUNED] + counts.corrected[fact, HELD_OUT]
        wrongly = counts.miscorrected[fact, TUNED] + counts.miscorrected[fact, HELD_OUT]
        precision = found / max(1, found + alarms)
        rows.append(
            f"{fact:24}{cells[0]:>22}{cells[1]:>22}{corrected:>12}{wrongly:>9}{precision:>11.3f}"
        )
    return rows


def misses(counts: Counts) -> list[str]:
    """The bounds that do not hold, one sentence each."""
    broken = []
    for half in (TUNED, HELD_OUT):
        for fact in BOUNDED:
            if counts.recall(fact, half) < LEAST_RECALL:
                broken.append(f"Recall of {fact} ({half}) is {counts.recall(fact, half):.2f}.")
        for name in sorted({name for name, one in counts.alarms if one == half}):
            share = counts.alarms[name, half] / max(1, counts.statements[half])
            if share > MOST_ALARMS:
                broken.append(f"Alarms of {name} ({half}) are {share:.2f} a statement.")
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
