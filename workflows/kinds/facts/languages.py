"""What the rules can read: English and Chinese, and which of the two each text is in.

A text in another language is left alone, because what the rules do not read they would call
wrong; `verify_language` says so in a finding, so that nobody takes silence for proof.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from workflows.kinds.facts.code import is_code, without_code
from workflows.kinds.facts.context import unique_quote
from workflows.kinds.facts.script import Verifier
from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText
from workflows.vocabulary import Severity

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_SCRIPTS = {
    "Japanese": re.compile(r"[\u3040-\u30ff\uff66-\uff9f]"),
    "Korean": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "Cyrillic": re.compile(r"[\u0400-\u052f]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f]"),
    "Indic": re.compile(r"[\u0900-\u0dff]"),
    "Thai": re.compile(r"[\u0e00-\u0eff]"),
}
_ENGLISH = (
    "the and of to a in is that it for on was with we you this be are have not i they will as at "
    "by or so what but if can there our do all from he she his her an has had would"
)
_OTHERS = {
    "German": "der die das und ist nicht ein eine zu mit wir ich es auf für den im sich von dem "
    "werden wird auch sind als haben bis noch wie wenn aber oder",
    "French": "le la les des et est un une dans que qui pour pas nous vous sur au avec ce il elle "
    "sont du en plus mais ou par je a été cette",
    "Spanish": "el la los las y es un una que de en por con para no se del lo al como más pero su "
    "está son hay muy ya este esta",
    "Portuguese": "o os as e é um uma que de em por com para não se do da no na mais mas como está "
    "são foi isso você nós",
    "Italian": "il lo la gli le e è un una che di in per con non si del della al sono anche ma più "
    "come questo noi nel alla",
    "Dutch": "de het een en is niet van dat we ik zijn met voor op te in er maar ook als aan naar "
    "wordt hebben wij of",
    "Polish": "i w na z nie się że to jest do o jak ale po co za już od dla przez czy tak są być",
    "Turkish": "ve bir bu da de için ile çok ne var mı olarak gibi daha ama olan biz ben",
    "Vietnamese": "và là của có không được cho trong một này các với những để người đã",
    "Indonesian": "dan yang di ini itu untuk dengan tidak kita akan dari pada ada kami saya juga",
    "Swedish": "och att det är en som på för med inte vi jag av till den har om ett så men",
}
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_OTHER_WORDS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}
TOLD = frozenset(_SCRIPTS) | frozenset(_OTHERS)
"""The names of languages and scripts that a finding may tell."""
FEWEST_WORDS = 12
"""Fewer words tell no language."""
MOST_FOREIGN = 0.15
"""A larger share of letters in another script, and a text is not read any more."""


class Language(StrEnum):
    """ENGLISH and CHINESE are read, MIXED is both; UNCLEAR is too short to say."""

    ENGLISH = "English"
    CHINESE = "Chinese"
    MIXED = "mixed"
    UNCLEAR = "unclear"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The language of a text; `name` says which other one, as far as that can be told."""

    language: Language
    name: str = ""


@kept_by_text
def reading(text: str) -> Reading:
    """The language of a text, by its letters and its smallest words."""
    han, words = len(_HAN.findall(text)), _LATIN_WORD.findall(text)
    foreign = {} if text.isascii() else _foreign(text)
    letters = han + sum(map(len, words)) + sum(foreign.values())
    if sum(foreign.values()) > MOST_FOREIGN * letters:
        return Reading(language=Language.OTHER, name=max(foreign, key=lambda name: foreign[name]))
    other = _other_latin(words)
    if other and len(words) > han:
        return Reading(language=Language.OTHER, name=other)
    if han + len(words) < FEWEST_WORDS:
        return Reading(language=Language.UNCLEAR)
    if han < 0.15 * (han + len(words)):
        return Reading(language=Language.ENGLISH)
    mixed = len(words) > 0.4 * (han + len(words))
    return Reading(language=Language.MIXED if mixed else Language.CHINESE)


def _foreign(text: str) -> dict[str, int]:
    return {name: len(letters.findall(text)) for name, letters in _SCRIPTS.items()}


def _other_latin(words: Sequence[str]) -> str | None:
    """The language that clearly more of the words are of than of English."""
    if len(words) < FEWEST_WORDS:
        return None
    low = [word.lower() for word in words]
    english = sum(map(_ENGLISH_WORDS.__contains__, low))
    if english > 0.15 * len(low):
        return None
    counts = {name: sum(word in own for word in low) for name, own in _OTHER_WORDS.items()}
    likeliest = max(counts, key=lambda name: counts[name])
    clear = counts[likeliest] >= 0.12 * len(low) and counts[likeliest] > 2 * english
    # One word alone, again and again, is the name of a speaker: Ben, Sam, Do.
    said = _OTHER_WORDS[likeliest].intersection(low)
    return likeliest if clear and len(said) > 1 else None


@kept_by_text
def reading_of_sources(sources: tuple[SourceText, ...]) -> Reading:
    """Of all of them together."""
    return reading("\n".join(source.text for source in sources))


def is_read(material: Material, body: str) -> bool:
    """Whether values of body and sources can be compared."""
    return _unread(material, body) is None


def names_are_read(material: Material, body: str) -> bool:
    """Whether words can be compared too: both texts are in the same language."""
    pair = {reading_of_sources(material.sources).language, reading(body).language}
    return is_read(material, body) and pair != {Language.ENGLISH, Language.CHINESE}


def where_read(verifier: Verifier, *, words: bool = False) -> Verifier:
    """The verifier, silent about code and texts that it cannot read (`words`: or compare)."""

    def verify(material: Material, body: str) -> Sequence[Finding]:
        readable = names_are_read if words else is_read
        return verifier(material, without_code(body)) if readable(material, body) else ()

    return verify


def verify_language(material: Material, body: str) -> list[Finding]:
    """A minor finding that says what was not compared by rule, and why."""
    if names_are_read(material, body) or not body.strip():
        return []
    unread = _unread(material, body)
    if unread is None:
        problem = "Text and source are in different languages: names and terms were not checked."
    else:
        problem = f"{unread}: numbers, dates and names were not checked by rule."
    start = len(body) - len(body.lstrip())
    end = body.find("\n", start)
    end = min(len(body) if end < 0 else end, start + 60)
    return [
        Finding(
            category="language",
            severity=Severity.MINOR,
            quote=unique_quote(body, start, end),
            problem=problem,
        )
    ]


def _unread(material: Material, body: str) -> str | None:
    """Which text is in a language that the rules do not read."""
    given = material.language or ""
    if is_code(body):
        return "The text is program code"
    mine, theirs = reading(body), reading_of_sources(material.sources)
    if theirs.language is Language.OTHER:
        return f"The source is in a language that is not read here ({theirs.name})"
    if mine.language is Language.OTHER:
        return f"The text is in a language that is not read here ({mine.name})"
    if mine.language is Language.UNCLEAR and given and not given.lower().startswith(("en", "zh")):
        return f"The text is in a language that is not read here ({given})"
    return None
