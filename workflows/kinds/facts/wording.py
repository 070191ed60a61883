"""Doubled words and placeholders that were left in."""

from __future__ import annotations

import re
from itertools import islice

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import unique_quote
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

MOST_FINDINGS = 50
_DOUBLED = re.compile(r"\b([A-Za-z]{2,})([ \t]+)\1\b(?![-'’])", re.IGNORECASE)
_DOUBLED_CHINESE = re.compile(
    r"(的的|了了(?!解)|是是(?!非)|在在|和和|将将|被被|对对(?![的吧])|与与)"
)
_PLACEHOLDER = re.compile(
    r"\bTODO\b|\bFIXME\b|\bXXX+\b|\blorem ipsum\b|"
    r"\[(?:insert|add|fill in|name|date|your)\b[^\]\n]{0,60}\]|\?{3,}|？{3,}|待补充|待填写|"
    r"【[^】\n]{0,20}(?:待定|补充|填写)[^】\n]{0,20}】",
    re.IGNORECASE,
)


def verify_wording(material: Material, body: str) -> list[Finding]:
    """Minor findings, in the order of the body."""
    findings: list[Finding] = []
    for found in [*_DOUBLED.finditer(body), *_DOUBLED_CHINESE.finditer(body)]:
        if len(findings) == MOST_FINDINGS:
            break
        written = found.group()
        word = found.group(1) if found.re is _DOUBLED else written[0]
        if word.lower() in lexicon.FINE_DOUBLED or _is_name(found.group()):
            continue
        quote = unique_quote(body, found.start(), found.end())
        findings.append(
            Finding(
                category="wording",
                severity=Severity.MINOR,
                quote=quote,
                problem=f"“{word}” stands twice.",
                suggestion=quote.replace(written, word, 1),
            )
        )
    for found in islice(_PLACEHOLDER.finditer(body), MOST_FINDINGS):
        findings.append(
            Finding(
                category="wording",
                severity=Severity.MINOR,
                quote=unique_quote(body, found.start(), found.end()),
                problem=f"“{found.group()}” is a placeholder.",
            )
        )
    return findings


def _is_name(text: str) -> bool:
    """`Bora Bora`: both capitalised."""
    return all(word[:1].isupper() for word in text.split())
