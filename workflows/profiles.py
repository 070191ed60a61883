"""What a profile may say: parameters of requests, rate limits, the fallback; and what is wrong.

Problems are (JSON pointer below the field, English sentence), as those of `workflows.pricing`. What
is not known here is refused, because a misspelt parameter is a setting that silently never holds;
`extra_body` passes on what only one server knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeGuard

from workflows import pricing

LARGEST = 1_000_000_000
MOST_ERRORS = 100
"""A fallback that waits for more errors in a row than the patience allows would never come."""
EXTRA_SIZE = 20_000
"""Characters of `extra_body` as JSON."""
EXTRA = "extra_body"
LIMIT_FIELD = "max_tokens_field"
"""Parameter that names the server's field for the output limit; not sent itself."""
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
OURS = frozenset(
    {
        *("model", "messages", "prompt", "input", "stream", "stream_options", "response_format"),
        *("n", "tools", "tool_choice", "functions", "function_call", "logprobs", "top_logprobs"),
        *("api_key", "authorization"),
    }
)
"""Fields of a request that Redraft fills in itself, or whose replies it could not read."""
LOWEST_RATE = 0.01
"""A minute: one call in about two hours."""
RATE_UNITS = ("requests_per_minute", "tokens_per_minute")

Problems = list[tuple[str, str]]
_Check = Callable[[Any], str | None]
"""None when the value is fine, else what it must be."""


