"""Prices are dated, exact, and None where nobody said them."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from workflows.pricing import currency, known, most, price, problems, sound

TABLES: dict[str, Any] = {
    "currency": "EUR",
    "tables": [
        {"from": "2026-01-01", "input": "2", "cached": "0.5", "output": "8"},
        {"from": "2026-07-01", "input": 1, "output": 4.5, "reasoning": "3"},
    ],
}
DAY = date(2026, 3, 1)


def test_cached_and_reasoning_tokens_have_their_own_price() -> None:
    early = price(TABLES, input=1_000_000, output=500_000, cached=400_000, at=DAY)
    assert early == Decimal("5.4")
    late = price(TABLES, input=10, output=10, cached=10, reasoning=4, at=date(2026, 7, 1))
    assert late == Decimal("0.000049")


def test_a_table_holds_from_its_date_until_the_next() -> None:
    assert price(TABLES, input=1, output=0, at=date(2025, 12, 31)) is None
    assert price(TABLES, input=1_000_000, output=0, at=date(2026, 6, 30)) == 2
    assert price(TABLES, input=1_000_000, output=0, at=date(2026, 7, 1)) == 1


def test_a_share_is_never_more_than_the_whole() -> None:
    assert price(TABLES, input=10, output=0, cached=99, at=DAY) == Decimal("0.000005")


@pytest.mark.parametrize(
    ("dearer", "expected"),
    [({}, 3), ({"reasoning": "8"}, 9), ({"cached": "4"}, 6), ({"cached": "0.1"}, 3)],
)
def test_the_most_a_call_may_cost_is_of_the_dearer_share(
    dearer: dict[str, str], expected: int
) -> None:
    prices = {"input": "1", "output": "2", **dearer}
    assert most(prices, input=1_000_000, output=1_000_000, at=DAY) == expected
    assert most(None, input=1, output=1, at=DAY) is None


@pytest.mark.parametrize(
    "prices",
    [
        None,
        {},
        {"tables": []},
        {"tables": None},
        {"tables": [None]},
        {"tables": [{"from": "soon", "input": 1, "output": 1}]},
        {"input": "1"},
        {"input": "-1", "output": "1"},
        {"input": "NaN", "output": "1"},
        {"input": True, "output": "1"},
        {"input": "1", "output": "1", "cached": "x"},
    ],
)
def test_an_unknown_price_is_none(prices: Any) -> None:
    assert price(prices, input=1, output=1, at=DAY) is None
    assert not known(prices, DAY)
    if prices is not None:
        assert problems(prices)


def test_a_single_table_may_stand_without_list_and_date() -> None:
    free = {"input": 0, "output": "0"}
    assert price(free, input=5, output=5, at=DAY) == 0
    assert (known(free, DAY), problems(free), currency(free)) == (True, [], "USD")


def test_problems_name_their_place() -> None:
    assert problems(TABLES) == []
    assert problems(None) == []
    wrong = {"currency": 3, "tables": [{"from": "x", "input": -1, "output": 1, "cached": []}]}
    assert [pointer for pointer, _ in problems(wrong)] == [
        "/currency",
        "/tables/0/from",
        "/tables/0/input",
        "/tables/0/cached",
    ]


def test_no_prices_have_no_currency() -> None:
    assert (currency(None), currency(TABLES)) == (None, "EUR")


def test_a_minute_of_sound_is_priced_by_the_second_and_by_its_date() -> None:
    prices = {
        "tables": [{"from": "2026-01-01", "minute": "0.006"}, {"from": "2026-07-01", "minute": 0}]
    }
    assert problems(prices) == []
    assert sound(prices, seconds=90, at=DAY) == Decimal("0.009")
    assert sound(prices, seconds=90, at=date(2026, 7, 1)) == 0
    assert sound(prices, seconds=90, at=date(2025, 1, 1)) is None
    assert not known(prices, DAY), "tokens have no price here"
    both = {"input": "1", "output": "2", "minute": "0.1"}
    assert (problems(both), known(both, DAY)) == ([], True)


@pytest.mark.parametrize("prices", [None, TABLES, {"minute": "-1"}, {"minute": "soon"}])
def test_sound_without_a_price_for_minutes_costs_what_nobody_knows(prices: Any) -> None:
    assert sound(prices, seconds=60, at=DAY) is None


def test_a_table_has_prices_of_tokens_or_of_minutes() -> None:
    assert [at for at, _ in problems({"minute": "x"})] == ["/minute"]
    assert [at for at, _ in problems({"minute": "1", "input": "1"})] == ["/output"]
    assert [at for at, _ in problems({})] == ["/input", "/output"]
