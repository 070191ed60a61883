"""`redraft cost`: what a day or a range of days cost, by day, kind, model and profile.

The sums are those of `/api/observe`; days are those of this terminal's clock.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from api.cli.client import OK, Client, UsageError
from api.cli.language import tell
from api.cli.show import cell, print_table, say, say_json
from api.cli.words import clean, one_line
from api.texts.codes import N_

Json = dict[str, Any]
Command = Callable[[Client, Namespace], int]
Add = Callable[[str, Command, str], ArgumentParser]
_COLUMNS = ("WHAT", "NAME", "IN", "CACHED", "OUT", "COST")
_MOST_DAYS = 31
"""Each is a request of its own."""
_NAMED = {"today": 0, "yesterday": 1}
_BY = {"kind": N_("kind"), "model": N_("model"), "profile": N_("profile")}


def add_command(add: Add) -> None:
    one = add("cost", cost, "what a day or more cost, by day, kind, model and profile")
    one.add_argument("--day", metavar="DAY", help="YYYY-MM-DD, today or yesterday (default: today)")
    one.add_argument("--since", metavar="DAY", help="from this day on")
    one.add_argument("--until", metavar="DAY", help="with --since: the last day (default: today)")
    one.add_argument("--kind", help="only this kind")
    one.add_argument("--profile", help="only this model profile")


def cost(client: Client, given: Namespace) -> int:
    first, last = days_of(given)
    found = _observed(client, given, first, last)
    if given.json:
        say_json(found)
        return OK
    print_table(_COLUMNS, list(_rows(client, given, first, last, found)))
    calls = sum(point["calls"] for point in found["series"])
    told = N_("{calls} calls that ended from {first} to {last}")
    say(tell(told, calls=calls, first=first, last=last))
    if unpriced := found["cost"]["unpriced_calls"]:
        say(tell("calls without a known price, in no sum: {count}", count=unpriced))
    if found["excludes"] and found["simulated_calls"]:
        count = found["simulated_calls"]
        say(tell("calls of the offline model, left out: {count}", count=count))
    return OK


def days_of(given: Namespace, today: date | None = None) -> tuple[date, date]:
    """The first and the last day that were asked for. Raises UsageError."""
    now = today or datetime.now().astimezone().date()
    if given.day and (given.since or given.until):
        raise UsageError(tell("give either --day or --since"))
    if given.until and not given.since:
        raise UsageError(tell("--until goes with --since"))
    if not given.since:
        day = _day("--day", given.day or "today", now)
        return day, day
    first, last = _day("--since", given.since, now), _day("--until", given.until or "today", now)
    if first > last:
        raise UsageError(tell("{first} is later than {last}", first=first, last=last))
    return first, last


def _day(option: str, text: str, today: date) -> date:
    if text in _NAMED:
        return today - timedelta(days=_NAMED[text])
    try:
        if len(text) != len("2026-01-31"):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError:
        told = N_("{option} {given} is no day; write it like {example}, or yesterday")
        example = {"option": option, "given": repr(text), "example": today.isoformat()}
        raise UsageError(tell(told, **example)) from None


def _observed(client: Client, given: Namespace, first: date, last: date) -> Json:
    chosen = {"kind": given.kind, "profile": given.profile}
    span = {"from": _start(first), "to": _start(last + timedelta(days=1))}
    return client.get("/api/observe", **span, **{k: v for k, v in chosen.items() if v})


def _start(day: date) -> str:
    """Midnight of this terminal's clock, as the API takes times."""
    at = datetime.combine(day, time.min).astimezone(UTC)
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _rows(
    client: Client, given: Namespace, first: date, last: date, found: Json
) -> Iterator[list[str]]:
    days = (last - first).days + 1
    if 1 < days <= _MOST_DAYS:
        for day in (first + timedelta(days=number) for number in range(days)):
            one = _observed(client, given, day, day)
            yield _row(cell("day"), day.isoformat(), one["tokens"]["total"], _paid(one, "total"))
    for what, word in _BY.items():
        for name, tokens in found["tokens"][f"by_{what}"].items():
            yield _row(cell(word), name, tokens, _paid(found, f"by_{what}", name))
    yield _row(cell("all"), "", found["tokens"]["total"], _paid(found, "total"))


def _row(what: str, name: str, tokens: Mapping[str, int], paid: str) -> list[str]:
    used = [str(tokens[one]) for one in ("input", "cached", "output")]
    return [what, one_line(name, 60), *used, paid]


def _paid(found: Json, sum_: str, name: str | None = None) -> str:
    """In each currency; what has no known price is called so."""
    amounts = []
    for currency, sums in found["cost"]["by_currency"].items():
        amount = sums[sum_] if name is None else sums[sum_].get(name)
        if amount is not None and (float(amount) or len(found["cost"]["by_currency"]) == 1):
            amounts.append(f"{amount} {clean(currency)}")
    if amounts:
        return " + ".join(amounts)
    free = found["cost"][sum_] if name is None else found["cost"][sum_].get(name)
    used = found["tokens"][sum_] if name is None else found["tokens"][sum_][name]
    if free is None and used["input"] + used["output"]:
        return cell("unknown")
    return "0"
