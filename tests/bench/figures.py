"""A figure: samples of one quantity, its quantiles, and the target it is held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class At(StrEnum):
    """Which quantile a target is about."""

    P50 = "p50"
    P95 = "p95"
    P99 = "p99"
    MAX = "max"


def quantile(samples: Sequence[float], share: float) -> float:
    """The nearest rank: a value that was seen. `samples` must not be empty."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound that the quantile must not exceed; with `at_least` not fall below."""

    bound: float
    at: At = At.P50
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{self.at} {'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """`name` begins with its measure, such as `interrupt 50 in flight`. `details` go to the JSON
    and, where they are numbers by name, under the table's line."""

    name: str
    unit: str
    samples: Sequence[float]
    targets: Sequence[Target] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def value(self, at: At) -> float:
        share = {At.P50: 0.5, At.P95: 0.95, At.P99: 0.99, At.MAX: 1.0}[at]
        return quantile(self.samples, share)

    @property
    def met(self) -> bool | None:
        """None without a target."""
        if not self.targets:
            return None
        return all(target.met(self.value(target.at)) for target in self.targets)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "n": len(self.samples),
            **{str(at): round(self.value(at), 3) for at in At},
            "targets": [str(target) for target in self.targets],
            "met": self.met,
            **({"details": self.details} if self.details else {}),
        }
