"""The files that people uploaded, byte for byte beside the text that was read from them.

They are kept where recordings are, until their document is deleted; a file is in its place before
its row is. Where no folder is set (`REDRAFT_BLOB_URL`), the text alone is stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import BaseModel, SerializeAsAny

from api import commands
from api.files.file_reading import File
from api.files.recordings import Given, Recording, create_document, insert_blob, no_room, store_of
from api.files.recordings import kept as recording_kept
from api.http import requests
from api.http.errors import Refusal
from api.moves.idempotency import Done, Tools
from api.queries.rows import Reader
from api.wire.reading import Reading
from deploy.blobs import BlobStore, Incoming
from deploy.database import Connection, Row
from deploy.settings import Settings

Place: TypeAlias = int | None
"""Position of a source; None: the body of the document."""


@dataclass(frozen=True, kw_only=True)
class ReadFile:
    """A file as it was sent, whose text it is, and how it was read."""

    place: Place
    file: File
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Original:
    """A file in its place, to which no row leads yet."""

    place: Place
    facts: Recording
    incoming: Incoming


class _Bound(BaseModel):
    """What an idempotency key stands for, where files came along."""

    fields: SerializeAsAny[BaseModel]
    files: list[str]


class _BoundRun(BaseModel):
    document: SerializeAsAny[BaseModel]
    run: SerializeAsAny[BaseModel]


@dataclass(kw_only=True)
class Originals:
    """The files of one request. `stored`: rows may name them, so they stay unless a sweep finds
    that none does."""

    files: list[Original] = field(default_factory=list)
    stored: bool = False

    async def insert(
        self, connection: Connection, document_id: str, *, position: int | None = None
    ) -> None:
        """Their rows, beside those of the texts. `position` is that of the one source, where it
        was not known before. Raises 507, 503 when a file is gone."""
        for original in self.files:
            self.stored = True
            place = original.place if position is None else position
            blob_id = await insert_blob(
                connection, document_id, original.facts, original.incoming.uri
            )
            await _lead_to(connection, document_id, place, blob_id)
            if not await asyncio.to_thread(original.incoming.touch):
                raise no_room(OSError())

    def bound(self, fields: BaseModel) -> BaseModel:
        if not self.files:
            return fields
        return _Bound(fields=fields, files=[original.facts.sha256 for original in self.files])


@dataclass(kw_only=True)
class Sent:
    """A document as a form brought it: fields, recording, files."""

    given: Given
    originals: Originals = field(default_factory=Originals)

    def bound(self, run: BaseModel | None = None) -> BaseModel:
        """What an idempotency key stands for; `run` is the run that is asked for with it."""
        document = self.given.bound()
        fields = document if run is None else _BoundRun(document=document, run=run)
        return self.originals.bound(fields)

    async def create(self, connection: Connection, tools: Tools) -> Done:
        """201: the document, its recording and the files its texts were read from."""
        done = await create_document(connection, tools, self.given)
        assert done.document_id is not None, "it was made"
        await self.originals.insert(connection, done.document_id)
        return done

    async def create_with_run(
        self, connection: Connection, tools: Tools, wanted: requests.NewRun
    ) -> Done:
        """201: the same, and its run at once."""
        done = await self.create(connection, tools)
        assert done.document_id is not None, "it was made"
        return await commands.create_run(connection, tools, done.document_id, wanted)


@contextlib.asynccontextmanager
async def kept(settings: Settings, given: Given, files: Sequence[ReadFile]) -> AsyncIterator[Sent]:
    """Around the command: the files are in their place; afterwards rows name them, or they are
    gone. Raises 503 and 507."""
    async with recording_kept(given), taken(settings, files) as originals:
        yield Sent(given=given, originals=originals)


@contextlib.asynccontextmanager
async def taken(settings: Settings, files: Sequence[ReadFile]) -> AsyncIterator[Originals]:
    """As `kept`, for files alone."""
    store, originals = store_of(settings), Originals()
    try:
        if store is not None:
            await _write(store, files, originals)
        yield originals
        if originals.stored:
            for original in originals.files:
                await asyncio.to_thread(original.incoming.settle)
    except Refusal:
        originals.stored = False  # its transaction is undone
        raise
    finally:
        if not originals.stored:
            for original in originals.files:
                await asyncio.to_thread(original.incoming.discard)


async def _write(store: BlobStore, files: Sequence[ReadFile], originals: Originals) -> None:
    try:
        await asyncio.to_thread(_write_all, store, files, originals)
    except OSError as error:
        raise no_room(error) from None


def _write_all(store: BlobStore, files: Sequence[ReadFile], originals: Originals) -> None:
    for sent in files:
        incoming = store.receive()
        facts = Recording(
            name=sent.file.name,
            media_type=sent.file.media_type[:127],
            bytes=len(sent.file.data),
            sha256=hashlib.sha256(sent.file.data).hexdigest(),
        )
        originals.files.append(Original(place=sent.place, facts=facts, incoming=incoming))
        incoming.write(sent.file.data)
        incoming.keep()


async def _lead_to(connection: Connection, document_id: str, place: Place, blob_id: str) -> None:
    if place is None:
        await connection.execute(
            "UPDATE revisions SET original_id = $2 WHERE document_id = $1 AND number = 0",
            document_id,
            blob_id,
        )
        return
    await connection.execute(
        """
        UPDATE sources SET original_id = $3
        WHERE document_id = $1 AND position = $2 AND replaced_by IS NULL
        """,
        document_id,
        place,
        blob_id,
    )


async def of_revision(reader: Reader, document_id: str, number: int) -> Row | None:
    return await reader.fetchrow(
        """
        SELECT b.uri, b.name, b.media_type, b.sha256
        FROM revisions r JOIN blobs b ON b.id = r.original_id
        WHERE r.document_id = $1 AND r.number = $2
        """,
        document_id,
        number,
    )
