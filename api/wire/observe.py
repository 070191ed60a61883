"""The answer of `GET /api/observe`: what happened in a range of time, in numbers."""

from __future__ import annotations

from pydantic import Field

from api.wire.service import Worker
from api.wire.types import Money, Time, Wire


class StepTimes(Wire):
    """Steps that succeeded: how many, their work, and apart from it their waiting before it."""

    count: int
    p50_ms: int | None
    p95_ms: int | None
    queue_p50_ms: int | None
    queue_p95_ms: int | None


class TokenSums(Wire):
    """Counts that a provider did not tell count as 0 here."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


class TokensBy(Wire):
    total: TokenSums
    by_model: dict[str, TokenSums]
    by_kind: dict[str, TokenSums]
    by_profile: dict[str, TokenSums]


class CostSums(Wire):
    """In one currency."""

    total: Money
    by_model: dict[str, Money]
    by_kind: dict[str, Money]
    by_profile: dict[str, Money]


class CostBy(CostSums):
    """In one `currency`, the most used one of the range; `currencies` names all of them, and
    `by_currency` has the same sums in each: amounts are never converted or added across them. A sum
    is null when no price of its calls is known; `unpriced_calls` says how many are in none."""

    currency: str | None
    currencies: list[str]
    by_currency: dict[str, CostSums]
    unpriced_calls: int


class Wasted(Wire):
    """`tokens` are input and output together, `costs` the sums by currency."""

    tokens: int
    cost: Money
    calls: int
    costs: dict[str, Money]


class Waste(Wire):
    """What was paid and bought nothing. `replaced`: kept, then a person's change began the step
    anew. `lost`: the process died with the call and nothing of it was kept. `repeated`: failed or
    stopped with nothing kept. Both are asked again from their start if the run goes on."""

    replaced: Wasted
    lost: Wasted
    repeated: Wasted


class Saved(Wire):
    """Calls that ended early, also with their process, with items kept: output that was not paid
    a second time."""

    tokens: int
    calls: int


class Interrupts(Wire):
    """By people, and the time until the step at work had stopped."""

    count: int
    p50_ms: int | None
    p95_ms: int | None


class Queue(Wire):
    """Runs that wait for a free worker now."""

    waiting: int
    oldest_seconds: int | None


class Point(Wire):
    """One bucket: runs by when they began and ended, calls by when they ended."""

    t: Time
    started: int = 0
    confirmed: int = 0
    rejected: int = 0
    failed: int = 0
    cancelled: int = 0
    calls: int = 0
    tokens_input: int = 0
    tokens_output: int = 0
    tokens_wasted: int = 0
    cost: Money = None
    costs: dict[str, Money] = Field(default_factory=dict)


class Observed(Wire):
    """`success_rate` is the share of confirmed runs among those that ended in the range.

    `simulated_calls` are those of the offline model: they are in the sums when that model is the
    one in use or `simulated=true` asks for them, else left out (`excludes`). Percentiles of steps
    are off by at most `percentile_error` of themselves: 0 where each was looked at by itself.
    """

    from_: Time = Field(serialization_alias="from")
    to: Time
    bucket_seconds: int
    kind: str | None
    profile: str | None
    excludes: list[str]
    simulated_calls: int
    percentile_error: float
    runs_by_status: dict[str, int]
    success_rate: float | None
    steps: dict[str, StepTimes]
    tokens: TokensBy
    cost: CostBy
    waste: Waste
    saved_by_continuation: Saved
    guardrail_stops: dict[str, int]
    interrupts: Interrupts
    queue: Queue
    series: list[Point]
    workers: list[Worker]
