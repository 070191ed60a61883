"""Edits of a body: each `find` exactly once, all read against the body as it was before.

Text that no edit names stays byte for byte; locked passages stay identical; an edit that loses a
heading, an item or a piece of a section that no issue asked to remove is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workflows.kinds.kind import OpenIssue, Payload, Refined
from workflows.kinds.losses import changes_unasked, loses_content
from workflows.kinds.passages import Span, overlaps, spans_of


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One replacement. `span` is where `find` stands in the body before any edit."""

    span: Span
    find: str
    replace: str
    resolves: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RefusedEdit:
    """not_found, ambiguous, no_change, locked, unasked, lost_content or overlap."""

    code: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What edits are checked against. `free`: a person gave instructions, so no issue is needed."""

    body: str
    issues: tuple[OpenIssue, ...] = ()
    locks: tuple[str, ...] = ()
    free: bool = False

    def quotes(self) -> dict[int, list[Span]]:
        """Where the quote of each open issue stands."""
        return {issue.number: spans_of(self.body, issue.finding.quote) for issue in self.issues}


def read_edit(ground: Ground, payload: Payload) -> Edit | RefusedEdit:
    """The edit of a reply's item, or why it cannot be made. Other edits are not looked at."""
    spans = spans_of(ground.body, payload["find"])
    if len(spans) != 1:
        return RefusedEdit(code="ambiguous" if spans else "not_found")
    start, end = spans[0]
    edit = Edit(
        span=(start, end),
        find=ground.body[start:end],
        replace=with_newlines_of(ground.body, payload["replace"]),
        resolves=_known(ground.issues, payload.get("resolves", ())),
    )
    code = _refusal(ground, edit)
    return edit if code is None else RefusedEdit(code=code)


def _refusal(ground: Ground, edit: Edit) -> str | None:
    if edit.find == edit.replace:
        return "no_change"
    if any(
        overlaps(edit.span, span) for lock in ground.locks for span in spans_of(ground.body, lock)
    ):
        return "locked"
    return None if ground.free else _unasked(ground, edit)


def _unasked(ground: Ground, edit: Edit) -> str | None:
    """An edit needs an issue, and may change only sentences that one quotes."""
    quotes = ground.quotes()
    asked = [(issue, quotes[issue.number]) for issue in ground.issues]
    touched = any(overlaps(edit.span, span) for _, spans in asked for span in spans)
    if not (edit.resolves or touched):
        return "unasked"
    if loses_content(ground.body, edit.span, edit.replace, asked):
        return "lost_content"
    # An issue whose quote is gone cannot be placed: the edit that names it is trusted.
    placed = all(quotes[number] for number in edit.resolves)
    if placed and changes_unasked(ground.body, edit.span, edit.replace, asked):
        return "unasked"
    return None


def apply_edits(ground: Ground, payloads: Sequence[Payload]) -> Refined:
    """The new body; of two edits that overlap the one that starts first (then the longer) wins."""
    refused: Counter[str] = Counter()
    edits: list[Edit] = []
    for payload in payloads:
        edit = read_edit(ground, payload)
        if isinstance(edit, RefusedEdit):
            refused[edit.code] += 1
        else:
            edits.append(edit)
    edits.sort(key=lambda edit: (edit.span[0], -edit.span[1], edit.replace))
    pieces: list[str] = []
    applied: list[Edit] = []
    at = 0
    for edit in edits:
        start, end = edit.span
        if start < at or (applied and overlaps(edit.span, applied[-1].span)):
            refused["overlap"] += 1
            continue
        pieces += [ground.body[at:start], edit.replace]
        at = end
        applied.append(edit)
    body = "".join([*pieces, ground.body[at:]])
    return Refined(body=body, resolved=_resolved(ground, applied, body), refused=dict(refused))


def _resolved(ground: Ground, applied: Sequence[Edit], body: str) -> tuple[int, ...]:
    """What applied edits name, and issues whose quote an applied edit took away."""
    numbers = {number for edit in applied for number in edit.resolves}
    for issue, spans in zip(ground.issues, ground.quotes().values(), strict=True):
        hit = any(overlaps(edit.span, span) for edit in applied for span in spans)
        if hit and len(spans_of(body, issue.finding.quote)) < len(spans):
            numbers.add(issue.number)
    return tuple(sorted(numbers))


def _known(issues: Sequence[OpenIssue], names: Sequence[object]) -> tuple[int, ...]:
    """`I3` -> 3 for issues that are open; anything else is left out."""
    open_numbers = {issue.number for issue in issues}
    numbers = []
    for name in names:
        found = re.fullmatch(r"\s*[Ii]?(\d{1,6})\s*", str(name))
        if found and int(found.group(1)) in open_numbers:
            numbers.append(int(found.group(1)))
    return tuple(dict.fromkeys(numbers))


def with_newlines_of(body: str, text: str) -> str:
    """`text` with CRLF line ends where the body has them."""
    plain = text.replace("\r\n", "\n")
    if "\r\n" in body and body.count("\r\n") * 2 >= body.count("\n"):
        return plain.replace("\n", "\r\n")
    return plain
