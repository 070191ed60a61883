"""Refines a document by rule: one edit for each issue whose correction is known, nothing else."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deploy.offline_model.findings import Finding, unique_span
from deploy.offline_model.prompt import OpenIssue, Prompt
from deploy.offline_model.review import findings, locked_spans
from deploy.offline_model.slips import doubled_words, placeholders

_ORDER = re.compile(
    r"^\s*(?:check|verify|confirm|clarify|specify|consider|ask|add|remove|delete|rewrite|rephrase|"
    r"please|name|write|use|say|state|mention|make|ensure|avoid|split|shorten|attribute|cite|see|"
    r"the source|请|应|建议|核对|核实|确认|删除|补充|检查|明确|说明|考虑|避免)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"^\s*(?:replace|change|correct)\s+[\"“'‘](?P<old>.+?)[\"”'’]\s+(?:with|by|to|into)\s+"
    r"[\"“'‘](?P<new>.+?)[\"”'’]\.?\s*$"
    r"|^\s*(?:write|use|say|should be|should read|改为|应为|改成|应改为)[:：]?\s*"
    r"[\"“'‘](?P<plain>.+?)[\"”'’][.。]?\s*$"
    r"|^\s*(?:将|把)[“\"「](?P<old_zh>.+?)[”\"」](?:改为|改成|替换为)"
    r"[“\"「](?P<new_zh>.+?)[”\"」][.。]?\s*$",
    re.IGNORECASE,
)


def refine(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_refine`. Edits do not overlap, and each `find` stands exactly once."""
    document = prompt.document
    edits: list[_Edit] = []
    locked = locked_spans(prompt)
    known = list(findings(prompt)) if prompt.lines else []
    resolved = {name for kept in prompt.already for name in kept.get("resolves", [])}
    for issue in prompt.issues:
        place = None if issue.id in resolved else _place(document, issue, known)
        if place is None:
            continue
        same = next((other for other in edits if other.place == place), None)
        if same:
            same.resolves.append(issue.id)
            continue
        span = unique_span(document, *place[:2])
        if span is None:
            continue
        edit = _Edit(place=place, span=span, resolves=[issue.id])
        if not any(_overlap(edit.span, span) for span in (*locked, *(e.span for e in edits))):
            edits.append(edit)
    return {"items": [edit.item(document) for edit in edits]}


@dataclass(frozen=True, kw_only=True)
class _Edit:
    """`place` is what changes and to what, `span` is widened until it is unique."""

    place: tuple[int, int, str]
    span: tuple[int, int]
    resolves: list[str]

    def item(self, document: str) -> Mapping[str, Any]:
        start, end, right = self.place
        low, high = self.span
        return {
            "find": document[low:high],
            "replace": document[low:start] + right + document[end:high],
            "resolves": self.resolves,
        }


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _place(
    document: str, issue: OpenIssue, known: Sequence[Finding]
) -> tuple[int, int, str] | None:
    """(start, end, replacement) for an issue, or None when no correction is known."""
    at = document.find(issue.quote) if issue.quote else -1
    if at < 0 or document.count(issue.quote) > 1:
        return _own(document, issue, known)
    end = at + len(issue.quote)
    for slip in (*doubled_words(document), *placeholders(document)):
        if slip.start < end and at < slip.end and slip.right is not None:
            return slip.start, slip.end, slip.right
    right = replacement(issue)
    if right is None:
        return _own(document, issue, known)
    return _narrowed(document, at, end, right)


def replacement(issue: OpenIssue) -> str | None:
    """What should stand in place of the quote, if the suggestion says it."""
    if issue.suggestion is None or issue.suggestion == issue.quote:
        return None
    suggestion = issue.suggestion.strip()
    if not suggestion:
        return suggestion
    asked = _CHANGE.match(suggestion)
    if asked:
        old = asked["old"] or asked["old_zh"]
        new = asked["new"] or asked["new_zh"] or asked["plain"]
        if old:
            return issue.quote.replace(old, new) if issue.quote.count(old) == 1 else None
        return new
    if _ORDER.match(suggestion) or suggestion.endswith(("?", "？")):
        return None
    # A whole explanation is no wording: it would land in the document as it is.
    if len(suggestion) > 3 * len(issue.quote) + 40:
        return None
    return suggestion


def _own(document: str, issue: OpenIssue, known: Sequence[Finding]) -> tuple[int, int, str] | None:
    """The correction that the own review gives for this quote, if it is the only one there."""
    own = list(_inside(document, issue, known))
    if len(own) != 1 or own[0].right is None:
        return None
    return own[0].start, own[0].end, own[0].right


def _inside(document: str, issue: OpenIssue, known: Sequence[Finding]) -> Iterable[Finding]:
    if not issue.quote:
        return
    at = document.find(issue.quote)
    while at >= 0:
        end = at + len(issue.quote)
        yield from (one for one in known if one.start < end and at < one.end)
        at = document.find(issue.quote, end)


def _narrowed(document: str, start: int, end: int, right: str) -> tuple[int, int, str]:
    """Without what stays the same at both ends: the smaller the edit, the less it can touch."""
    old = document[start:end]
    lead = 0
    while lead < min(len(old), len(right)) and old[lead] == right[lead]:
        lead += 1
    tail = 0
    while tail < min(len(old), len(right)) - lead and old[-1 - tail] == right[-1 - tail]:
        tail += 1
    while lead and old[lead - 1].isalnum():  # whole words: a person reads the edits too
        lead -= 1
    while tail and old[len(old) - tail].isalnum():
        tail -= 1
    return start + lead, end - tail, right[lead : len(right) - tail]
