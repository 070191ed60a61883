"""A refine that rewrites only the days concerned: those in which an open issue stands.

An issue about the whole plan (its budget, a cuisine that is missing) may be answered in any day.
One that contradicts the request itself is no model's to answer: it waits for the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workflows.kinds.edits import apply_edits, known
from workflows.kinds.founded import ground_of
from workflows.kinds.kind import Item, OpenIssue, Refined, Work
from workflows.kinds.passages import spans_of
from workflows.vocabulary import StepName

from .plan import parse_plan
from .verifiers import REQUEST


def for_model(work: Work) -> Work:
    """A refine without the issues that only a person can answer."""
    if work.step is not StepName.REFINE:
        return work
    mine = tuple(one for one in work.issues if one.finding.raised_by != f"verifier:{REQUEST}")
    return work if len(mine) == len(work.issues) else replace(work, issues=mine)


def widened(work: Work) -> Work:
    """A refine whose issues quote the whole days they stand in, so that those may be rewritten."""
    if work.step is not StepName.REFINE:
        return work
    mine = for_model(work)
    return replace(
        mine, issues=tuple(wide for one in mine.issues for wide in _wide(one, work.body))
    )


def _wide(issue: OpenIssue, body: str) -> tuple[OpenIssue, ...]:
    spans = spans_of(body, issue.finding.quote)
    days = parse_plan(body).days
    inside = [
        day.span
        for day in days
        if any(day.span[0] <= start and end <= day.span[1] for start, end in spans)
    ]
    if not spans or (len(inside) < len(spans) and inside):
        return (issue,)
    places = inside or [(0, len(body))]
    return tuple(
        replace(issue, finding=replace(issue.finding, quote=body[start:end].strip()))
        for start, end in places
    )


def refined(work: Work, items: Sequence[Item]) -> Refined:
    """The body after the edits. Resolved is what they name, and issues whose quote they took."""
    made = apply_edits(ground_of(widened(work)), [item.payload for item in items])
    if made.body == work.body:
        return replace(made, resolved=())
    open_ = {one.number: one.finding.quote for one in for_model(work).issues}
    said = [name for item in items for name in item.payload.get("resolves") or ()]
    named = set(known(for_model(work).issues, said))
    gone = {number for number, quote in open_.items() if not spans_of(made.body, quote)}
    return replace(made, resolved=tuple(sorted(named | gone)))
