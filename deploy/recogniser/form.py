"""The form of a request for a transcription: its fields and its one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Form:
    """`file` is None where none came."""

    fields: Mapping[str, str]
    file: bytes | None


def read_form(content_type: str, body: bytes) -> Form:
    """Parts are found by their boundary: a parser of mails takes seconds for minutes of sound.

    Raises ValueError for what is no form.
    """
    boundary = content_type.partition("boundary=")[2].partition(";")[0].strip('" ')
    if not content_type.lower().startswith("multipart/form-data") or not boundary:
        raise ValueError("the body is no form")
    fields: dict[str, str] = {}
    file: bytes | None = None
    line = b"\r\n--" + boundary.encode("latin-1")
    for part in (b"\r\n" + body).split(line)[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            file = data
        else:
            name = head.partition(b'name="')[2].partition(b'"')[0]
            fields[name.decode("utf-8", "replace")] = data.decode("utf-8", "replace")
    return Form(fields=fields, file=file)
