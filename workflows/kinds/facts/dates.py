"""Dates and weekdays of a body that neither the sources nor the meeting's own date know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    context_weights,
    facts_of,
    line_score,
    unique_quote,
)
from workflows.kinds.facts.days import MAY_HAVE_DAYS, Day, days_of, read_days, written_like
from workflows.kinds.facts.deadlines import (
    ANY_DAY,
    Said,
    body_relative,
    follows,
    line_that_speaks_of,
    nearest,
    one_off,
    said_relative,
)
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

MOST_FINDINGS = 50
MOST_DAYS = 1000
"""Days of a body that are looked at: a calendar is no minutes."""
_HEADER = re.compile(
    r"^[ \t]*[-*#]*[ \t]*\**(?:(?:meeting )?(?:date|time)(?: ?(?:/|and) ?time)?|when|"
    r"日期|会议日期|会议时间|时间)\**\s*[:：]",
    re.I,
)
_ZONE = re.compile(r"\b(?:UTC|GMT|[A-Z]{1,4}[SD]T|CET|BST|IST)\b|\d[ \t]?Z\b|时区|北京时间")
_SAME_ZONES = {
    r"UTC|GMT|Z": ("UTC", "GMT", "Etc/UTC", "Etc/GMT", "Etc/Zulu", "Africa/Abidjan"),
    r"CE?S?T": ("Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Vienna"),
    r"ES?D?T": ("America/New_York", "America/Toronto", "US/Eastern"),
    r"PS?D?T": ("America/Los_Angeles", "US/Pacific"),
    r"北京时间": ("Asia/Shanghai", "PRC"),
}
"""Names of zones as people write them, with the ones that a meeting's attribute may name."""
NEAR = 40
"""Characters after a date in which a time zone may stand."""


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """What the days of a body are checked against. `meeting`: the day of the meeting, if known."""

    material: Material
    facts: Facts
    said: Sequence[tuple[int, Day]]
    meeting: date | None

    @property
    def relative(self) -> tuple[Said, ...]:
        return said_relative(self.material.sources, self.meeting or ANY_DAY)


def verify_dates(material: Material, body: str) -> list[Finding]:
    """Days that were not said, do not follow from what was said, or do not fit each other."""
    ground = _Ground(
        material=material,
        facts=facts_of(material.sources),
        said=_said_days(material.sources),
        meeting=_meeting_date(material),
    )
    findings: dict[str, Finding] = {}
    for finding in islice(_findings(ground, body), MOST_FINDINGS):
        findings.setdefault(finding.quote, finding)
    return list(findings.values())


def _findings(ground: _Ground, body: str) -> Iterator[Finding]:
    days = list(islice(read_days(body), MOST_DAYS))
    weekdays = _weekdays(days)
    dated = {id(_beside(body, day, weekdays)) for day in days if day.month}
    for day in days:
        if id(day) in dated:  # what is written beside a date is checked by the date
            continue
        finding = _check(ground, body, day)
        if finding is not None:
            yield finding
    yield from _weekdays_beside(ground, body, days)
    yield from _expressions(ground, body)


def _check(ground: _Ground, body: str, day: Day) -> Finding | None:
    known = any(day.agrees(other) for _, other in ground.said)
    if known or day_in_texts(ground.material, day):
        return None
    meeting = ground.meeting
    line = body[body.rfind("\n", 0, day.start) + 1 : day.start]
    header = _HEADER.match(line) is not None
    if header:
        return None if meeting is None else _header(ground, body, day, meeting)
    if meeting is not None and not day.weekday:
        return _derived(ground, body, day, meeting)
    return _unsaid(ground, body, day)


def _header(ground: _Ground, body: str, day: Day, meeting: date) -> Finding | None:
    """The date of the meeting itself; in another time zone it may be the day before or after."""
    if day.weekday:
        wrong = day.weekday != meeting.isoweekday()
    else:
        zone = _ZONE.search(body[day.end : day.end + NEAR].partition("\n")[0])
        zoned = zone is not None and not _is_own_zone(ground, zone.group())
        wrong = nearest(day, meeting) != meeting and not (zoned and one_off(day, meeting))
    if not wrong:
        return None
    written = body[day.start : day.end]
    right = None if day.weekday else written_like(written, meeting, year=bool(day.year))
    problem = f"The meeting was on {meeting.isoformat()}, not on {written}."
    return _finding(body, (day.start, day.end), problem, right)


def _is_own_zone(ground: _Ground, written: str) -> bool:
    """Whether a zone beside a date is the meeting's: then its date is the meeting's too."""
    own = str(ground.material.attributes.get("timezone") or "")
    return any(own in zones and re.search(names, written) for names, zones in _SAME_ZONES.items())


def _derived(ground: _Ground, body: str, day: Day, meeting: date) -> Finding | None:
    """A date that has to follow from the meeting's date and from what was said in it."""
    possible = nearest(day, meeting)
    match = None
    if possible is not None and possible > meeting:
        match = line_that_speaks_of(
            ground.facts, context_weights(body, day.start, day.end), ground.relative
        )
    if match is not None and possible is not None:
        if match.expression.may_mean(possible):
            return None
        right = match.expression.certain
        written = body[day.start : day.end]
        new = None if right is None else written_like(written, right, year=bool(day.year))
        return _contradicts(ground, body, (day.start, day.end), match, new)
    if follows(day, meeting, ground.material.sources):
        return None
    return _unsaid(ground, body, day)


