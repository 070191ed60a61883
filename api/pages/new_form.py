"""What was entered into the form of a new run, as the document and the run that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.files.originals import ReadFile
from api.files.run_form import title_of as title_of_text
from api.http.errors import Refusal
from api.pages.forms import Form, given, number
from api.pages.forms import limits as limits_of
from api.pages.new_files import BODY, REFERENCE, SOURCE, Brought
from workflows.kinds.attributes import Type, types_of_kind
from workflows.kinds.drafting import DEFAULT
from workflows.kinds.kind import Kind, Material, SourceText
from workflows.kinds.templates import templates_of_kind
from workflows.requesting import begins_with_request, title_of
from workflows.vocabulary import ErrorCode

PASTED, REQUEST, DATA = "pasted.txt", "request", "reference.json"
TEMPLATE = "template"
"""The attribute that is chosen from a list."""
_COMMAS = re.compile(r"[,，、;；\n]")


@dataclass(frozen=True, kw_only=True)
class Field:
    """An attribute as the form asks for it."""

    attribute: str
    type: str

    @property
    def name(self) -> str:
        return f"attribute-{self.attribute}"


def fields_of(kind: Kind) -> list[Field]:
    return [Field(attribute=name, type=str(type_)) for name, type_ in types_of_kind(kind).items()]


def templates_of(kind: Kind, language: str) -> list[tuple[str, str, str]]:
    """(name, title, headings) of each template by which the kind drafts, that of every draft where
    none is named first; in the reader's language where it has one."""
    found: dict[str, tuple[str, str, str]] = {}
    own = sorted(templates_of_kind(kind), key=lambda one: one.language != language)
    for template in own:
        headings = ", ".join(section.heading for section in template.sections)
        found.setdefault(template.name, (template.name, template.title, headings))
    return sorted(found.values(), key=lambda one: one[0] != DEFAULT)


@dataclass(kw_only=True)
class Recorded:
    """The recording that was chosen; `seconds` where its length is known."""

    name: str
    seconds: float | None = None
    problem: str | None = None


