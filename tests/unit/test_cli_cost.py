"""`cost`: which days are asked for, and what is printed of the sums of the API."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from api.cli.__main__ import main
from api.cli.client import UsageError
from api.cli.cost import days_of
from tests.fake_api import FakeApi, Reply

TODAY = date(2026, 3, 8)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        yield fake


def tokens(read: int, made: int) -> dict[str, int]:
    return {"input": read, "output": made, "cached": 1, "reasoning": 0}


def sums(large: str | None, small: str | None, total: str | None) -> dict[str, Any]:
    by_model = {"large": large, "small": small}
    by_kind, by_profile = {"minutes": total}, {"default": total}
    return {"total": total, "by_model": by_model, "by_kind": by_kind, "by_profile": by_profile}


def observed(**changes: Any) -> dict[str, Any]:
    by_model = {"large": tokens(100, 20), "small": tokens(10, 2)}
    all_ = tokens(110, 22)
    used = {"total": all_, "by_kind": {"minutes": all_}, "by_profile": {"default": all_}}
    euros = sums("0.50", "0.01", "0.51")
    cost = {**euros, "currency": "EUR", "currencies": ["EUR"], "by_currency": {"EUR": euros}}
    return {
        "tokens": {**used, "by_model": by_model},
        "cost": {**cost, "unpriced_calls": 0},
        "series": [{"calls": 2}, {"calls": 1}],
        "excludes": [],
        "simulated_calls": 0,
        **changes,
    }


def midnight(day: date) -> str:
    at = datetime(day.year, day.month, day.day).astimezone()
    return datetime.fromtimestamp(at.timestamp()).astimezone().isoformat()


def test_yesterday_is_told_by_kind_model_and_profile(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", "/api/observe", Reply(body=observed()))
    assert main(["cost", "--day", "yesterday", "--kind", "minutes", "--url", api.url]) == 0
    (asked,) = api.asked
    yesterday = datetime.now().astimezone().date() - timedelta(days=1)
    span = [datetime.fromisoformat(asked.query[name]) for name in ("from", "to")]
    wanted = [datetime.fromisoformat(midnight(yesterday + timedelta(days=n))) for n in (0, 1)]
    assert (span, asked.query["kind"]) == (wanted, "minutes")
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["WHAT", "NAME", "IN", "CACHED", "OUT", "COST"]
    assert [row.split("\t") for row in rows] == [
        ["kind", "minutes", "110", "1", "22", "0.51 EUR"],
        ["model", "large", "100", "1", "20", "0.50 EUR"],
        ["model", "small", "10", "1", "2", "0.01 EUR"],
        ["profile", "default", "110", "1", "22", "0.51 EUR"],
        ["all", "", "110", "1", "22", "0.51 EUR"],
    ]
    assert last == f"3 calls that ended from {yesterday} to {yesterday}"


def test_of_several_days_each_has_its_own_sum(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", "/api/observe", Reply(body=observed()))
    words = ["--since", "2026-03-01", "--until", "2026-03-03", "--url", api.url]
    assert main(["cost", *words]) == 0
    assert len(api.asked) == 4
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    days = ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert [row[1] for row in rows if row[0] == "day"] == days


def test_two_currencies_are_not_added_and_an_unknown_price_is_called_so(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    euros, dollars = sums("0.50", None, "0.50"), sums("1.00", None, "1.00")
    cost = {**euros, "currency": "EUR", "currencies": ["EUR", "USD"], "unpriced_calls": 1}
    cost["by_currency"] = {"EUR": euros, "USD": dollars}
    api.on("GET", "/api/observe", Reply(body=observed(cost=cost)))
    assert main(["cost", "--url", api.url]) == 0
    told = capsys.readouterr().out
    paid = {line.split("\t")[1]: line.split("\t")[5] for line in told.splitlines()[:-2]}
    assert paid["large"] == "0.50 EUR + 1.00 USD"
    assert paid["small"] == "unknown"
    assert "calls without a known price, in no sum: 1" in told


@pytest.mark.parametrize(
    ("given", "days"),
    [
        ({}, (8, 8)),
        ({"day": "yesterday"}, (7, 7)),
        ({"day": "2026-03-02"}, (2, 2)),
        ({"since": "2026-03-02"}, (2, 8)),
        ({"since": "2026-03-02", "until": "yesterday"}, (2, 7)),
    ],
)
def test_days_are_named_by_date_or_by_word(given: dict[str, str], days: tuple[int, int]) -> None:
    first, last = days_of(_given(given), TODAY)
    assert (first.day, last.day) == days


@pytest.mark.parametrize(
    "given",
    [
        {"day": "03/02"},
        {"day": "20260302"},
        {"since": "2026-13-01"},
        {"until": "today"},
        {"day": "today", "since": "yesterday"},
        {"since": "2026-03-05", "until": "2026-03-04"},
    ],
)
def test_what_is_no_range_of_days_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        days_of(_given(given), TODAY)


def _given(given: dict[str, str]) -> Namespace:
    return Namespace(**{"day": None, "since": None, "until": None, **given})
