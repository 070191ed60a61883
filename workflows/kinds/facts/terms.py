"""Terms of a body that no source has: acronyms, identifiers, product names with digits or capitals.

Plain words are left alone, because a summary may use its own; capitalised English words are names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from workflows.kinds.facts import lexicon
from workflows.kinds.facts.blocks import KEPT, blocks
from workflows.kinds.facts.context import (
    clear_winner,
    context_weights,
    facts_of,
    line_score,
    unique_quote,
)
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

MOST_FINDINGS = 50
MOST_CAPITALS = 0.4
"""A line with a larger share of capitals is written in capitals and has no acronyms."""
_TERM = re.compile(
    r"(?<![A-Za-z0-9_@/.#-])(?:"
    r"[A-Z]{2,10}s?(?![A-Za-z0-9_-])"  # LCD, EIPs
    r"|[A-Za-z]{2,12}-?\d{1,6}[A-Za-z]{0,4}(?:\.\d{1,4}){0,3}(?![A-Za-z0-9_-])"  # EIP-4844, gpt4
    r"|[A-Za-z]-?\d{3,6}[A-Za-z]?(?![A-Za-z0-9_-])"  # H100
    r"|[a-z]{1,4}[A-Z][A-Za-z]{1,20}(?![A-Za-z0-9_-])"  # iPhone
    r"|[A-Z][a-z]{1,12}[A-Z][A-Za-z]{0,20}(?![A-Za-z0-9_-])"  # GitHub
    r")"
)
_LATIN = re.compile(r"(?<![A-Za-z0-9_@/.#-])[A-Za-z][A-Za-z0-9]{2,20}(?![A-Za-z0-9_@-])")
_SKIPPED = re.compile(
    r"`[^`\n]{0,200}`|https?://\S{1,500}|\]\([^()\s]{0,300}\)|\bT\d+\b|^#{1,6}[^\n]*$", re.MULTILINE
)
_PLAIN_WORDS = (
    lexicon.COMMON_TERMS, lexicon.NO_CONTEXT, lexicon.NO_NOUNS, lexicon.OPENERS, lexicon.ONES,
    lexicon.TENS, lexicon.KNOWN_TO_ALL,
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class _Terms:
    """What sources offer: words, terms as they are written, the text with nothing between."""

    words: frozenset[str]
    written: tuple[tuple[str, int], ...]
    packed: str
    text: str
    sources: tuple[SourceText, ...]

    @property
    def initials(self) -> frozenset[str]:
        return _initials_of(self.sources)


def verify_terms(material: Material, body: str) -> list[Finding]:
    """One major finding for each unknown term; with a suggestion when one differs a little."""
    if not facts_of(material.sources).lines:
        return []
    known = _terms_of(material.sources)
    extra = " ".join([material.title, *_texts(material)])
    own = frozenset(word.lower() for word in _WORD.findall(extra))
    findings: dict[str, Finding] = {}
    strangers = (
        (start, term)
        for term, start in _first_of_each(_body_terms(body))
        if not (_is_known(known, term) or _plain(term) in own or _plain(term) in _packed(extra))
        and not _explained(known, body, term)
    )
    for start, term in islice(strangers, MOST_FINDINGS):
        finding = _finding(material, known, body, start, term)
        findings.setdefault(finding.quote, finding)
    return list(findings.values())


def _first_of_each(places: Iterable[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """Each term once, where it stands first."""
    seen: set[str] = set()
    for start, term in places:
        if term not in seen:
            seen.add(term)
            yield term, start


def _texts(material: Material) -> Iterator[str]:
    yield from (source.name for source in material.sources)
    for value in material.attributes.values():
        if isinstance(value, list):
            yield from (str(entry) for entry in value)
        else:
            yield str(value)


def _body_terms(body: str) -> Iterator[tuple[int, str]]:
    for at, block in blocks(body):
        for start, term in _terms_of_block(block):
            yield at + start, term


@lru_cache(maxsize=KEPT)
def _terms_of_block(block: str) -> tuple[tuple[int, str], ...]:
    if sum(map(str.isupper, block)) > MOST_CAPITALS * len(block):
        return ()
    masked = _SKIPPED.sub(lambda found: " " * len(found.group()), block)
    found = [(one.start(), one.group()) for one in _TERM.finditer(masked)]
    if _HAN.search(block):
        # Inside Chinese text a Latin word is a term whatever its letters are.
        taken = {start for start, _ in found}
        found += [
            (one.start(), one.group())
            for one in _LATIN.finditer(masked)
            if one.start() not in taken and _beside_chinese(masked, *one.span())
        ]
    return tuple((start, term) for start, term in found if not _is_plain(term))


def _beside_chinese(text: str, start: int, end: int) -> bool:
    return _HAN.search(text[max(0, start - 2) : start] + text[end : end + 2]) is not None


def _is_plain(term: str) -> bool:
    low = term.lower()
    single = low.removesuffix("s")
    return any(low in words or single in words for words in _PLAIN_WORDS)


def _plain(term: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", term.lower())


@kept_by_text
def _packed(text: str) -> str:
    return _plain(text)


@kept_by_text
def _terms_of(sources: tuple[SourceText, ...]) -> _Terms:
    words: set[str] = set()
    written: list[tuple[str, int]] = []
    packed: list[str] = []
    for at, line in enumerate(facts_of(sources).lines):
        spelled = re.sub(
            r"\b((?:[A-Za-z][_.]){2,}[A-Za-z]?|(?:[A-Z] ){1,6}[A-Z]\b)", _joined, line.text
        )
        found = _WORD.findall(spelled)
        words.update(word.lower() for word in found)
        packed.append(_plain(spelled))
        written += [(one.group(), at) for one in _TERM.finditer(spelled)]
    return _Terms(
        words=frozenset(words),
        written=tuple(dict.fromkeys(written)),
        packed="|".join(packed),
        text="\n".join(facts_of(sources).low),
        sources=sources,
    )


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"[_. ]", "", found.group())


@kept_by_text
def _initials_of(sources: tuple[SourceText, ...]) -> frozenset[str]:
    """Of what is said at least twice, or is a speaker's name: `PM` for Project Manager."""
    counted: Counter[str] = Counter()
    for line in facts_of(sources).lines:
        counted.update(_initials(re.findall(r"[A-Za-z]+", line.spoken)))
        counted.update(dict.fromkeys(_initials(re.findall(r"[A-Za-z]+", line.speaker)), 2))
    return frozenset(letters for letters, count in counted.items() if count > 1)


