"""Names and owners of a body that nobody in the meeting has, is called or mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, zip_longest

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT
from workflows.kinds.facts.chinese_names import chinese_strangers
from workflows.kinds.facts.context import (
    Facts,
    clear_winner,
    context_weights,
    facts_of,
    line_score,
    stem,
    unique_quote,
)
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

_LETTERS = r"[^\W\d_\u4e00-\u9fff]"
_UPPER = r"(?=[^\W\d_\u4e00-\u9fff])(?=[^a-zß-öø-ÿ])"
_NAME = re.compile(
    rf"(?<![\w'’@/.-]){_UPPER}{_LETTERS}(?:{_LETTERS}|['’.-](?={_LETTERS}))*"
    rf"(?:[ ]{_UPPER}{_LETTERS}(?:{_LETTERS}|['’.-](?={_LETTERS}))*)*"
)
_SKIPPED_LINE = re.compile(
    r"^\s*+(?:#{1,6}\s[^:：\n]*$|\|?[\s:|-]*+$|\*\*[^*:：\n]+\*\*:?\s*$|```)"
)
_LABELLED_LINE = re.compile(r"^\s*+(?:#{1,6}\s|\*\*)[^*:：\n]*[:：](?=[^*\n]*(?:\*\*)?\s*$)")
"""A heading, or a line all in bold, that says what follows: `**Moderator: Tim**`."""
_TABLE_RULE = re.compile(r"^\s*+\|?\s*+:?-{2,}[\s:|-]*$")
_LINK = re.compile(r"\[[^][\n]{0,200}\]\([^()\s]{0,300}\)|`[^`\n]*`|https?://\S+")
_ACTS = re.compile(
    r"\**\s*(?:will|shall|to|is to|are to|must|agreed|proposed|said|asked|suggested|presented|"
    r"thought|explained|mentioned|noted|reported|introduced|pointed|wanted|takes?|sends?|writes?|"
    r"offered|promised|volunteered|has to|is going to)\b"
)
_OWNER_LABEL = re.compile(
    r"(?:owners?|responsible|assigned to|assignee|action by|by|lead)\W{0,4}$|@$", re.IGNORECASE
)
_ITEM_OWNER = re.compile(
    r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]?\]\s*)?\**[^\W\d_][\w'’. -]{0,40}(?:\*\*)?[:：]"
)
MOST_FINDINGS = 50
NEAR = 60
"""Characters before a name that tell whether a sentence begins or an owner is named."""
_SENTENCE_START = re.compile(
    r"(?:^|[.!?:;|(“\"‘—–]|\*\*|^\s*(?:[-*+]|\d+[.)])(?:\s*\[[ xX]?\])?)\s*$"
)


@dataclass(frozen=True, kw_only=True)
class Known:
    """Words and people of the sources and of what is known of the meeting."""

    words: frozenset[str]
    people: tuple[str, ...]
    text: str


@dataclass(frozen=True, kw_only=True)
class _Named:
    """A capitalised phrase at [start, end): whether it stands where an owner is named (labelled),
    and whether it owns something at all."""

    start: int
    end: int
    text: str
    labelled: bool
    owner: bool


def verify_names(material: Material, body: str) -> list[Finding]:
    """Strangers in either language, each reported once."""
    facts = facts_of(material.sources)
    if not facts.lines:
        return []
    known = known_of(material)
    strangers = list(islice(_strangers(known, body), MOST_FINDINGS))
    findings = [_finding(facts, known, body, named) for named in strangers]
    findings += chinese_strangers(material, facts, body)
    return list({finding.quote: finding for finding in findings}.values())


def known_of(material: Material) -> Known:
    """Everything a name may come from: sources, their names, title, attributes."""
    extra = [material.title, *(source.name for source in material.sources)]
    participants: list[str] = []
    for name, value in material.attributes.items():
        texts = [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
        participants += texts if name == "participants" else []
        extra += texts
    words, speakers, text = _source_words(material.sources)
    people = tuple(dict.fromkeys([*participants, *speakers]))
    return Known(
        words=words | _words(" ".join(extra)) | _initials(people),
        people=people,
        text="\n".join([text, *extra]).lower(),
    )


@kept_by_text
def _source_words(
    sources: tuple[SourceText, ...],
) -> tuple[frozenset[str], tuple[str, ...], str]:
    lines = facts_of(sources).lines
    speakers = tuple(
        dict.fromkeys(
            line.speaker for line in lines if line.speaker and not line.speaker.startswith("#")
        )
    )
    text = "\n".join(line.text for line in lines)
    return _words(text), speakers, text


def _words(text: str) -> frozenset[str]:
    """Lower-case words and their stems; spelled letters joined: `L_C_D_` is lcd."""
    spelled = re.sub(r"\b((?:[A-Z]_)+[A-Z]?)", lambda found: found.group().replace("_", ""), text)
    found: set[str] = set()
    for word in set(re.findall(r"[^\W\d_\u4e00-\u9fff]+", spelled)):
        found |= {word.lower(), stem(word.lower())}
    return frozenset(found)


def _initials(people: tuple[str, ...]) -> frozenset[str]:
    """PM for Project Manager."""
    return frozenset(
        "".join(word[0] for word in person.split()).lower() for person in people if " " in person
    )


def _strangers(known: Known, body: str) -> Iterator[_Named]:
    at = 0
    lines = body.splitlines(keepends=True)
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if not ("|" in line and _TABLE_RULE.match(below)):
            for named in _named_in(line):
                if _is_strange(known, named):
                    yield replace(named, start=at + named.start, end=at + named.end)
        at += len(line)


@lru_cache(maxsize=KEPT)
def _named_in(line: str) -> tuple[_Named, ...]:
    """Each capitalised phrase that may name somebody."""
    if _SKIPPED_LINE.match(line):
        return ()
    links = [found.span() for found in _LINK.finditer(line)]
    label = _LABELLED_LINE.match(line)
    return tuple(
        named
        for found in _NAME.finditer(line, label.end() if label else 0)
        if not any(a <= found.start() < b for a, b in links)
        if (named := _named(line, found)) is not None
    )


def _named(line: str, found: re.Match[str]) -> _Named | None:
    words = found.group().split(" ")
    start = found.start()
    # A line may be a whole document: only what stands right before matters.
    before = line[:start] if start <= NEAR else "x" + line[start - NEAR : start]
    opens = _SENTENCE_START.search(before) is not None
    owner = _OWNER_LABEL.search(before) is not None
    while words and opens and (words[0].lower() in lexicon.OPENERS or words[0].endswith("ly")):
        start += len(words.pop(0)) + 1
        opens = False
    if not words or line[found.end() : found.end() + 1] in ("(", "/"):
        return None
    acts = _ACTS.match(line, found.end()) is not None
    owner = owner or _ITEM_OWNER.match(line, 0, found.end() + 3) is not None
    if opens and len(words) == 1 and (words[0].lower() in lexicon.BEFORE_TO or not (acts or owner)):
        return None
    return _Named(
        start=start,
        end=found.end(),
        text=" ".join(words),
        labelled=owner,
        owner=acts or owner,
    )


def _is_strange(known: Known, named: _Named) -> bool:
    words = named.text.split(" ")
    unknown = [word for word in words if not is_known_word(known, word)]
    if not unknown:
        return _other_letter(known, words) or (named.labelled and _mixed(known, words))
    return named.owner or not all(word.isupper() for word in unknown)


def is_known_word(known: Known, word: str) -> bool:
    plain = re.sub(r"['’]s?$", "", word.lower()).rstrip(".")
    if len(plain) == 1:
        return True
    cased = re.split(r"['’.\-]", word)
    pieces = [piece.lower() for piece in cased if len(piece) > 1 and piece[0].isupper()]
    pieces = pieces if "-" in word else [piece for piece in re.split(r"['’.]", plain) if piece]
    return all(
        piece in lexicon.KNOWN_TO_ALL or piece in known.words or stem(piece) in known.words
        for piece in pieces
    )


def _mixed(known: Known, words: list[str]) -> bool:
    """`Quality Manager` where there is a Project Manager, and nobody ever says the whole."""
    name = set(" ".join(words).lower().split())
    people = [set(person.lower().split()) for person in known.people]
    shares = any(name & person for person in people)
    return (
        shares
        and not any(name <= person for person in people)
        and " ".join(words).lower() not in known.text
    )


def _other_letter(known: Known, words: list[str]) -> bool:
    """`PhD G` where the meeting has PhD A and PhD F."""
    if len(words) != 2 or len(words[1]) != 1:
        return False
    same = [person for person in known.people if person.split(" ")[0] == words[0]]
    return bool(same) and " ".join(words) not in same and all(len(p.split()) == 2 for p in same)


def _finding(facts: Facts, known: Known, body: str, named: _Named) -> Finding:
    quote = unique_quote(body, named.start, named.end, least=3)
    right = likely_person(known, named.text)
    evidence: tuple[str, ...] = ()
    if right is None and named.owner:
        speaker = who_said(facts, context_weights(body, named.start, named.end))
        if speaker is not None:
            right, evidence = facts.lines[speaker].speaker, (facts.lines[speaker].name,)
    return Finding(
        category="owner" if named.owner else "name",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"“{named.text}” is neither in the meeting nor mentioned in it.",
        suggestion=None if right is None else quote.replace(named.text, right, 1),
        evidence=evidence,
    )


def likely_person(known: Known, text: str) -> str | None:
    """The one person whose name is close, or shares a word with it."""
    from rapidfuzz import fuzz

    close = [
        person
        for person in known.people
        if max(fuzz.ratio(text.lower(), name.lower()) for name in [person, *person.split()]) >= 80
    ]
    words = set(text.lower().split())
    sharing = [person for person in known.people if words & set(person.lower().split())]
    for group in (close, sharing):
        if len(group) == 1:
            person = group[0]
            single = " " not in text and " " in person
            if not single:
                return person
            return max(person.split(), key=lambda word: fuzz.ratio(text.lower(), word.lower()))
    return None


def who_said(facts: Facts, weights: Mapping[str, float], *, least: float = 6.0) -> int | None:
    """The line in which somebody takes on what the weighed words speak of."""
    best: dict[str, tuple[float, int]] = {}
    for at, line in enumerate(facts.lines):
        if not line.speaker or not re.search(
            r"\bI(?:'ll|'m| will| can| could| have)?\b|我来|我会|我负责|我去|我们来", line.said
        ):
            continue
        score = line_score(facts, weights, at)
        best[line.speaker] = max(best.get(line.speaker, (0.0, at)), (score, at))
    return clear_winner(best.values(), least=least, lead=1.4)