@dataclass(frozen=True, kw_only=True)
class Fallback:
    """Another profile that answers while this one does not: after `after` errors in a row."""

    profile: str
    after: int

    def due(self, errors: int) -> bool:
        """Whether the next step uses it. When it fails as often itself, the first has its turn
        again, and so on: whichever provider comes back first answers."""
        return (errors // self.after) % 2 == 1


def fallback_of(given: Any) -> Fallback | None:
    """As a row has it; None when there is none, or none that could be followed."""
    if not isinstance(given, Mapping) or fallback_problems(given):
        return None
    return Fallback(profile=given["profile"], after=given["after"])


def fallback_problems(given: Mapping[str, Any] | None, own_name: str = "") -> Problems:
    if given is None:
        return []
    found: Problems = _unknown(given, ("profile", "after"))
    name, after = given.get("profile"), given.get("after")
    if not isinstance(name, str) or not name:
        found.append(("/profile", "must be the name of another profile"))
    elif name == own_name:
        found.append(("/profile", "must be another profile than this one"))
    if not _is_int(after) or not 1 <= after <= MOST_ERRORS:
        found.append(("/after", f"must be a number of errors in a row, 1 to {MOST_ERRORS}"))
    return found


def rate_limit_problems(given: Mapping[str, Any]) -> Problems:
    found = _unknown(given, RATE_UNITS)
    for unit in RATE_UNITS:
        if unit in given and not _within(given[unit], LOWEST_RATE, LARGEST):
            must = f"must be a number, {LOWEST_RATE} or more; leave it out for no limit"
            found.append((f"/{unit}", must))
    return found


def price_problems(given: Mapping[str, Any] | None) -> Problems:
    """Those of `workflows.pricing`, and names it would not read."""
    if given is None:
        return []
    found = pricing.problems(given)
    currency = given.get("currency", pricing.DEFAULT_CURRENCY)
    if isinstance(currency, str) and not (len(currency) == 3 and currency.isupper()):
        found.append(("/currency", "must be a currency code such as USD"))
    names = ("from", *pricing.PRICES, pricing.MINUTE)
    tables = given.get("tables")
    if "tables" not in given:
        return found + _unknown(given, ("currency", *names))
    found += _unknown(given, ("currency", "tables"))
    days: set[date] = set()
    for at, table in enumerate(tables if isinstance(tables, list) else []):
        if not isinstance(table, Mapping):
            continue
        found += _unknown(table, names, f"/tables/{at}")
        day = pricing.begins(table)
        if day in days:
            found.append((f"/tables/{at}/from", "another table begins on the same day"))
        days |= {day} if day else set()
    return found


def parameter_problems(given: Mapping[str, Any]) -> Problems:
    found: Problems = []
    for name, value in given.items():
        check = _PARAMETERS.get(name)
        if name in OURS:
            found.append((_at(name), "is set by Redraft itself"))
        elif check is None:
            found.append((_at(name), f"is no known parameter; others may stand in {EXTRA}"))
        elif (must := check(value)) is not None:
            found.append((_at(name), f"must be {must}"))
    extra, field = given.get(EXTRA), given.get(LIMIT_FIELD)
    if isinstance(extra, Mapping) and isinstance(field, str) and field in extra:
        found.append((_at(LIMIT_FIELD), f"names a field that {EXTRA} sets"))
    if all(name in given for name in LIMIT_FIELDS):
        found.append((_at(LIMIT_FIELDS[0]), f"say either this or {LIMIT_FIELDS[1]}"))
    return found


def _number(low: float, high: float) -> _Check:
    return lambda value: None if _within(value, low, high) else f"a number, {low:g} to {high:g}"


def _whole(low: int, high: int) -> _Check:
    def check(value: Any) -> str | None:
        fits = _is_int(value) and low <= value <= high
        return None if fits else f"a whole number, {low} to {high}"

    return check


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "true or false"


def _word(value: Any) -> str | None:
    fits = isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()
    return None if fits else "a short text"


def _stops(value: Any) -> str | None:
    texts = [value] if isinstance(value, str) else value
    fits = isinstance(texts, list) and 0 < len(texts) <= 16
    fits = fits and all(isinstance(text, str) and 0 < len(text) <= 200 for text in texts)
    return None if fits else "a text or a list of texts"


def _metadata(value: Any) -> str | None:
    fits = isinstance(value, Mapping) and len(value) <= 16
    fits = fits and all(isinstance(text, str) and len(text) <= 512 for text in value.values())
    return None if fits else "an object of at most 16 short texts"


def _biases(value: Any) -> str | None:
    fits = isinstance(value, Mapping) and len(value) <= 1000
    fits = fits and all(name.isdigit() for name in value)
    fits = fits and all(_within(bias, -100, 100) for bias in value.values())
    return None if fits else "an object of token numbers and biases, -100 to 100"


def _extra(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "an object of further fields of the request"
    taken = sorted({*value} & {*OURS, *LIMIT_FIELDS})
    if taken:
        return f"without {', '.join(taken)}"
    size = len(json.dumps(value, ensure_ascii=False, default=str))
    return None if size <= EXTRA_SIZE else f"at most {EXTRA_SIZE} characters as JSON"


def _limit_field(value: Any) -> str | None:
    fits = isinstance(value, str) and value.isidentifier() and value not in OURS
    fits = fits and (value in LIMIT_FIELDS or value not in _PARAMETERS)
    return None if fits else "the name of the server's field for the output limit"


_PARAMETERS: Mapping[str, _Check] = {
    "temperature": _number(0, 2),
    "top_p": _number(0, 1),
    "top_k": _whole(-1, 1_000_000),
    "min_p": _number(0, 1),
    "seed": _whole(-(2**63), 2**63 - 1),
    "frequency_penalty": _number(-2, 2),
    "presence_penalty": _number(-2, 2),
    "repetition_penalty": _number(0, 10),
    "repeat_penalty": _number(0, 10),
    "max_tokens": _whole(1, 10_000_000),
    "max_completion_tokens": _whole(1, 10_000_000),
    LIMIT_FIELD: _limit_field,
    "reasoning_effort": _word,
    "verbosity": _word,
    "service_tier": _word,
    "user": _word,
    "safety_identifier": _word,
    "prompt_cache_key": _word,
    "prompt_cache_retention": _word,
    "store": _flag,
    "stop": _stops,
    "metadata": _metadata,
    "logit_bias": _biases,
    EXTRA: _extra,
}
"""Fields of chat completions that change a reply and leave it readable, as servers name them."""


def _within(value: Any, low: float, high: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return low <= value <= high


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _unknown(given: Mapping[str, Any], names: tuple[str, ...], where: str = "") -> Problems:
    return [
        (where + _at(name), f"is not known; there are {', '.join(names)}")
        for name in given
        if name not in names
    ]


def _at(name: str) -> str:
    """A name as a step of a JSON pointer."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
