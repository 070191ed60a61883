"""What `submit` asks for: the body of a `POST /api/runs` made of files, sentences and fields."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from api.cli.client import Client, Refused, UsageError
from api.cli.files import read_source, read_text, title_of
from api.cli.limits import limits
from api.cli.words import one_line
from workflows import requesting
from workflows.kinds import load_kinds
from workflows.kinds.kind import Material, SourceText

Json = dict[str, Any]
REQUEST = "request"
_LONGEST_TITLE = 160
_COMMAS = re.compile(r"[,，、;；]")


def wanted(client: Client, given: Namespace) -> Iterator[Json]:
    """One document for each file; without a file one that the run begins by drafting. Raises
    UsageError."""
    sources = list(_sources(given))
    common = _common(client, given, sources)
    if not given.files:
        yield {"title": given.title or _title(given, sources, common), **common}
    for name in given.files:
        body = read_text(name, given.encoding)
        yield {"title": given.title or title_of(name, body), "body": body, **common}


def _sources(given: Namespace) -> Iterator[Json]:
    """What is asked for in words, then files."""
    text = sys.stdin.read() if given.request == "-" else given.request
    if text is not None:
        if not text.strip():
            raise UsageError("--request is empty; say in words what is wanted")
        yield {"name": REQUEST, "media_type": "text/plain", "text": text}
    for name in given.source:
        yield read_source(name, given.encoding)


def _common(client: Client, given: Namespace, sources: list[Json]) -> Json:
    optional = {
        "language": given.language,
        "max_rounds": given.max_rounds,
        "pass_score": given.pass_score,
        "profile": given.profile,
        "tags": given.tag or None,
        "attributes": {
            **attributes(client, given.kind, given.attribute),
            **_template(given.template),
        }
        or None,
        "limits": limits(given.limit) or None,
    }
    told = {key: value for key, value in optional.items() if value is not None}
    return {"kind": given.kind, "sources": sources, **told}


def _template(given: str | None) -> Json:
    """By name; a file is sent as it is."""
    if given is None:
        return {}
    path = Path(given)
    if path.suffix != ".md" and not path.is_file():
        return {"template": given}
    try:
        return {"template": path.read_text(encoding="utf-8-sig")}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--template {given}: it cannot be read as UTF-8 text") from error


def _title(given: Namespace, sources: Sequence[Json], common: Json) -> str:
    """What is asked for in a line, else the name of what there is, else what the fields say."""
    if given.request is not None:
        return _named(given, sources, common)
    if given.audio:
        return one_line(Path(given.audio).stem, _LONGEST_TITLE)
    if given.source:
        return title_of(given.source[0], str(sources[0]["text"]))
    told = ", ".join(f"{name} {_shown(value)}" for name, value in common["attributes"].items())
    return one_line(f"{given.kind}: {told}", _LONGEST_TITLE)


def _named(given: Namespace, sources: Sequence[Json], common: Json) -> str:
    """As the kind names it, where it is installed here too."""
    asked = [
        SourceText(
            id=str(at),
            name=str(source["name"]),
            media_type=str(source["media_type"]),
            text=str(source["text"]),
        )
        for at, source in enumerate(sources)
    ]
    material = Material(
        title="",
        language=given.language,
        attributes=common.get("attributes") or {},
        sources=tuple(asked),
    )
    kinds = load_kinds(os.environ.get("REDRAFT_KINDS_DIR", ""))
    return requesting.title_of(kinds.get(given.kind), material)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def attributes(client: Client, kind: str, given: Sequence[str]) -> Json:
    """`NAME=VALUE` as the kind types its attributes: `cuisine=Thai,Greek` is a list, and so is
    `cuisine` given twice."""
    if not given:
        return {}
    types, found = _types(client, kind), Json()
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise UsageError(f"--field {text!r}: write it NAME=VALUE")
        typed = _typed(value, types.get(name))
        if name in found and isinstance(found[name], list) and isinstance(typed, list):
            found[name] += typed
        elif name in found:
            raise UsageError(f"--field {name} is given twice")
        else:
            found[name] = typed
    return found


def _types(client: Client, kind: str) -> Mapping[str, str]:
    try:
        kinds = client.pages("/api/kinds")
        return next((row.get("attribute_types") or {} for row in kinds if row["name"] == kind), {})
    except Refused:
        return {}  # a key without the right to read: values are taken as they look


def _typed(value: str, type_: str | None) -> object:
    if type_ in ("text", "date"):
        return value
    try:
        found: object = json.loads(value)
    except json.JSONDecodeError:
        found = value
    if type_ == "list" and not isinstance(found, list):
        return [piece.strip() for piece in _COMMAS.split(value) if piece.strip()]
    return found
