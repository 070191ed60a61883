"""Limits of a run: what they say, whether a call still fits, when a limit is near, what raises one.

`limits` of a run, all optional: `{"max_calls": 20, "max_tokens": 90000, "max_cost": "1.50",
"max_seconds": 600}`. Tokens are input and output together, cost is in the profile's currency,
seconds are those in RUNNING. Amounts are kept under the same four names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from workflows.vocabulary import Reason

CALLS, TOKENS, COST, SECONDS = "max_calls", "max_tokens", "max_cost", "max_seconds"
REASONS: Mapping[str, Reason] = {
    CALLS: Reason.LIMIT_CALLS,
    TOKENS: Reason.LIMIT_TOKENS,
    COST: Reason.LIMIT_COST,
    SECONDS: Reason.LIMIT_SECONDS,
}
NEAR = Decimal("0.8")
"""From this share on a limit is near."""
Amounts = Mapping[str, Decimal]


@dataclass(frozen=True, kw_only=True)
class Over:
    """A limit that is in the way: of what, how much is used, how much would be needed."""

    name: str
    limit: Decimal
    used: Decimal
    needed: Decimal

    @property
    def reason(self) -> Reason:
        return REASONS[self.name]

    @property
    def params(self) -> dict[str, Any]:
        return {
            "limit": plain(self.name, self.limit),
            "used": plain(self.name, self.used),
            "needed": plain(self.name, self.needed),
        }


def plain(name: str, amount: Decimal) -> int | float | str:
    """As rows and events have it: whole numbers, seconds with one decimal, money as a string."""
    if name == COST:
        return f"{amount.normalize():f}"
    if name == SECONDS and amount != amount.to_integral_value():
        return float(round(amount, 1))
    return int(amount)


def read(limits: Mapping[str, Any]) -> dict[str, Decimal]:
    """The limits that are set, as numbers."""
    return {name: Decimal(str(limits[name])) for name in REASONS if limits.get(name) is not None}


def refusal(limits: Amounts, used: Amounts, mine: Amounts) -> Over | None:
    """The first limit that does not allow `mine` on top of `used`; amounts not named are 0."""
    for name, limit in limits.items():
        before = used.get(name, Decimal(0))
        needed = before + mine.get(name, Decimal(0))
        if needed > limit or (name == SECONDS and needed >= limit):
            return Over(name=name, limit=limit, used=before, needed=needed)
    return None


def near(limits: Amounts, warned: Mapping[str, Any], used: Amounts) -> dict[str, Decimal]:
    """What is used of each limit that is near and was not told of since it has this value."""
    told = read(warned)
    return {
        name: used[name]
        for name, limit in limits.items()
        if name in used and used[name] >= limit * NEAR and told.get(name) != limit
    }


def changed(limits: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The limits after a change: a named key replaces, null removes."""
    merged = {**limits, **given}
    return {name: merged[name] for name in REASONS if merged.get(name) is not None}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What an event says of a change, by limit: from, to; null is no limit."""
    return {
        name: {"from": before.get(name), "to": after.get(name)}
        for name in REASONS
        if before.get(name) != after.get(name)
    }


def raised(
    reason: Reason, before: Mapping[str, Any], after: Mapping[str, Any], used: Amounts
) -> bool:
    """Whether the limit that stopped a run is out of the way: gone, or larger than it was and than
    what is used of it."""
    name = next(name for name, code in REASONS.items() if code == reason)
    old, new = read(before).get(name), read(after).get(name)
    if new is None:
        return True
    return (old is None or new > old) and new > used.get(name, Decimal(0))
