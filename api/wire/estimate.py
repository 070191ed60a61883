"""What a run may take: ranges of calls, tokens and money; nothing of it is stored."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api import wire
from api.wire.types import Money, Wire


class Span(Wire):
    """From the least to the most."""

    min: int
    max: int


class CostSpan(Wire):
    """Decimal strings in `currency`."""

    min: str
    max: str


class TokenSpans(Wire):
    input: Span
    output: Span


class PlannedStep(Wire):
    """All executions of a step. `parts` are the calls of one of them, side by side; `repeats` those
    of `calls` that are made again: cut, with items missing, answered once more. `replies`: whether
    their length is `measured` in calls of this profile, or `assumed`."""

    name: str
    times: Span
    parts: Span
    calls: Span
    repeats: Span
    tokens: TokenSpans
    cost: CostSpan | None = Field(description="null when the price is unknown")
    currency: str | None
    replies: Literal["measured", "assumed"]


class Estimate(Wire):
    """`begins_with` is the run's first step. `may_stop_at` names limits that the most would reach:
    all rounds, and as many calls made again as there are at most. A server that fails for long can
    take more."""

    kind: str
    profile: wire.ProfileRef
    model: str
    begins_with: str
    rounds: Span
    steps: list[PlannedStep]
    calls: Span
    tokens: TokenSpans
    cost: CostSpan | None = Field(
        description="null when the price is unknown, or there is one in several currencies"
    )
    currency: Money
    costs: dict[str, CostSpan] = Field(description="by currency; empty when a price is unknown")
    may_stop_at: list[str]


class Rest(Wire):
    """What the rounds that a run may still take are likely to take more. `limits` are those that
    are likely to be enough for all of them, with what is used already; one that cannot be told (no
    price, two currencies) is left out."""

    rounds: Span
    calls: Span
    tokens: TokenSpans
    cost: CostSpan | None
    currency: str | None
    limits: dict[str, int | str]
