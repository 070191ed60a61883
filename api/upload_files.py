"""Forms with one file: a source of a document that exists, and a file to be looked at."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile

from api import file_reading, requests
from api.bodies import fit
from api.errors import misfit
from api.originals import ReadFile
from api.uploads import check_names, form_of, source_of, text_of

_FILE = {"type": "string", "format": "binary"}


def source_schema() -> dict[str, Any]:
    """The form of one source as the OpenAPI document shows it."""
    properties = {"source": _FILE, "replaces": {"type": "string"}}
    return {"type": "object", "required": ["source"], "properties": properties}


def file_schema() -> dict[str, Any]:
    """The body of a preview: a form with the file, or the file itself."""
    form = {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
    content = {"multipart/form-data": form, "application/octet-stream": _FILE}
    schemas = {name: {"schema": schema} for name, schema in content.items()}
    return {"requestBody": {"required": True, "content": schemas}}


async def read_source(request: Request) -> tuple[requests.AddedSource, list[ReadFile]]:
    """One source, and the file it was read from, if it was one. Raises 400, 413, 415, 422."""
    async with form_of(request) as form:
        check_names(form, frozenset({"source", "replaces"}), ("source", "replaces"))
        if "source" not in form:
            raise misfit("/source", "send the file as the field `source`")
        files: list[ReadFile] = []
        values = await source_of(form["source"], "/source", 0, files)
        if "replaces" in form:
            values["replaces"] = await text_of(form["replaces"], "/replaces")
        return fit(requests.AddedSource, values), files


async def read_file(request: Request) -> file_reading.File:
    """The only file of the form."""
    async with form_of(request) as form:
        check_names(form, frozenset({"file"}), ("file",))
        entry = form.get("file")
        if not isinstance(entry, UploadFile):
            raise misfit("/file", "send the file as the field `file`")
        return await file_reading.of_form(entry, "file", "/file")
