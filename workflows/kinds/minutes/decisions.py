"""Decisions of which the source speaks nowhere."""

from __future__ import annotations

import re
from functools import lru_cache

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT
from workflows.kinds.facts.context import RAREST, Facts, facts_of, stems, unique_quote
from workflows.kinds.facts.sections import ListItem
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.kinds.minutes.parts import Role, items_of
from workflows.vocabulary import Severity

MOST_FINDINGS = 20
FEWEST_STEMS = 4
"""Shorter decisions ("Approved.") say too little to be looked for."""
UNKNOWN, DOUBTFUL = 0.33, 0.4
"""Share of a decision's words, weighed by how rare they are, that stand close together; of true
ones 1 in 200 has less than the first. Between the two a reader should look."""
_EMPTY = frozenset(stem for word in lexicon.DECISION_WORDS for stem in stems(word))
WINDOW = 30
"""Lines that may speak of one decision."""


def verify_decisions(material: Material, body: str) -> list[Finding]:
    """A finding for each decision whose words no part of the source has; minor when it has some."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    findings = []
    for item in items_of(body, Role.DECISIONS):
        share = _support(material.sources, item.text)
        if share < DOUBTFUL:
            findings.append(_finding(body, item, major=share < UNKNOWN))
        if len(findings) == MOST_FINDINGS:
            break
    return findings


@lru_cache(maxsize=KEPT)
def _support(sources: tuple[SourceText, ...], text: str) -> float:
    return support(facts_of(sources), text)


def support(facts: Facts, text: str) -> float:
    """The best share of the text's words that the lines of a window have; 1.0 for a short text."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|https?://\S+", r"\1", text)
    wanted = [word for word in dict.fromkeys(stems(plain)) if word not in _EMPTY]
    if len(wanted) < FEWEST_STEMS:
        return 1.0
    rare = {word: facts.rarity.get(word, RAREST) for word in wanted}
    # By count as well: in a short source what the meeting is about stands in every line.
    equal = dict.fromkeys(wanted, 1.0)
    return max(_best(facts, weights) / sum(weights.values()) for weights in (rare, equal))


def _best(facts: Facts, weights: dict[str, float]) -> float:
    """The most weight that stands in any WINDOW lines, each word once."""
    places = sorted(
        (at, word) for word in weights for at in facts.places.get(word, ()) if word in weights
    )
    inside: dict[str, int] = {}
    best = total = 0.0
    first = 0
    for at, word in places:
        if word not in inside:
            total += weights[word]
        inside[word] = inside.get(word, 0) + 1
        while at - places[first][0] > WINDOW:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
                total -= weights[gone]
            first += 1
        best = max(best, total)
    return best


def _finding(body: str, item: ListItem, *, major: bool) -> Finding:
    end = min(item.end, item.start + 120)
    return Finding(
        category="invented" if major else "decision",
        severity=Severity.MAJOR if major else Severity.MINOR,
        quote=unique_quote(body, item.start, end),
        problem=f"The source {'never speaks' if major else 'hardly speaks'} of this decision.",
    )
