"""`redraft kinds check FOLDER`: is this folder a usable kind? `kinds show NAME`: its fields.

Both ask the folders, not the API.
"""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from api.cli.client import OK, REFUSED, Client, UsageError
from api.cli.language import next_line, tell, word
from api.cli.show import complain, say, say_json
from api.texts import fields as text_fields
from api.texts.codes import N_
from workflows.kinds import BUILT_IN, load_kinds
from workflows.kinds.attributes import types_of_kind
from workflows.kinds.check import problems_of
from workflows.kinds.kind import Kind, Material, SourceText, Work
from workflows.kinds.templates import templates_of_kind
from workflows.requesting import request_problems
from workflows.vocabulary import StepName

_SHAPES = {
    "text": N_("text"),
    "date": "YYYY-MM-DD",
    "number": N_("a whole number"),
    "amount": N_("an amount"),
    "list": N_("several, with commas"),
}
_SAMPLE_FIELDS = ("kind", "title")
_CHECKED_FIELDS = ("body", "sources")
"""Where the kind drafts nothing."""


def kinds(client: Client, given: Namespace) -> int:
    return check_kind(client, given) if given.action == "check" else show_kind(client, given)


def show_kind(_: Client, given: Namespace) -> int:
    """Prints what may be said of a document of this kind. Exit 2 for an unknown kind."""
    known = load_kinds(os.environ.get("REDRAFT_KINDS_DIR", ""))
    kind = known.get(given.folder)
    if kind is None:
        names = word(N_(", ")).join(sorted(known))
        told = N_("there is no kind {given}; there are {names}")
        raise UsageError(tell(told, given=repr(given.folder), names=names))
    fields = {name: str(type_) for name, type_ in types_of_kind(kind).items()}
    templates = sorted({template.name for template in templates_of_kind(kind)})
    if given.json:
        named = {"name": kind.name, "version": kind.version, "languages": list(kind.languages)}
        say_json({**named, "fields": fields, "templates": templates})
        return OK
    say(f"{kind.name} {kind.version} ({', '.join(kind.languages)})")
    some = N_("fields of submit, as --field NAME=VALUE; all may be left out:")
    say(word(some) if fields else tell("no fields"))
    for name, type_ in fields.items():
        hint = " ".join(word(one) for one in text_fields.HINT.get(name, ()))
        say(f"  {name:<16} {word(_SHAPES.get(type_, type_)):<22} {hint}".rstrip())
    if templates:
        names = word(N_(", ")).join(templates)
        say(tell("templates of drafts: {names} (--template NAME, or a file)", names=names))
    return OK


def check_kind(_: Client, given: Namespace) -> int:
    """Prints each fault; exit 3 when there is one."""
    folder = Path(given.folder).absolute()
    if not (folder / "__init__.py").is_file():
        told = N_("{folder} is no folder with an __init__.py; copy one to begin with: {example}")
        example = Path(__file__).parents[2] / "workflows" / "kinds" / "minutes"
        raise UsageError(tell(told, folder=folder, example=example))
    try:
        kind = _load(folder)
        faults = list(_faults(kind))
    except Exception as error:
        # Whatever a kind's own code raises is what its author wants to see.
        kind, faults = None, [f"{type(error).__name__}: {error}"]
    if given.json:
        named = {"name": kind.name, "version": kind.version} if kind else {}
        say_json({"folder": str(folder), **named, "faults": faults})
    elif kind is not None and not faults:
        named = {"name": kind.name, "version": kind.version, "languages": ", ".join(kind.languages)}
        say(tell("{name} {version} is usable ({languages})", **named))
        act = tell("set REDRAFT_KINDS_DIR to {folder} for API and workers", folder=folder.parent)
        say(next_line(act))
    else:
        for fault in faults:
            complain(f"{folder.name}: {fault}")
    return REFUSED if faults else OK


def _load(folder: Path) -> Kind:
    """Loaded the way API and workers do it, but without its neighbours."""
    with tempfile.TemporaryDirectory() as alone:
        (Path(alone) / folder.name).symlink_to(folder, target_is_directory=True)
        known = set(load_kinds())
        loaded = load_kinds(alone)
    new = [kind for name, kind in loaded.items() if name not in known]
    if not new:
        raise ValueError(f"its name is that of a built-in kind ({', '.join(BUILT_IN)})")
    return new[0]


def _faults(kind: Kind) -> Iterator[str]:
    if not kind.name.isidentifier() or not kind.name.islower():
        yield f"name {kind.name!r}: small letters, digits and _ only"
    yield from problems_of(kind)
    sample = kind.sample()
    if sample is not None:
        yield from _faults_of_sample(kind, dict(sample))


def _faults_of_sample(kind: Kind, sample: dict[str, Any]) -> Iterator[str]:
    drafted = not sample.get("body")
    wanted = (*_SAMPLE_FIELDS, *(() if kind.drafts_without_body() else _CHECKED_FIELDS))
    missing = [name for name in wanted if not sample.get(name)]
    if missing:
        yield f"sample: without {', '.join(missing)}"
        return
    if sample["kind"] != kind.name:
        yield f"sample: of the kind {sample['kind']!r}"
    attributes = dict(sample.get("attributes") or {})
    for name in sorted(set(attributes) - kind.attribute_names):
        yield f"sample: attribute {name} is not one of attribute_names"
    for pointer, sentence in kind.check_attributes(attributes):
        yield f"sample: attributes{pointer}: {sentence}"
    work = _work(sample, attributes, StepName.DRAFT if drafted else StepName.REVIEW)
    yield from _faults_of_work(kind, work)


def _faults_of_work(kind: Kind, work: Work) -> Iterator[str]:
    if work.step is StepName.DRAFT:
        today = datetime.now(UTC).date()
        for pointer, sentence in request_problems(kind, work.material, today):
            yield f"sample: {pointer}: {sentence}"
    first, second = kind.parts(work), kind.parts(work)
    if first != second:
        yield "parts: two cuts of the same text differ"
    if not first or len({part.part for part in first}) != len(first):
        yield "parts: at least one, each with its own name"
    for finding in kind.verify(work.material, work.body) if work.body else ():
        if finding.quote not in work.body:
            yield f"verify: {finding.raised_by} quotes what is not in the text"
        if not finding.raised_by.startswith("verifier:"):
            yield f"verify: raised_by is {finding.raised_by!r}, not verifier:NAME"


def _work(sample: dict[str, Any], attributes: dict[str, Any], step: StepName) -> Work:
    sources = tuple(
        SourceText(
            id=str(number),
            name=str(source["name"]),
            media_type=str(source.get("media_type") or "text/plain"),
            text=str(source["text"]),
        )
        for number, source in enumerate(sample.get("sources") or ())
    )
    material = Material(
        title=str(sample["title"]),
        language=sample.get("language"),
        attributes=attributes,
        sources=sources,
    )
    body = "" if step is StepName.DRAFT else str(sample["body"])
    return Work(step=step, round=1, material=material, body=body)
