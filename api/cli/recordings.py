"""`submit --audio FILE`: a document with its recording, then the run that hears it."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from api.cli.client import Client, File, Json, UsageError

_OF_RUN = ("max_rounds", "pass_score", "profile", "limits", "tags")
_ANY = "application/octet-stream"
"""What is in the file is found out from its bytes."""


def submit_recording(client: Client, given: Namespace, asked: Mapping[str, object]) -> Json:
    """The run of a new document. `asked` is the body of a `POST /api/runs`. Raises UsageError."""
    name: str = given.audio
    fields = {key: value for key, value in asked.items() if key in ("kind", "title", "language")}
    if "attributes" in asked:
        fields["attributes"] = json.dumps(asked["attributes"], ensure_ascii=False)
    if "tags" in asked:
        fields["tags"] = asked["tags"]
    if "body" in asked:
        fields["body"] = asked["body"]
    path = Path(name)
    try:
        with path.open("rb") as recording:
            files = [*_sources(given, asked), ("audio", (path.name, recording, _ANY))]
            document = client.upload("/api/documents", fields, files)
    except OSError as error:
        raise UsageError(f"--audio {name}: {error.strerror or 'it cannot be read'}") from error
    run = {key: asked[key] for key in _OF_RUN if key in asked}
    return client.post(f"/api/documents/{document['id']}/runs", run)


def _sources(given: Namespace, asked: Mapping[str, object]) -> Iterator[File]:
    """Files go as they are, so that the service keeps them so; what was asked for in words and what
    came by standard input are texts."""
    found = asked["sources"]
    assert isinstance(found, list)
    names = [None] * (len(found) - len(given.source)) + given.source
    charset = f"; charset={given.encoding}" if given.encoding else ""
    for one, name in zip(found, names, strict=True):
        if name is None or name == "-":
            yield "source", (one["name"], one["text"].encode(), one["media_type"])
        else:
            data = Path(name).read_bytes()
            yield "source", (one["name"], data, f"{one['media_type']}{charset}")
