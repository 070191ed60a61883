"""The rule about who does something, where in the source another one promised to do it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.sources import Source
from deploy.offline_model.words import words

TASK = re.compile(
    r"^(?P<mark>\s*(?:[-*+]|\d+[.)])?\s*(?:\[[ xX]\]\s*)?(?:\*\*)?(?:The |the )?)(?P<who>{names})"
    r"(?P<link>(?:\*\*)?\s*"
    r"(?:will|shall|is to|are to|to|takes care of|has to|[:：]|负责|将|会|需|要))"
)
"""A line that gives a task to a person; `{names}` are the speakers."""
_PROMISE = re.compile(
    r"\b(?:I'll|I will|I'm going to|I am going to|I can|let me|I'd|I shall|I take)\b"
    r"|我来|我会|我负责|我去|我将|我今天|我明天|我下周|交给我",
    re.IGNORECASE,
)
SHARED = 3
"""Content words of the task that the promise has to share."""
SHARE = 0.6
"""And which part of the task's words that has to be."""


@dataclass(frozen=True, kw_only=True)
class _Promise:
    order: int
    shared: int


def wrong_owners(
    source: Source, document: str, spans: Sequence[tuple[int, int]]
) -> Iterable[Finding]:
    """Tasks given to one speaker that another one, and nobody else, promised to do."""
    speakers = sorted(source.speakers, key=len, reverse=True)
    if not speakers:
        return
    pattern = re.compile(TASK.pattern.replace("{names}", "|".join(map(re.escape, speakers))))
    for start, end in spans:
        line = document.rfind("\n", 0, start) + 1
        match = pattern.match(document[line:end])
        if match is None or line + match.start("who") < start - len(match["mark"]):
            continue
        who = match["who"]
        task = {word.stem for word in words(document[line + match.end() : end])}
        promise = _only_promise(source, task)
        if promise is None or _takes_part(source, promise.order, who, task):
            continue
        said = source.lines[promise.order]
        yield Finding(
            category=Category.WRONG_OWNER,
            start=line + match.start("who"),
            end=line + match.end("who"),
            right=said.speaker,
            evidence=[said.number],
            score=promise.shared / SHARED,
        )


def _only_promise(source: Source, task: set[str]) -> _Promise | None:
    """The one line in the first person that shares most of the task's words."""
    found = []
    for order, line in enumerate(source.lines):
        shared = len(task & {word.stem for word in source.line_words[order]})
        if shared >= max(SHARED, SHARE * len(task)) and _PROMISE.search(line.text):
            found.append(_Promise(order=order, shared=shared))
    speakers = {source.lines[promise.order].speaker for promise in found}
    return (
        max(found, key=lambda one: one.shared)
        if len(speakers) == 1 and "" not in speakers
        else None
    )


def _takes_part(source: Source, order: int, who: str, task: set[str]) -> bool:
    """Whether this person is named in the promise, or speaks of the task close by."""
    line = source.lines[order]
    if line.speaker == who or who.lower() in line.text.lower():
        return True
    for near in range(max(0, order - 3), min(len(source.lines), order + 4)):
        other = source.lines[near]
        named = who.lower() in other.text.lower()
        speaks = other.speaker == who and task & {word.stem for word in source.line_words[near]}
        if named or speaks:
            return True
    return False
