"""Edits of a body: each `find` exactly once, all read against the body as it was before.

Text that no edit names stays byte for byte; locked passages stay identical; an edit that loses a
heading, an item or a piece of a section that no issue asked to remove is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import OpenIssue, Payload, Refined
from workflows.kinds.losses import MOST_TOKENS, changes_unasked, loses_content
from workflows.kinds.passages import Span, overlaps, spans_of

_SENTENCE = re.compile(r"[^\n.!?。！？；]*(?:[.!?。！？；]+(?:\s*\n|[ \t]+)?|\n|$)")


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

    def quotes(self) -> Mapping[int, Sequence[Span]]:
        """Where the quotes of each open issue stand; a kind may give one several."""
        return _quotes(self.body, tuple((one.number, one.finding.quote) for one in self.issues))


@kept_by_text
def _quotes(body: str, quotes: tuple[tuple[int, str], ...]) -> Mapping[int, Sequence[Span]]:
    """Asked for again with each item of a reply; bodies may be long."""
    found: dict[int, list[Span]] = {}
    for number, quote in quotes:
        found.setdefault(number, []).extend(spans_of(body, quote))
    return found


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
        resolves=known(ground.issues, payload.get("resolves", ())),
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
    """An edit needs an issue, and may change only sentences that one quotes; beside all quotes it
    may only add."""
    quotes = ground.quotes()
    asked = [(issue, quotes[issue.number]) for issue in ground.issues]
    touched = any(overlaps(edit.span, span) for _, spans in asked for span in spans)
    if not (edit.resolves or touched):
        return "unasked"
    if loses_content(ground.body, edit.span, edit.replace, asked):
        return "lost_content"
    # An issue whose quote is gone, or that a person raised and may be answered elsewhere, cannot be
    # placed: the edit that names it is trusted.
    persons = {one.number for one in ground.issues if one.finding.raised_by.startswith("person:")}
    placed = all(quotes[number] and number not in persons for number in edit.resolves)
    if placed and changes_unasked(ground.body, edit.span, edit.replace, asked if touched else ()):
        return "unasked"
    return None


def read_rewrite(ground: Ground, payload: Payload) -> tuple[list[Edit], Counter[str]]:
    """A body written anew as edits: what it changes where that may be changed, the rest counted.

    So a rewrite can do no more than edits can, and the rest stays byte for byte.
    """
    body, new = ground.body, with_newlines_of(ground.body, payload["replace"])
    resolves = known(ground.issues, payload.get("resolves", ()))
    old_parts, new_parts = _SENTENCE.findall(body), _SENTENCE.findall(new)
    places = [0, *accumulate(map(len, old_parts))]
    matcher = SequenceMatcher(None, old_parts, new_parts, autojunk=len(old_parts) > MOST_TOKENS)
    edits: list[Edit] = []
    refused: Counter[str] = Counter()
    for first, last, new_first, new_last in _changes(matcher, old_parts):
        span = places[first], places[last]
        written = "".join(new_parts[new_first:new_last])
        edit = Edit(span=span, find=body[slice(*span)], replace=written)
        code = _refusal(ground, edit)
        if code is None:
            edits.append(edit)
        else:
            refused[code] += 1
    return _naming(ground, edits, resolves), refused


def _changes(
    matcher: SequenceMatcher[str], old: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """What differs, sentence by sentence where as many came as went. What is added belongs to the
    last words that stand before it."""
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "replace" and last - first == new_last - new_first:
            yield from (
                (first + at, first + at + 1, new_first + at, new_first + at + 1)
                for at in range(last - first)
            )
        elif tag == "insert":
            back = 1 if first else 0
            while back < first and not any(mark.isalnum() for mark in old[first - back]):
                back += 1
            yield first - back, last, new_first - back, new_last
        elif tag != "equal":
            yield first, last, new_first, new_last


def _naming(ground: Ground, edits: Sequence[Edit], resolves: tuple[int, ...]) -> list[Edit]:
    """Each edit with those of the issues named whose quote it touches."""
    quotes = ground.quotes()
    return [
        replace(
            edit,
            resolves=tuple(
                number
                for number in resolves
                if any(overlaps(edit.span, span) for span in quotes[number])
            ),
        )
        for edit in edits
    ]


def apply_edits(ground: Ground, payloads: Sequence[Payload]) -> Refined:
    """The new body; of two edits that overlap the one that starts first (then the longer) wins."""
    refused: Counter[str] = Counter()
    edits: list[Edit] = []
    for payload in payloads:
        if not payload["find"]:
            written, not_made = read_rewrite(ground, payload)
            edits += written
            refused += not_made
            continue
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
    for issue in ground.issues:
        spans = spans_of(ground.body, issue.finding.quote)
        hit = any(overlaps(edit.span, span) for edit in applied for span in spans)
        if hit and len(spans_of(body, issue.finding.quote)) < len(spans):
            numbers.add(issue.number)
    return tuple(sorted(numbers))


def known(issues: Sequence[OpenIssue], names: Sequence[object]) -> tuple[int, ...]:
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
