"""Reviews a document by rule: the most severe findings first, a few per call.

Precision first: where the source does not clearly say something else, there is no finding.
"""

import heapq
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from deploy.offline_model.findings import Category, Finding, unique_span
from deploy.offline_model.numbers import wrong_values
from deploy.offline_model.owners import wrong_owners, wrong_speakers
from deploy.offline_model.prompt import Prompt
from deploy.offline_model.quantities import values
from deploy.offline_model.slips import contradictions, doubled_words, placeholders
from deploy.offline_model.sources import Source
from deploy.offline_model.who import Known, wrong_names
from deploy.offline_model.words import STOP, is_chinese, sentences

PER_CALL = 3
"""Findings reported in one call, so that a run shows issues falling over its rounds."""
PENALTY = {"blocker": 25, "major": 10, "minor": 2}
MOST = 200
"""Findings looked at together; a text of nothing but mistakes must not take for ever."""
_RANK = {"blocker": 0, "major": 1, "minor": 2}
_OF_FACTS = frozenset(Category) - {Category.CONTRADICTION}
_NOTHING = frozenset[Category]()
FAMILIES = {
    "facts": _OF_FACTS,
    "claims": {Category.CONTRADICTION},
    "relations": {Category.CONTRADICTION},
    "invented": _NOTHING,
    "gaps": _NOTHING,
}
"""What each of several reviewers side by side is asked for. By rule nobody can find a gap, or say
that a statement has no ground at all."""


def review(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_review`; what the prompt lists as kept is not reported again."""
    document = prompt.document
    found = findings(prompt)
    kept = {str(item.get("quote")) for item in prompt.already}
    fresh = (one for one in (item(document, each) for each in found) if one["quote"] not in kept)
    score = max(0, 100 - sum(PENALTY[one.severity] for one in found))
    return {"items": list(islice(fresh, max(0, PER_CALL - len(kept)))), "score": score}


def findings(prompt: Prompt) -> Sequence[Finding]:
    """All findings, most severe and most certain first; none overlaps another."""
    document = prompt.document
    spans = sentences(document)
    found: list[Finding] = []
    if prompt.lines:
        source = Source.of(prompt.lines)
        found += wrong_values(source, document, spans, granted=values(prompt.about))
        found += wrong_names(Known.of(source, prompt.about), document, spans)
        found += wrong_owners(source, document, spans, about=prompt.about)
        found += wrong_speakers(source, document, spans)
    found += contradictions(document, spans)
    found += doubled_words(document)
    found += placeholders(document)
    wanted = FAMILIES.get(prompt.part)
    found = found if wanted is None else [one for one in found if one.category in wanted]
    found = heapq.nsmallest(MOST, found, key=_order)
    taken = locked_spans(prompt)
    chosen: list[Finding] = []
    for one in found:
        if not any(one.start < end and start < one.end for start, end in taken):
            chosen.append(one)
            taken.append((one.start, one.end))
    return chosen


def _order(finding: Finding) -> tuple[int, float, int]:
    return _RANK[finding.severity], -finding.score, finding.start


def locked_spans(prompt: Prompt) -> list[tuple[int, int]]:
    """Where the passages stand that must not change."""
    return [
        match.span()
        for lock in prompt.locks
        if lock.strip()
        for match in re.finditer(re.escape(lock), prompt.document)
    ]


def item(document: str, finding: Finding) -> Mapping[str, Any]:
    """A finding as an item of the reply; the suggestion is the quote with the place put right."""
    low, high = quoted(document, finding)
    quote = document[low:high]
    suggestion = None
    if finding.right is not None:
        suggestion = document[low : finding.start] + finding.right + document[finding.end : high]
    return {
        "category": str(finding.category),
        "severity": finding.severity,
        "quote": quote,
        "problem": problem(document, finding),
        "suggestion": suggestion,
        "evidence": [f"T{number}" for number in finding.evidence],
    }


def quoted(document: str, finding: Finding) -> tuple[int, int]:
    """The quote: the wrong place with the word behind it, widened until it is unique."""
    low, high = finding.start, finding.end
    if finding.category in (Category.WRONG_NUMBER, Category.WRONG_DATE):
        high = _next_word(document, high)
    elif not document[low].isascii():
        # One or two characters are hard to find again for a person: take the title along.
        high = min(high + 2, _line_end(document, high))
    return unique_span(document, low, high) or (low, high)


def _line_end(document: str, at: int) -> int:
    end = document.find("\n", at)
    return len(document) if end < 0 else end


def _next_word(document: str, at: int) -> int:
    """Behind the unit that follows a number: " Euros", "-Euro", "天"."""
    stop = at
    while stop < len(document) and document[stop] in " -":
        stop += 1
    begin = stop
    while stop < len(document) and document[stop].isalpha():
        stop += 1
        if not document[stop - 1].isascii():
            break
    return stop if stop > begin and document[begin:stop].lower() not in STOP else at


def problem(document: str, finding: Finding) -> str:
    wrong = document[finding.start : finding.end]
    told = ", ".join(f"T{number}" for number in finding.evidence)
    texts = _CHINESE if is_chinese(document) else _ENGLISH
    return texts[finding.category].format(wrong=wrong, right=finding.right or "", told=told)


_ENGLISH = {
    Category.WRONG_NUMBER: "The source says “{right}” ({told}), not “{wrong}”.",
    Category.WRONG_DATE: "The source says “{right}” ({told}), not “{wrong}”.",
    Category.WRONG_NAME: "The source does not know “{wrong}”; it says “{right}” ({told}).",
    Category.WRONG_OWNER: "In the source it is “{right}” who says this ({told}), not “{wrong}”.",
    Category.CONTRADICTION: "The document says “{wrong}” here and something else elsewhere.",
    Category.DOUBLED_WORD: "A word stands here twice: “{wrong}”.",
    Category.PLACEHOLDER: "A placeholder was left in the text: “{wrong}”.",
}
_CHINESE = {
    Category.WRONG_NUMBER: "原文为“{right}”（{told}），而不是“{wrong}”。",
    Category.WRONG_DATE: "原文为“{right}”（{told}），而不是“{wrong}”。",
    Category.WRONG_NAME: "原文中没有“{wrong}”，而是“{right}”（{told}）。",
    Category.WRONG_OWNER: "原文中说这句话的是“{right}”（{told}），而不是“{wrong}”。",
    Category.CONTRADICTION: "文中此处写“{wrong}”，与他处不一致。",
    Category.DOUBLED_WORD: "此处词语重复：“{wrong}”。",
    Category.PLACEHOLDER: "文中留有占位符：“{wrong}”。",
}
