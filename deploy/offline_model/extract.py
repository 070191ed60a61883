"""Drafts minutes by rule: lines of the source that cue words mark, taken over as they were said.

No line is understood, and the first section says so. Sections come from the prompt; which rule
fills one follows from its key and heading. Of a long source the notes of its windows are joined.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deploy.offline_model.prompt import Prompt, SourceLine
from deploy.offline_model.words import is_chinese, words

HEADINGS = {
    "summary": ("Summary", "摘要"),
    "decisions": ("Decisions", "决定"),
    "actions": ("Actions", "行动项"),
    "questions": ("Open questions", "待解决的问题"),
}
"""Where the prompt names no sections."""
MOST = 60
"""Lines taken over into a section from what one prompt shows; more are counted there."""
_TELLING = 6
_TOPICS = 12
FEWEST_WORDS = 4
"""Content words a line needs to be worth taking over, unless a cue marks it."""
_SAID = (
    "*Extract by rules: no model wrote this. The lines below were picked by cue words and stand as "
    "they were said, without stutters.*",
    "*规则摘录：不是模型写的。以下各行按提示词挑出，照原话摘录。*",
)
_MORE = ("- … and {count} more lines with such words.", "- …… 另有 {count} 行含有这类词。")
_NOT = re.compile(
    r"\b(?:not|n't|never|nothing|haven't|didn't)\b[^.]{0,20}\b(?:decide|agree|settle)|"
    r"没(?:有)?(?:决定|确定|定)|未决",
    re.IGNORECASE,
)
CUES = {
    "decisions": re.compile(
        r"\b(?:decided?|decisions?|decides|agreed?|we(?:'ll| will) go with|let's go with|settled"
        r"|approved?|resolved|green light|carried|unanimous)\b"
        r"|决定|确定|同意|通过了|一致通过|就这么定|定下来|定为|敲定|批准|拍板",
        re.IGNORECASE,
    ),
    "actions": re.compile(
        r"\b(?:I'll|I will|I can take|will (?:send|write|check|prepare|call|ask|do|bring|finish)"
        r"|can you|could you|action item|to[- ]do|by (?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|by (?:tomorrow|next week|the end of)|deadline|follow up|take care of|is responsible)\b"
        r"|我来|我负责|负责|请你|你来|下周.{0,6}前|完成|截止|跟进|落实|交给|之前(?:交|给|发)",
        re.IGNORECASE,
    ),
    "questions": re.compile(
        r"\b(?:open question|not sure|don't know|need to find out|unclear|to be clarified"
        r"|still open|haven't decided)\b|不确定|不清楚|待定|问题是|还没定|没想好|再讨论|有待",
        re.IGNORECASE,
    ),
    "risks": re.compile(
        r"\b(?:risks?|risky|worr(?:y|ied)|concern(?:s|ed)?|problems?|blockers?|blocked|delay(?:s|ed)?"
        r"|late|over budget|too expensive)\b|风险|担心|问题|延期|推迟|阻碍|超支|卡住|来不及",
        re.IGNORECASE,
    ),
    "rejected": re.compile(
        r"\b(?:reject(?:ed)?|turned? down|refuse[ds]?|postpone[ds]?|put off|drop(?:ped)? (?:it|the)"
        r"|against it|no longer|won't do|not go(?:ing)? with)\b"
        r"|否决|不同意|反对|搁置|推迟|取消|放弃|不做",
        re.IGNORECASE,
    ),
    "status": re.compile(
        r"\b(?:done|finished|completed|under way|in progress|started|on track|so far|status|tested"
        r"|delivered|\d+ ?(?:%|percent))(?!\w)|完成|进展|进度|已经|正在|目前|做完|百分之|\d+%",
        re.IGNORECASE,
    ),
    "next": re.compile(
        r"\b(?:next meeting|meet again|see you (?:on|next)|next time we)\b"
        r"|下次会|下次开会|再开会|下周再",
        re.IGNORECASE,
    ),
}
_SORTS = (
    ("rejected", r"reject|put off|postpon|turned down|否决|搁置"),
    ("decisions", r"decision|decided|resol|agree|决定|决议|决策|结论|共识"),
    ("next", r"next (?:meeting|session|date)|下次"),
    ("actions", r"action|task|to-?do|next step|follow|assign|行动|待办|任务|下一步|跟进|分工"),
    ("questions", r"question|open|unclear|待解决|疑问|未决"),
    ("risks", r"risk|problem|issue|concern|blocker|风险|问题|困难"),
    ("status", r"status|progress|report|进展|进度|状况|汇报"),
    ("people", r"participant|present|attend|people|出席|参会|与会|人员"),
    ("topics", r"topic|discuss|agenda|议题|讨论|议程"),
    ("summary", r"summary|overview|abstract|about|摘要|概要|概述|总结"),
)
_TURN = re.compile(
    r"\b(?:let's (?:talk|move|turn|look|start|begin|discuss)|next (?:item|topic|point)|moving on"
    r"|as for|regarding|the (?:first|second|third|next|last) (?:item|topic|point|thing))\b"
    r"|接下来|下一个|下面|议题|首先|其次|第[一二三四五六]个|关于",
    re.IGNORECASE,
)
Section = Mapping[str, Any]


def draft(prompt: Prompt) -> Mapping[str, Any]:
    """The reply to `redraft_draft`: each section that is not kept already; at most
    `OFFLINE_STOP_AFTER_ITEMS`, where that is set, so that a continuation can be seen."""
    kept = {item.get("key") for item in prompt.already}
    said = "\n".join(line.text for line in prompt.lines) or "".join(
        str(item.get("markdown")) for items in prompt.notes for item in items
    )
    language = int(is_chinese(said))
    wanted = prompt.wanted or [
        {"key": key, "heading": names[language]} for key, names in HEADINGS.items()
    ]
    items = []
    for at, section in enumerate(wanted):
        key = str(section.get("key") or "")
        if key in kept:
            continue
        if prompt.notes:
            markdown, evidence = _joined(prompt.notes, key, language)
        else:
            markdown, evidence = _written(prompt.lines, section, language)
        if at == 0 and not prompt.part:
            markdown = f"{_SAID[language]}\n\n{markdown}".rstrip()
        items.append(
            {
                "key": key,
                "heading": str(section.get("heading") or key),
                "markdown": markdown,
                "evidence": evidence,
            }
        )
    most = os.environ.get("OFFLINE_STOP_AFTER_ITEMS", "")
    return {"items": items[: int(most)] if most.isdigit() and int(most) else items}


def sort_of(section: Section) -> str:
    """The rule for a section: by its key and heading, else the words it has in common."""
    named = f"{section.get('key')} {section.get('heading')}"
    for sort, pattern in _SORTS:
        if re.search(pattern, named, re.IGNORECASE):
            return sort
    return "like"


def _written(lines: Sequence[SourceLine], section: Section, language: int) -> tuple[str, list[str]]:
    """Bullets and the lines they are."""
    sort = sort_of(section)
    if sort == "people":
        return _people(lines)
    found = list(_picked(lines, sort, section))
    bullets = [f"- {plain(line)}" for line in found[:MOST]]
    if len(found) > MOST:
        bullets.append(_MORE[language].format(count=len(found) - MOST))
    return "\n".join(bullets), [f"T{line.number}" for line in found[:MOST]]


def _picked(lines: Sequence[SourceLine], sort: str, section: Section) -> Iterable[SourceLine]:
    if sort in CUES:
        cue = CUES[sort]
        return (
            line
            for line in lines
            if cue.search(line.text) and not (sort == "decisions" and _NOT.search(line.text))
        )
    if sort == "topics":
        return _turns(lines)
    if sort == "summary":
        return _longest(lines, _TELLING)
    return _like(lines, f"{section.get('heading')} {section.get('about')}")


def _turns(lines: Sequence[SourceLine]) -> Sequence[SourceLine]:
    """Where somebody turns to a matter; else the longest lines."""
    found = [line for line in lines if _TURN.search(line.text) and _tells(line)]
    return found[:_TOPICS] if len(found) > 1 else _longest(lines, _TOPICS)


def _longest(lines: Sequence[SourceLine], most: int) -> Sequence[SourceLine]:
    """In order: where most was said."""
    longest = sorted(filter(_tells, lines), key=lambda line: -len(line.text))[:most]
    return sorted(longest, key=lambda line: line.number)


def _like(lines: Sequence[SourceLine], told: str) -> Sequence[SourceLine]:
    """Lines with rare words of what the section is for."""
    wanted = {word.stem for word in words(told)}
    by_line = [{word.stem for word in words(line.text)} for line in lines]
    often = Counter(stem for stems in by_line for stem in stems)
    rare = {stem for stem in wanted if 0 < often[stem] <= max(3, len(lines) // 20)}
    found = [line for line, stems in zip(lines, by_line, strict=True) if stems & rare]
    return [line for line in found if _tells(line)][:_TOPICS]


def _tells(line: SourceLine) -> bool:
    return len(words(line.text)) >= FEWEST_WORDS


def _people(lines: Sequence[SourceLine]) -> tuple[str, list[str]]:
    first: dict[str, int] = {}
    for line in lines:
        if line.speaker:
            first.setdefault(line.speaker, line.number)
    return "\n".join(f"- {name}" for name in first), [f"T{number}" for number in first.values()]


def plain(line: SourceLine) -> str:
    """A spoken line without its noise, on one line, at most some three hundred characters."""
    text = re.sub(r"\{[a-z]+\}|\b(?:um|uh|er|hmm)\b\s*,?", " ", line.text)
    text = re.sub(r"\s+([,.?!])", r"\1", re.sub(r"\s+", " ", text)).strip()
    text = re.sub(r"\b([A-Za-z']+)(?:,? \1\b)+", r"\1", text, flags=re.IGNORECASE)
    if len(text) > 300:
        text = text[:300].rsplit(" ", 1)[0] + " …"
    return f"{line.speaker}: {text}" if line.speaker else text


def _joined(
    notes: Sequence[Sequence[Mapping[str, Any]]], key: str, language: int
) -> tuple[str, list[str]]:
    """The notes of all windows on a section, in their order; a line that two windows show once."""
    bullets: dict[str, None] = {}
    evidence: dict[str, None] = {}
    for items in notes:
        for item in items:
            if item.get("key") == key:
                bullets.update(dict.fromkeys(_lines_of(item)))
                evidence.update(dict.fromkeys(str(name) for name in item.get("evidence") or ()))
    return "\n".join(bullets), list(evidence)


def _lines_of(item: Mapping[str, Any]) -> Iterator[str]:
    for line in str(item.get("markdown") or "").splitlines():
        if line.strip():
            yield re.sub(r"\s*\[T\d[^\]]*\]", "", line).rstrip()