@dataclass(kw_only=True)
class Entered:
    """All that was typed, pasted and chosen."""

    form: Form
    kind: Kind | None
    files: list[Brought] = field(default_factory=list)
    recorded: Recorded | None = None

    @property
    def asks(self) -> bool:
        return begins_with_request(self.kind)

    @property
    def fields(self) -> list[Field]:
        return [] if self.kind is None else fields_of(self.kind)

    @property
    def is_empty(self) -> bool:
        texts = (SOURCE, BODY, REFERENCE)
        return not (self.files or self.recorded or any(self.form[name].strip() for name in texts))

    def nothing(self) -> Refusal | None:
        """Where nothing was brought: it belongs to the place for it, not to the title."""
        stated = self.asks and any(self.form[entry.name].strip() for entry in self.fields)
        if not self.is_empty or stated or self.kind is None:
            return None
        if self.asks:
            place, code, detail = SOURCE, "nothing_asked", "say what you want"
        elif self.kind.drafts_without_body():
            place, code = f"{SOURCE}-file", "nothing_to_draft"
            detail = "bring a transcript, a recording or a draft"
        else:
            place, code, detail = f"{BODY}-file", "nothing_to_review", "bring the text"
        return Refusal(422, ErrorCode.INVALID_REQUEST, detail, errors=[(f"/{place}", code, detail)])

    def texts(self) -> Iterator[tuple[str, dict[str, Any], Brought | None]]:
        """(field of the form, source, its file) of each source, in the order of the document."""
        pasted = {SOURCE: (REQUEST if self.asks else PASTED, "text/plain")}
        pasted[REFERENCE] = (DATA, "application/json")
        for role, (name, media_type) in pasted.items():
            if self.form[role].strip():
                yield role, _source(name, media_type, self.form[role]), None
            for one in self.files:
                if one.role == role and one.parsed is not None:
                    file = one.file
                    yield one.field, _source(file.name, file.media_type, one.parsed.text), one

    def places(self) -> dict[str, str]:
        """Which field of the form each source is, by the pointer of its place."""
        return {f"sources/{at}": name for at, (name, _, _) in enumerate(self.texts())}

    def read_files(self) -> list[ReadFile]:
        """The files behind the texts; one that a pasted text stands before has no text."""
        found = [
            one.read_file(at) for at, (_, _, one) in enumerate(self.texts()) if one is not None
        ]
        bodies = self._bodies
        if bodies and not self.form[BODY].strip():
            found.append(bodies[0].read_file(None))
        return found

    @property
    def _bodies(self) -> list[Brought]:
        return [one for one in self.files if one.role == BODY and one.parsed is not None]

    @property
    def _body(self) -> str:
        """The draft: pasted, else of its file."""
        if self.form[BODY].strip() or not self._bodies:
            return self.form[BODY]
        return self._bodies[0].parsed.text if self._bodies[0].parsed else ""

    def refusal(self) -> Refusal | None:
        """Of files that cannot be read, or are one too many."""
        errors: list[tuple[str, str, str]] = []
        for one in self.files:
            if one.refusal is not None:
                told = one.refusal.errors[0]
                errors.append((f"/{one.field}", str(told["code"]), str(told["detail"])))
        if len(self._bodies) + bool(self.form[BODY].strip()) > 1:
            detail = "there is one draft only: a file or a pasted text"
            errors.append((f"/{BODY}-file", "one_draft", detail))
        if not errors:
            return None
        return Refusal(422, ErrorCode.INVALID_REQUEST, errors[0][2], errors=errors)

    def run(self) -> dict[str, Any]:
        """The body of the `POST /api/runs` that this asks for; a title may still be missing."""
        form = self.form
        sources = [source for _, source, _ in self.texts()]
        attributes = {
            entry.attribute: value_of(form[entry.name], entry.type)
            for entry in self.fields
            if form[entry.name].strip()
        }
        found: dict[str, Any] = {
            "kind": form["kind"],
            "title": form["title"].strip() or self._title(sources, attributes),
            "attributes": attributes,
            "sources": sources,
            **given(form, "language", "profile"),
        }
        body = self._body
        if body.strip() or self.kind is None or not self.kind.drafts_without_body():
            found["body"] = body
        for name in ("max_rounds", "pass_score"):
            if form[name].strip():
                found[name] = number(form[name])
        if limits := limits_of(form):
            found["limits"] = limits
        return found

    def _title(self, sources: Sequence[dict[str, Any]], attributes: dict[str, Any]) -> str:
        """What a request asks for, else as a form of the API is named: by the draft or the first
        source, then by the first file."""
        if self.asks:
            return self._named(sources, attributes)
        told = (source["text"] for role, source, _ in self.texts() if role.startswith(SOURCE))
        names = [one.file.name for one in sorted(self.files, key=lambda one: one.role != BODY)]
        names += [self.recorded.name] if self.recorded is not None else []
        return title_of_text(self._body.strip() or next(told, ""), names[0] if names else "")

    def _named(self, sources: Sequence[dict[str, Any]], attributes: dict[str, Any]) -> str:
        texts = tuple(
            SourceText(id=str(at), **source)
            for at, source in enumerate(sources)
            if source["name"] == REQUEST
        )
        language = self.form["language"].strip() or None
        material = Material(title="", language=language, attributes=attributes, sources=texts)
        assert self.kind is not None, "it asks"
        if attributes and self.kind.check_attributes(attributes):
            material = Material(title="", language=language, attributes={}, sources=texts)
        return title_of(self.kind, material)


def _source(name: str, media_type: str, text: str) -> dict[str, Any]:
    return {"name": name, "media_type": media_type, "text": text}


def value_of(text: str, type_: str) -> object:
    """As the kind types it; what does not look so is sent as it is, and refused by the kind."""
    if type_ == Type.LIST:
        return [piece.strip() for piece in _COMMAS.split(text) if piece.strip()]
    return number(text) if type_ == Type.NUMBER else text.strip()
