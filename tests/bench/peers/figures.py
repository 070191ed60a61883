"""The harness' result lines as figures, with Redraft's targets and ratios against a peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tests.bench.figures import At, Figure, Target
from tests.bench.peers.described import NAME

Entry = Mapping[str, Any]

_NONE = Target(bound=0, at=At.MAX)
_KILL = {
    "next_call_s": ("s", Target(bound=3)),
    "last_call_s": ("s", None),
    "stall_s": ("s", None),
    "repeated": ("", _NONE),
    "stuck": ("", _NONE),
}
_OUTAGE = {
    "next_call_s": ("s", None),
    "last_call_s": ("s", None),
    "calls_per_run": ("", Target(bound=10, at=At.MAX)),
    "stuck": ("", _NONE),
}
_THROUGHPUT = {
    "runs_s": ("1/s", None),
    "run_p50_s": ("s", None),
    "cpu_total_ms_step": ("ms", None),
    "wal_kb_run": ("KB", None),
    "failed": ("", _NONE),
}
MEASURES: Mapping[str, Mapping[str, tuple[str, Target | None]]] = {
    "crash": _KILL,
    "crash50": _KILL,
    "pgdown": _OUTAGE,
    "serverdown": _OUTAGE,
    "interrupt": {
        "disconnect_ms": ("ms", Target(bound=20)),
        "acknowledged_ms": ("ms", None),
        "settled_ms": ("ms", None),
        "resume_ms": ("ms", Target(bound=35)),
        "missed": ("", _NONE),
        "calls_after_interrupt": ("", _NONE),
        "repeated": ("", _NONE),
    },
    "overhead": {
        "overhead_ms": ("ms", Target(bound=8)),
        "gap_ms": ("ms", None),
        "cpu_ms_step": ("ms", None),
    },
    "throughput0": _THROUGHPUT,
    "throughput200": _THROUGHPUT,
    "soak": {
        "stretch": ("", Target(bound=1.15)),
        "peak_mb": ("MB", None),
        "failed": ("", _NONE),
    },
}


def figures(entries: Sequence[Entry], reference: str) -> list[Figure]:
    """One for each measure, quantity and peer; targets are Redraft's own."""
    made = []
    for measure, peer in dict.fromkeys((entry["measure"], entry["peer"]) for entry in entries):
        own = _of(entries, measure, peer)
        others = {entry["rep"]: entry for entry in _of(entries, measure, reference)}
        for name, (unit, target) in MEASURES[measure].items():
            samples = [value for entry in own for value in values(entry, name)]
            if not samples:
                continue
            ratio = _ratio(own, others, name)
            made.append(
                Figure(
                    name=f"{measure} {peer} {name.removesuffix('_s').removesuffix('_ms')}",
                    unit=unit,
                    samples=samples,
                    targets=(target,) if target and peer == NAME else (),
                    details={} if ratio is None else {f"of {reference}": ratio},
                )
            )
    return made


def values(entry: Entry, name: str) -> list[float]:
    """Of a list its numbers, of a table of parts their sum."""
    found = entry.get(name)
    if isinstance(found, Mapping):
        return [float(sum(found.values()))]
    listed = found if isinstance(found, list) else [found]
    return [float(value) for value in listed if isinstance(value, int | float)]


def broken(entries: Sequence[Entry]) -> list[str]:
    """Measures that came to no figure."""
    return [
        f"{entry['measure']} {entry['peer']}: {entry['error']}"
        for entry in entries
        if "error" in entry
    ]


def _of(entries: Sequence[Entry], measure: str, peer: str) -> list[Entry]:
    return [entry for entry in entries if (entry["measure"], entry["peer"]) == (measure, peer)]


def _ratio(own: Sequence[Entry], others: Mapping[int, Entry], name: str) -> float | None:
    """The median over repetitions, each against the same repetition of the other."""
    ratios = []
    for entry in own:
        mine, theirs = values(entry, name), values(others.get(entry["rep"], {}), name)
        if mine and theirs and median(theirs):
            ratios.append(median(mine) / median(theirs))
    return round(median(ratios), 3) if ratios else None
