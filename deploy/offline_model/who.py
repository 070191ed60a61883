"""Rules about names: people, places and bodies that the source does not know, by another name.

A name the source knows is never touched here, wherever it stands.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from deploy.offline_model.endings import is_whole, may_run_on, runs_on, without_following
from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.names import BODIES, TITLES, Name, names
from deploy.offline_model.sources import Place, Source, closeness, context, place_in, shared_flank
from deploy.offline_model.words import STOP_ZH, is_chinese, stem

SIMILAR = 0.74
"""Likeness of two spellings of one English name: Beiko and Bieko, Austria and Australia."""
LITERAL = 6
"""Shared characters beside a name from which a place counts as the same wording."""
_INTRODUCED = re.compile(
    r"\b(?:I'm|I am|my name is|my name's|this is)\s+([A-Z][a-z]+)\b"
    r"|(?:我叫|我姓)([\u3400-\u9fff]{2,3})"
)


@dataclass(kw_only=True)
class Known:
    """The names of the source; `spellings` has each with its first line."""

    source: Source
    text: str
    words: frozenset[str]
    names: Sequence[tuple[Name, Place]]
    spellings: Mapping[str, int]
    labels: frozenset[str] = frozenset()
    whole: dict[str, bool] = field(default_factory=dict)
    introduced: dict[str, tuple[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, about: str = "") -> "Known":
        """`about` is what else is known of the document: its names are right as they are."""
        said = [f"{line.speaker}: {line.text}" for line in source.lines]
        text = "\n".join([*said, about])
        found = [
            (name, place_in(source, order, name.start, name.end))
            for order, line in enumerate(source.lines)
            for name in names(line.text)
        ]
        labels = [(part, line.number) for line in source.lines for part in line.speaker.split()]
        written = [(name.text, place.line.number) for name, place in found if name.sort != "first"]
        known = cls(
            source=source,
            text=text.lower(),
            words=frozenset(stem(word) for word in re.findall(r"[A-Za-z]+", text)),
            names=[pair for pair in found if pair[0].sort != "first"],
            # Turned round so that of several lines the first one stays.
            spellings=dict(reversed([*written, *labels])),
            labels=frozenset(label for label, _ in labels),
        )
        for line in source.lines:
            match = _INTRODUCED.search(line.text)
            if match and line.speaker:
                known.introduced.setdefault(
                    line.speaker, (match.group(1) or match.group(2), line.number)
                )
        return known

    def knows(self, name: Name, before: str = "") -> bool:
        """`before` is the character in front of the name."""
        if is_chinese(name.text):
            said = name.text if len(name.text) > 1 else name.text + name.sort
            return said in self.text or runs_on(name, before, self.text, self.is_whole)
        parts = re.findall(r"[A-Za-z]+", name.text)
        return all(stem(part) in self.words for part in parts)

    def is_whole(self, name: str) -> bool:
        """Whether the last character of a Chinese name is surely its own; each looked up once."""
        if name not in self.whole:
            self.whole[name] = is_whole(name, self.text, self.labels)
        return self.whole[name]


def wrong_names(known: Known, document: str, spans: Sequence[tuple[int, int]]) -> Iterable[Finding]:
    """Names of the document that the source does not know, where it is clear whom it means."""
    for span in spans:
        text = document[span[0] : span[1]]
        for named in names(text):
            before = text[max(0, named.start - 1) : named.start]
            if known.knows(named, before) or named.text in STOP_ZH or _heading(document, span[0]):
                continue
            name = _shortened(named)
            rule = _chinese if is_chinese(name.text) else _english
            found = rule(known, document, span, name)
            if found:
                right, number, score = found
                yield Finding(
                    category=Category.WRONG_NAME,
                    start=span[0] + name.start,
                    end=span[0] + name.end,
                    right=right,
                    evidence=[number],
                    score=score,
                )


def _shortened(name: Name) -> Name:
    """The name without what only follows it."""
    if name.sort in TITLES or not may_run_on(name):
        return name
    text = without_following(name.text)
    return replace(name, text=text, end=name.start + len(text))


def _heading(document: str, at: int) -> bool:
    return document[document.rfind("\n", 0, at) + 1 :].startswith("#")


Found = tuple[str, int, float] | None


def _english(known: Known, document: str, span: tuple[int, int], name: Name) -> Found:
    text = document[span[0] : span[1]]
    return (
        _by_role(known, text, name)
        or _by_label(known, text, name)
        or _by_spelling(known, name)
        or _by_wording(known, document, span, name)
    )


def _by_role(known: Known, text: str, name: Name) -> Found:
    """Susan, the Project Manager: the source has the manager say who she is."""
    for role, (given, number) in known.introduced.items():
        title = re.escape(role)
        beside = rf"{name.text},? (?:the |our |\(){title}|{title},? \(?{name.text}\b"
        if re.search(beside, text, re.I) and given.isascii():
            return given, number, 3
    return None


def _by_label(known: Known, text: str, name: Name) -> Found:
    """Dawn Bowman AM, where a speaker is called Dawn Bowden AM."""
    for speaker in known.source.speakers:
        parts = speaker.split()
        for at, part in enumerate(parts):
            around = [*parts[max(0, at - 1) : at], *parts[at + 1 : at + 2]]
            beside = [*parts[max(0, at - 1) : at], name.text, *parts[at + 1 : at + 2]]
            # A single letter beside it, as in PhD A, would make any word fit.
            if not around or not part[0].isupper() or min(map(len, around)) < 3:
                continue
            if re.search(rf"\b{re.escape(' '.join(beside))}\b", text):
                number = next(line.number for line in known.source.lines if line.speaker == speaker)
                return part, number, 3
    return None


def _by_spelling(known: Known, name: Name) -> Found:
    """The one name of the source that is spelled almost the same."""
    best = {
        spelled: (ratio, number)
        for spelled, number in known.spellings.items()
        if spelled[:1].lower() == name.text[:1].lower()
        and (ratio := _likeness(name.text, spelled)) >= SIMILAR
    }
    if len(best) != 1:
        return None
    spelled, (ratio, number) = next(iter(best.items()))
    return spelled, number, 2 * ratio


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _by_wording(known: Known, document: str, span: tuple[int, int], name: Name) -> Found:
    """Another name stands in the source within the same words."""
    ctx = context(document, span, span[0] + name.start, span[0] + name.end)
    ranked: dict[str, tuple[float, int]] = {}
    for other, place in known.names:
        score, shared = closeness(known.source, ctx, place)
        lead, tail = shared_flank(ctx, place.line.text[: other.start], place.line.text[other.end :])
        if lead + tail >= LITERAL + 4 and shared > 1:
            total = score + 0.1 * min(lead + tail, 16)
            if total > ranked.get(other.text, (0, 0))[0]:
                ranked[other.text] = (total, place.line.number)
    return _leading(ranked, enough=1.5, clear=1.4)


def _leading(ranked: dict[str, tuple[float, int]], *, enough: float, clear: float) -> Found:
    order = sorted(ranked.items(), key=lambda pair: -pair[1][0])
    if not order or order[0][1][0] < enough:
        return None
    if len(order) > 1 and order[0][1][0] < clear * order[1][1][0]:
        return None
    name, (score, number) = order[0]
    return name, number, score


def _chinese(known: Known, document: str, span: tuple[int, int], name: Name) -> Found:
    ctx = context(document, span, span[0] + name.start, span[0] + name.end)
    ranked: dict[str, tuple[float, int]] = {}
    for text, place, start, end in _candidates(known, name):
        alike = _alike(name.text, text)
        score, _ = closeness(known.source, ctx, place)
        line = place.line.text
        lead, tail = shared_flank(ctx, line[:start], line[end:])
        literal = 0.15 * min(lead + tail, 20)
        if alike >= 0.5 or lead + tail >= 2 * LITERAL:
            total = 2 * alike + score + literal
            if total > ranked.get(text, (0, 0))[0]:
                ranked[text] = (total, place.line.number)
    return _leading(ranked, enough=1.2, clear=1.15) or _only_one(known, name)


def _candidates(known: Known, name: Name) -> Iterable[tuple[str, Place, int, int]]:
    """Names of the same sort, and what stands before the same title in the same length."""
    for whole, place in known.names:
        other = _shortened(whole)
        same = other.sort == name.sort or {other.sort, name.sort} <= {"person", *TITLES}
        fits = len(other.text) == len(name.text) and _ends_alike(known, name, other)
        if same and fits and other.text not in STOP_ZH:
            yield other.text, place, other.start, other.end
    if name.sort not in TITLES and name.sort not in BODIES:
        return
    pattern = re.compile(rf"(?=([\u3400-\u9fff]{{{len(name.text)}}}){name.sort})")
    for order, line in enumerate(known.source.lines):
        for match in pattern.finditer(line.text):
            start, end = match.span(1)
            yield match.group(1), place_in(known.source, order, start, end), start, end


def _ends_alike(known: Known, name: Name, other: Name) -> bool:
    """Whether both end in the same character, or the other one surely ends in its own."""
    if len(name.text) < 3 or not may_run_on(name) or name.text[-1] == other.text[-1]:
        return True
    return known.is_whole(other.text)


def _alike(one: str, other: str) -> float:
    """Share of equal characters, place by place."""
    if len(one) != len(other):
        return 0
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def _only_one(known: Known, name: Name) -> Found:
    """Only one teacher is spoken of, and the document names another by a surname alone."""
    if len(name.text) > 1 or name.sort not in TITLES:
        return None
    pattern = re.compile(rf"([\u3400-\u9fff]){name.sort}")
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for other, place in known.names:
        if other.sort == name.sort and len(other.text) == 1:
            counts[other.text] += 1
            first.setdefault(other.text, place.line.number)
    ranked = counts.most_common(2)
    if not ranked or ranked[0][1] < 3 or not pattern.search(known.text):
        return None
    if len(ranked) > 1 and ranked[0][1] < 3 * ranked[1][1]:
        return None
    return ranked[0][0], first[ranked[0][0]], 1
