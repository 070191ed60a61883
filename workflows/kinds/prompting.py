"""Delimited blocks: how sources, document, issues and kept items stand in a prompt.

Everything a document brings is data and may hold orders or lines that look like delimiters. So each
block carries a token that is made from the sources (stable between rounds: providers cache the
prefix) and occurs in no block.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workflows.kinds.kind import Item, OpenIssue, SourceText, Work
from workflows.kinds.lines import SourceLine
from workflows.kinds.windows import Excerpt


@dataclass(frozen=True, kw_only=True)
class Block:
    """NAME in capitals, what it holds, and a label for blocks of which there are several."""

    name: str
    text: str
    label: str = ""


def token_for(sources: Sequence[SourceText], blocks: Sequence[Block]) -> str:
    """A token made from the sources that is in no block and no label."""
    seed = "\x00".join(f"{source.name}\x00{source.text}" for source in sources)
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass"))
    token = digest.hexdigest()[:12]
    while any(token in block.text or token in block.label for block in blocks):
        digest.update(b"\x01")
        token = digest.hexdigest()[:12]
    return token


def render(blocks: Sequence[Block], token: str) -> str:
    """The blocks one below the other, each between its opening and its end."""
    pieces = []
    for block in blocks:
        pieces.append(f"<<<{block.name} {token}{_label(block.label)}>>>")
        pieces.append(block.text)
        pieces.append(f"<<<END {block.name} {token}>>>")
    return "\n".join(pieces)


def _label(label: str) -> str:
    plain = re.sub(r"[\s<>]+", " ", label).strip()
    return f" name={plain}" if plain else ""


def source_blocks(
    sources: Sequence[SourceText], lines: Sequence[SourceLine], shown: Excerpt | None = None
) -> list[Block]:
    """One block a source, its lines numbered over all sources; of an excerpt what it shows."""
    blocks, at = [], 0
    for source in sources:
        own = lines[at : at + len(source.text.splitlines())]
        at += len(own)
        if shown is None:
            numbered = [f"{line.name}: {line.text}" for line in own]
        else:
            numbered = [
                f"{line.name}: {line.text[slice(*shown[line.number])]}"
                for line in own
                if line.number in shown
            ]
        if numbered or shown is None:
            blocks.append(Block(name="SOURCE", text="\n".join(numbered), label=source.name))
    return blocks


def asides(work: Work, kept: Sequence[Item]) -> list[Block]:
    """What stands last in any prompt: what is kept already, what was refused, a person's words."""
    blocks: list[Block] = []
    if kept:
        blocks.append(Block(name="ALREADY", text=compact([dict(item.payload) for item in kept])))
    if work.refused:
        told = [{"code": one.code, "item": dict(one.payload)} for one in work.refused]
        blocks.append(Block(name="REFUSED", text=compact(told)))
    if work.instructions:
        blocks.append(Block(name="INSTRUCTIONS", text=work.instructions))
    return blocks


def issues_text(issues: Sequence[OpenIssue]) -> str:
    """`I3 | major | number | quote: "…" | problem: … | suggestion: … | evidence: T4, T5`."""
    return "\n".join(_issue_line(issue) for issue in issues)


def _issue_line(issue: OpenIssue) -> str:
    finding = issue.finding
    suggestion = "none" if finding.suggestion is None else quoted(finding.suggestion)
    evidence = f" (see {', '.join(finding.evidence)})" if finding.evidence else ""
    return " | ".join(
        (
            f"I{issue.number}",
            finding.severity.value,
            _one_line(finding.category),
            f"quote: {quoted(finding.quote)}",
            f"problem: {_one_line(finding.problem)}{evidence}",
            f"suggestion: {suggestion}",
        )
    )


def quoted(text: str) -> str:
    """A JSON string: one line, whatever stands in it."""
    return json.dumps(text, ensure_ascii=False)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "/").strip()
