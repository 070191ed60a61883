"""Sending what `submit` asks for: as JSON without files, else as one form with the files as they
are, so that the service reads and keeps them."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from api.cli.client import Client, Json, Refused, UsageError
from api.cli.files import say_readings
from api.cli.language import tell
from api.cli.wanted import Asked

_ANY = "application/octet-stream"
"""What is in a recording is found out from its bytes."""


def check_all(client: Client, asked: Sequence[Asked]) -> None:
    """Of several documents none is begun before all their files can be read."""
    if len(asked) < 2:
        return
    for role, place in (("draft", "body"), ("source", "source")):
        found = {file[1][:2]: file[1] for one in asked for file in one.files if file[0] == place}
        for file in found.values():
            try:
                client.upload("/api/preview", {}, [("file", file)], query={"as": role})
            except Refused as refused:
                detail = f"{file[0]}: {refused.problem.get('detail')}"
                problem = {**refused.problem, "detail": detail, "of_file": file[0]}
                raise Refused(refused.status, problem) from None


def start(client: Client, given: Namespace, asked: Asked) -> Json:
    """The run of a new document. Raises UsageError."""
    if not asked.files and not given.audio:
        return client.post("/api/runs", asked.fields)
    fields = {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | int) else value
        for name, value in asked.fields.items()
    }
    if not given.audio:
        return _told(client.upload("/api/runs", fields, asked.files))
    path = Path(given.audio)
    try:
        with path.open("rb") as recording:
            files = [*asked.files, ("audio", (path.name, recording, _ANY))]
            return _told(client.upload("/api/runs", fields, files))
    except OSError as error:
        why = error.strerror or tell("it cannot be read")
        raise UsageError(tell("--audio {name}: {why}", name=given.audio, why=why)) from error


def _told(run: Json) -> Json:
    say_readings(run.get("reading") or ())
    return run
