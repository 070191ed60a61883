"""Owners of tasks who neither took part nor are named in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from workflows.kinds.facts.chinese_owners import looks_like_a_name, may_be_known, owners_of
from workflows.kinds.facts.context import facts_of, unique_quote
from workflows.kinds.facts.names import Known, is_known_word, known_of, likely_person
from workflows.kinds.facts.sections import ListItem
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

from .parts import Role, items_of

MOST_FINDINGS = 50
OWNER_COLUMN = re.compile(
    r"\b(?:owners?|responsible|assignees?|assigned to|who|lead)\b|负责人|责任人|执行人|跟进人", re.I
)
_PIECE = re.compile(r"[^,，、/&;；()（）*]+")
_PERSON = re.compile(r"[^\W\d_\u4e00-\u9fff][\w'’.-]*(?: [^\W\d_\u4e00-\u9fff][\w'’.-]*)*")
_ANYBODY = re.compile(
    r"\b(?:all|every(?:one|body)|team|group|tb[dac]|none|nobody|open|n/a|and|both|staff)\b", re.I
)


def verify_owners(material: Material, body: str) -> list[Finding]:
    """One major finding for each stranger who is given a task."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    known = known_of(material)
    strangers = _strangers(known, body)
    findings = [_finding(known, body, at, name) for at, name in islice(strangers, MOST_FINDINGS)]
    return list({finding.quote: finding for finding in findings}.values())


def _strangers(known: Known, body: str) -> Iterator[tuple[int, str]]:
    for item in items_of(body, Role.ACTIONS):
        for at, name in owners_of(item.text):
            if not may_be_known(name, known.text):
                yield item.start + at, name
        for start, cell in owner_cells(body, item):
            yield from _of_cell(known, start, cell)


def owner_cells(body: str, item: ListItem) -> Iterator[tuple[int, str]]:
    """Where the owner's cell of a row stands, and what is in it."""
    at = item.start
    for number, cell in enumerate(item.cells):
        at = body.find(cell, at, item.end) if cell else at
        if number < len(item.head) and OWNER_COLUMN.search(item.head[number]):
            yield at, cell
        at += len(cell)


def _of_cell(known: Known, start: int, cell: str) -> Iterator[tuple[int, str]]:
    for piece in _PIECE.finditer(cell):
        text = piece.group().strip()
        at = start + piece.start() + len(piece.group()) - len(piece.group().lstrip())
        if looks_like_a_name(text):
            stranger = not may_be_known(text, known.text)
        else:
            person = _PERSON.fullmatch(text) and text[0].isupper() and not _ANYBODY.search(text)
            stranger = bool(person) and not all(is_known_word(known, w) for w in text.split())
        if stranger:
            yield at, text


def _finding(known: Known, body: str, at: int, name: str) -> Finding:
    quote = unique_quote(body, at, at + len(name), least=2)
    right = _namesake(known, name) if looks_like_a_name(name) else likely_person(known, name)
    return Finding(
        category="owner",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"“{name}” is neither in the meeting nor mentioned in it.",
        suggestion=None if right is None else quote.replace(name, right, 1),
    )


def _namesake(known: Known, name: str) -> str | None:
    """The one person whose name differs in a single character; of two, one tells nothing."""
    close = [
        person
        for person in known.people
        if len(person) == len(name) > 2
        and sum(one != other for one, other in zip(person, name, strict=True)) == 1
        and looks_like_a_name(person)
    ]
    return close[0] if len(close) == 1 else None
