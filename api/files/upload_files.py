"""Forms of one source of a document that exists, and of a file to be looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile

from api import queries
from api.files import file_reading, recordings
from api.files.originals import ReadFile
from api.files.speech import require_recogniser
from api.files.uploads import check_names, form_of, source_of, text_of
from api.http import requests
from api.http.bodies import fit
from api.http.errors import misfit, not_found
from api.http.state import State, state_of

_FILE = {"type": "string", "format": "binary"}


def source_schema() -> dict[str, Any]:
    """The form of one source as the OpenAPI document shows it."""
    audio = {
        **_FILE,
        "description": "a recording, as with a new document: beside `source`, its transcript, or "
        "alone, to be transcribed by the next run",
    }
    properties = {"source": _FILE, "replaces": {"type": "string"}, "audio": audio}
    return {"type": "object", "properties": properties}


def file_schema() -> dict[str, Any]:
    """The body of a preview: a form with the file, or the file itself."""
    form = {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
    content = {"multipart/form-data": form, "application/octet-stream": _FILE}
    schemas = {name: {"schema": schema} for name, schema in content.items()}
    return {"requestBody": {"required": True, "content": schemas}}


@dataclass(frozen=True, kw_only=True)
class SourceForm:
    """One source as a form brought it: a text, a recording, or one of the other."""

    wanted: requests.AddedSource | None
    files: list[ReadFile]
    sound: recordings.Sound | None

    def bound(self) -> BaseModel:
        """What an idempotency key stands for."""
        if self.sound is None and self.wanted is not None:
            return self.wanted
        assert self.sound is not None, "one of them came"
        return _Bound(wanted=self.wanted, recording=self.sound.recording)


class _Bound(BaseModel):
    wanted: requests.AddedSource | None
    recording: recordings.Recording


@asynccontextmanager
async def source_form(request: Request, document_id: str) -> AsyncIterator[SourceForm]:
    """A recording that was not stored when this ends is gone from the disk. Raises 400, 404, 413,
    415, 422, 503, 507; 404 before anything is read, and again where the command finds no document
    any more."""
    if await queries.document(state_of(request).pool, document_id) is None:
        raise not_found("document")
    async with form_of(request) as form:
        names = ("source", "replaces", "audio")
        check_names(form, frozenset(names), names)
        files: list[ReadFile] = []
        wanted = await _text_source(form, files)
        audio = form.get("audio")
        if audio is None:
            yield SourceForm(wanted=wanted, files=files, sound=None)
            return
        if wanted is None:
            await require_hearing(state_of(request), document_id)
        sound = await recordings.receive(audio)
        async with recordings.kept(sound):
            yield SourceForm(wanted=wanted, files=files, sound=sound)


async def _text_source(form: FormData, files: list[ReadFile]) -> requests.AddedSource | None:
    """None where a recording comes alone."""
    if "source" in form:
        values = await source_of(form["source"], "/source", 0, files)
        if "replaces" in form:
            values["replaces"] = await text_of(form["replaces"], "/replaces")
        return fit(requests.AddedSource, values)
    if "audio" not in form:
        raise misfit("/source", "send a file as the field `source`, or a recording as `audio`")
    if "replaces" in form:
        raise misfit("/replaces", "a recording alone is a further source: leave this out")
    return None


async def require_hearing(state: State, document_id: str) -> None:
    """Raises 404, or 422 where nobody here understands the document's language."""
    document = await queries.document(state.pool, document_id)
    if document is None:
        raise not_found("document")
    await require_recogniser(state.pool, state.settings, document.language)


async def read_file(request: Request) -> file_reading.File:
    """The only file of the form."""
    async with form_of(request) as form:
        check_names(form, frozenset({"file"}), ("file",))
        entry = form.get("file")
        if not isinstance(entry, UploadFile):
            raise misfit("/file", "send the file as the field `file`")
        return await file_reading.of_form(entry, "file", "/file")
