"""What `submit` asks for: the fields and files of a `POST /api/runs`, made of what was named."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.cli.client import Client, File, Refused, UsageError
from api.cli.language import tell
from api.cli.limits import limits
from api.cli.words import one_line
from api.reading import sniff
from api.texts.codes import N_
from workflows import requesting
from workflows.kinds import load_kinds
from workflows.kinds.kind import Material, SourceText

Json = dict[str, Any]
REQUEST = "request"
_CSV = "text/csv"
_LONGEST_TITLE = 160
_COMMAS = re.compile(r"[,，、;；]")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One document and its run: the body of a `POST /api/runs`, and files that go beside it. A
    title that is missing is found by the service in what the files say."""

    fields: Json
    files: tuple[File, ...] = ()


def wanted(client: Client, given: Namespace) -> Iterator[Asked]:
    """One document for each file; without a file one that the run begins by drafting. Files are
    read here as bytes only. Raises UsageError."""
    request = _request(given)
    sources = tuple(_file("source", name, given.encoding) for name in given.source)
    fields = _common(client, given)
    if request is not None and (sources or given.files or given.audio):
        sources = (("source", (REQUEST, request.encode(), "text/plain")), *sources)
    elif request is not None:
        fields["sources"] = [_as_source(request)]
    if title := given.title or _title(given, request, fields):
        fields["title"] = title
    if not given.files:
        yield Asked(fields=fields, files=sources)
    for name in given.files:
        yield Asked(fields=fields, files=(_file("body", name, given.encoding), *sources))


def _request(given: Namespace) -> str | None:
    """What is asked for in words."""
    text: str | None = sys.stdin.read() if given.request == "-" else given.request
    if text is not None and not text.strip():
        raise UsageError(tell("--request is empty; say in words what is wanted"))
    return text


def _as_source(request: str) -> Json:
    return {"name": REQUEST, "media_type": "text/plain", "text": request}


def _file(field: str, name: str, encoding: str | None) -> File:
    """As it is; an encoding that was named goes along."""
    where = tell("standard input") if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        told = N_("{name} cannot be read: {why}")
        raise UsageError(tell(told, name=where, why=error.strerror)) from error
    charset = f"; charset={encoding}" if encoding else ""
    media_type = _CSV if name.lower().endswith(".csv") else sniff.media_type_of(name)
    return field, ("stdin" if name == "-" else Path(name).name, data, f"{media_type}{charset}")


def _common(client: Client, given: Namespace) -> Json:
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
    return {"kind": given.kind, **told}


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
        told = N_("--template {given}: it cannot be read as UTF-8 text")
        raise UsageError(tell(told, given=given)) from error


def _title(given: Namespace, request: str | None, common: Json) -> str:
    """What is asked for in a line, else what the fields say; '' where there are files to name it
    by."""
    if given.files:
        return ""
    if request is not None:
        return _named(given, request, common)
    if given.audio or given.source:
        return ""
    told = ", ".join(f"{name} {_shown(value)}" for name, value in common["attributes"].items())
    return one_line(f"{given.kind}: {told}", _LONGEST_TITLE)


def _named(given: Namespace, request: str, common: Json) -> str:
    """As the kind names it, where it is installed here too."""
    material = Material(
        title="",
        language=given.language,
        attributes=common.get("attributes") or {},
        sources=(SourceText(id="0", **_as_source(request)),),
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
            raise UsageError(tell("--field {given}: write it NAME=VALUE", given=repr(text)))
        typed = _typed(value, types.get(name))
        if name in found and isinstance(found[name], list) and isinstance(typed, list):
            found[name] += typed
        elif name in found:
            raise UsageError(tell("--field {name} is given twice", name=name))
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
