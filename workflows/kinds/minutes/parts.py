"""What the sections of minutes are for, by their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from workflows.kinds.facts.sections import ListItem, Section, items, sections


class Role(StrEnum):
    """What stands in a section."""

    DECISIONS = "decisions"
    ACTIONS = "actions"
    AGENDA = "agenda"


_HEADINGS = {
    Role.DECISIONS: re.compile(
        r"\b(?:decisions?|decided|resolutions?|resolved|agreed|agreements?)\b|结论|决定|决议|决策|共识",
        re.I,
    ),
    Role.ACTIONS: re.compile(
        r"\b(?:actions?|next steps?|to-?dos?|tasks?|follow[- ]ups?|assignments?)\b"
        r"|行动|待办|任务|后续|下一步|跟进|分工",
        re.I,
    ),
    Role.AGENDA: re.compile(r"\bagenda\b|\btopics?\b|议程|议题|日程", re.I),
}


def roles(section: Section) -> frozenset[Role]:
    """A heading may name two: `Decisions and actions`."""
    return frozenset(role for role, words in _HEADINGS.items() if words.search(section.title))


def items_of(body: str, role: Role) -> Iterator[ListItem]:
    """Items of sections that are for this and nothing else, sections nested in them included."""
    inside: list[tuple[int, frozenset[Role]]] = []
    for section in sections(body):
        inside = [(level, all_) for level, all_ in inside if level < section.level]
        own = roles(section) or (inside[-1][1] if inside else frozenset())
        inside.append((section.level, own))
        if own == {role}:
            yield from items(body, section)
