"""A plan as Markdown: one section a day, one line an entry, a table of costs; written and read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Payload

from .reference import minutes_of
from .sorts import LEGS, Sort, in_language, sort_of

_DAY = re.compile(
    r"^#{2,4}[ \t]+(?:Day[ \t]+(?P<en>\d{1,3})\b"
    r"|第[ \t]*(?P<zh>\d{1,3}|[一二两三四五六七八九十]{1,3})[ \t]*天)(?P<rest>[^\r\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,4}[ \t]+\S[^\r\n]*", re.MULTILINE)
_ENTRY = re.compile(
    r"^[-*+][ \t]+(?:(?P<start>\d{1,2}[:：]\d{2})[ \t]*[–—~至-][ \t]*(?P<end>\d{1,2}[:：]\d{2})"
    r"[ \t]+)?(?P<word>[^:：\r\n\d]{1,30})[:：][ \t]*(?P<rest>[^\r\n]*\S)[ \t]*\r?$",
    re.MULTILINE,
)
_COST = re.compile(
    r"(?<![ \t])[ \t]*[(（](?:(?P<before>[A-Z]{3}|[$€£¥￥])[ \t]*)?"
    r"(?P<cost>\d[\d,]{0,14}(?:\.\d+)?)[ \t]*(?P<behind>[A-Z]{3}|[$€£¥￥]|元|人民币)?[)）]$"
)
_UNKNOWN = re.compile(r"(?<![ \t])[ \t]*[(（][–?？-][)）]$")
_FROM_TO = re.compile(
    r"\bfrom[ \t]+(?P<a>.+?)[ \t]+to[ \t]+(?P<b>[^,，;]+)"
    r"|从(?P<c>[^,，到至]+?)[到至](?P<d>[^,，;]+)"
    r"|(?P<e>[^,，:：;]+?)[ \t]*(?:→|->|[ \t][–-][ \t]|\bto\b)[ \t]*(?P<f>[^,，;]+)",
    re.IGNORECASE,
)
_LONGEST_LEG = 500
"""Characters; what is longer names no two places, and takes long to search."""
_NUMBER = re.compile(r"(?<![A-Za-z0-9])[A-Z]{1,2}\d{2,7}(?![A-Za-z0-9])")
_NUMERALS = {mark: value for value, mark in enumerate("一二三四五六七八九十", start=1)} | {"两": 2}
ARROW = re.compile(r"→|->")
"""In the heading of a day between two cities."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line. Times are minutes of the day, the end beyond 1440 where it is the next day's."""

    line: str
    word: str
    sort: Sort
    name: str
    start: int | None = None
    end: int | None = None
    cost: float | None = None
    """For the whole party."""
    currency: str = ""
    """As the line writes it."""

    @property
    def ends(self) -> tuple[str, str] | None:
        """Where a leg begins and where it goes; None when its name does not say both."""
        if self.sort not in LEGS or len(self.name) > _LONGEST_LEG:
            return None
        name = " ".join(_NUMBER.sub("", self.name).split())
        found = _FROM_TO.search(name.strip(" ,，:：·"))
        if found is None:
            return None
        start, end = found["a"] or found["c"] or found["e"], found["b"] or found["d"] or found["f"]
        return start.strip(), end.strip()

    @property
    def number(self) -> str:
        """Of a flight or a train, else empty."""
        found = _NUMBER.search(self.name)
        return found.group(0) if found else ""


