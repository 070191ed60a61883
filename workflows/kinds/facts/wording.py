"""Doubled words and placeholders that were left in."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.context import unique_quote
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

MOST_FINDINGS = 50
_DOUBLED = re.compile(r"\b([A-Za-z]{2,})([ \t]+)\1\b(?![-'’])", re.IGNORECASE)
_DOUBLED_CHINESE = re.compile(
    r"(的的|了了(?!解)|是是(?!非)|在在|和和|将将|被被|对对(?![的吧])|与与)"
)
_FINE = lexicon.FINE_DOUBLED | {*lexicon.ONES, *lexicon.TENS}
_PLACEHOLDER = re.compile(
    r"\bTODO\b|\bFIXME\b|\bXXX+\b|\blorem ipsum\b|"
    r"\[(?:insert|add|fill in|name|date|your)\b[^\]\n]{0,60}\]|\?{3,}|？{3,}|待补充|待填写|"
    r"【[^】\n]{0,20}(?:待定|补充|填写)[^】\n]{0,20}】",
    re.IGNORECASE,
)


_Doubled: TypeAlias = tuple[int, int, str]
"""Start and end in its block, and the word."""


def verify_wording(material: Material, body: str) -> list[Finding]:
    """Minor findings, in the order of the body."""
    findings: list[Finding] = []
    places = [(at, block, _places(block)) for at, block in blocks(body)]
    doubled = [(at, block, *place) for at, block, (some, _) in places for place in some]
    for at, block, start, end, word in doubled[:MOST_FINDINGS]:
        written = block[start:end]
        quote = unique_quote(body, at + start, at + end)
        findings.append(
            Finding(
                category="wording",
                severity=Severity.MINOR,
                quote=quote,
                problem=f"“{word}” stands twice.",
                suggestion=quote.replace(written, word, 1),
            )
        )
    left = [(at, block, *place) for at, block, (_, some) in places for place in some]
    for at, block, start, end in left[:MOST_FINDINGS]:
        findings.append(
            Finding(
                category="wording",
                severity=Severity.MINOR,
                quote=unique_quote(body, at + start, at + end),
                problem=f"“{block[start:end]}” is a placeholder.",
            )
        )
    return findings


@lru_cache(maxsize=KEPT)
def _places(block: str) -> tuple[tuple[_Doubled, ...], tuple[tuple[int, int], ...]]:
    """Doubled words and placeholders."""
    doubled = []
    for found in [*_DOUBLED.finditer(block), *_DOUBLED_CHINESE.finditer(block)]:
        word = found.group(1) if found.re is _DOUBLED else found.group()[0]
        if word.lower() not in _FINE and not _is_name(found.group()):
            doubled.append((*found.span(), word))
    return tuple(doubled), tuple(found.span() for found in _PLACEHOLDER.finditer(block))


def _is_name(text: str) -> bool:
    """`Bora Bora`: both capitalised."""
    return all(word[:1].isupper() for word in text.split())
