"""The dated prices of a profile as the settings page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from api.texts.text import Catalogue
from workflows import pricing


@dataclass(frozen=True, kw_only=True)
class PriceLine:
    """One table: amounts per million tokens and per minute of sound, and the day it holds from."""

    input: str
    output: str
    cached: str
    reasoning: str
    minute: str
    since: str
    holds_now: bool


def price_lines(words: Catalogue, prices: Mapping[str, Any] | None, today: date) -> list[PriceLine]:
    """The newest day first; [] when no price is known. Amounts left out are ''."""
    if not prices:
        return []
    currency = pricing.currency(prices)
    tables = prices.get("tables", [prices])
    ordered = sorted(tables, key=lambda table: str(table.get("from", "")), reverse=True)
    day = today.isoformat()
    begun = [str(table.get("from", "")) for table in ordered if str(table.get("from", "")) <= day]
    return [
        PriceLine(
            **{
                name: words.money(str(table[name]), currency) if name in table else ""
                for name in (*pricing.PRICES, pricing.MINUTE)
            },
            since=str(table.get("from", "")),
            holds_now=bool(begun) and str(table.get("from", "")) == begun[0],
        )
        for table in ordered
    ]
