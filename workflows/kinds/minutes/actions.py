"""Actions that nobody owns, and actions without the day that was said for them.

Minor on purpose: what nobody took on in the meeting nobody may invent in the minutes.
"""

from __future__ import annotations

import re
from datetime import date

from workflows.kinds.facts.chinese_owners import owners_of
from workflows.kinds.facts.context import Facts, facts_of, stems, unique_quote
from workflows.kinds.facts.days import read_days
from workflows.kinds.facts.deadlines import ANY_DAY, Said, line_that_speaks_of, said_relative
from workflows.kinds.facts.names import Known, known_of, who_said
from workflows.kinds.facts.relative import read_relative
from workflows.kinds.facts.sections import ListItem
from workflows.kinds.kind import Finding, Material
from workflows.vocabulary import Severity

from .owners import OWNER_COLUMN, owner_cells
from .parts import Role, items_of

MOST_FINDINGS = 3
"""Of each sort: a style of minutes without owners is one thing to say, not ten."""
LONGEST_ITEM = 200
SURELY = 12.0
"""Two or three of the rarest words have to be in and around the line in which somebody offers."""
_NOBODY = re.compile(r"\W*(?:speaker|unknown|说话人|发言人|参会人|嘉宾)\W*\w{0,3}", re.IGNORECASE)
_LABEL = re.compile(r"^\**[^:：*\n]{1,60}\**[:：]")
_NAMED = re.compile(
    r"\b(?:all|every(?:one|body)|team|group|we|us|both|members|participants|staff|committee|"
    r"department|board|office)\b|@\w"
    r"|负责|[由让请]|全体|大家|各[位方自]|双方|我们|团队|[\u4e00-\u9fff]{1,4}[组部门队方员长师人委司]",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|no|none|nothing)\b|没有|无|下次会议|"
    r"^\W*(?:next|follow[- ]?up) (?:call|meeting|session)",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:today|tonight|immediately|asap|ongoing|daily|weekly|monthly|next meeting|week|month|"
    r"year|quarter|deadline|due)\b|\d{1,2}[:/.]\d{1,2}|立即|尽快|马上|持续|每[天周月]|之前|下次",
    re.IGNORECASE,
)


def verify_actions(material: Material, body: str) -> list[Finding]:
    """Minor findings: actions without an owner, and without the day that was said for them."""
    facts = facts_of(material.sources)
    actions = [item for item in items_of(body, Role.ACTIONS) if len(item.text) >= 4]
    if not facts.lines or not actions:
        return []
    known = known_of(material)
    findings = []
    without = [item for item in actions if not _has_owner(known, body, item)]
    if len(without) > MOST_FINDINGS:
        without = without[:1]
    findings += [_ownerless(facts, body, item, len(actions)) for item in without]
    return findings + _undated(material, facts, body, actions)[:MOST_FINDINGS]


def _has_owner(known: Known, body: str, item: ListItem) -> bool:
    if item.cells and any(OWNER_COLUMN.search(head) for head in item.head):
        return any(cell.strip("-–— ") for _, cell in owner_cells(body, item))
    if _STATES.search(item.text):
        return True  # it says what is, and gives nobody a task
    if _LABEL.match(item.text) or _NAMED.search(item.text) or any(owners_of(item.text)):
        return True
    low = item.text.lower()
    if any(person.lower() in low for person in known.people if len(person) > 1):
        return True
    # A capital inside, or at the start before `to` or `will`: somebody or some group is named.
    return (
        re.search(r"[^\W\d_A-Z]\W* [A-Z]|^\W*[A-Z][\w'’.-]* (?:to|will|and)\b", item.text)
        is not None
    )


def _ownerless(facts: Facts, body: str, item: ListItem, count: int) -> Finding:
    end = min(item.end, item.start + LONGEST_ITEM)
    quote = unique_quote(body, item.start, end)
    speaker = who_said(facts, _words_of(item), least=SURELY)
    evidence: tuple[str, ...] = ()
    suggestion = None
    if speaker is not None and _NOBODY.fullmatch(facts.lines[speaker].speaker):
        speaker = None
    if speaker is not None and not item.cells and quote == item.text:
        evidence = (facts.lines[speaker].name,)
        suggestion = f"**{facts.lines[speaker].speaker}**: {quote}"
    return Finding(
        category="action",
        severity=Severity.MINOR,
        quote=quote,
        problem=f"Nobody is named who does this (one of {count} actions).",
        suggestion=suggestion,
        evidence=evidence,
    )


def _undated(material: Material, facts: Facts, body: str, actions: list[ListItem]) -> list[Finding]:
    """Where the line that clearly speaks of the action names a day and the action does not."""
    try:
        today = date.fromisoformat(str(material.attributes.get("meeting_date")))
    except ValueError:
        today = ANY_DAY
    said = [one for one in said_relative(material.sources, today) if _is_ahead(one, today)]
    findings = []
    for item in actions:
        if _DATED.search(item.text) or any(read_days(item.text)) or read_relative(item.text, today):
            continue
        match = line_that_speaks_of(facts, _words_of(item), said, least=8.0)
        if match is None:
            continue
        line = facts.lines[match.line]
        when = line.spoken[match.expression.start : match.expression.end]
        end = min(item.end, item.start + LONGEST_ITEM)
        findings.append(
            Finding(
                category="action",
                severity=Severity.MINOR,
                quote=unique_quote(body, item.start, end),
                problem=f"{line.name} says when: “{when}”. The action names no day.",
                evidence=(line.name,),
            )
        )
    return findings


def _words_of(item: ListItem) -> dict[str, float]:
    return dict.fromkeys(stems(item.text), 1.0)


def _is_ahead(one: Said, today: date) -> bool:
    return one.expression.names_a_day and all(day > today for day, _ in one.expression.spans)