def _contradicts(
    ground: _Ground, body: str, span: tuple[int, int], match: Said, right: str | None
) -> Finding:
    line = ground.facts.lines[match.line]
    said = line.spoken[match.expression.start : match.expression.end]
    counted = "" if ground.meeting is None else f" on {ground.meeting.isoformat()}"
    problem = f"{line.name} says “{said}”{counted}, which is not “{body[slice(*span)]}”."
    return _finding(body, span, problem, right, evidence=(line.name,))


def _unsaid(ground: _Ground, body: str, day: Day) -> Finding:
    written = body[day.start : day.end]
    match = _match(ground.facts, body, day, ground.said)
    if match is None:
        return _finding(
            body, (day.start, day.end), f"“{written}” is said nowhere in the sources.", None
        )
    at, other = match
    line = ground.facts.lines[at]
    right = line.spoken[other.start : other.end]
    problem = f"{line.name} says “{right}”, not “{written}”."
    return _finding(body, (day.start, day.end), problem, right, evidence=(line.name,))


def _finding(
    body: str,
    span: tuple[int, int],
    problem: str,
    right: str | None,
    *,
    evidence: tuple[str, ...] = (),
) -> Finding:
    start, end = span
    quote = unique_quote(body, start, end, least=4)
    suggestion = None
    if right is not None and right != body[start:end]:
        suggestion = quote.replace(body[start:end], right, 1)
    return Finding(
        category="date",
        severity=Severity.MAJOR,
        quote=quote,
        problem=problem,
        suggestion=suggestion,
        evidence=evidence,
    )


def _weekdays_beside(ground: _Ground, body: str, days: Sequence[Day]) -> Iterator[Finding]:
    """`Friday, 4 December 2026` has to be a Friday."""
    dates = [day for day in days if day.month and (day.year or ground.meeting)]
    weekdays = _weekdays(days)
    for day in dates:
        beside = _beside(body, day, weekdays)
        real = nearest(day, ground.meeting or ANY_DAY)
        if beside is None or real is None or beside.weekday == real.isoweekday():
            continue
        known = real == ground.meeting or any(day.agrees(other) for _, other in ground.said)
        written = body[beside.start : beside.end]
        right = _weekday_like(written, real.isoweekday()) if known else None
        problem = f"{real.isoformat()} is not a “{written}”."
        yield _finding(body, (beside.start, beside.end), problem, right)


def _weekdays(days: Sequence[Day]) -> Mapping[int, Day]:
    """By where they begin and where they end."""
    ends = {day.end: day for day in days if day.weekday}
    return ends | {day.start: day for day in days if day.weekday}


def _beside(body: str, day: Day, weekdays: Mapping[int, Day]) -> Day | None:
    """The weekday right before or after a date, over a comma or a bracket."""
    for gap in range(4):
        before, after = weekdays.get(day.start - gap), weekdays.get(day.end + gap)
        if before is not None and before.end == day.start - gap:
            return before if not body[before.end : day.start].strip(" ,，") else None
        if after is not None and after.start == day.end + gap:
            return after if not body[day.end : after.start].strip(" ,，(（") else None
    return None


def _weekday_like(written: str, weekday: int) -> str:
    if written[-1] in "一二三四五六日天":
        return written[:-1] + "一二三四五六日"[weekday - 1]
    return lexicon.WEEKDAYS[weekday - 1].capitalize()


def _expressions(ground: _Ground, body: str) -> Iterator[Finding]:
    """`by next Monday` where the line that speaks of the same thing says `by next Friday`."""
    facts, today = ground.facts, ground.meeting or ANY_DAY
    for expression in islice(body_relative(body, today), MOST_DAYS):
        span = (expression.start, expression.end)
        match = line_that_speaks_of(facts, context_weights(body, *span), ground.relative, least=4.0)
        if match is None or not expression.disagrees(match.expression):
            continue
        other = match.expression
        if ground.meeting is None and bool(other.weekday) != bool(expression.weekday):
            continue
        said = facts.lines[match.line].spoken[other.start : other.end]
        same = said.isascii() == body[slice(*span)].isascii()
        yield _contradicts(ground, body, span, match, said if same else None)


@kept_by_text
def _said_days(sources: tuple[SourceText, ...]) -> tuple[tuple[int, Day], ...]:
    """Each day that is said, with the index of its line."""
    return tuple(
        (at, day)
        for at, line in enumerate(facts_of(sources).lines)
        if MAY_HAVE_DAYS.search(line.spoken)
        for day in days_of(line.spoken)
    )


def day_in_texts(material: Material, day: Day) -> bool:
    texts = [material.title]
    for name, value in material.attributes.items():
        if name != "meeting_date":
            texts += [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    texts += [source.name for source in material.sources]
    return any(day.agrees(other) for text in texts for other in read_days(text))


def _meeting_date(material: Material) -> date | None:
    try:
        return date.fromisoformat(str(material.attributes.get("meeting_date")))
    except ValueError:
        return None


def _match(
    facts: Facts, body: str, day: Day, said: Sequence[tuple[int, Day]]
) -> tuple[int, Day] | None:
    """The day of the same sort in the line that clearly speaks of the same thing."""
    same = [(at, other) for at, other in said if bool(other.weekday) == bool(day.weekday)]
    if not same:
        return None
    days = {(other.month, other.day, other.weekday) for _, other in same}
    weights = context_weights(body, day.start, day.end)
    best: dict[tuple[int, int, int], tuple[float, int]] = {}
    for index, (at, other) in enumerate(same):
        key = (other.month, other.day, other.weekday)
        best[key] = max(best.get(key, (0.0, index)), (line_score(facts, weights, at), index))
    winner = clear_winner(best.values(), least=1.0 if len(days) == 1 else 2.5, lead=1.25)
    return None if winner is None else same[winner]
