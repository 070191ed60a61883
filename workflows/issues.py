"""Issues of a run over its rounds, as pure functions: which are the same, what a step leaves open.

The same problem is known again by its quote (`scoring.fingerprint`), or by its place: two quotes of
one family of error of which one holds the other, however far each reviewer quotes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from workflows.kinds.kind import Finding
from workflows.kinds.passages import Span, first_span, overlaps
from workflows.scoring import fingerprint
from workflows.vocabulary import IssueStatus, Severity

OPEN = (IssueStatus.OPEN, IssueStatus.REOPENED)
_RANK = {Severity.BLOCKER: 0, Severity.MAJOR: 1, Severity.MINOR: 2}
_WIDER = 40
"""Characters by which a quote may go beyond another of the same place when no suggestion tells
what it is about."""

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "missing": ("miss", "omi", "gap", "absent", "遗漏", "缺"),
    "invented": (
        "invent",
        "unsupport",
        "hallucin",
        "fabricat",
        "unfound",
        "虚构",
        "编造",
        "无依据",
    ),
    "relation": ("relation", "negat", "cause", "contradict", "logic", "关系", "否定", "矛盾"),
    "wording": ("word", "typo", "doubl", "placehold", "format", "style", "repeat", "措辞", "重复"),
    "entity": ("name", "owner", "person", "entity", "speaker", "who", "姓名", "人名", "负责人"),
    "value": ("number", "amount", "value", "date", "time", "quantit", "unit", "数", "日期", "时间"),
}
_WRONG = frozenset({"value", "entity", "fact"})


def family(category: str) -> str:
    """Which of the families of error a category belongs to, as models and verifiers name them."""
    plain = category.casefold()
    for name, beginnings in _FAMILIES.items():
        if any(beginning in plain for beginning in beginnings):
            return name
    return "fact" if "fact" in plain or "wrong" in plain else plain.strip()


def _same_family(one: str, other: str) -> bool:
    first, second = family(one), family(other)
    return first == second or ("fact" in (first, second) and {first, second} <= _WRONG)


def _same_place(one: Finding, other: Finding, spans: tuple[Span | None, Span | None]) -> bool:
    """Whether one quote holds the other and both are about what the narrow one quotes."""
    if spans[0] is None or spans[1] is None or not overlaps(spans[0], spans[1]):
        return False
    if not _same_family(one.category, other.category):
        return False
    (wide, outer), (narrow, inner) = sorted(
        ((one, spans[0]), (other, spans[1])), key=lambda pair: pair[1][0] - pair[1][1]
    )
    if not (outer[0] <= inner[0] and inner[1] <= outer[1]):
        return False
    if wide.suggestion:
        return narrow.quote not in wide.suggestion
    return (outer[1] - outer[0]) - (inner[1] - inner[0]) <= _WIDER


def merged(findings: Sequence[Finding], body: str = "") -> dict[str, Finding]:
    """One finding per problem: the most severe one, with a suggestion and evidence if any."""
    by_quote: dict[str, Finding] = {}
    for finding in findings:
        key = fingerprint(finding)
        other = by_quote.get(key)
        by_quote[key] = finding if other is None else _joined(other, finding)
    kept: dict[str, Finding] = {}
    places = {key: first_span(body, finding.quote) for key, finding in by_quote.items()}
    for key, finding in by_quote.items():
        same = next(
            (
                known
                for known, other in kept.items()
                if _same_place(finding, other, (places[key], places[known]))
            ),
            None,
        )
        if same is None:
            kept[key] = finding
            continue
        joined = _joined(kept.pop(same), finding)
        again = fingerprint(joined)
        kept[again] = joined
        places[again] = places[key] if again == key else places[same]
    return kept


def _joined(one: Finding, other: Finding) -> Finding:
    """The more severe of two, with what only the other has; a suggestion belongs to its quote."""
    first, second = sorted((one, other), key=lambda finding: _RANK[finding.severity])
    if first.suggestion is None and second.suggestion is not None:
        first = replace(first, quote=second.quote, suggestion=second.suggestion)
    return replace(first, evidence=first.evidence or second.evidence)


@dataclass(frozen=True, kw_only=True)
class Known:
    """An issue of the run as its row has it."""

    id: str
    number: int
    fingerprint: str
    status: IssueStatus
    finding: Finding


@dataclass(frozen=True, kw_only=True)
class AfterReview:
    """What a review did to its run's issues. `standing` is what is open now, by fingerprint;
    `graver`: of `seen`, those that it takes more seriously than they were, by id."""

    fresh: Mapping[str, Finding]
    seen: Sequence[Known]
    graver: Mapping[str, Finding]
    reopened: Sequence[Known]
    fixed: Sequence[Known]
    standing: Mapping[str, Severity]


def after_review(
    found: Mapping[str, Finding],
    known: Sequence[Known],
    body: str,
    *,
    resolved: Collection[int] = (),
) -> AfterReview:
    """What was found, compared with what was known before.

    An issue nobody mentions again stays open while its passage stands, unless the refine before
    named it as resolved; a waived one stays waived however it is quoted. One that is found
    again as something worse is that from now on, else what is serious hides behind what is small.
    """
    again: dict[str, Known] = {}
    fresh: dict[str, Finding] = {}
    graver: dict[str, Finding] = {}
    register = _Register(known, body)
    for key, finding in found.items():
        same = register.find(key, finding)
        if same is None:
            fresh[key] = finding
        else:
            again[same.fingerprint] = same
            worse = _RANK[finding.severity] < _RANK[same.finding.severity]
            if worse and same.status != IssueStatus.WAIVED:
                graver[same.id] = finding
    unmentioned = [one for one in known if one.status in OPEN and one.fingerprint not in again]
    fixed = [one for one in unmentioned if one.number in resolved or one.finding.quote not in body]
    standing = {key: finding.severity for key, finding in fresh.items()}
    for one in (*again.values(), *(one for one in unmentioned if one not in fixed)):
        if one.status != IssueStatus.WAIVED:
            standing[one.fingerprint] = graver.get(one.id, one.finding).severity
    return AfterReview(
        fresh=fresh,
        seen=tuple(again.values()),
        graver=graver,
        reopened=tuple(one for one in again.values() if one.status == IssueStatus.FIXED),
        fixed=tuple(fixed),
        standing=standing,
    )


class _Register:
    """Issues of the run by quote, else by place: a fixed one's place is gone, so only its quote
    tells."""

    def __init__(self, known: Sequence[Known], body: str) -> None:
        self.body = body
        self.by_quote = {one.fingerprint: one for one in known}
        self.placed = [
            (one, first_span(body, one.finding.quote))
            for one in known
            if one.status != IssueStatus.FIXED
        ]

    def find(self, key: str, finding: Finding) -> Known | None:
        if key in self.by_quote:
            return self.by_quote[key]
        place = first_span(self.body, finding.quote)
        return next(
            (one for one, span in self.placed if _same_place(finding, one.finding, (place, span))),
            None,
        )


@dataclass(frozen=True, kw_only=True)
class AfterRefine:
    """`gone`: open issues whose passage the new body does not have; `carried`: what is open in it,
    with what its verifiers say."""

    gone: Sequence[Known]
    carried: Mapping[str, Severity]


def after_refine(
    known: Sequence[Known],
    body: str,
    verified: Mapping[str, Finding],
    *,
    resolved: Collection[int] = (),
) -> AfterRefine:
    """How a body nobody has reviewed stands. What an edit resolved counts as done until a review
    says otherwise: so the next review may pass, and looks at everything. What a person said may be
    answered beside the passage, or be about none: there the edit's word is all there is, since no
    reviewer asks again."""
    still = [one for one in known if one.status in OPEN]
    waived = {one.fingerprint for one in known if one.status == IssueStatus.WAIVED}
    gone = [
        one
        for one in still
        if one.finding.quote not in body
        or (one.number in resolved and one.finding.raised_by.startswith("person:"))
    ]
    carried = {
        one.fingerprint: one.finding.severity
        for one in still
        if one not in gone and one.number not in resolved
    }
    register = _Register(known, body)
    for key, finding in verified.items():
        same = register.find(key, finding)
        if key not in waived and (same is None or same.status != IssueStatus.WAIVED):
            carried[key if same is None else same.fingerprint] = finding.severity
    return AfterRefine(gone=gone, carried=carried)


def back_to(known: Sequence[Known], body: str) -> tuple[list[Known], list[Known]]:
    """When work goes on from an earlier body: (fixed ones that stand in it again, open ones that do
    not)."""
    again = [one for one in known if one.status == IssueStatus.FIXED and one.finding.quote in body]
    gone = [one for one in known if one.status in OPEN and one.finding.quote not in body]
    return again, gone
