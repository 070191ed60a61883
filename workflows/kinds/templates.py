"""Templates of drafts: which sections there are, under which heading, and what each is for.

A template is a Markdown file, `NAME.md` or `NAME.en.md`, `NAME.zh.md`: `# title`, then for each
section `## Heading {#key}` and below it what belongs there. The key may be left out. The attribute
`template` of a document names one, by its file or its title, or is such a text itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from workflows.kinds.kind import Kind, Payload

LONGEST_FILE = 50_000
MOST_SECTIONS = 30
_LONGEST_HEADING = 120
_LONGEST_ABOUT = 2000
_FILE = re.compile(r"([a-z0-9][a-z0-9_-]{0,39})(?:\.([a-z]{2,3}))?\.md")
HEADING = re.compile(r"^[ ]{0,3}(#{1,6})[ \t]+([^\n]*)$", re.M)
"""What closes it is taken off by `titled`: a pattern that does may try for hours."""
_KEY = re.compile(r"(?<!\s)\s*\{#([^{}]*)\}$")
_WORD = re.compile(r"[a-z0-9]+")


class BadTemplate(Exception):
    """A text that is no template; the message is one English sentence that says what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of a draft. `about` says what belongs there."""

    key: str
    heading: str
    about: str = ""

    def told(self) -> dict[str, str]:
        return {"key": self.key, "heading": self.heading, "about": self.about}


@dataclass(frozen=True, kw_only=True)
class Template:
    """`language` is '' for one that serves every language."""

    name: str
    language: str
    title: str
    sections: tuple[Section, ...]

    def told(self) -> dict[str, Any]:
        """What people choose by."""
        headings = [section.heading for section in self.sections]
        facts = {"name": self.name, "title": self.title, "language": self.language}
        return {**facts, "sections": headings}

    def kept(self) -> dict[str, Any]:
        """All of it, as a run keeps it."""
        return {**self.told(), "sections": [section.told() for section in self.sections]}


LeaveOut = Callable[[BadTemplate], None]
"""Is told of a file that is no template, which is left out then."""


@runtime_checkable
class DraftsByTemplates(Protocol):
    """A kind whose drafts follow templates, of which there may be more than it brings."""

    @property
    def templates(self) -> tuple[Template, ...]: ...

    def with_templates(self, folder: Path, leave_out: LeaveOut | None = None) -> Kind:
        """This kind with the templates of a folder too. Raises BadTemplate or OSError."""
        ...

    def templates_for(self, attributes: Payload) -> tuple[Template, ...]:
        """Those from which a document with these attributes takes its own by its language: a run
        keeps them, so that no change of files reaches it. () where the attribute is the template
        itself. Raises BadTemplate."""
        ...


def templates_of_kind(kind: object) -> tuple[Template, ...]:
    """() for a kind that drafts by none."""
    return kind.templates if isinstance(kind, DraftsByTemplates) else ()


def attribute(value: Any) -> str | None:
    """The problem of a value that should name a template or be one, as an English sentence."""
    if not isinstance(value, str):
        return "This must be a text."
    return None if len(value) <= LONGEST_FILE else f"At most {LONGEST_FILE} characters."


def parse(text: str, *, name: str = "template", language: str = "") -> Template:
    """The template in a text. Raises BadTemplate."""
    if len(text) > LONGEST_FILE:
        raise BadTemplate(f"A template has at most {LONGEST_FILE} characters.")
    if "\x00" in text:
        raise BadTemplate("This is no text.")
    found = list(HEADING.finditer(text))
    if not found:
        raise BadTemplate("A template needs sections: lines like `## Decisions`.")
    titles = [one for one in found if len(one[1]) == 1]
    deeper = [one for one in found if len(one[1]) > 1]
    title = _plain(titled(titles[0])) if titles and deeper else ""
    level = min(len(one[1]) for one in (deeper or titles))
    heads = [one for one in (deeper or titles) if len(one[1]) == level]
    if len(heads) > MOST_SECTIONS:
        raise BadTemplate(f"A template has at most {MOST_SECTIONS} sections.")
    ends = [one.start() for one in heads[1:]] + [len(text)]
    sections = tuple(
        _section(number, titled(one), text[one.end() : end])
        for number, (one, end) in enumerate(zip(heads, ends, strict=True), start=1)
    )
    keys = [section.key for section in sections]
    if doubled := sorted({key for key in keys if keys.count(key) > 1}):
        raise BadTemplate(f"Two sections have the key {doubled[0]!r}; give one `{{#key}}`.")
    return Template(name=name, language=language, title=title or name, sections=sections)


def _section(number: int, line: str, below: str) -> Section:
    marked = _KEY.search(line)
    heading = _plain(line[: marked.start()] if marked else line)
    if not heading or not any(character.isalnum() for character in heading):
        raise BadTemplate(f"Section {number} has no heading.")
    if len(heading) > _LONGEST_HEADING:
        raise BadTemplate(f"Section {number}: a heading has at most {_LONGEST_HEADING} characters.")
    about = below.strip()
    if len(about) > _LONGEST_ABOUT:
        raise BadTemplate(
            f"Section {number}: what belongs there is said in at most {_LONGEST_ABOUT} characters."
        )
    if marked is None:
        return Section(key=slug(heading) or f"s{number}", heading=heading, about=about)
    if slug(marked[1]) != marked[1] or not marked[1]:
        raise BadTemplate(f"Section {number}: a key has small letters, digits and - only.")
    return Section(key=marked[1], heading=heading, about=about)


def titled(heading: re.Match[str]) -> str:
    """The words of a heading, without the marks that may close it."""
    return heading[2].rstrip(" \t").rstrip("#").rstrip(" \t")


def _plain(heading: str) -> str:
    return re.sub(r"[*_`]", "", heading).strip()


def slug(words: str) -> str:
    """Small letters and digits, joined by `-`; '' for a text that has none."""
    return "-".join(_WORD.findall(words.lower()))[:40].strip("-")


def read_folder(folder: Path, leave_out: LeaveOut | None = None) -> tuple[Template, ...]:
    """All templates of a folder. Raises BadTemplate naming the file, unless somebody wants to be
    told of it, or OSError."""
    if not folder.is_dir():
        raise BadTemplate(f"{folder.name}: there is no such folder of templates.")
    found = []
    for path in sorted(folder.glob("*.md")):
        try:
            found.append(_read_file(path))
        except BadTemplate as problem:
            if leave_out is None:
                raise
            leave_out(problem)
    return tuple(found)


def _read_file(path: Path) -> Template:
    named = _FILE.fullmatch(path.name)
    if named is None:
        raise BadTemplate(
            f"{path.name}: call it NAME.md or NAME.LANGUAGE.md, in small letters and digits."
        )
    try:
        text = path.read_bytes()[: 4 * LONGEST_FILE + 1].decode("utf-8-sig")
        return parse(text, name=named[1], language=named[2] or "")
    except UnicodeDecodeError:
        raise BadTemplate(f"{path.name}: it is not UTF-8 text.") from None
    except BadTemplate as problem:
        raise BadTemplate(f"{path.name}: {problem}") from None


def find(templates: Sequence[Template], wanted: str, language: str) -> Template:
    """The template a document names, in its language where there is one in several, or written out
    in the attribute itself. Raises BadTemplate."""
    if written_out(wanted):
        return parse(wanted)
    bare = _bare(wanted)
    named = [one for one in templates if bare in (_bare(one.name), _bare(one.title))]
    if not named:
        raise BadTemplate(
            f"There is no template {wanted!r}; there are {', '.join(names(templates))}."
        )
    rank = {language: 0, "": 1}
    same = [one for one in templates if one.name == named[0].name]
    return min(same, key=lambda one: rank.get(one.language, 2))


def written_out(wanted: str) -> bool:
    """Whether the attribute is a template rather than the name of one."""
    return re.search(r"^[ ]{0,3}#", wanted, re.M) is not None


def names(templates: Sequence[Template]) -> list[str]:
    """Each once, in the order they were read."""
    return list(dict.fromkeys(template.name for template in templates))


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def from_spec(told: Sequence[Mapping[str, Any]]) -> tuple[Section, ...]:
    """Sections as a frozen plan holds them."""
    return tuple(
        Section(key=str(one["key"]), heading=str(one["heading"]), about=str(one["about"]))
        for one in told
    )


def from_kept(kept: Sequence[Mapping[str, Any]]) -> tuple[Template, ...]:
    """Templates as a run keeps them."""
    return tuple(
        Template(
            name=str(one["name"]),
            language=str(one["language"]),
            title=str(one["title"]),
            sections=from_spec(one["sections"]),
        )
        for one in kept
    )
