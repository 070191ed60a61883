"""Cards and tables of the observability centre, and the rows of its CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api.texts.text import Catalogue
from api.wire.observe import CostBy, Observed, TokenSums, Wasted

Sums = Mapping[str, TokenSums]
Costs = Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True)
class Card:
    """One number, and how it changed against the period before."""

    word: str
    value: str
    change: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a table with a bar. `share` is 0..1 of the largest."""

    name: str
    cells: tuple[str, ...]
    share: float
    inner: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """Tokens and cost by one thing."""

    key: str
    title: str
    lines: tuple[Line, ...]


def change(now: float | None, before: float | None, words: Catalogue) -> str:
    """+12% against the period before; '' where there is nothing to compare with."""
    if now is None or not before:
        return ""
    percent = round((now - before) / before * 100)
    sign = "+" if percent > 0 else "−" if percent < 0 else "±"
    return f"{sign}{words.number(abs(percent))}%"


def lasting(milliseconds: int | None, words: Catalogue) -> str:
    """0.85 s, 12 s, 4:05."""
    if milliseconds is None:
        return "–"
    seconds = milliseconds / 1000
    if seconds >= 120:
        return words.duration(seconds)
    shown = round(seconds, 2 if seconds < 10 else 1)
    return words.text("{seconds} s").format(seconds=words.number(shown))


def percent(share: float | None, words: Catalogue) -> str:
    return "–" if share is None else f"{words.number(round(share * 100, 1))}%"


def used(sums: TokenSums) -> int:
    return sums.input + sums.output


def wasted(seen: Observed) -> int:
    parts = seen.waste
    return parts.replaced.tokens + parts.lost.tokens + parts.repeated.tokens


def _waste_share(seen: Observed) -> float | None:
    total = used(seen.tokens.total)
    return wasted(seen) / total if total else None


def _started(seen: Observed) -> int:
    return sum(seen.runs_by_status.values())


def _cost(seen: Observed) -> float | None:
    return None if seen.cost.total is None else float(seen.cost.total)


def _change(
    seen: Observed, before: Observed | None, value: Callable[[Observed], float | None], words: Any
) -> str:
    return "" if before is None else change(value(seen), value(before), words)


def cards(seen: Observed, before: Observed | None, words: Catalogue) -> list[Card]:
    """What is looked at first."""
    stops = seen.interrupts
    unpriced = seen.cost.unpriced_calls
    unknown = words.text("price unknown: {count}").format(count=words.number(unpriced))
    others = [
        words.text("besides: {value}").format(value=words.money(sums.total, name))
        for name, sums in seen.cost.by_currency.items()
        if name != seen.cost.currency
    ]
    return [
        Card(
            word=words.text("Runs started"),
            value=words.number(_started(seen)),
            change=_change(seen, before, _started, words),
        ),
        Card(
            word=words.text("Confirmed, of those that ended"),
            value=percent(seen.success_rate, words),
            change=_change(seen, before, lambda one: one.success_rate, words),
        ),
        Card(
            word=words.text("Tokens"),
            value=words.compact(used(seen.tokens.total)),
            change=_change(seen, before, lambda one: used(one.tokens.total), words),
        ),
        Card(
            word=words.text("Cost"),
            value=words.money(seen.cost.total, seen.cost.currency) if seen.cost.total else "–",
            change=_change(seen, before, _cost, words),
            note="; ".join([*others, *([unknown] if unpriced else [])]),
        ),
        Card(
            word=words.text("Wasted tokens"),
            value=percent(_waste_share(seen), words),
            change=_change(seen, before, _waste_share, words),
        ),
        Card(
            word=words.text("Interrupts"),
            value=words.number(stops.count),
            change=_change(seen, before, lambda one: one.interrupts.count, words),
            note=words.text("95% stop within {time}").format(time=lasting(stops.p95_ms, words))
            if stops.p95_ms is not None
            else "",
        ),
    ]


def steps(seen: Observed, words: Catalogue) -> list[Line]:
    """Work and waiting of each step; the bar is the 95th percentile, darker to the median."""
    longest = max((step.p95_ms or 0 for step in seen.steps.values()), default=0) or 1
    return [
        Line(
            name=words.sentence("step", name),
            cells=(
                words.number(step.count),
                lasting(step.p50_ms, words),
                lasting(step.p95_ms, words),
                lasting(step.queue_p50_ms, words),
                lasting(step.queue_p95_ms, words),
            ),
            share=(step.p95_ms or 0) / longest,
            inner=(step.p50_ms or 0) / longest,
        )
        for name, step in seen.steps.items()
    ]


