"""Limits as numbers: what fits, what is near, what raises one; and the meter of open replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from activities.model.profile import Profile
from activities.model.tokens import Usage
from activities.spending.metering import Meter, Need
from workflows import budget
from workflows.vocabulary import Reason

FREE = Profile(
    name="p",
    version=1,
    model="fake",
    base_url=None,
    key_env="KEY",
    parameters={},
    prices=None,
    prompts={},
    fallback=None,
    rate_limits={},
)
PRICED = replace(FREE, prices={"input": "1", "output": "10"})


def amounts(**named: Any) -> dict[str, Decimal]:
    return {name: Decimal(str(value)) for name, value in named.items()}


def test_a_call_that_fills_a_limit_to_the_last_token_fits() -> None:
    limits = amounts(max_tokens=1000, max_cost="0.5")
    used = amounts(max_tokens=700, max_cost="0.4")
    assert budget.refusal(limits, used, amounts(max_tokens=300, max_cost="0.1")) is None
    over = budget.refusal(limits, used, amounts(max_tokens=301, max_cost="0.1"))
    assert over is not None
    assert (over.reason, over.params) == (
        Reason.LIMIT_TOKENS,
        {"limit": 1000, "used": 700, "needed": 1001},
    )
    over = budget.refusal(limits, used, amounts(max_cost="0.100000001"))
    assert over is not None
    assert over.params == {"limit": "0.5", "used": "0.4", "needed": "0.500000001"}


def test_time_is_up_when_it_is_used_and_not_only_beyond() -> None:
    limits = amounts(max_seconds=60)
    assert budget.refusal(limits, amounts(max_seconds="59.9"), {}) is None
    over = budget.refusal(limits, amounts(max_seconds=60), {})
    assert over is not None
    assert over.reason == Reason.LIMIT_SECONDS


def test_no_limit_refuses_nothing() -> None:
    assert budget.refusal({}, amounts(max_tokens=10**9), amounts(max_calls=1)) is None
    assert budget.read({"max_calls": None}) == {}


def test_a_limit_is_near_from_eighty_percent_on_once_for_each_value() -> None:
    limits = amounts(max_calls=5, max_tokens=1000)
    used = amounts(max_calls=4, max_tokens=799)
    assert budget.near(limits, {}, used) == amounts(max_calls=4)
    assert budget.near(limits, {"max_calls": 5}, used) == {}
    raised = amounts(max_calls=8)
    assert budget.near(raised, {"max_calls": 5}, amounts(max_calls=6)) == {}
    assert budget.near(raised, {"max_calls": 5}, amounts(max_calls=7)) == amounts(max_calls=7)


def test_a_named_limit_replaces_null_removes_and_the_rest_stays() -> None:
    limits = {"max_calls": 5, "max_cost": "1"}
    assert budget.changed(limits, {"max_calls": 9, "max_cost": None}) == {"max_calls": 9}
    assert budget.changed(limits, {}) == limits
    assert budget.changes(limits, {"max_calls": 9}) == {
        "max_calls": {"from": 5, "to": 9},
        "max_cost": {"from": "1", "to": None},
    }


@pytest.mark.parametrize(
    ("after", "is_raised"),
    [
        ({"max_tokens": 1000}, False),
        ({"max_tokens": 999}, False),
        ({"max_tokens": 1000, "max_calls": 50}, False),
        ({"max_tokens": 1001}, False),
        ({"max_tokens": 1300}, True),
        ({}, True),
    ],
)
def test_a_limit_is_raised_when_it_leaves_room(after: Mapping[str, Any], is_raised: bool) -> None:
    used = amounts(max_tokens=1200)
    before = {"max_tokens": 1000}
    assert budget.raised(Reason.LIMIT_TOKENS, before, after, used) is is_raised


def need(profile: Profile = FREE, output: int = 100) -> Need:
    return Need(prompt=50, output=output, profile=profile)


def test_a_call_needs_its_prompt_and_the_longest_reply_at_their_price() -> None:
    assert need().tokens == 150
    assert need().cost is None
    assert need(PRICED).cost == Decimal("0.00105")


def test_a_reply_within_its_reservation_is_never_cut() -> None:
    meter = Meter()
    meter.begins("a", need(), amounts(max_tokens=150), amounts(max_tokens=150))
    assert meter.over("a", 100) is None
    over = meter.over("a", 101)
    assert over is not None
    assert (over.reason, over.params) == (
        Reason.LIMIT_TOKENS,
        {"limit": 150, "used": 150, "needed": 151},
    )


def test_a_longer_reply_goes_on_as_long_as_something_is_left() -> None:
    meter = Meter()
    meter.begins("a", need(), amounts(max_tokens=1000), amounts(max_tokens=150))
    assert meter.over("a", 950) is None
    assert meter.over("a", 951) is not None


def test_what_one_reply_takes_too_much_is_not_there_for_its_sibling() -> None:
    meter = Meter()
    limits = amounts(max_tokens=400)
    meter.begins("a", need(), limits, amounts(max_tokens=150))
    meter.begins("b", need(), limits, amounts(max_tokens=300))
    assert meter.over("a", 160) is None
    assert meter.more["max_tokens"] == 60
    assert meter.over("b", 140) is None
    assert meter.over("b", 141) is not None


def test_what_a_call_did_not_use_is_free_again() -> None:
    meter = Meter()
    limits = amounts(max_tokens=300)
    meter.begins("a", need(), limits, amounts(max_tokens=150))
    meter.begins("b", need(), limits, amounts(max_tokens=300))
    meter.ends("a", Usage(input=50, output=10))
    assert meter.over("b", 190) is None
    assert meter.over("b", 191) is not None


def test_a_reply_is_cut_by_what_it_costs() -> None:
    meter = Meter()
    limits = amounts(max_cost="0.002")
    meter.begins("a", need(PRICED), limits, amounts(max_cost="0.00105"))
    assert meter.over("a", 195) is None
    over = meter.over("a", 196)
    assert over is not None
    assert over.reason == Reason.LIMIT_COST
