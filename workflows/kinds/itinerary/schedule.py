"""A plan as pages show it: day by day, and its costs counted from its own entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from workflows.kinds.kind import Material
from workflows.showing import Line, Schedule, Section, Table

from .costs import TABLE, rows_of, total
from .plan import Day, Entry, Plan, amount, parse_plan
from .request import request_of

_COSTS = re.compile(r"^#{1,4}[ \t]+(?:Costs|费用)[ \t]*\r?\n\s*", re.MULTILINE)
_BUDGET = re.compile(r"\s*^(?:Budget|预算)[:：][^\r\n]*$", re.MULTILINE)
_TITLE = re.compile(r"\A\s*#[ \t]+[^\r\n]+")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEKDAYS_ZH = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")


def schedule(material: Material, body: str) -> Schedule | None:
    """None when the body names no day."""
    plan = parse_plan(body)
    if not plan.days:
        return None
    chinese = "第" in plan.days[0].heading
    request = request_of(material)
    currency = request.currency or ""
    costs = _costs(plan, chinese=chinese, currency=currency, budget=request.budget)
    pieces: list[Section | Table | str] = []
    at = _after_title(body, material.title)
    for day in plan.days:
        pieces += [*_between(body[at : day.span[0]], costs), _day(day, body, currency, chinese)]
        at = day.span[1]
    pieces += _between(body[at:], costs)
    if costs is not None and costs not in pieces:
        pieces.append(costs)
    return Schedule(pieces=tuple(pieces))


def _after_title(body: str, title: str) -> int:
    """Where the body goes on behind a first heading that only repeats the document's title."""
    found = _TITLE.match(body)
    if found is None or found.group(0).strip().lstrip("#").strip() != " ".join(title.split()):
        return 0
    return found.end()


def _between(text: str, costs: Table | None) -> Iterator[Table | str]:
    """What stands between days. A table of costs gives way to the one that is counted here."""
    found = TABLE.search(text) if costs is not None else None
    if found is None or costs is None:
        if text.strip():
            yield text.strip()
        return
    before = text[: found.start()]
    heads = list(_COSTS.finditer(before))
    if heads and not before[heads[-1].end() :].strip():
        before = before[: heads[-1].start()]
    if before.strip():
        yield before.strip()
    yield costs
    behind = _BUDGET.sub("", text[found.end() :], count=1) if costs.notes else text[found.end() :]
    if behind.strip():
        yield behind.strip()


def _day(day: Day, body: str, currency: str, chinese: bool) -> Section:
    label, *rest = _heading(day)
    known = [entry.cost for entry in day.entries if entry.cost is not None]
    return Section(
        title=label,
        facts=tuple(_fact(piece, chinese) for piece in rest),
        pieces=tuple(_pieces(day, body, currency)),
        cost=amount(sum(known), currency) if known else "",
        text=day.heading,
    )


def _heading(day: Day) -> list[str]:
    """`## Day 1 · 2027-03-16 · Rome` -> its three pieces."""
    text = day.heading.lstrip("#").strip()
    pieces = [piece.strip() for piece in re.split(r"[·|:：]|\s[–—-]\s", text)]
    return [piece for piece in pieces if piece]


def _fact(piece: str, chinese: bool) -> str:
    """A date with its weekday; anything else as it is."""
    try:
        when = date.fromisoformat(piece)
    except ValueError:
        return piece
    return f"{piece} {(_WEEKDAYS_ZH if chinese else _WEEKDAYS)[when.weekday()]}"


def _pieces(day: Day, body: str, currency: str) -> Iterator[Line | str]:
    """Entries and, between them, whatever else is written there."""
    start, end = day.span
    text = body[start:end]
    at = text.index(day.heading) + len(day.heading)
    for entry in day.entries:
        found = text.index(entry.line, at)
        if note := text[at:found].strip():
            yield note
        yield _line(entry, currency)
        at = found + len(entry.line)
    if note := text[at:].strip():
        yield note


def _line(entry: Entry, currency: str) -> Line:
    times = ""
    if entry.start is not None and entry.end is not None:
        times = f"{_clock(entry.start)}–{_clock(entry.end)}"
    return Line(
        times=times,
        word=entry.word,
        name=entry.name,
        cost="" if entry.cost is None else amount(entry.cost, entry.currency or currency),
        sort=entry.sort.value,
        text=entry.line,
    )


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def _costs(plan: Plan, *, chinese: bool, currency: str, budget: float | None) -> Table | None:
    made = rows_of(plan, chinese=chinese, currency=currency)
    if made is None:
        return None
    head, rows, foot = made
    notes = [_budget(budget, total(plan), currency, chinese)] if budget is not None else []
    return Table(
        title="费用" if chinese else "Costs", head=head, rows=rows, foot=foot, notes=tuple(notes)
    )


def _budget(budget: float, spent: float, currency: str, chinese: bool) -> str:
    left = amount(abs(budget - spent), currency)
    over = spent > budget + 0.005
    if chinese:
        return f"预算 {amount(budget, currency)}，{'超出' if over else '剩余'} {left}"
    return f"Budget {amount(budget, currency)}, {left} {'over' if over else 'left'}"
