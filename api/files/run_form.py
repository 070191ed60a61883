"""`multipart/form-data` of a new document and its run at once: what `submit` and programs send.

Fields and files are those of a document's form, with the fields of a run beside them. Where files
bring the text, the title may be left out: it is the first heading, else the name of the file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from fastapi import Request
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile

from api.files import originals, recordings
from api.files.uploads import form_of, form_schema, object_of, text_of, values_of
from api.http import requests
from api.http.bodies import fit
from api.http.state import state_of
from api.moves.idempotency import Done, Tools
from api.wire.reading import RunRead
from deploy.database import Connection

_NUMBERS = ("max_rounds", "pass_score")
_TEXTS = ("profile", "confirm_by", "webhook_url")
_OF_RUN = frozenset({*_NUMBERS, *_TEXTS, "limits"})
_LONGEST_TITLE = 200
PIPED = "stdin"
"""The name of what came by a pipe: it says nothing."""


def run_schema() -> dict[str, Any]:
    """The form as the OpenAPI document shows it."""
    schema = form_schema()
    text = {"type": "string"}
    properties: dict[str, Any] = {
        **schema["properties"],
        "title": {**text, "description": "left out: the first heading, else the file's name"},
        **{name: {"type": "integer"} for name in _NUMBERS},
        **{name: text for name in _TEXTS},
        "limits": {**text, "description": "a JSON object"},
    }
    return {**schema, "required": ["kind"], "properties": properties}


@dataclass(frozen=True, kw_only=True)
class SentRun:
    """A document as a form brought it, and the run that is asked for with it."""

    sent: originals.Sent
    wanted: requests.NewDocumentRun

    def bound(self) -> BaseModel:
        """What an idempotency key stands for."""
        return self.sent.bound(self.wanted.run())

    async def create(self, connection: Connection, tools: Tools) -> Done:
        """201: document, files and run in one transaction."""
        done = await self.sent.create_with_run(connection, tools, self.wanted.run())
        assert done.body is not None, "it is the run"
        return Done(
            status=done.status,
            body=RunRead(**dict(done.body), reading=self.sent.given.readings),
            location=done.location,
            document_id=done.document_id,
            due=done.due,
        )


@asynccontextmanager
async def reading(request: Request) -> AsyncIterator[SentRun]:
    """As `uploads.reading`, with a run. Raises 400, 413, 415, 422, 503, 507."""
    files: list[originals.ReadFile] = []
    state = state_of(request)
    async with form_of(request) as form:
        values = await values_of(form, files, also=_OF_RUN)
        values.update(await _run_fields(form))
        if "title" not in values:
            values["title"] = _title(form, values)
        wanted = fit(requests.NewDocumentRun, values)
        given = recordings.Given(document=wanted.document())
        if (audio := form.get("audio")) is not None:
            given = await recordings.take(state, given.document, audio)
        given.readings = [one.reading for one in files]
        async with originals.kept(state.settings, given, files) as sent:
            yield SentRun(sent=sent, wanted=wanted)


async def _run_fields(form: FormData) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in (*_NUMBERS, *_TEXTS):
        if name in form:
            text = await text_of(form[name], f"/{name}")
            whole = name in _NUMBERS and text.isascii() and text.isdecimal() and len(text) < 10
            values[name] = int(text) if whole else text
    if "limits" in form:
        values["limits"] = await object_of(form["limits"], "/limits")
    return values


def _title(form: FormData, values: dict[str, Any]) -> str:
    """Of the draft, else of what it is to be made from; '' where there is nothing to name."""
    sources = values["sources"]
    text = values.get("body") or (sources[0]["text"] if sources else "")
    names = [*form.getlist("body"), *form.getlist("source"), *form.getlist("audio")]
    entry = names[0] if names else ""
    name = entry.filename or "" if isinstance(entry, UploadFile) else ""
    name = "" if name == PIPED else name
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return title_of(text, name) or (lines[0] if lines else "")[:_LONGEST_TITLE]


def title_of(text: str, name: str) -> str:
    """The first heading, else the name of the file; '' without either."""
    lines = [line.strip() for line in text.splitlines()]
    heading = next((line.lstrip("#") for line in lines if line.startswith("#")), "").strip()
    stem = PurePosixPath(recordings.bare(name)).stem.replace("_", " ").strip() if name else ""
    return (heading or stem)[:_LONGEST_TITLE]