@dataclass(frozen=True, kw_only=True)
class Day:
    """One section. `span` is where it stands in the body, its heading included."""

    number: int
    heading: str
    date: date | None
    city: str
    entries: tuple[Entry, ...]
    span: tuple[int, int]

    def of(self, *sorts: Sort) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.sort in sorts)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The days in the order in which they stand. `title` is the first line that is not empty."""

    title: str
    days: tuple[Day, ...]

    def entries(self) -> Iterator[tuple[Day, Entry]]:
        for day in self.days:
            for entry in day.entries:
                yield day, entry


@kept_by_text
def parse_plan(body: str) -> Plan:
    """The plan that a body holds; lines that are no entries are left out."""
    headings = [found.start() for found in _HEADING.finditer(body)] + [len(body)]
    days = []
    for found in _DAY.finditer(body):
        end = next(at for at in headings if at > found.start())
        days.append(_day(found, body, end))
    title = next((line.strip() for line in body.splitlines() if line.strip()), "")
    return Plan(title=title, days=tuple(days))


def _day(found: re.Match[str], body: str, end: int) -> Day:
    pieces = [piece.strip() for piece in re.split(r"[·|:：]|\s[–—-]\s", found["rest"])]
    dates = [piece for piece in pieces if _DATE.fullmatch(piece)]
    names = [piece for piece in pieces if piece and not _DATE.fullmatch(piece)]
    return Day(
        number=int(found["en"]) if found["en"] else _numeral(found["zh"]),
        heading=found.group(0).rstrip(),
        date=_date(dates[0]) if dates else None,
        city=ARROW.split(names[-1])[-1].strip() if names else "",
        entries=tuple(_entries(body, found.end(), end)),
        span=(found.start(), end),
    )


def _numeral(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, mark, ones = text.partition("十")
    if not mark:
        return _NUMERALS[text[0]]
    return 10 * _NUMERALS.get(tens, 1) + _NUMERALS.get(ones, 0)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _entries(body: str, start: int, end: int) -> Iterator[Entry]:
    for found in _ENTRY.finditer(body, start, end):
        rest = found["rest"]
        price = _COST.search(rest)
        begins = minutes_of(found["start"] or "")
        ends = minutes_of(found["end"] or "")
        if begins is not None and ends is not None and ends < begins:
            ends += 24 * 60
        yield Entry(
            line=found.group(0).rstrip(),
            word=found["word"].strip(),
            sort=sort_of(found["word"]),
            name=_COST.sub("", rest) if price else _UNKNOWN.sub("", rest),
            start=begins,
            end=ends,
            cost=float(price["cost"].replace(",", "")) if price else None,
            currency=(price["behind"] or price["before"] or "") if price else "",
        )


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a plan is written: language, currency, the date of its first day."""

    title: str
    chinese: bool = False
    currency: str = ""
    first: date | None = None


def render_plan(look: Look, days: Sequence[Payload]) -> str:
    """Days in their order, whatever order they came in; without the table of costs."""
    pieces = [f"# {line_of(look.title)}"]
    for day in sorted(days, key=lambda payload: int(payload["day"])):
        rows = [_row(entry, look) for entry in day["entries"]]
        pieces.append("\n".join([_heading(day, look), "", *rows]).rstrip())
    return "\n\n".join(pieces) + "\n"


def _heading(day: Payload, look: Look) -> str:
    number = int(day["day"])
    name = f"第{number}天" if look.chinese else f"Day {number}"
    when = [] if look.first is None else [(look.first + timedelta(days=number - 1)).isoformat()]
    return "## " + " · ".join([name, *when, line_of(day["city"])])


def _row(entry: Payload, look: Look) -> str:
    times = [line_of(entry.get(name) or "") for name in ("start", "end")]
    word = in_language(re.sub(r"[:：\d]", " ", line_of(entry["kind"])), chinese=look.chinese)
    name, cost = line_of(entry["name"]), entry.get("cost")
    if cost is not None:
        price = f" ({amount(cost, look.currency)})"
    else:
        price = " (–)" if _COST.search(name) or _UNKNOWN.search(name) else ""
    when = f"{times[0]}–{times[1]} " if all(times) else ""
    return f"- {when}{line_of(word)}: {name}{price}"


def amount(value: float, currency: str = "") -> str:
    """1234.5 -> `1234.5 USD`: never an exponent, at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{text} {currency}".strip()


def line_of(text: object) -> str:
    """A text on one line."""
    return re.sub(r"\s+", " ", str(text)).strip()
