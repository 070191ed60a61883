"""What tokens and sound cost, by a profile's dated price tables. Unknown is None, never 0.

`prices` of a profile, per million tokens, numbers or decimal strings:
`{"currency": "USD", "tables": [{"from": "2026-01-01", "input": "1.25", "cached": "0.125",
"output": "10", "reasoning": "10"}]}`. A table holds from its date until a later one; `cached`
defaults to `input`, `reasoning` to `output`. `minute` is the price of a minute of sound, with or
without prices of tokens. A single table may stand without the list, and without a date it always
holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

MILLION = Decimal(1_000_000)
STEP = Decimal("0.000000001")
"""The unit in which costs are stored."""
DEFAULT_CURRENCY = "USD"
PRICES = ("input", "cached", "output", "reasoning")
"""Per million tokens."""
MINUTE = "minute"


def price(
    prices: Mapping[str, Any] | None,
    *,
    input: int,
    output: int,
    cached: int = 0,
    reasoning: int = 0,
    at: date,
) -> Decimal | None:
    """The cost of a call, or None when no table says it for that day.

    `cached` is a share of `input`, `reasoning` a share of `output`, all in tokens.
    """
    table = _table(prices, at)
    if table is None:
        return None
    rates = _rates(table)
    if rates is None:
        return None
    cached = min(max(cached, 0), input)
    reasoning = min(max(reasoning, 0), output)
    cost = (
        rates["input"] * (input - cached)
        + rates["cached"] * cached
        + rates["output"] * (output - reasoning)
        + rates["reasoning"] * reasoning
    )
    return (cost / MILLION).quantize(STEP)


def most(prices: Mapping[str, Any] | None, *, input: int, output: int, at: date) -> Decimal | None:
    """The most that so many tokens may cost, whatever share of them is cached or thought: nobody
    knows it before the call, and either may be the dearer one."""
    asked = (
        price(prices, input=input, output=output, cached=cached, reasoning=reasoning, at=at)
        for cached in (0, input)
        for reasoning in (0, output)
    )
    known = [cost for cost in asked if cost is not None]
    return max(known, default=None)


def sound(prices: Mapping[str, Any] | None, *, seconds: float, at: date) -> Decimal | None:
    """What hearing so many seconds costs, or None when no table says it for that day."""
    rate = _rate((_table(prices, at) or {}).get(MINUTE))
    return None if rate is None else (rate * Decimal(str(seconds)) / 60).quantize(STEP)


def known(prices: Mapping[str, Any] | None, at: date) -> bool:
    """Whether calls of that day have a price: a cost limit needs one."""
    return price(prices, input=0, output=0, at=at) is not None


def currency(prices: Mapping[str, Any] | None) -> str | None:
    """The currency of a price list, None without one."""
    if not prices:
        return None
    given = prices.get("currency", DEFAULT_CURRENCY)
    return given if isinstance(given, str) and given else None


def problems(prices: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What is wrong with a price list as (JSON pointer below /prices, sentence); [] = fine."""
    if prices is None:
        return []
    found = []
    if not isinstance(prices.get("currency", DEFAULT_CURRENCY), str):
        found.append(("/currency", "must be a currency code such as USD"))
    tables = _tables(prices)
    if not tables:
        found.append(("/tables", "must be a list with at least one table"))
    for at, table in enumerate(tables):
        where = f"/tables/{at}" if "tables" in prices else ""
        found += _table_problems(where, table)
    return found


def _table_problems(where: str, table: Any) -> list[tuple[str, str]]:
    if not isinstance(table, Mapping):
        return [(where, "must be an object")]
    found = []
    if "from" in table and _day(table["from"]) is None:
        found.append((f"{where}/from", "must be a date such as 2026-01-31"))
    counts = MINUTE not in table or any(name in table for name in PRICES)
    for name in PRICES:
        required = counts and name in ("input", "output")
        if (required or name in table) and _rate(table.get(name)) is None:
            found.append((f"{where}/{name}", "must be a price per million tokens, 0 or more"))
    if MINUTE in table and _rate(table[MINUTE]) is None:
        found.append((f"{where}/{MINUTE}", "must be a price per minute of sound, 0 or more"))
    return found


def _tables(prices: Mapping[str, Any]) -> Sequence[Any]:
    if "tables" not in prices:
        return [prices]
    tables = prices["tables"]
    return tables if isinstance(tables, list | tuple) else []


def begins(table: Mapping[str, Any]) -> date | None:
    """The day from which a table holds, however it is written; None for what is no date."""
    return _day(table["from"]) if "from" in table else date.min


def _table(prices: Mapping[str, Any] | None, at: date) -> Mapping[str, Any] | None:
    """The newest table that has begun; of two with one date the later in the list."""
    best: Mapping[str, Any] | None = None
    best_day = date.min
    for table in _tables(prices) if prices else ():
        if not isinstance(table, Mapping):
            continue
        day = begins(table)
        if day is not None and best_day <= day <= at:
            best, best_day = table, day
    return best


def _rates(table: Mapping[str, Any]) -> Mapping[str, Decimal] | None:
    given_in, given_out = _rate(table.get("input")), _rate(table.get("output"))
    if given_in is None or given_out is None:
        return None
    cached = _rate(table.get("cached", given_in))
    reasoning = _rate(table.get("reasoning", given_out))
    if cached is None or reasoning is None:
        return None
    return {"input": given_in, "cached": cached, "output": given_out, "reasoning": reasoning}


def _rate(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        rate = Decimal(str(value))
    except InvalidOperation:
        return None
    return rate if rate.is_finite() and 0 <= rate < MILLION else None


def _day(value: Any) -> date | None:
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
