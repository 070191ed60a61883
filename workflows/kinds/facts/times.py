"""Times of day of a body that the sources do not say, or say of something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.clock import Clock, clocks_of, written_like
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    context_weights,
    facts_of,
    line_score,
    marked,
    unique_quote,
)
from workflows.kinds.facts.mentions import without_marks
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.kinds.passages import sentence_around
from workflows.vocabulary import Severity

MOST_FINDINGS = 30
SURELY = 1.6
"""How much more a line must speak of the same thing than the one that has the time itself."""
_MASKED = re.compile(
    r"`[^`\n]*`|\[[^\]\n]{0,80}\](?:\([^)\n]{0,300}\))?|\([\d:. apm]{3,12}\)|https?://\S+|"
    r"^[ \t]*+(?:[-*+]|#{1,6}|\|)?[ \t]*+\**[\d:.]{3,8}\b|\|[ \t]*[\d:.]{3,8}[ \t]*(?=\|)|"
    r"^[ \t]*+(?:[-*+]|#{1,6})?[ \t]*+\**(?:(?:meeting )?(?:date|time|duration)(?: ?(?:/|and|&) ?"
    r"time)?|when|日期|时间|会议时间|会议时长|时长)\**[ \t]*[:：].*$",
    re.MULTILINE | re.IGNORECASE,
)
_OF_THE_MEETING = re.compile(
    r"\b(?:meeting|session|call|hearing|committee|chair)\b.{0,60}\b(?:began|begins?|start\w*|open\w*|"
    r"end\w*|clos\w*|adjourn\w*|conven\w*|resum\w*|held)\b|\badjourned\b|"
    r"(?:会议|本次会|会).{0,12}(?:开始|召开|结束|举行)|散会|休会",
    re.I,
)
"""Whoever writes the minutes looks at the clock for these; nobody says them."""
_ZONE = re.compile(r"\s?\(?(?:UTC|GMT|CES?T|E[SD]?T|P[SD]?T|BST|JST|北京时间)\b")


def verify_times(material: Material, body: str) -> list[Finding]:
    """A major finding for each time of day that is certainly not what the sources say."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    own = _in_texts(material)
    findings = []
    for clock in _body_clocks(body):
        if any(clock.minutes & other.minutes for other in own):
            continue
        finding = _check(facts, body, clock)
        if finding is not None:
            findings.append(finding)
        if len(findings) == MOST_FINDINGS:
            break
    return findings


def _body_clocks(body: str) -> Iterator[Clock]:
    for at, block in blocks(body):
        for clock in _of_block(block):
            yield replace(clock, start=clock.start + at, end=clock.end + at)


@lru_cache(maxsize=KEPT)
def _of_block(block: str) -> tuple[Clock, ...]:
    found = [one for one in clocks_of(block) if one.strong]
    if not found:
        return ()
    masked = marked(block, [one.span() for one in _MASKED.finditer(block)])
    return tuple(
        one
        for one in found
        if 1 not in masked[one.start : one.end] and not _ZONE.match(block, one.end)
    )


def _in_texts(material: Material) -> list[Clock]:
    texts = [material.title, *(source.name for source in material.sources)]
    for value in material.attributes.values():
        texts += [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    return [clock for text in texts for clock in clocks_of(text)]


@kept_by_text
def _said(sources: tuple[SourceText, ...]) -> tuple[tuple[int, Clock], ...]:
    """Each time that is said, with the index of its line."""
    return tuple(
        (at, clock)
        for at, line in enumerate(facts_of(sources).lines)
        for clock in clocks_of(without_marks(line.spoken))
    )


def _check(facts: Facts, body: str, clock: Clock) -> Finding | None:
    first, last = sentence_around(body, clock.start, clock.end)
    sentence = body[first:last]
    match = _other_time(facts.sources, sentence, _moved(clock, -first))
    agreed = any(clock.minutes & other.minutes for _, other in _said(facts.sources))
    if match is None:
        if agreed or _loosely_said(facts, clock) or _OF_THE_MEETING.search(sentence):
            return None
        return _finding(facts, body, clock, None, suggest=False)
    return _finding(facts, body, clock, match, suggest=not agreed)


def _moved(clock: Clock, by: int) -> Clock:
    return replace(clock, start=clock.start + by, end=clock.end + by)


def _loosely_said(facts: Facts, clock: Clock) -> bool:
    """`at three`, `three thirty`: an hour is often said as a mere number."""
    for at in clock.minutes:
        hour, minute = divmod(at, 60)
        hours = {float(hour), float(hour % 12 or 12)}
        together = {value * 100 + minute for value in hours} | {
            round(value + minute / 100, 4) for value in hours
        }
        if together & facts.values and minute:
            return True
        if hours & facts.values and (not minute or float(minute) in facts.values):
            return True
    return False


@lru_cache(maxsize=KEPT)
def _other_time(
    sources: tuple[SourceText, ...], sentence: str, clock: Clock
) -> tuple[int, Clock] | None:
    """The time in the line that clearly speaks of the same thing, where it is another one."""
    facts, said = facts_of(sources), _said(sources)
    weights = context_weights(sentence, clock.start, clock.end)
    rated: dict[frozenset[int], tuple[float, int]] = {}
    own = 0.0
    for index, (at, other) in enumerate(said):
        score = line_score(facts, weights, at)
        if other.minutes & clock.minutes:
            own = max(own, score)
        else:
            best = rated.get(other.minutes, (0.0, index))
            rated[other.minutes] = max(best, (score, index))
    winner = clear_winner(rated.values(), least=4.0, lead=1.25)
    if winner is None or own * SURELY > rated[said[winner][1].minutes][0]:
        return None
    beside = _mere_hours(facts, said[winner][0])
    return None if clock.hours & beside else said[winner]


def _mere_hours(facts: Facts, at: int) -> frozenset[int]:
    """Hours that the mere numbers of a line may mean: `from nine to half past ten`."""
    values: Iterable[float] = (
        value
        for mention in facts.numbers[at]
        if not mention.unit and not mention.nouns
        for value in mention.values
    )
    hours = {int(value) for value in values if value == int(value) and 0 <= value <= 24}
    return frozenset(hours | {hour + 12 for hour in hours if hour < 12})


def _finding(
    facts: Facts, body: str, clock: Clock, match: tuple[int, Clock] | None, *, suggest: bool
) -> Finding:
    quote = unique_quote(body, clock.start, clock.end, least=5)
    written = body[clock.start : clock.end]
    problem = f"Nobody says the time “{written}”."
    evidence: tuple[str, ...] = ()
    right = None
    if match is not None:
        line = facts.lines[match[0]]
        problem = f"{line.name} has another time than “{written}”."
        evidence = (line.name,)
        exact = len(clock.minutes) == 1 or written.startswith("12")
        right = written_like(written, match[1].minutes, exact=exact) if suggest else None
    return Finding(
        category="time",
        severity=Severity.MAJOR,
        quote=quote,
        problem=problem,
        suggestion=None if right is None else quote.replace(written, right, 1),
        evidence=evidence,
    )
