"""`multipart/form-data` of a new document: fields, the texts of `body` and `source` files, and a
recording.

Parts are streamed to disk and counted while they are read; what is too large is refused before it
is all here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from api.files import file_reading, originals, recordings
from api.http import requests
from api.http.bodies import check_text, fit, parse_json
from api.http.errors import Refusal, misfit, too_large
from api.http.state import state_of
from api.wire.reading import reading as told
from deploy.blobs import Incoming
from workflows.vocabulary import ErrorCode

MAX_FILES = 60
MAX_FIELDS = 100
_FIELDS = frozenset({"kind", "title", "language", "attributes", "tags", "body", "source", "audio"})
_ONCE = ("kind", "title", "language", "body", "attributes", "audio")


class _Counting(MultiPartParser):
    """The parser, with a limit for each file as well as for each field."""

    def __init__(self, request: Request) -> None:
        super().__init__(
            request.headers,
            request.stream(),
            max_files=MAX_FILES,
            max_fields=MAX_FIELDS,
            max_part_size=requests.TEXT_BYTES,
        )
        self._bytes = self._texts = 0
        self._ended = False
        settings = state_of(request).settings
        self._store = recordings.store_of(settings)
        self._audio_bytes = recordings.limit(settings)

    async def parse(self) -> FormData:
        form = await super().parse()
        if not self._ended:  # else its last part would be left out without a word
            await form.close()
            raise MultiPartException("It ends before its last boundary.")
        return form

    def on_end(self) -> None:
        self._ended = True

    def on_part_begin(self) -> None:
        self._bytes = 0
        super().on_part_begin()

    def on_headers_finished(self) -> None:
        """A recording goes straight to the place where it may stay, not through the temporary
        folder."""
        super().on_headers_finished()
        part = self._current_part
        if part.field_name == "audio" and part.file is not None and self._store is not None:
            incoming = self._store.receive()
            part.file.file.close()
            part.file.file = cast(Any, incoming)
            self._files_to_close_on_error.append(cast(Any, incoming))

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._bytes += end - start
        if isinstance(getattr(self._current_part.file, "file", None), Incoming):
            allowed = self._audio_bytes
        else:
            self._texts += end - start
            allowed = requests.TEXT_BYTES
        if self._bytes > allowed:
            raise too_large(allowed, pointer=f"/{self._current_part.field_name or ''}"[:100])
        if self._texts > requests.FORM_BYTES:
            raise too_large(requests.FORM_BYTES)
        super().on_part_data(data, start, end)


def form_schema() -> dict[str, Any]:
    """The form as the OpenAPI document shows it."""
    text = {"type": "string"}
    file = {"type": "string", "format": "binary"}
    return {
        "type": "object",
        "required": ["kind", "title"],
        "properties": {
            "kind": text,
            "title": text,
            "language": text,
            "attributes": {"type": "string", "description": "a JSON object"},
            "tags": {"type": "array", "items": text},
            "body": file,
            "source": {"type": "array", "items": file},
            "audio": {**file, "description": recordings.DESCRIPTION},
        },
    }


@asynccontextmanager
async def reading(request: Request) -> AsyncIterator[originals.Sent]:
    """The form as a document, with its recording if it brought one, and its files as they came.
    400 when it is no form, 413 and 422 as for JSON. A file that was not stored when this ends is
    gone from the disk."""
    files: list[originals.ReadFile] = []
    state = state_of(request)
    async with form_of(request) as form:
        document = fit(requests.NewDocument, await values_of(form, files))
        given = recordings.Given(document=document)
        if (audio := form.get("audio")) is not None:
            given = await recordings.take(state, document, audio)
        given.readings = [sent.reading for sent in files]
        async with originals.kept(state.settings, given, files) as sent:
            yield sent


@asynccontextmanager
async def form_of(request: Request) -> AsyncIterator[FormData]:
    """The form, whose files are gone when the block ends. Raises 400 when it is none."""
    form = await _parsed(request)
    try:
        yield form
    finally:
        await form.close()


async def _parsed(request: Request) -> FormData:
    try:
        return await _Counting(request).parse()
    except MultiPartException as error:
        raise Refusal(
            400, ErrorCode.INVALID_REQUEST, f"the form cannot be read: {error.message}"[:200]
        ) from None
    except OSError as error:
        raise recordings.no_room(error) from None


def check_names(form: FormData, known: frozenset[str], once: tuple[str, ...]) -> None:
    """Raises 422 for a field that is not known, or stands twice."""
    unknown = sorted(set(form) - known)
    if unknown:
        check_text(unknown[0], "")
        raise misfit(f"/{unknown[0]}"[:100], "unknown field")
    for name in once:
        if len(form.getlist(name)) > 1:
            raise misfit(f"/{name}", "this field stands twice")


async def values_of(
    form: FormData, files: list[originals.ReadFile], *, also: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields of a document; its files are added to `files`. `also`: further fields, once each,
    that another reads."""
    check_names(form, _FIELDS | also, (*_ONCE, *also))
    values: dict[str, Any] = {}
    for name in _ONCE:
        if name in form and name not in ("body", "attributes", "audio"):
            values[name] = await text_of(form[name], f"/{name}")
    if "body" in form:
        values["body"] = await _body(form["body"], files)
    if "attributes" in form:
        values["attributes"] = await object_of(form["attributes"], "/attributes")
    values["tags"] = [await text_of(tag, "/tags") for tag in form.getlist("tags")]
    values["sources"] = [
        await source_of(entry, f"/source/{index}", index, files)
        for index, entry in enumerate(form.getlist("source"))
    ]
    return values


