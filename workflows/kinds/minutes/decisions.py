"""Decisions of which the source speaks nowhere."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import RAREST, Facts, facts_of, stems, unique_quote
from workflows.kinds.facts.sections import ListItem
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

from .parts import Role, items_of

MOST_FINDINGS = 20
ITEMS = 1024
"""Decisions of one document whose share is kept."""
FEWEST_STEMS = 4
"""Shorter decisions ("Approved.") say too little to be looked for."""
UNKNOWN, DOUBTFUL = 0.33, 0.4
"""Share of a decision's words, weighed by how rare they are, that stand close together; of true
ones 1 in 200 has less than the first. Between the two a reader should look."""
_EMPTY = frozenset(stem for word in lexicon.DECISION_WORDS for stem in stems(word))
WINDOW = 30
"""Lines that may speak of one decision."""
PROBED_WORDS, PROBED_PLACES = 3, 6
"""Where to look first: what is true is nearly always found there."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|https?://\S+")


def verify_decisions(material: Material, body: str) -> list[Finding]:
    """A finding for each decision whose words no part of the source has; minor when it has some."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    supported = _supported_by(material.sources)
    findings = []
    for item in items_of(body, Role.DECISIONS):
        share = supported(item.text)
        if share < DOUBTFUL:
            findings.append(_finding(body, item, major=share < UNKNOWN))
        if len(findings) == MOST_FINDINGS:
            break
    return findings


@kept_by_text
def _supported_by(sources: tuple[SourceText, ...]) -> Callable[[str], float]:
    """`support` of these sources, kept for what a round leaves as it was."""
    return lru_cache(maxsize=ITEMS)(partial(support, facts_of(sources)))


def support(facts: Facts, text: str) -> float:
    """The best share of the text's words that the lines of a window have; 1.0 for a short text.

    Exact where it is less than DOUBTFUL; else the first share found that is not.
    """
    plain = _LINK.sub(r"\1", text)
    wanted = [word for word in dict.fromkeys(stems(plain)) if word not in _EMPTY]
    if len(wanted) < FEWEST_STEMS:
        return 1.0
    rarity = [facts.rarity.get(word, RAREST) for word in wanted]
    full = _Weight(sum(rarity), len(wanted))
    said = [
        _Said(places, rare)
        for word, rare in zip(wanted, rarity, strict=True)
        if (places := facts.places.get(word))
    ]
    most = full.share(said)
    if most < UNKNOWN or len(facts.lines) <= WINDOW:
        return most
    said.sort(key=lambda word: len(word.places))
    return _probed(said, full) or _best(said, full)


class _Said(NamedTuple):
    """A word that some lines have, and how rare it is."""

    places: Sequence[int]
    rare: float


class _Weight(NamedTuple):
    """What all words of a text weigh: by how rare they are, and each the same.

    By count as well, since in a short source what the meeting is about stands in every line.
    """

    rare: float
    words: int

    def share(self, said: Sequence[_Said]) -> float:
        return max(sum(word.rare for word in said) / self.rare, len(said) / self.words)


def _probed(said: Sequence[_Said], full: _Weight) -> float:
    """A share that is enough, found where the rarest words stand; 0.0 when there is none."""
    for word in said[:PROBED_WORDS]:
        for at in word.places[:PROBED_PLACES]:
            for first in (at - WINDOW // 2, at, at - WINDOW):
                share = full.share([one for one in said if _stands(one.places, first)])
                if share >= DOUBTFUL:
                    return share
    return 0.0


def _stands(places: Sequence[int], first: int) -> bool:
    at = bisect_left(places, first)
    return at < len(places) and places[at] <= first + WINDOW


def _best(said: Sequence[_Said], full: _Weight) -> float:
    """The largest share that stands in any window; the first that is enough ends the search."""
    size = len(said)
    places = sorted(at * size + index for index, one in enumerate(said) for at in one.places)
    inside = [0] * size
    best = rare = 0.0
    count = first = 0
    for place in places:
        at, index = divmod(place, size)
        if not inside[index]:
            rare += said[index].rare
            count += 1
        inside[index] += 1
        while at - places[first] // size > WINDOW:
            gone = places[first] % size
            inside[gone] -= 1
            if not inside[gone]:
                rare -= said[gone].rare
                count -= 1
            first += 1
        best = max(best, rare / full.rare, count / full.words)
        if best >= DOUBTFUL:
            break
    return best


def _finding(body: str, item: ListItem, *, major: bool) -> Finding:
    end = min(item.end, item.start + 120)
    return Finding(
        category="invented" if major else "decision",
        severity=Severity.MAJOR if major else Severity.MINOR,
        quote=unique_quote(body, item.start, end),
        problem=f"The source {'never speaks' if major else 'hardly speaks'} of this decision.",
    )
