"""The mechanical check against lost text: headings, items, and the length of what was replaced.

A rewrite that answers one complaint and drops half a section is refused whatever it says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from workflows.issues import family
from workflows.kinds.kind import Finding, OpenIssue
from workflows.kinds.passages import Span, overlaps, sentence_around, sentences_of

_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+\S|^[ \t]*\*\*[^*]+\*\*[:：]?[ \t]*$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•][ \t]+\S|\d{1,3}[.)、][ \t]*\S|\|.*\|[ \t]*$)")
_ROW_RULE = re.compile(r"^[ \t:|-]*+$")
LONGEST_UNASKED = 80
"""Characters that may go without a quote around them (a reworded clause)."""

MOST_TOKENS = 2000
"""Longer passages are compared faster and less exactly."""
_TOKEN = re.compile(r"[A-Za-z0-9]+|\s+|[^A-Za-z0-9\s]")

Asked = Sequence[tuple[OpenIssue, Sequence[Span]]]
"""Each open issue with the places of its quote."""


def loses_content(body: str, span: Span, replace: str, asked: Asked) -> bool:
    """Whether replacing `span` removes something that no issue asked to remove."""
    start = body.rfind("\n", 0, span[0]) + 1
    end = body.find("\n", span[1])
    end = len(body) if end < 0 else end
    before = body[start:end]
    after = body[start : span[0]] + replace + body[span[1] : end]
    return (
        _lost_headings(before, after, start, asked)
        or _lost_items(before, after, start, asked)
        or _lost_sentences(before, after, start, asked)
        or _lost_length(body, span, replace, asked)
    )


def changes_unasked(body: str, span: Span, replace: str, asked: Asked) -> bool:
    """Whether words go or change in a sentence that no issue quotes. Additions are free."""
    old = _TOKEN.findall(body[span[0] : span[1]])
    new = _TOKEN.findall(replace)
    places = [span[0]]
    for token in old:
        places.append(places[-1] + len(token))
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) > MOST_TOKENS)
    for tag, first, last, _, _ in matcher.get_opcodes():
        words = "".join(old[first:last])
        if tag == "equal" or not words.strip():
            continue
        start = places[first] + len(words) - len(words.lstrip())
        sentence = sentence_around(body, start, places[first] + len(words.rstrip()))
        if not _quoted(sentence, asked):
            return True
    return False


def _lost_headings(before: str, after: str, offset: int, asked: Asked) -> bool:
    """A heading may be reworded where an issue quotes it; it may go only where one says remove."""
    old, new = _lines(before, _HEADING, offset), _lines(after, _HEADING, 0)
    kept = {text for text, _ in new}
    gone = [span for text, span in old if text not in kept]
    if len(new) < len(old):
        return not all(_quoted(span, _removals(asked)) for span in gone)
    return not all(_quoted(span, asked) for span in gone)


def _lost_items(before: str, after: str, offset: int, asked: Asked) -> bool:
    """Fewer items than before are fine when an issue says of each missing one that it should go. A
    complaint about one is answered by putting it right, not by dropping it."""
    old, new = _lines(before, _ITEM, offset), _lines(after, _ITEM, 0)
    missing = len(old) - len(new)
    if missing <= 0:
        return False
    kept = Counter(text for text, _ in new)
    gone = []
    for text, span in old:
        if kept[text]:
            kept[text] -= 1
        else:
            gone.append(span)
    return sum(_quoted(span, _removals(asked)) for span in gone) < missing


def _lost_sentences(before: str, after: str, offset: int, asked: Asked) -> bool:
    """A sentence may be reworded, merged or split; it may go where an issue says that it should."""
    old, new = _sentences(before), _sentences(after)
    kept = Counter(text for text, _ in new)
    gone = []
    for text, (start, end) in old:
        if kept[text]:
            kept[text] -= 1
        elif not _quoted((start + offset, end + offset), _removals(asked)):
            gone.append(text)
    if not gone:
        return False
    came = list(kept.elements())
    said = _words(" ".join(came))
    lost = [text for text in gone if len(said.intersection(_words(text))) * 2 < len(_words(text))]
    return len(lost) > len(came)


def _lost_length(body: str, span: Span, replace: str, asked: Asked) -> bool:
    """Whether much more went than came, and most of it stands in no quote."""
    old = body[span[0] : span[1]]
    head = _common(old, replace)
    tail = _common(old[head:][::-1], replace[head:][::-1])
    first, last = span[0] + head, span[1] - tail
    came = len(replace) - head - tail
    if (last - first) - came <= LONGEST_UNASKED:
        return False
    inside, at = 0, first
    for start, end in sorted(place for _, spans in asked for place in spans):
        inside += max(min(end, last) - max(start, at), 0)
        at = max(at, end)
    return inside * 2 < last - first


def _sentences(text: str) -> list[tuple[str, Span]]:
    return [(text[start:end].strip(), (start, end)) for start, end in sentences_of(text)]


def _words(text: str) -> set[str]:
    return {token.casefold() for token in _TOKEN.findall(text) if token[0].isalnum()}


def _lines(text: str, pattern: re.Pattern[str], offset: int) -> list[tuple[str, Span]]:
    """Lines that match, without outer spaces, each with its place (`offset` is the text's own)."""
    found, at = [], offset
    for line in text.splitlines(keepends=True):
        plain = line.rstrip("\r\n")
        if pattern.match(plain) and not _ROW_RULE.match(plain):
            found.append((plain.strip(), (at, at + len(plain))))
        at += len(line)
    return found


def _quoted(span: Span, asked: Asked) -> bool:
    return any(overlaps(span, place) for _, spans in asked for place in spans)


def _removals(asked: Asked) -> Asked:
    """What may go: quotes of issues that say so, that nobody said it, or that a person raised,
    whose words no rule reads; and what a suggestion leaves off the end of its quote, as of a
    repetition, which can be quoted only together with what stands before it."""
    whole = [(issue, spans) for issue, spans in asked if _lets_go(issue.finding)]
    ends = [
        (issue, [(start + len(issue.finding.suggestion), end) for start, end in spans])
        for issue, spans in asked
        if issue.finding.suggestion
        and issue.finding.suggestion != issue.finding.quote
        and issue.finding.quote.startswith(issue.finding.suggestion)
    ]
    return [*whole, *ends]


def _lets_go(finding: Finding) -> bool:
    if finding.suggestion == "" or finding.raised_by.startswith("person:"):
        return True
    return finding.suggestion is None and family(finding.category) == "invented"


def _common(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