async def object_of(entry: UploadFile | str, pointer: str) -> Any:
    """A field that holds JSON; an empty one is {}. Raises 400 and 422 at the field."""
    try:
        return parse_json((await text_of(entry, pointer)).encode() or b"{}")
    except Refusal as refusal:
        if any(one["pointer"] for one in refusal.errors) or not refusal.errors:
            raise
        told = refusal.errors[0]
        detail = str(told["detail"]).replace("the body", "it", 1)
        errors = [(pointer, str(told["code"]), detail)]
        raise Refusal(
            refusal.status_code,
            refusal.code,
            f"{pointer.strip('/')}: {detail}",
            params=refusal.params,
            errors=errors,
        ) from None


async def text_of(entry: UploadFile | str, pointer: str) -> str:
    """A field; one that was sent as a file must be UTF-8."""
    if isinstance(entry, str):
        text = entry
    else:
        try:
            text = (await entry.read()).decode()
        except UnicodeDecodeError as error:
            detail = f"is no valid UTF-8 at byte {error.start}"
            raise Refusal(
                400,
                ErrorCode.INVALID_REQUEST,
                detail,
                params={"position": error.start},
                errors=[(pointer, "not_utf8", detail)],
            ) from None
    check_text(text, pointer)
    return text


async def _body(entry: UploadFile | str, files: list[originals.ReadFile]) -> str:
    if isinstance(entry, str):
        return await text_of(entry, "/body")
    file = await file_reading.of_form(entry, "body", "/body")
    parsed = await file_reading.read(file, "draft", "/body")
    files.append(originals.ReadFile(place=None, file=file, reading=told(file.name, parsed)))
    return parsed.text


async def source_of(
    entry: UploadFile | str, pointer: str, place: int, files: list[originals.ReadFile]
) -> dict[str, Any]:
    """The fields of the source at this position; its file is added to `files`."""
    name = f"source {place + 1}"
    if isinstance(entry, str):
        text = await text_of(entry, pointer)
        return {"name": name, "media_type": "text/plain", "text": text}
    file = await file_reading.of_form(entry, name, pointer)
    parsed = await file_reading.read(file, "source", pointer)
    files.append(originals.ReadFile(place=place, file=file, reading=told(file.name, parsed)))
    return {"name": file.name, "media_type": file.media_type, "text": parsed.text}
