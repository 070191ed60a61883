"""The rules about who does and who said something, where it was clearly another speaker."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from deploy.offline_model.findings import Category, Finding
from deploy.offline_model.sources import Source
from deploy.offline_model.words import words

TASK = re.compile(
    r"^(?P<mark>\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?(?:\*\*)?(?:The |the )?)"
    r"(?P<who>{names})"
    r"(?P<link>(?:\*\*)?\s*"
    r"(?:will|shall|is to|are to|to|takes care of|has to|[:：]|负责|将|会|需|要))"
)
"""A line that gives a task to a person; `{names}` are the speakers."""
_PROMISE = re.compile(
    r"\b(?:I'll|I will|I'm going to|I am going to|I can|I could|let me|I'd|I shall|I take)\b"
    r"|我来|我会|我负责|我去|我将|我今天|我明天|我下周|交给我",
    re.IGNORECASE,
)
SHARED = 3
"""Content words of the task that the promise has to share."""
SHARE = 0.6
"""And which part of the task's words that has to be."""
_SAID = (
    "suggested|proposed|asked|noted|explained|said|introduced|presented|drew|pointed|recommended|"
    "mentioned|argued|reported|showed|described|stated|offered|announced|wanted|supplemented|put|"
    "commented|raised|promised|offered"
)
MOST = 0.65
"""Part of a statement's words, by rarity, that the one who said it must have used."""
LITTLE = 0.22
"""Part of them that the one whom the document names may have used at most."""
ALONE = 0.55
"""How much of that a third speaker may have used."""
STATEMENTS = 100
"""Statements looked into: each is held against all of the source."""
WINDOW = 4
"""Lines over which one speaker's statement may stretch, others in between."""


@dataclass(frozen=True, kw_only=True)
class _Promise:
    order: int
    shared: int


def wrong_owners(
    source: Source, document: str, spans: Sequence[tuple[int, int]], *, about: str = ""
) -> Iterable[Finding]:
    """Tasks given to one speaker that another one, and nobody else, promised to do.

    A role like a speaker's that nobody has (Quality Manager) counts as a speaker's here, unless
    `about`, what is known of the meeting, names it.
    """
    speakers = sorted(source.speakers, key=len, reverse=True)
    if not speakers:
        return
    ends = {speaker.split()[-1] for speaker in speakers if " " in speaker}
    roles = [rf"[A-Z][a-z]+ {re.escape(end)}" for end in sorted(ends) if end.isalpha()]
    names = "|".join([*map(re.escape, speakers), *roles])
    pattern = re.compile(TASK.pattern.replace("{names}", names))
    for start, end in spans:
        line = document.rfind("\n", 0, start) + 1
        match = pattern.match(document[line:end])
        if match is None or line + match.start("who") < start - len(match["mark"]):
            continue
        who = match["who"]
        if who not in speakers and who.lower() in about.lower():
            continue
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


def wrong_speakers(
    source: Source, document: str, spans: Sequence[tuple[int, int]]
) -> Iterable[Finding]:
    """Statements given to one speaker in words that another one, and nobody else, used."""
    speakers = sorted(source.speakers, key=len, reverse=True)
    if len(speakers) < 2:
        return
    labels = {word.stem for speaker in speakers for word in words(speaker)}
    pattern = re.compile(
        rf"^(?:[-*+]\s+)?(?P<the>[Tt]he )?(?P<who>{'|'.join(map(re.escape, speakers))})\s+"
        rf"(?:[a-z]+ly\s+|also\s+)?(?:{_SAID})\b(?P<what>.*)"
    )
    matches = ((start, pattern.match(document[start:end])) for start, end in spans)
    for start, match in islice(filter(itemgetter(1), matches), STATEMENTS):
        assert match is not None
        said = {word.stem for word in words(match["what"])} - labels
        teller = _teller(source, said, match["who"]) if len(said) > SHARED else None
        if teller is None:
            continue
        who, number, share = teller
        begin = start + match.start("who")
        if match["the"] and f"the {who}".lower() not in document.lower():
            begin = start + match.start("the")
        yield Finding(
            category=Category.WRONG_OWNER,
            start=begin,
            end=start + match.end("who"),
            right=who,
            evidence=[number],
            score=share,
        )


def _teller(source: Source, said: set[str], named: str) -> tuple[str, int, float] | None:
    """(speaker, line, share) of the one who used these words, unless `named` did or two did."""
    shares = {speaker: _share(source, speaker, said) for speaker in source.speakers}
    others = sorted(
        ((share, number, speaker) for speaker, (share, number) in shares.items()), reverse=True
    )
    share, number, speaker = others[0]
    if speaker == named or share < MOST or shares[named][0] > LITTLE:
        return None
    order = next(at for at, line in enumerate(source.lines) if line.number == number)
    close = source.lines[max(0, order - 2) : order + 3]
    # Who answers or is answered may be the one who is spoken about: "you showed two" - "I did".
    if any(line.speaker == named for line in close):
        return None
    if len(others) > 1 and others[1][0] > ALONE * share:
        return None
    return speaker, number, share


def _share(source: Source, speaker: str, said: set[str]) -> tuple[float, int]:
    """The largest part of the words that one statement of a speaker has, and where it begins."""
    own = [at for at, line in enumerate(source.lines) if line.speaker == speaker]
    spoken = {at: said & {word.stem for word in source.line_words[at]} for at in own}
    total = sum(source.rarity.get(word, 1) for word in said)
    best, number = 0.0, 0
    for at in own:
        if not spoken[at]:
            continue
        near = set[str]().union(*(spoken.get(other, ()) for other in range(at, at + WINDOW + 1)))
        share = sum(source.rarity.get(word, 1) for word in near) / total
        if share > best:
            best, number = share, source.lines[at].number
    return best, number


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
        spoken = task & {word.stem for word in source.line_words[near]}
        if named or (other.speaker == who and len(spoken) > 1):
            return True
    return False
