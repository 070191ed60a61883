"""Sections of a draft: which of a reply are kept, and the body that is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workflows.kinds.kind import FOLLOWS, Item, Material, PartPlan, Payload, Refused, Work
from workflows.kinds.lines import evidence_lines, number_lines
from workflows.kinds.templates import HEADING, Section, from_spec, slug, titled
from workflows.kinds.windows import excerpt_of

NO_SUCH_LINE = "evidence_not_found"
LONGEST_SECTION = 60_000
_LONGEST_HEADING = 200
_MOST_OF_ITS_OWN, _BEHIND = 20, 1000
"""Sections that the template does not have, of one part; their place."""
_FENCE = re.compile(r"^[ ]{0,3}(?:```|~~~)", re.M)
_NAMES = r"T\d+(?:\s*[-–—]\s*T?\d+)?"
_CITED = re.compile(
    rf"(?<![ \t])[ \t]*[\[(（【]\s*({_NAMES}(?:\s*[,;，、]\s*{_NAMES})*)\s*[\])）】]"
)
_NUMBERED = re.compile(r"^[\s\d.、)）]+")
_WIDE = re.compile(r"[\u3400-\u9fff]")
_LOOKED_AT = 2000


def is_chinese(material: Material) -> bool:
    """By its language, else by its words."""
    if material.language:
        return material.language.lower().startswith("zh")
    words = material.title + "".join(source.text[:_LOOKED_AT] for source in material.sources)
    return len(_WIDE.findall(words)) * 4 > len(words)


def accept_section(
    work: Work, part: PartPlan, payload: Payload, kept: Sequence[Item]
) -> Item | Refused:
    """A section under its key. Evidence must name lines that this part is shown; a model that was
    told so once keeps its section with those that exist, the others counted as `unfounded`."""
    key, heading, markdown, evidence = (
        payload.get(name) for name in ("key", "heading", "markdown", "evidence")
    )
    if not (_is_text(key, 200) and _is_text(heading, 2000) and _is_text(markdown, LONGEST_SECTION)):
        return Refused(code="invalid")
    named = [] if evidence is None else evidence
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        return Refused(code="invalid")
    assert isinstance(key, str)
    assert isinstance(heading, str)
    assert isinstance(markdown, str)
    wanted = from_spec(part.spec["sections"])
    at, section = _match(wanted, key, heading)
    place = _BEHIND if section is None else part.spec["sections"][at].get("at", at)
    if section is None and not (markdown.strip() and slug(key) + heading.strip()):
        return Refused(code="invalid")
    own = section.key if section else slug(key) or f"own-{len(kept) + 1}"
    if any(item.key == own for item in kept):
        return Refused(code="duplicate")
    if section is None and sum(item.payload["place"] >= _BEHIND for item in kept) >= (
        _MOST_OF_ITS_OWN
    ):
        return Refused(code="too_many")
    text, cited = _without_citations(_shown(markdown, heading, section))
    lines, unfounded = _lines(work, part, [*named, *cited])
    if unfounded and not work.refused:
        return Refused(code=NO_SUCH_LINE)
    return Item(
        key=own,
        payload={
            "key": own,
            "heading": _heading(work, section, heading),
            "markdown": _shown(markdown, heading, section) if "window" in part.spec else text,
            "evidence": list(lines),
            "place": place,
            **({"unfounded": unfounded} if unfounded else {}),
        },
    )


def body_of(material: Material, wanted: Sequence[Section], items: Iterable[Item]) -> str:
    """The document: its title, then the sections in the template's order, then those the model
    added; a section that nobody had anything to say on says so."""
    chinese = is_chinese(material)
    nothing = "无。" if chinese else "Nothing noted."
    have = {item.payload["key"]: item.payload for item in reversed([*items])}  # the first stays
    lacking = [
        {"key": section.key, "heading": section.heading, "markdown": "", "place": at}
        for at, section in enumerate(wanted)
        if section.key not in have
    ]
    ordered = sorted([*reversed([*have.values()]), *lacking], key=lambda payload: payload["place"])
    pieces = [f"# {' '.join(material.title.split())}", *_facts(material, chinese=chinese)]
    pieces += [
        f"## {payload['heading']}\n\n{payload['markdown'].strip() or nothing}"
        for payload in ordered
    ]
    return "\n\n".join(pieces) + "\n"


def _facts(material: Material, *, chinese: bool) -> Iterable[str]:
    """What is known of the meeting besides its words."""
    known = material.attributes
    date, people = known.get("meeting_date"), known.get("participants")
    if isinstance(date, str) and date:
        yield f"**日期：** {date}" if chinese else f"**Date:** {date}"
    if isinstance(people, list) and people:
        yield f"**出席：** {'、'.join(people)}" if chinese else f"**Present:** {', '.join(people)}"


def _is_text(value: object, most: int) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= most
        and "\x00" not in value
        and not any("\ud800" <= character <= "\udfff" for character in value)
    )


def _match(wanted: Sequence[Section], key: str, heading: str) -> tuple[int, Section | None]:
    """The section of the template that is meant, by key, else by heading; else a place behind."""
    plain = key.strip().casefold()
    for at, section in enumerate(wanted):
        if section.key == plain or section.key == slug(key):
            return at, section
    title = _plain(heading)
    for at, section in enumerate(wanted):
        if title and _plain(section.heading) == title:
            return at, section
    return len(wanted), None


def _plain(heading: str) -> str:
    return _NUMBERED.sub("", heading.strip("#*_ \t")).strip(" :：").casefold()


def _heading(work: Work, section: Section | None, given: str) -> str:
    """The template's, unless the document is in a language that the templates are not in."""
    language = (work.material.language or "en").lower()[:2]
    own = " ".join(given.strip("#* \t\r\n").split())[:_LONGEST_HEADING]
    if section is None:
        return own or "Notes"
    return own if own and language not in ("en", "zh") else section.heading


def _shown(markdown: str, heading: str, section: Section | None) -> str:
    """Without its own heading at the top, and with no heading above the third level."""
    text = markdown.strip("\r\n").rstrip()
    first = HEADING.match(text)
    titles = {_plain(heading), _plain(section.heading) if section else ""}
    if first and _plain(titled(first)) in titles:
        text = text[first.end() :].strip("\r\n")
    if _FENCE.search(text):
        return text
    return HEADING.sub(lambda one: f"{'#' * max(3, len(one[1]))} {titled(one)}", text)


def _without_citations(markdown: str) -> tuple[str, list[str]]:
    """`… on Friday [T12, T14].` -> `… on Friday.`, and the names."""
    names = [
        name for found in _CITED.finditer(markdown) for name in re.split(r"[,;，、]", found[1])
    ]
    return _CITED.sub("", markdown), [name.strip() for name in names]


def _lines(work: Work, part: PartPlan, named: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The lines that exist, say something (what a recogniser made up does not) and are shown to
    this part, and how many names are of no such line."""
    lines = number_lines(work.material.sources)
    excerpt = None if part.spec.get(FOLLOWS) else excerpt_of(part.spec, lines)
    found: dict[str, None] = {}
    wrong = 0
    for name in named:
        ones = evidence_lines([name], len(lines)) or ()
        numbers = [int(one[1:]) for one in ones]
        said = any(lines[number - 1].text.strip() for number in numbers)
        if not said or (excerpt is not None and not set(numbers) <= set(excerpt)):
            wrong += 1
        else:
            found.update(dict.fromkeys(ones))
    return tuple(found), wrong
