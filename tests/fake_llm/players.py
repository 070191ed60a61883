"""Players: functions from a request to a reply. `good_reviewer` is the one most tests want."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.fake_llm.recording import Request
from tests.fake_llm.reply import Reply

Player = Callable[[Request], Reply | Awaitable[Reply]]
FAMILIES = ("facts", "claims", "gaps")
"""Reviewers that look side by side; of the planted errors each sees every third."""


def always(reply: Reply) -> Player:
    """The same reply to everything."""
    return lambda _request: reply


def in_turn(*replies: Reply, then: Player | None = None) -> Player:
    """Each reply once, in order of arrival; afterwards `then`, else the last one again."""
    waiting = list(replies)

    def play(request: Request) -> Reply | Awaitable[Reply]:
        if waiting and (len(waiting) > 1 or then is not None):
            return waiting.pop(0)
        return then(request) if then is not None else waiting[0]

    return play


def good_reviewer(
    *,
    errors: Sequence[tuple[str, str]] = (),
    severity: str = "major",
    category: str = "wrong_fact",
    per_call: int | None = None,
    sections: Sequence[Mapping[str, Any]] = (),
    days_per_call: int | None = None,
    pace: Mapping[str, Any] | None = None,
) -> Player:
    """A reviewer that knows the planted errors as (wrong, right) and misses none of them.

    Review reports every `wrong` that stands in the document (at most `per_call`; of several
    reviewers side by side each its own: the first error is one of facts, the second of claims, the
    third of gaps, the fourth of facts again), refine makes an edit for each place, draft gives
    `sections` (default: those that the prompt asks for, else one), itinerary the missing days (at
    most `days_per_call`). Items that the prompt lists as kept are left out. Evidence is the first
    source line that holds `right`. `pace` are fields of `Reply` for every answer.
    """

    def play(request: Request) -> Reply:
        if request.schema == "redraft_review":
            seen = seen_by(request.part, errors)
            items = review_items(request, seen, severity=severity, category=category)[:per_call]
            reply = Reply(items=items, extra={"score": max(0, 100 - 10 * len(items))})
        elif request.schema == "redraft_refine":
            reply = Reply(items=refine_items(request, errors))
        elif request.schema == "redraft_itinerary":
            reply = Reply(items=itinerary_days(request)[:days_per_call])
        else:
            reply = Reply(items=draft_items(request, sections))
        return replace(reply, **(pace or {}))

    return play


def seen_by(part: str, errors: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """The errors that this reviewer looks for: all, unless it is one of several."""
    return errors[FAMILIES.index(part) :: len(FAMILIES)] if part in FAMILIES else errors


def review_items(
    request: Request, errors: Sequence[tuple[str, str]], *, severity: str, category: str
) -> Sequence[Mapping[str, Any]]:
    kept = request.already_keys("quote")
    return [
        {
            "category": category,
            "severity": severity,
            "quote": wrong,
            "problem": f"The source does not say: {wrong}",
            "suggestion": right,
            "evidence": evidence(request, right),
        }
        for wrong, right in errors
        if wrong in request.document and wrong not in kept
    ]


def evidence(request: Request, words: str) -> Sequence[str]:
    """The first source line that holds these words."""
    holding = [line.number for line in request.prompt.lines if words in line.text]
    return [f"T{number}" for number in holding[:1]]


def refine_items(
    request: Request, errors: Sequence[tuple[str, str]]
) -> Sequence[Mapping[str, Any]]:
    """An edit for each place of each error; the kept ones left out."""
    kept = request.already_keys("find")
    items = []
    for wrong, right in errors:
        for find, new in edits(request.document, wrong, right):
            resolves = [issue.id for issue in request.issues if wrong in issue.quote]
            if find not in kept:
                items.append({"find": find, "replace": new, "resolves": resolves})
    return items


def edits(document: str, wrong: str, right: str) -> Sequence[tuple[str, str]]:
    """(find, replace) for each place of `wrong`, widened until `find` occurs exactly once."""
    pairs, at = [], document.find(wrong)
    while wrong and at >= 0:
        start, end = at, at + len(wrong)
        while document.count(document[start:end]) > 1 and (start > 0 or end < len(document)):
            start, end = max(0, start - 1), min(len(document), end + 1)
        find = document[start:end]
        pairs.append((find, document[start:at] + right + document[at + len(wrong) : end]))
        at = document.find(wrong, at + len(wrong))
    return pairs


DRAFTED = {
    "decisions": re.compile(r"decid|decision|决定", re.IGNORECASE),
    "actions": re.compile(r"\bI will\b|我负责"),
    "questions": re.compile(r"[?？]"),
}


def draft_items(
    request: Request, sections: Sequence[Mapping[str, Any]] = ()
) -> Sequence[Mapping[str, Any]]:
    """The given sections, else those asked for: each line of the source that belongs there, or all
    that was noted; the kept ones left out."""
    given = sections or [drafted(request, section) for section in request.prompt.wanted]
    given = given or [{"key": "notes", "heading": "Notes", "markdown": "- nothing"}]
    kept = request.already_keys("key")
    return [section for section in given if section.get("key") not in kept]


def drafted(request: Request, section: Mapping[str, Any]) -> Mapping[str, Any]:
    """One section as a good model writes it."""
    prompt, key = request.prompt, section["key"]
    noted = [item for items in prompt.notes for item in items if item["key"] == key]
    if noted:
        text = "\n".join(dict.fromkeys(line for i in noted for line in i["markdown"].splitlines()))
        evidence = list(dict.fromkeys(name for item in noted for name in item["evidence"]))
        return {**section, "markdown": text, "evidence": evidence}
    wanted = DRAFTED.get(key)
    lines = [line for line in prompt.lines if wanted and wanted.search(line.text)]
    if wanted is None:
        lines = list(prompt.lines[:1])
    return {
        **section,
        "markdown": "\n".join(f"- {line.text}" for line in lines),
        "evidence": [f"T{line.number}" for line in lines],
    }


def itinerary_days(request: Request) -> Sequence[Mapping[str, Any]]:
    """The days of the request (3 when it names none) that the prompt does not list as kept."""
    city = str(request.wants.get("to") or "Rockford")
    days = request.wants.get("days")
    kept = request.already_keys("day")
    return [
        {
            "day": day,
            "city": city,
            "entries": [
                {
                    "start": "09:00",
                    "end": "11:00",
                    "kind": "visit",
                    "name": f"Place {day}",
                    "cost": 10,
                }
            ],
        }
        for day in range(1, (days if isinstance(days, int) else 3) + 1)
        if day not in kept
    ]
