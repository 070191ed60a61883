"""The shape of a text: sections with nothing in them, tables and code that are not closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from workflows.kinds.facts.context import unique_quote
from workflows.kinds.facts.sections import BOLD, Section, sections, sections_below
from workflows.kinds.kind import Finding, Material
from workflows.kinds.templates import BadTemplate, parse
from workflows.vocabulary import Severity

MOST_FINDINGS = 5
_LETTERS = re.compile(r"[^\W_]")
_FEWEST_LETTERS = 4
"""Two Chinese words, or one English."""
_LABEL = re.compile(r"[\s\d.、:：*#()（）一二三四五六七八九十-]+")


def verify_layout(material: Material, body: str) -> list[Finding]:
    """Minor findings; a section that the document's template asks for is a major one."""
    if not body.strip():
        return []
    shape = islice(_shape(body), MOST_FINDINGS)
    return [*_missing(material, body), *_hardly_any(body), *shape]


def _missing(material: Material, body: str) -> Iterator[Finding]:
    """Sections of the template (Markdown in the attribute) that the body does not have."""
    wanted = _wanted(material.attributes.get("template"))
    titles = [_plain(section.title) for section in sections(body)]
    gone = [
        title.rstrip("# \t\r")
        for title in wanted
        if _plain(title) and not any(_plain(title) in other for other in titles)
    ]
    if gone:
        yield Finding(
            category="format",
            severity=Severity.MAJOR,
            quote=_last_heading(body),
            problem=f"Sections of the template that are missing: {'; '.join(gone)}.",
        )


def _wanted(template: object) -> list[str]:
    """Its headings; none of a name, or of what is no template."""
    if not isinstance(template, str) or "#" not in template:
        return []
    try:
        return [section.heading for section in parse(template).sections]
    except BadTemplate:
        return []


def _plain(title: str) -> str:
    return _LABEL.sub("", title).lower()


def _last_heading(body: str) -> str:
    """Where a section that is missing would follow."""
    all_ = sections(body)
    if all_:
        start = all_[-1].start
        end = all_[-1].body_start
    else:
        start = len(body) - len(body.lstrip())
        end = min(len(body), start + 60)
    return unique_quote(body, start, end).strip("\r\n")


def _hardly_any(body: str) -> Iterator[Finding]:
    """A text in which nothing can be found wrong passes; that it says nothing is said."""
    if len(_LETTERS.findall(body)) < _FEWEST_LETTERS:
        yield Finding(
            category="format",
            severity=Severity.MINOR,
            quote=body.strip(),
            problem="This text has hardly a word: there is nothing in it to check.",
        )


def _shape(body: str) -> Iterator[Finding]:
    for at, section in enumerate(sections(body)):
        # A title, a line that is only printed bold, and `### Notes: Ana` need nothing below.
        if at == 0 or section.level == BOLD or re.search(r"[:：[]", section.title):
            continue
        if not any(body[one.body_start : one.end].strip() for one in sections_below(body, at)):
            yield _minor(body, section, "This section is empty.")
    for section, other in _doubled(body):
        yield _minor(body, other, f"There are two sections “{section.title}”.")
    fences = list(re.finditer(r"^[ ]{0,3}```", body, re.MULTILINE))
    if len(fences) % 2:
        start = fences[-1].start()
        end = body.find("\n", start)
        quote = unique_quote(body, start, len(body) if end < 0 else end)
        if body.count(quote) == 1:
            yield Finding(
                category="format",
                severity=Severity.MINOR,
                quote=quote,
                problem="This block of code is not closed.",
            )


def _doubled(body: str) -> Iterator[tuple[Section, Section]]:
    """Sections of the same title and level below the same heading."""
    path: dict[int, str] = {}
    seen: dict[tuple[object, ...], Section] = {}
    for section in sections(body):
        path = {level: title for level, title in path.items() if level < section.level}
        key = (*sorted(path.items()), section.level, section.title.lower())
        if key in seen and 1 < section.level < BOLD:
            yield seen[key], section
        seen.setdefault(key, section)
        path[section.level] = section.title


def _minor(body: str, section: Section, problem: str) -> Finding:
    quote = body[section.start : section.body_start].rstrip("\r\n")
    end = section.body_start
    while body.count(quote) > 1 and end < len(body) and len(quote) < 200:
        end = min(len(body), end + 20)
        quote = body[section.start : end]
    return Finding(category="format", severity=Severity.MINOR, quote=quote, problem=problem)
