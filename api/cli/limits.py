"""`--limit NAME=VALUE` of the command line: what a run may use before it stops and asks."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence

from api.cli.client import UsageError
from api.cli.language import tell
from api.texts.codes import N_

MOST_ROUNDS, MOST_ROWS = 20, 200
NAMES = ("calls", "tokens", "cost", "seconds")
_NONE = "none"
_AMOUNT = r"[0-9]{1,9}(\.[0-9]{1,9})?"


def between(least: int, most: int) -> Callable[[str], int]:
    """Of an argument: a whole number in that range."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return read


def add_limits(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of calls, tokens, cost or seconds, for example cost=1.50; none removes it; "
        "may be repeated",
    )


def limits(given: Sequence[str]) -> dict[str, int | str | None]:
    """As the API takes them. Raises UsageError."""
    found: dict[str, int | str | None] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in NAMES or not value:
            told = N_("--limit {given}: write NAME=VALUE with one of {names}")
            raise UsageError(tell(told, given=repr(text), names=", ".join(NAMES)))
        if value == _NONE:
            found[f"max_{name}"] = None
        elif name == "cost":
            found["max_cost"] = _amount(text, value)
        elif value.isascii() and value.isdigit():
            found[f"max_{name}"] = int(value)
        else:
            told = N_("--limit {given}: {value} is no whole number")
            raise UsageError(tell(told, given=repr(text), value=repr(value)))
    return found


def _amount(text: str, value: str) -> str:
    """As the API takes it, which knows the currency by the profile. Raises UsageError."""
    if re.fullmatch(_AMOUNT, value):
        return value
    told = N_("--limit {given}: {value} is no amount; write it like 1.50, without a currency")
    raise UsageError(tell(told, given=repr(text), value=repr(value)))
