"""Files of requests, read in a thread so that streams go on; refusals by code with the next act."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fastapi import Request
from starlette.datastructures import UploadFile

from api.http.bodies import check_text
from api.http.errors import Refusal
from api.reading import sniff
from api.reading.drafts import read_draft
from api.reading.parsed import Parsed, Unreadable, Why
from api.reading.sources import read_source
from workflows.vocabulary import ErrorCode

Role: TypeAlias = Literal["source", "draft"]
_LARGE = frozenset({Why.TOO_LARGE, Why.ZIP_BOMB})
_NO_TEXT = frozenset({Why.ENCODING_MIXED, Why.ENCODING_UNKNOWN, Why.ENCODING_WRONG})


@dataclass(frozen=True, kw_only=True)
class File:
    """A file as it was sent: its own name, its media type without parameters, its bytes."""

    name: str
    media_type: str
    encoding: str | None
    data: bytes


def refusal(unreadable: Unreadable, pointer: str) -> Refusal:
    """413 for what is too large, 415 for what is no text, 400 for bytes of no encoding, else 422;
    `params.reason` is the exact code."""
    why = unreadable.why
    status, code = 422, ErrorCode.INVALID_REQUEST
    if why in _LARGE:
        status, code = 413, ErrorCode.TOO_LARGE
    elif why is Why.UNSUPPORTED:
        status, code = 415, ErrorCode.UNSUPPORTED_MEDIA
    elif why in _NO_TEXT:
        status = 400
    params = {"reason": str(why), **unreadable.params}
    if code is ErrorCode.TOO_LARGE:
        params.setdefault("unit", "bytes")
    return Refusal(
        status,
        code,
        unreadable.detail,
        params=params,
        errors=[(pointer, str(why), unreadable.detail)],
    )


async def read(file: File, role: Role, pointer: str) -> Parsed:
    """The file as a source or a draft. Raises Refusal."""
    reader = read_source if role == "source" else read_draft
    try:
        parsed = await asyncio.to_thread(
            reader, file.data, name=file.name, media_type=file.media_type, encoding=file.encoding
        )
    except Unreadable as unreadable:
        raise refusal(unreadable, pointer) from None
    check_text(parsed.text, pointer)
    return parsed


async def of_form(entry: UploadFile, default_name: str, pointer: str) -> File:
    """A file of a form; browsers and programs may send whole paths of their machine as name."""
    name = (entry.filename or default_name).replace("\\", "/").rpartition("/")[2][:255]
    name = name or default_name
    check_text(name, pointer)
    return _file(name, entry.content_type or "", await entry.read())


async def of_body(request: Request, name: str) -> File:
    """A request whose body is the file itself."""
    check_text(name, "/name")
    return _file(name, request.headers.get("content-type", ""), await request.body())


def _file(name: str, content_type: str, data: bytes) -> File:
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
    if media_type in ("", "application/octet-stream"):
        media_type = sniff.media_type_of(name)
    charset = next(
        (
            value.strip().strip('"')
            for key, _, value in (part.partition("=") for part in parameters.split(";"))
            if key.strip().lower() == "charset"
        ),
        None,
    )
    # Programs say utf-8 of any text without having looked: that one is found out, not believed.
    encoding = None if charset is None or charset.lower() in ("utf-8", "utf8") else charset[:40]
    return File(name=name, media_type=media_type, encoding=encoding, data=data)
