"""The charts of the observability centre: runs, tokens, cost and waste over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from api.http.times import in_zone
from api.pages import charts as drawing
from api.pages.charts import Chart, Stack
from api.pages.observe_tables import amount, change
from api.texts.text import Catalogue
from api.wire.observe import Observed, Point

if TYPE_CHECKING:
    from api.pages.observe import Asked

_DAY = timedelta(days=1)
_LABELS = 4
Part = tuple[str, str, Callable[[Point], float]]
"""Word, tone, value of a bucket."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """A chart before its numbers: where they come from and how one is told."""

    key: str
    title: str
    parts: Sequence[Part]
    told: Callable[[float], str]


def charts(seen: Observed, before: Observed | None, words: Catalogue, asked: Asked) -> list[Chart]:
    """In the order in which they are read."""
    return [_chart(plan, seen, before, words, asked) for plan in _plans(seen, words)]


def _plans(seen: Observed, words: Catalogue) -> list[_Plan]:
    whole, compact, money = _whole(words), _compact(words), _money(seen, words)
    plans = (
        ("ended", words.text("Runs that ended"), _ended(words), whole),
        ("started", words.text("Runs that began"), _started(words), whole),
        ("tokens", words.text("Tokens"), _tokens(words), compact),
        ("cost", words.text("Cost"), _cost(words), money),
        ("calls", words.text("Calls to the model"), _calls(words), whole),
        ("wasted", words.text("Wasted tokens"), _wasted(words), compact),
    )
    return [_Plan(key=k, title=title, parts=parts, told=told) for k, title, parts, told in plans]


def _whole(words: Catalogue) -> Callable[[float], str]:
    return lambda value: words.number(round(value, 1) if value % 1 else int(value))


def _compact(words: Catalogue) -> Callable[[float], str]:
    return lambda value: words.compact(int(value))


def _money(seen: Observed, words: Catalogue) -> Callable[[float], str]:
    return lambda value: words.money(f"{value:.6f}", seen.cost.currency) if value else "0"


def _ended(words: Catalogue) -> Sequence[Part]:
    return (
        (words.sentence("status", "CONFIRMED"), "done", lambda point: point.confirmed),
        (words.sentence("status", "REJECTED"), "waiting", lambda point: point.rejected),
        (words.sentence("status", "FAILED"), "failed", lambda point: point.failed),
        (words.sentence("status", "CANCELLED"), "muted", lambda point: point.cancelled),
    )


def _started(words: Catalogue) -> Sequence[Part]:
    return ((words.text("Runs"), "link", lambda point: point.started),)


def _tokens(words: Catalogue) -> Sequence[Part]:
    return (
        (words.text("Tokens in"), "link", lambda point: point.tokens_input),
        (words.text("Tokens out"), "interrupted", lambda point: point.tokens_output),
    )


def _cost(words: Catalogue) -> Sequence[Part]:
    return ((words.text("Cost"), "waiting", lambda point: amount(point.cost)),)


def _calls(words: Catalogue) -> Sequence[Part]:
    return ((words.text("Calls"), "link", lambda point: point.calls),)


def _wasted(words: Catalogue) -> Sequence[Part]:
    return ((words.text("Lost or not kept"), "failed", lambda point: point.tokens_wasted),)


def _stacks(
    parts: Sequence[Part], points: Sequence[Point], told: Callable[[float], str]
) -> tuple[Stack, ...]:
    found = []
    for word, tone, value in parts:
        values = [float(value(point)) for point in points]
        found.append(Stack(word=word, tone=tone, values=values, total=told(sum(values))))
    return tuple(found)


def _chart(
    plan: _Plan, seen: Observed, before: Observed | None, words: Catalogue, asked: Asked
) -> Chart:
    parts, told = plan.parts, plan.told
    stacks = _stacks(parts, seen.series, told)
    heights = drawing.total(stacks)
    # As many buckets as now; the period before may touch one more.
    earlier = before.series[-len(seen.series) :] if before is not None else []
    line = drawing.total(_stacks(parts, earlier, told)) if earlier else []
    top = drawing.ceiling(max([*heights, *line], default=0))
    spans = _spans(seen, asked.zone)
    return Chart(
        key=plan.key,
        title=plan.title,
        unit=_unit(seen, words),
        now=told(sum(heights)),
        change=change(sum(heights), sum(line), words) if line else "",
        stacks=stacks,
        columns=drawing.columns(stacks, spans, top, told),
        ticks=(told(top), told(top / 2), "0"),
        labels=_labels([label for _, _, label in spans]),
        line=drawing.line(line, top) if any(line) and len(line) == len(heights) else "",
        runs=asked.runs(),
        csv=asked.csv("series"),
    )


def _unit(seen: Observed, words: Catalogue) -> str:
    bucket = timedelta(seconds=seen.bucket_seconds)
    if bucket >= _DAY:
        days = bucket // _DAY
        return words.text("a day") if days == 1 else words.text("in {n} days").format(n=days)
    if bucket >= timedelta(hours=1):
        hours = bucket // timedelta(hours=1)
        return words.text("an hour") if hours == 1 else words.text("in {n} hours").format(n=hours)
    minutes = bucket // timedelta(minutes=1)
    one = words.text("a minute")
    return one if minutes == 1 else words.text("in {n} minutes").format(n=minutes)


def _spans(seen: Observed, zone: tzinfo) -> list[tuple[datetime, datetime, str]]:
    bucket = timedelta(seconds=seen.bucket_seconds)
    form = "%Y-%m-%d" if bucket >= _DAY else "%m-%d %H:%M"
    # A day here is one of UTC; in another zone its date would be that of the day before.
    there = UTC if bucket >= _DAY else zone
    return [(p.t, p.t + bucket, in_zone(p.t, there).strftime(form)) for p in seen.series]


def _labels(labels: Sequence[str]) -> tuple[str, ...]:
    """First, last, and some between; of days without the year, which stands above the charts."""
    labels = [
        label.removeprefix(f"{label[:4]}-") if len(label) == 10 else label for label in labels
    ]
    if len(labels) <= _LABELS:
        return tuple(labels)
    last = len(labels) - 1
    return tuple(labels[round(n * last / (_LABELS - 1))] for n in range(_LABELS))
