"""Counts what the verifiers of minutes find of planted facts, and say about true statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from tests.evaluate.clocks import days
from tests.evaluate.corruptions import Wrong, corrupted
from tests.evaluate.deadlines import deadlines
from tests.evaluate.said import misquoted
from tests.evaluate.tasks import action_list, foreign_decisions, strange_owners, strange_terms
from tests.evaluate.truths import Truths, labelled_texts, truths
from workflows.kinds import load_kinds
from workflows.kinds.facts.clock import clocks_of
from workflows.kinds.facts.context import read_numbers
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

MINUTES = load_kinds()["minutes"]
TUNED, HELD_OUT = "tuned", "held out"


@dataclass(kw_only=True)
class Counts:
    """By (name of a verifier or fact, half)."""

    statements: Counter[str] = field(default_factory=Counter)
    alarms: Counter[tuple[str, str]] = field(default_factory=Counter)
    minors: Counter[tuple[str, str]] = field(default_factory=Counter)
    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    corrected: Counter[tuple[str, str]] = field(default_factory=Counter)
    miscorrected: Counter[tuple[str, str]] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)
    """The alarms, and what was missed, one a line."""

    def recall(self, fact: str, half: str) -> float:
        return self.found[fact, half] / max(1, self.planted[fact, half])


def measure(*, every: int = 1) -> Counts:
    """`every`: of the planted facts only each so-manieth is tried, of the deadlines a fifth."""
    counts = Counts()
    for one in truths():
        _count_alarms(counts, one)
        for wrong in islice(_all(one), 0, None, every):
            _try(counts, wrong)
    for at, meeting in enumerate((*deadlines(), *days())):
        if every == 1 or at % 5 == 0:
            half = TUNED if meeting.tuned else HELD_OUT
            counts.statements[half] += meeting.right.count("\n") + 1
            _alarms(counts, half, meeting.material, meeting.right)
            for wrong in meeting.wrong:
                _try(counts, wrong)
    return counts


def labelled() -> list[str]:
    """What people labelled: of wrong and of right sentences and summaries, in how many something
    is found. Most errors there are relations and invented reasons, which no rule sees."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for name, said, text, right in labelled_texts():
        grave = [one for one in MINUTES.verify(said, text) if one.severity is not Severity.MINOR]
        counts[name, right, bool(grave)] += 1
    return [
        f"{name}, labelled {'right' if right else 'wrong'}: "
        f"found in {counts[name, right, True]} of "
        f"{counts[name, right, True] + counts[name, right, False]}"
        for name in dict.fromkeys(name for name, _, _ in counts)
        for right in (False, True)
    ]


def _all(one: Truths) -> Iterator[Wrong]:
    yield from corrupted(one)
    yield from misquoted(one)
    yield from strange_terms(one)
    if one.name.startswith(("passage", "summary")):
        return
    yield from strange_owners(one)
    yield from foreign_decisions(truths(), one)


def _count_alarms(counts: Counts, one: Truths) -> None:
    half = TUNED if one.tuned else HELD_OUT
    counts.statements[half] += len(one.statements)
    _alarms(counts, half, one.material, one.body)
    if one.name.startswith(("passage", "summary")):
        return
    # The same statements as what was decided, which asks more of their evidence.
    decided = "## Decisions\n\n" + "\n".join(f"- {text}" for text in one.statements)
    _alarms(counts, half, one.material, decided, only="decisions")
    _alarms(counts, half, one.material, action_list(one))


def _alarms(
    counts: Counts, half: str, material: Material, body: str, *, only: str | None = None
) -> None:
    for finding in MINUTES.verify(material, body):
        name = finding.raised_by.removeprefix("verifier:")
        if only is not None and name != only:
            continue
        if finding.severity is Severity.MINOR:
            counts.minors[name, half] += 1
        else:
            counts.alarms[name, half] += 1
            counts.texts.append(f"alarm ({name}, {half}): {finding.quote!r}: {finding.problem}")


def _try(counts: Counts, wrong: Wrong) -> None:
    half = TUNED if wrong.tuned else HELD_OUT
    counts.planted[wrong.fact, half] += 1
    findings = [one for one in MINUTES.verify(wrong.material, wrong.body) if _hits(one, wrong)]
    if findings:
        counts.found[wrong.fact, half] += 1
        for one in findings[:1]:
            if one.suggestion is not None:
                right = _is_right(wrong, one)
                counts.corrected[wrong.fact, half] += right
                counts.miscorrected[wrong.fact, half] += not right
                if not right:
                    said = f"{wrong.what!r} for {wrong.right!r} to {one.suggestion!r}"
                    counts.texts.append(f"miscorrected ({wrong.fact}, {wrong.name}): {said}")
    else:
        counts.texts.append(f"missed ({wrong.fact}, {half}, {wrong.name}): {wrong.what!r}")


def _hits(finding: Finding, wrong: Wrong) -> bool:
    grave = finding.severity is not Severity.MINOR or wrong.fact == "decision"
    return grave and (wrong.what in finding.quote or finding.quote in wrong.what)


def _is_right(wrong: Wrong, finding: Finding) -> bool:
    """Whether the suggestion has what stood there, be it in words or in digits."""
    text = (finding.suggestion or "").lower()
    values = {value for mention in read_numbers(wrong.right) for value in mention.values}
    near = {value for mention in read_numbers(text) for value in mention.values}
    scaled = {value / 10**6 for value in near}
    times = [frozenset().union(*(c.minutes for c in clocks_of(one))) for one in (wrong.right, text)]
    return wrong.right.lower() in text or bool(values & (near | scaled) or times[0] & times[1])