def _initials(words: list[str]) -> Iterator[str]:
    """First letters of two to five words in a row that carry meaning."""
    letters = [
        word[0].lower() if len(word) > 2 and word.lower() not in lexicon.NO_CONTEXT else " "
        for word in words
    ]
    text = "".join(letters)
    for size in range(2, 6):
        for at in range(len(text) - size + 1):
            piece = text[at : at + size]
            if " " not in piece:
                yield piece


def _is_known(known: _Terms, term: str) -> bool:
    low = _plain(term)
    single = low.removesuffix("s")
    if low in known.words or single in known.words or single in known.initials:
        return True
    if any(character.isdigit() for character in low):
        return _identifier_is_known(known, low)
    return len(low) > 3 and (low in known.packed or single in known.packed)


def _identifier_is_known(known: _Terms, low: str) -> bool:
    """`EIP-4844` is known when it is said in any spelling, or its number is."""
    pieces = re.findall(r"[a-z]+|\d+", low)
    spelled = r"[\s._#-]{0,3}".join(pieces)
    if re.search(rf"(?<![a-z0-9]){spelled}(?![a-z0-9])", known.text):
        return True
    digits = re.sub(r"^[a-z]*|[a-z]*$", "", low)
    return len(digits) > 2 and digits in known.words


def _explained(known: _Terms, body: str, term: str) -> bool:
    """`User Interface (UI)`: the body itself says what the letters stand for."""
    if not term.isupper():
        return False
    words = r"[\s-]{1,3}(?:\w{1,12}[\s-])?".join(rf"\b{letter}\w{{0,24}}" for letter in term[:6])
    return re.search(words, body.replace(term, " "), re.IGNORECASE) is not None


def _finding(material: Material, known: _Terms, body: str, start: int, term: str) -> Finding:
    quote = unique_quote(body, start, start + len(term), least=3)
    facts = facts_of(material.sources)
    weights = context_weights(body, start, start + len(term))
    near: dict[str, tuple[float, int]] = {}
    for index, (other, at) in enumerate(known.written):
        if _alike(term, other):
            score = (line_score(facts, weights, at), index)
            near[other] = max(near.get(other, (0.0, index)), score)
    least = 0.0 if len(near) == 1 else 2.5
    winner = clear_winner(near.values(), least=least, lead=1.3)
    right = None
    evidence: tuple[str, ...] = ()
    if winner is not None:
        right, at = known.written[winner]
        evidence = (facts.lines[at].name,)
    return Finding(
        category="term",
        severity=Severity.MAJOR,
        quote=quote,
        problem=f"“{term}” stands nowhere in the sources.",
        suggestion=None if right is None else quote.replace(term, right, 1),
        evidence=evidence,
    )


def _alike(term: str, other: str) -> bool:
    """Same letters and another number, or the same but for one or two characters."""
    mine, theirs = _plain(term), _plain(other)
    if mine == theirs:
        return False
    if any(character.isdigit() for character in mine + theirs):
        return re.sub(r"\d+", "0", mine) == re.sub(r"\d+", "0", theirs)
    from rapidfuzz.distance import OSA

    return len(mine) > 3 and OSA.distance(mine, theirs) <= (1 if len(mine) < 6 else 2)
