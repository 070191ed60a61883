"""What a campaign did and found, as a table to read."""

from __future__ import annotations

from tests.faults.random_campaign import Done

STUCK = ("stuck", "no answer", "does not come up", "open rows", "a signal is due for ever")
DRIFT = ("drift", "a gap", "status went back", "money", "deleted, and yet there")


def told(done: Done) -> list[str]:
    """The lines of the report."""
    lines = [f"{'fault':28}  {'times':>5}  {'worst recovery s':>16}"]
    for name, times in sorted(done.faults.items()):
        lines.append(f"{name:28}  {times:5}  {done.recovery.get(name, 0.0):16.1f}")
    worst = max(done.recovery.values(), default=0.0)
    lines += [f"{'all':28}  {done.faults.total():5}  {worst:16.1f}", ""]
    lines += [f"{name:28}  {value}" for name, value in figures(done).items()]
    lines.append(f"{'lost calls by cause':28}  {dict(sorted(done.counted.lost.items()))}")
    lines.append(f"{'ends of runs':28}  {dict(sorted(done.ends.items()))}")
    lines += [f"ended by itself: {line}" for line in done.exits]
    for one in done.violations:
        lines.append(f"VIOLATION {one.kind}: run {one.run_id}: {one.facts}")
    return lines


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
        "whole, to frozen workers": done.counted.to_the_frozen,
        "whole, to stopped runs": done.counted.to_the_stopped,
        "overlaps excused": done.counted.overlaps_excused,
        "stuck": done.of(*STUCK),
        "drift": done.of(*DRIFT),
        "violations": len(done.violations),
    }


def as_json(done: Done) -> dict[str, object]:
    """All of it; times and recoveries by fault."""
    return {
        **figures(done),
        "faults by name": dict(done.faults),
        "worst recovery seconds": done.recovery,
        "lost calls by cause": {str(cause): n for cause, n in done.counted.lost.items()},
        "in the window, each": done.counted.window_facts,
        "ends of runs": dict(done.ends),
        "ended by themselves": done.exits,
        "violated": [vars(one) for one in done.violations],
    }