def breakdowns(seen: Observed, words: Catalogue) -> list[Breakdown]:
    """Tokens and cost by model, kind and profile, the largest first."""
    tokens, cost = seen.tokens, seen.cost
    kinds = {name: words.sentence("kind", name) for name in tokens.by_kind}
    parts: tuple[tuple[str, str, Sums, str, Mapping[str, str]], ...] = (
        ("models", words.text("By model"), tokens.by_model, "by_model", {}),
        ("kinds", words.text("By kind"), tokens.by_kind, "by_kind", kinds),
        ("profiles", words.text("By profile"), tokens.by_profile, "by_profile", {}),
    )
    return [
        Breakdown(key=key, title=title, lines=_lines(sums, column, names, cost, words))
        for key, title, sums, column, names in parts
    ]


def _lines(
    sums: Sums,
    column: str,
    names: Mapping[str, str],
    cost: CostBy,
    words: Catalogue,
) -> tuple[Line, ...]:
    most = max((used(one) for one in sums.values()), default=0) or 1
    ordered = sorted(sums.items(), key=lambda entry: -used(entry[1]))
    return tuple(
        Line(
            name=names.get(name, name),
            cells=(
                words.compact(one.input),
                words.compact(one.output),
                _cost_told(cost, column, name, words),
            ),
            share=used(one) / most,
        )
        for name, one in ordered
    )


def _cost_told(cost: CostBy, column: str, name: str, words: Catalogue) -> str:
    """In each currency in which something was paid."""
    costs = {currency: getattr(sums, column)[name] for currency, sums in cost.by_currency.items()}
    paid = {currency: value for currency, value in costs.items() if amount(value)}
    return words.moneys(paid) or words.money(getattr(cost, column)[name], cost.currency)


def waste(seen: Observed, words: Catalogue) -> list[Line]:
    """What was paid and bought nothing, each with what it means."""
    total = used(seen.tokens.total) or 1
    parts: tuple[tuple[str, Wasted], ...] = (
        (words.text("Replaced: a person's change began the step anew"), seen.waste.replaced),
        (words.text("Lost: the process died before an item was whole"), seen.waste.lost),
        (words.text("Not kept: stopped or failed before an item was whole"), seen.waste.repeated),
    )
    return [
        Line(
            name=name,
            cells=(
                words.number(one.calls),
                words.compact(one.tokens),
                (words.moneys(one.costs) or words.money(one.cost, seen.cost.currency))
                if one.calls
                else "–",
            ),
            share=one.tokens / total,
        )
        for name, one in parts
    ]


def _other_costs(seen: Observed, costs: Costs) -> dict[str, str | None]:
    """A column for each further currency: `cost` is in one."""
    others = [name for name in seen.cost.currencies if name != seen.cost.currency]
    return {f"cost_{name}": costs.get(name) for name in others}


def _series(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for point in seen.series:
        row = point.model_dump(mode="json")
        costs = row.pop("costs")
        yield {**row, "currency": seen.cost.currency, **_other_costs(seen, costs)}


def _steps(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for name, step in seen.steps.items():
        yield {"step": name, **step.model_dump()}


def _by(name: str, column: str) -> Callable[[Observed], Iterator[Mapping[str, Any]]]:
    def rows(seen: Observed) -> Iterator[Mapping[str, Any]]:
        costs = getattr(seen.cost, column)
        for key, sums in getattr(seen.tokens, column).items():
            cost = {"cost": costs[key], "currency": seen.cost.currency}
            other = {
                currency: getattr(sums_in, column)[key]
                for currency, sums_in in seen.cost.by_currency.items()
            }
            yield {name: key, **sums.model_dump(), **cost, **_other_costs(seen, other)}

    return rows


def _waste(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for name in ("replaced", "lost", "repeated"):
        row = getattr(seen.waste, name).model_dump()
        costs = row.pop("costs")
        yield {"waste": name, **row, "currency": seen.cost.currency, **_other_costs(seen, costs)}


def _stops(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for code, count in seen.guardrail_stops.items():
        yield {"code": code, "stops": count}


def _statuses(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for status, count in seen.runs_by_status.items():
        yield {"status": status, "runs": count}


def _workers(seen: Observed) -> Iterator[Mapping[str, Any]]:
    for worker in seen.workers:
        yield worker.model_dump(mode="json")


TABLES: Mapping[str, Callable[[Observed], Iterator[Mapping[str, Any]]]] = {
    "series": _series,
    "steps": _steps,
    "models": _by("model", "by_model"),
    "kinds": _by("kind", "by_kind"),
    "profiles": _by("profile", "by_profile"),
    "waste": _waste,
    "stops": _stops,
    "statuses": _statuses,
    "workers": _workers,
}
"""The CSV files by name."""


def amount(value: str | None) -> float:
    """A cost as a height; an unknown one has none."""
    return 0.0 if value is None else float(Decimal(value))
