"""What a campaign did and found, as a table to read."""

from __future__ import annotations

from tests.faults.random_campaign import Done

STUCK = ("stuck", "no answer", "does not come up", "open rows", "a signal is due for ever")
DRIFT = ("drift", "a gap", "status went back", "money", "deleted, and yet there")


def print_done(done: Done) -> None:
    print(f"\n{'fault':28}  {'times':>5}  {'worst recovery s':>16}")
    for name, times in sorted(done.faults.items()):
        print(f"{name:28}  {times:5}  {done.recovery.get(name, 0.0):16.1f}")
    print(f"{'all':28}  {done.faults.total():5}  {max(done.recovery.values(), default=0):16.1f}\n")
    for name, value in figures(done).items():
        print(f"{name:28}  {value}")
    print(f"{'lost calls by cause':28}  {dict(sorted(done.counted.lost.items()))}")
    print(f"{'ends of runs':28}  {dict(sorted(done.ends.items()))}")
    for line in done.exits:
        print(f"ended by itself: {line}")
    for violation in done.violations:
        print(f"VIOLATION {violation.kind}: run {violation.run_id}: {violation.facts}")


def figures(done: Done) -> dict[str, object]:
    """The numbers that a note names."""
    return {
        "seed": done.seed,
        "seconds": round(done.seconds),
        "faults": done.faults.total(),
        "runs judged": done.counted.runs,
        "documents deleted": done.deleted,
        "requests": done.requests,
        "calls": done.counted.calls,
        "calls never sent": done.counted.never_sent,
        "repeats": done.of("repeat"),
        "in the window": done.counted.in_the_window,
        "stuck": done.of(*STUCK),
        "drift": done.of(*DRIFT),
        "violations": len(done.violations),
    }
