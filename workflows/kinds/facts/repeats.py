"""Statements that stand twice in one section: the same words, whatever marks are around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.context import LONGEST_QUOTE
from workflows.kinds.facts.sections import sections
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

MOST_FINDINGS = 5
MOST_TRIED = 20
"""Places that are not unique in any quote stand in text that only repeats itself."""
FEWEST_WORDS, FEWEST_CHINESE = 7, 12
"""Shorter statements ("None.", 无) may well stand twice."""
_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:[.!?](?!\s|$)[^.!?。！？；\n]*)*[.!?。！？；]*")
_MARKS = re.compile(r"\s*(?:[-*+•>]+|\d{1,3}[.)、]|#{1,6})\s+(?:\[[ xX]?\]\s*)?")
_WORD = re.compile(r"[^\W_]+")
_EMPTY_WORDS = frozenset(
    ("a", "an", "the", "of", "to", "and", "is", "are", "was", "were", "be", "that", "this", "it")
)


@dataclass(frozen=True, kw_only=True)
class _Statement:
    start: int
    end: int
    words: tuple[str, ...]


def verify_repeats(material: Material, body: str) -> list[Finding]:
    """Minor findings about each later one of two equal statements of a section."""
    findings: list[Finding] = []
    borders = [*(section.start for section in sections(body)), len(body)]
    seen: set[tuple[str, ...]] = set()
    border = tried = 0
    for statement in _statements(body):
        while statement.start >= borders[border] and border < len(borders) - 1:
            border += 1
            seen.clear()
        if statement.words in seen:
            finding = _finding(body, statement)
            tried += 1
            if finding is not None:
                findings.append(finding)
            if len(findings) == MOST_FINDINGS or tried == MOST_TRIED:
                break
        seen.add(statement.words)
    return findings


def _statements(body: str) -> Iterator[_Statement]:
    for at, block in blocks(body):
        for start, end, words in _of_block(block):
            yield _Statement(start=at + start, end=at + end, words=words)


@lru_cache(maxsize=KEPT)
def _of_block(block: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    if block.lstrip().startswith(("|", "#", "```")):
        return ()
    found = []
    for sentence in _SENTENCE.finditer(block):
        text = sentence.group()
        lead = len(text) - len(text.lstrip())
        marks = _MARKS.match(text)
        lead = marks.end() if marks else lead
        words = tuple(
            word for word in _WORD.findall(text[lead:].lower()) if word not in _EMPTY_WORDS
        )
        chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
        if len(words) >= FEWEST_WORDS or chinese >= FEWEST_CHINESE:
            start = sentence.start() + lead
            found.append((start, sentence.start() + len(text.rstrip()), words))
    return tuple(found)


def _finding(body: str, statement: _Statement) -> Finding | None:
    """The quote begins before the repetition, so that only there it can be found."""
    start, end = statement.start, statement.end
    line = body.rfind("\n", 0, start) + 1
    whole = _MARKS.match(body, line) is not None and body[end : end + 1] in ("", "\n", "\r")
    gone = line - 1 if whole and line else start
    if gone and body[gone - 1 : gone + 1] == "\r\n":
        gone -= 1
    first = gone
    while body.count(body[first:end]) > 1 and first > 0 and end - first < LONGEST_QUOTE:
        first = max(0, first - 12)
        while (
            first and body[first].isalnum() and body[first - 1].isalnum() and body[first].isascii()
        ):
            first -= 1
    if body.count(body[first:end]) > 1:
        return None
    return Finding(
        category="repeated",
        severity=Severity.MINOR,
        quote=body[first:end],
        problem="This stands in the section already.",
        suggestion=body[first:gone].rstrip(" "),
    )
