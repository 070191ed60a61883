"""Items of the agenda that the minutes say nothing of."""

from __future__ import annotations

import re

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.context import RAREST, Facts, facts_of, line_score, stems, unique_quote
from workflows.kinds.facts.sections import sections
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

from .parts import Role, roles

DISCUSSED = 0.6
"""Share of their weight that must stand in and around one line where an entry was spoken of."""
OFTEN, MOST_PLACES = 3, 200
"""Lines that have the entry's rarest known word; with fewer it was announced and not discussed."""
_EMPTY = frozenset(stem for word in lexicon.AGENDA_WORDS for stem in stems(word))
"""Words of entries that say nothing of what they are about."""
_FORMAL = re.compile(
    r"^\W*(?:\d+[.)、]?\s*)?(?:welcome|opening|introductions?|apologies|any other business|aob|"
    r"closing|wrap[- ]up|adjourn\w*|breaks?|lunch|minutes of the last meeting|attendance|roll call|"
    r"next meeting|q\s?&\s?a|开场|致辞|签到|茶歇|午餐|休息|其他事项|其他|散会|总结)\W*$",
    re.IGNORECASE,
)


def verify_agenda(material: Material, body: str) -> list[Finding]:
    """One finding for all missing entries: major when one of them was spoken of in the meeting."""
    agenda = material.attributes.get("agenda")
    if not isinstance(agenda, list) or not body.strip():
        return []
    facts = facts_of(material.sources)
    have = set(stems(body))
    missing = [
        entry
        for entry in agenda
        if isinstance(entry, str) and not _FORMAL.match(entry) and not _covered(entry, have, body)
    ]
    if not missing:
        return []
    lines = [line for entry in missing if (line := _spoken_of(facts, entry)) is not None]
    return [
        Finding(
            category="missing",
            severity=Severity.MAJOR if lines else Severity.MINOR,
            quote=_place(body),
            problem=f"Entries of the agenda that are missing: {'; '.join(missing)}.",
            evidence=tuple(dict.fromkeys(facts.lines[line].name for line in lines)),
        )
    ]


def _covered(entry: str, have: set[str], body: str) -> bool:
    """Whether the body has a word of the entry that says what it is about."""
    wanted = {word for word in stems(entry) if word not in _EMPTY}
    if not wanted:
        return True
    return bool(wanted & have) or entry.strip().lower() in body.lower()


def _spoken_of(facts: Facts, entry: str) -> int | None:
    """The line around which most of the entry's words stand; one that only announces is none."""
    wanted = {word: 1.0 for word in stems(entry) if word not in _EMPTY}
    known = sorted((word for word in wanted if word in facts.places), key=lambda w: facts.rarity[w])
    if not known:
        return None
    places = facts.places[known[-1]]
    if len(places) < OFTEN:
        return None
    scored = [(line_score(facts, wanted, at), at) for at in places[:MOST_PLACES]]
    most = sum(facts.rarity.get(word, RAREST) for word in wanted)
    best, at = max(scored)
    return at if best >= DISCUSSED * most else None


def _place(body: str) -> str:
    """The heading of the agenda, or the first one that is not the title."""
    all_ = sections(body)
    own = [section for section in all_ if Role.AGENDA in roles(section)]
    for section in [*own, *all_[1:], *all_]:
        at = body.find(section.title, section.start) if section.title else -1
        if 0 <= at < section.body_start:
            return unique_quote(body, at, at + len(section.title))
    start = len(body) - len(body.lstrip())
    return unique_quote(body, start, min(start + 40, len(body.rstrip())))
