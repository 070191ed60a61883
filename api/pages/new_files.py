"""The files of the form of a new run: read and shown before anything starts, and carried along.

A browser forgets the files of a form that comes back; without script they travel in it, as they
were, so that nothing has to be chosen twice. Nothing is stored before the start.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData, UploadFile

from api.files import file_reading
from api.files.file_reading import File
from api.files.originals import Place, ReadFile
from api.http.errors import Refusal, misfit
from api.reading.parsed import Parsed
from api.wire.reading import Preview, preview, reading

SOURCE, BODY, REFERENCE, AUDIO = "source", "body", "reference", "audio"
FIELDS: Mapping[str, str] = {
    f"{SOURCE}-file": SOURCE,
    f"{BODY}-file": BODY,
    f"{REFERENCE}-file": REFERENCE,
}
"""Names of the fields that take files, and whose text they are."""
CARRIED_BYTES, CARRIED_IN_ALL = 3_500_000, 8_000_000
"""Larger ones have to be chosen again."""


@dataclass(frozen=True, kw_only=True)
class Brought:
    """One file: what it is for, how it reads, or why it cannot be read."""

    role: str
    file: File
    was_carried: bool
    parsed: Parsed | None = None
    refusal: Refusal | None = None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.file.data).hexdigest()

    @property
    def field(self) -> str:
        return f"{self.role}-file"

    @property
    def shown(self) -> Preview | None:
        if self.parsed is None:
            return None
        return preview(self.file.name, self.parsed, "draft" if self.role == BODY else "source")

    def read_file(self, place: Place) -> ReadFile:
        assert self.parsed is not None, "it could be read"
        return ReadFile(place=place, file=self.file, reading=reading(self.file.name, self.parsed))


async def brought(sent: FormData) -> list[Brought]:
    """All files of the form, carried ones first. One that cannot be read says why."""
    dropped = {value for value in sent.getlist("drop") if isinstance(value, str)}
    found = []
    for role, file, was_carried in [*_carried(sent), *[one async for one in _chosen(sent)]]:
        one = await _read(role, file, was_carried=was_carried)
        if one.digest not in dropped:
            found.append(one)
    return found


async def _chosen(sent: FormData) -> Any:
    for field, role in FIELDS.items():
        for entry in sent.getlist(field):
            if isinstance(entry, UploadFile) and entry.filename:
                yield role, await file_reading.of_form(entry, field, f"/{field}"), False


def _carried(sent: FormData) -> Iterator[tuple[str, File, bool]]:
    for value in sent.getlist("carried"):
        try:
            fields = json.loads(value) if isinstance(value, str) else None
            assert isinstance(fields, dict)
            role, name, media_type = (str(fields[key]) for key in ("role", "name", "media_type"))
            data = base64.b64decode(fields["data"], validate=True)
            assert role in FIELDS.values()
        except (ValueError, KeyError, TypeError, AssertionError, binascii.Error):
            raise misfit("/carried", "choose the files again") from None
        file = File(name=name[:255] or role, media_type=media_type[:127], encoding=None, data=data)
        yield role, file, True


async def _read(role: str, file: File, *, was_carried: bool) -> Brought:
    made = Brought(role=role, file=file, was_carried=was_carried)
    try:
        parsed = await file_reading.read(
            file, "draft" if role == BODY else "source", f"/{made.field}"
        )
    except Refusal as refusal:
        return Brought(role=role, file=file, was_carried=was_carried, refusal=refusal)
    return Brought(role=role, file=file, was_carried=was_carried, parsed=parsed)


@dataclass(frozen=True, kw_only=True)
class Card:
    """A file as the page shows it. `carried` is what the form holds of it, '' for none; `number`
    counts the files of its field, as a script does. Of the lines `headings` are of nobody."""

    role: str
    name: str
    bytes: int
    digest: str
    number: int
    shown: Preview | None
    why: str
    carried: str
    again: bool
    headings: int
    said: int


def cards(files: Sequence[Brought], sentences: Mapping[int, str], *, carries: bool) -> list[Card]:
    """`sentences` tell by place why a file cannot be read. `carries`: chosen files go into the form
    too, because no script holds them."""
    made, used, numbers = list[Card](), 0, dict[str, int]()
    for place, one in enumerate(files):
        number = numbers.get(one.role, 0)
        if not one.was_carried:
            numbers[one.role] = number + 1
        wanted = one.refusal is None and (carries or one.was_carried)
        size, headings = len(one.file.data), [] if one.parsed is None else one.parsed.headings
        fits = size <= CARRIED_BYTES and used + size <= CARRIED_IN_ALL
        used += size if wanted and fits else 0
        made.append(
            Card(
                role=one.role,
                name=one.file.name,
                bytes=size,
                digest=one.digest,
                number=-1 if one.was_carried else number,
                shown=one.shown,
                why=sentences.get(place, ""),
                carried=_carry(one) if wanted and fits else "",
                again=wanted and not fits,
                headings=len(headings),
                said=0 if one.parsed is None else len(one.parsed.lines) - len(headings),
            )
        )
    return made


def _carry(one: Brought) -> str:
    return json.dumps(
        {
            "role": one.role,
            "name": one.file.name,
            "media_type": one.file.media_type,
            "data": base64.b64encode(one.file.data).decode(),
        },
        ensure_ascii=False,
    )
