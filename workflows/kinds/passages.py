"""Finding a quoted passage in a body, exactly first, then over spacing and typography.

Models change quotes: curly to straight, line breaks to spaces, emphasis dropped. What is returned
is always a span of the body as it is.
"""

from __future__ import annotations

import re
import unicodedata

from workflows.kinds.kept import kept_by_text

Span = tuple[int, int]
"""Start and end (exclusive) in characters of the body."""

_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″「」『』", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
LONGEST_SENTENCE = 2000
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？；\n]")
_DROPPED = frozenset("*\u200b\ufeff\u00ad")


def spans_of(body: str, text: str) -> list[Span]:
    """Where `text` stands in `body`: exact places, or else places that differ in typography."""
    if not text.strip():
        return []
    exact = _all(body, text)
    if exact:
        return [(at, at + len(text)) for at in exact]
    plain, places = _plain_body(body)
    wanted, _ = _plain(text.strip())
    wanted = wanted.strip()
    if not wanted:
        return []
    return [(places[at], places[at + len(wanted) - 1] + 1) for at in _all(plain, wanted)]


def first_span(body: str, text: str) -> Span | None:
    at = body.find(text) if text.strip() else -1
    if at >= 0:
        return at, at + len(text)
    spans = spans_of(body, text)
    return spans[0] if spans else None


def sentence_around(body: str, start: int, end: int) -> Span:
    """The sentence (or line) that holds [start, end)."""
    first = max(0, start - LONGEST_SENTENCE)
    for found in _SENTENCE_END.finditer(body, first, start):
        first = found.end()
    last = min(len(body), end + LONGEST_SENTENCE)
    following = _SENTENCE_END.search(body, end, last)
    return first, following.start() if following else last


def sentences_of(body: str) -> list[Span]:
    """All sentences (or lines) in order, without those that hold only marks and spaces."""
    spans, at = [], 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(body)), len(body)):
        if any(character.isalnum() for character in body[at:end]):
            spans.append((at, end))
        at = end
    return spans


def overlaps(one: Span, other: Span) -> bool:
    """Whether they share a character; an empty span touches what it stands inside of."""
    if one[0] == one[1] or other[0] == other[1]:
        return one[0] < other[1] and other[0] < one[1]
    return max(one[0], other[0]) < min(one[1], other[1])


def _all(body: str, text: str) -> list[int]:
    """Every place, also overlapping ones: `aa` stands twice in `aaa`.

    The time grows with the length of both, not with their product, also where one word is repeated
    for pages: nothing else of a worker runs during a search.
    """
    borders = _borders(text) if body.find(text, body.find(text) + 1) >= 0 else []
    if not borders or not borders[-1]:  # it stands once at most, or no place overlaps another
        found, at = [], body.find(text)
        while at >= 0:
            found.append(at)
            at = body.find(text, at + len(text))
        return found
    found, matched = [], 0
    for place, character in enumerate(body):
        while matched and (matched == len(text) or character != text[matched]):
            matched = borders[matched - 1]
        matched += character == text[matched]
        if matched == len(text):
            found.append(place + 1 - matched)
    return found


def _borders(text: str) -> list[int]:
    """For each beginning of the text how much of it is its own end again (Knuth-Morris-Pratt)."""
    borders, length = [0] * len(text), 0
    for place in range(1, len(text)):
        while length and text[place] != text[length]:
            length = borders[length - 1]
        length += text[place] == text[length]
        borders[place] = length
    return borders


@kept_by_text
def _plain_body(body: str) -> tuple[str, tuple[int, ...]]:
    """Bodies are asked for again with each item; they are few and may be long."""
    return _plain(body)


def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """Normalised text and, for each of its characters, its place in the original."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character in _DROPPED:
            continue
        for piece in unicodedata.normalize("NFKC", character).translate(_SAME):
            blank = piece.isspace()
            if blank and characters and characters[-1] == " ":
                continue
            characters.append(" " if blank else piece)
            places.append(place)
    return "".join(characters), tuple(places)
