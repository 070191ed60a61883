"""One more source of a document from its page: pasted, or a file, which is kept as it came."""

from __future__ import annotations

from fastapi import Request

from api.files import originals
from api.files.sources import Added, add_file
from api.http import requests
from api.http.bodies import fit
from api.http.state import state_of
from api.pages.forms import Form, perform_once, typed_in
from api.pages.new import sent_form
from api.pages.new_files import SOURCE, brought


async def add_sent(request: Request, document_id: str, form: Form) -> None:
    """Reads the request into `form` and adds the source. Raises Refusal with the pointers `/name`
    and `/source`."""
    async with sent_form(request) as sent:
        form.update(typed_in(sent))
        files = [one for one in await brought(sent) if one.role == SOURCE]
    name, media_type, text = form["name"].strip(), "text/plain", form["source"]
    read: list[originals.ReadFile] = []
    if files and not text.strip():
        file = files[0]
        if file.refusal is not None:
            raise file.refusal
        read = [file.read_file(0)]
        assert file.parsed is not None, "it could be read"
        name, media_type, text = name or file.file.name, file.file.media_type, file.parsed.text
    wanted = fit(requests.AddedSource, {"name": name, "media_type": media_type, "text": text})
    form["files"] = ",".join(file.digest for file in files)
    async with originals.taken(state_of(request).settings, read) as taken:
        added = Added(wanted=wanted, files=read, taken=taken)
        await perform_once(request, form, lambda c, tools: add_file(c, tools, document_id, added))
