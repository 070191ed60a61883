"""Rules that need no source: doubled words, placeholders left over, a document against itself."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.measures import Value
from deploy.offline_model.quantities import values
from deploy.offline_model.words import words

MOST = 300
"""Values compared with each other."""
MOST_IN_ONE = 10
"""Values of one sentence looked at: one with more is a list."""
ENOUGH = 3
"""Words that two sentences must share to speak of one thing."""
ALIKE = 0.7
"""Share of common words from which two sentences say the same thing."""
_DOUBLED = re.compile(r"\b([A-Za-z]{2,})([ \t]+)(\1)\b(?![-'’])", re.IGNORECASE)
_DOUBLED_ZH = re.compile(r"(的|了|是|我们|他们|会议|以及|进行|因为|所以|可以|需要|决定|负责)\1")
_MEANT = frozenset(("had", "that", "very", "so", "no", "yes", "bye", "ha", "wiki", "new", "long"))
_PLACEHOLDER = re.compile(
    r"\b(?:TODO|FIXME|XXX)\b(?:\([^)\n]*\))?[ \t]*[:：]?[ \t]*"
    r"|\[(?:insert|add|fill in|name|date|TBD)[^\]\n]*\]|【(?:待补充|待填|此处填写)[^】\n]*】"
    r"|\?{3,}|lorem ipsum[^\n]*",
    re.IGNORECASE,
)


def doubled_words(document: str) -> Iterable[Finding]:
    """The the; 的的. Words that are doubled on purpose, and names, are left alone."""
    for match in _DOUBLED.finditer(document):
        first, second = match[1], match[3]
        if first.lower() in _MEANT or (first != second and not first[0].isupper()):
            continue
        if first[0].isupper() and first == second:
            continue
        yield Finding(
            category=Category.DOUBLED_WORD, start=match.start(), end=match.end(), right=first
        )
    for match in _DOUBLED_ZH.finditer(document):
        yield Finding(
            category=Category.DOUBLED_WORD, start=match.start(), end=match.end(), right=match[1]
        )


def placeholders(document: str) -> Iterable[Finding]:
    """TODO marks go; where nothing else stands on the line, the whole line goes."""
    for match in _PLACEHOLDER.finditer(document):
        start = document.rfind("\n", 0, match.start()) + 1
        end = document.find("\n", match.end())
        end = len(document) if end < 0 else end + 1
        rest = document[start : match.start()] + document[match.end() : end]
        if not re.search(r"\w", rest):
            yield Finding(category=Category.PLACEHOLDER, start=start, end=end, right="")
        elif document[match.start()] in "[【?":
            # What belongs there is not known, and a gap in a sentence would be worse.
            yield Finding(
                category=Category.PLACEHOLDER, start=match.start(), end=match.end(), right=None
            )
        else:
            yield Finding(
                category=Category.PLACEHOLDER, start=match.start(), end=match.end(), right=""
            )


def contradictions(document: str, spans: Sequence[tuple[int, int]]) -> Iterable[Finding]:
    """Two sentences in the same words with another value; which one is right is not known."""
    told = list(islice(_told(document, spans), MOST))
    for at, (span, value, stems) in enumerate(told):
        for place, earlier, others in told[:at]:
            if place == span or not _opposed(value, earlier) or len(stems & others) < ENOUGH:
                continue
            if len(stems & others) >= ALIKE * len(stems | others):
                yield Finding(
                    category=Category.CONTRADICTION,
                    start=value.start,
                    end=value.end,
                    right=None,
                    score=0.5,
                )
                break


def _values_of(document: str, span: tuple[int, int]) -> Sequence[Value]:
    return [
        replace(
            value,
            start=span[0] + value.start,
            end=span[0] + value.end,
            phrase_end=span[0] + value.phrase_end,
        )
        for value in values(document[span[0] : span[1]])
    ]


def _told(
    document: str, spans: Sequence[tuple[int, int]]
) -> Iterable[tuple[tuple[int, int], Value, frozenset[str]]]:
    """(sentence, value, stems of the sentence without numbers and the value's own words)."""
    for span in spans:
        found = [word for word in words(document[span[0] : span[1]]) if word.stem.isalpha()]
        for value in _values_of(document, span)[:MOST_IN_ONE]:
            low, high = value.start - span[0], value.end - span[0]
            stems = frozenset(w.stem for w in found if w.end <= low or high <= w.start)
            yield span, value, stems


def _opposed(one: Value, other: Value) -> bool:
    return (
        one.kind == other.kind
        and (not one.units or bool(one.units & other.units))
        and not one.scaled & other.scaled
    )
