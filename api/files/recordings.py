"""Recordings that come with a document: looked at before anything is stored, kept as files.

A file is in its place before its row is, and leaves after it (`blob_deletions`), so a crash leaves
at most a file that a worker's sweep removes.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel
from starlette.datastructures import UploadFile

from api import commands
from api.files.speech import require_recogniser
from api.http import cursors, requests
from api.http.bodies import check_text
from api.http.errors import Refusal, misfit, not_found
from api.http.state import State
from api.moves import edits
from api.moves.idempotency import Done, Tools
from api.queries.rows import Reader
from api.wire.reading import Reading
from deploy.blobs import BlobStore, Incoming, NoStore
from deploy.database import Connection, Row, new_id
from deploy.settings import Settings
from deploy.sound import PROBLEMS, probe
from workflows.vocabulary import ErrorCode

MEGABYTE = 1_000_000
DESCRIPTION = (
    "a recording (wav, mp3, m4a, ogg, flac, or the sound of mp4 and webm), at most 4 hours and "
    "REDRAFT_AUDIO_MEGABYTES; it belongs to the first `source`, its transcript, or is transcribed "
    "where none comes with it"
)


class Recording(BaseModel):
    """What a row of `blobs` says, and what the request's key is bound to."""

    name: str
    media_type: str
    bytes: int
    sha256: str


class _Bound(BaseModel):
    document: requests.NewDocument
    recording: Recording


@dataclass(kw_only=True)
class Given:
    """A document, and the recording that came with it. `stored`: a row may name the file, so it
    stays unless a sweep finds that none does."""

    document: requests.NewDocument
    recording: Recording | None = None
    incoming: Incoming | None = None
    stored: bool = False
    readings: list[Reading] = field(default_factory=list)
    """How the files of its texts were read."""

    def bound(self) -> BaseModel:
        """What an idempotency key stands for: fields and the digest of the file."""
        if self.recording is None:
            return self.document
        return _Bound(document=self.document, recording=self.recording)


def limit(settings: Settings) -> int:
    """Largest recording, in bytes."""
    return settings.audio_megabytes * MEGABYTE


def store_of(settings: Settings) -> BlobStore | None:
    """None where none can be written to."""
    try:
        return BlobStore(settings.blob_url)
    except NoStore:
        return None


async def kept_file(
    settings: Settings, row: Row | None, what: str
) -> tuple[Path, os.stat_result, Row]:
    """The stored file of a blob's row, found in its place. Raises 404 for `what`."""
    store = store_of(settings)
    if row is None or store is None:
        raise not_found(what)
    path = store.path(row["uri"])
    try:
        return path, await asyncio.to_thread(os.stat, path), row
    except FileNotFoundError:
        raise not_found(what) from None


def bare(name: str) -> str:
    """A file's own name: browsers and programs may send whole paths of their machine."""
    return name.replace("\\", "/").rpartition("/")[2][:255] or "source"


def no_room(error: OSError) -> Refusal:
    """What a failed write to the folder of recordings is to the caller."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Refusal(507, ErrorCode.DISK_FULL, "the disk is full; nothing was stored")
    return Refusal(
        503, ErrorCode.UNAVAILABLE, "recordings cannot be stored now", headers={"Retry-After": "5"}
    )


@dataclass(kw_only=True)
class Sound:
    """A recording in its place, for a document that exists; `stored` as in `Given`."""

    recording: Recording
    incoming: Incoming
    stored: bool = False


async def take(state: State, document: requests.NewDocument, entry: UploadFile | str) -> Given:
    """The uploaded file, looked at and in its place. Raises 413, 415, 422, 503, 507."""
    if not document.sources:
        await require_recogniser(state.pool, state.settings, document.language)
    sound = await receive(entry)
    return Given(document=document, recording=sound.recording, incoming=sound.incoming)


async def receive(entry: UploadFile | str) -> Sound:
    """The same, whoever hears it. Raises 413, 415, 422, 503, 507."""
    if isinstance(entry, str):
        raise misfit("/audio", "send the recording as a file")
    check_text(entry.filename or "", "/audio")
    if not isinstance(entry.file, Incoming):
        raise Refusal(
            503, ErrorCode.UNAVAILABLE, "recordings need a folder: set REDRAFT_BLOB_URL for the API"
        )
    incoming = cast(Incoming, entry.file)
    found = await probe(incoming.path)
    if found.problem is not None:
        raise _refused(found.problem)
    try:
        await asyncio.to_thread(incoming.keep)
    except OSError as error:
        raise no_room(error) from None
    recording = Recording(
        name=bare(entry.filename or "recording"),
        media_type=found.media_type,
        bytes=incoming.bytes,
        sha256=incoming.sha256,
    )
    return Sound(recording=recording, incoming=incoming)


def _refused(problem: str) -> Refusal:
    media = problem in ("not_audio", "no_sound")
    code = ErrorCode.UNSUPPORTED_MEDIA if media else ErrorCode.INVALID_REQUEST
    if problem == "slow":
        return Refusal(503, ErrorCode.UNAVAILABLE, PROBLEMS[problem], headers={"Retry-After": "30"})
    return Refusal(
        415 if media else 422,
        code,
        PROBLEMS[problem],
        params={"problem": problem},
        errors=[("/audio", problem, PROBLEMS[problem])],
    )


@contextlib.asynccontextmanager
async def kept(given: Given | Sound) -> AsyncIterator[None]:
    """Around the command: afterwards a row names the file, or the file is gone (the command was
    refused, or its answer a replay). Where nobody knows, a sweep finds out."""
    try:
        yield
        if given.incoming is not None and given.stored:
            await asyncio.to_thread(given.incoming.settle)
    except Refusal:
        given.stored = False  # its transaction is undone
        raise
    finally:
        if given.incoming is not None and not given.stored:
            await asyncio.to_thread(given.incoming.discard)


async def create_document(connection: Connection, tools: Tools, given: Given) -> Done:
    """201: the document with its recording, which the page plays beside the first source. Without
    sources it is one itself, with no text until a run transcribes it."""
    recorded = given.recording is not None
    done = await edits.create_document(connection, tools, given.document, recorded=recorded)
    if given.recording is None or given.incoming is None or done.document_id is None:
        return done
    given.stored = True
    blob_id = await insert_blob(connection, done.document_id, given.recording, given.incoming.uri)
    if given.document.sources:
        await connection.execute(
            "UPDATE sources SET blob_id = $2 WHERE document_id = $1 AND position = 0",
            done.document_id,
            blob_id,
        )
    else:
        first = Unheard(
            id=new_id(),
            document_id=done.document_id,
            blob_id=blob_id,
            recording=given.recording,
            position=0,
            actor=tools.caller.actor,
        )
        await insert_unheard(connection, first)
    if not await asyncio.to_thread(given.incoming.touch):
        raise no_room(OSError())
    return done


async def create_document_and_run(
    connection: Connection, tools: Tools, given: Given, wanted: requests.NewRun
) -> Done:
    """201: the document with its recording, and the run that begins by hearing it, at once."""
    done = await create_document(connection, tools, given)
    assert done.document_id is not None, "it was made"
    return await commands.create_run(connection, tools, done.document_id, wanted)


async def insert_blob(
    connection: Connection, document_id: str, recording: Recording, uri: str
) -> str:
    blob_id = new_id()
    await connection.execute(
        """
        INSERT INTO blobs (id, document_id, uri, name, media_type, bytes, sha256)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        blob_id,
        document_id,
        uri,
        recording.name,
        recording.media_type,
        recording.bytes,
        recording.sha256,
    )
    return blob_id


async def store_sound(connection: Connection, document_id: str, sound: Sound) -> str:
    """The row of the file; its id. Raises 507, 503 when the file is gone."""
    sound.stored = True
    blob_id = await insert_blob(connection, document_id, sound.recording, sound.incoming.uri)
    if not await asyncio.to_thread(sound.incoming.touch):
        raise no_room(OSError())
    return blob_id


@dataclass(frozen=True, kw_only=True)
class Unheard:
    """A source that has a recording and no text."""

    id: str
    document_id: str
    blob_id: str
    recording: Recording
    position: int
    actor: str


async def insert_unheard(connection: Connection, source: Unheard) -> None:
    await connection.execute(
        """
        INSERT INTO sources (id, document_id, name, media_type, text, sha256, blob_id, position,
                             actor)
        VALUES ($1, $2, $3, $4, '', $5, $6, $7, $8)
        """,
        source.id,
        source.document_id,
        source.recording.name,
        source.recording.media_type,
        source.recording.sha256,
        source.blob_id,
        source.position,
        source.actor,
    )


async def file_of(
    reader: Reader, document_id: str, source_id: str, what: Literal["recording", "original"]
) -> Row | None:
    """Where a file behind a source is, and what it is."""
    if not cursors.is_uuid(source_id):
        return None
    return await reader.fetchrow(
        """
        SELECT b.uri, b.name, b.media_type, b.sha256
        FROM sources s
            JOIN blobs b ON b.id = CASE $3 WHEN 'recording' THEN s.blob_id ELSE s.original_id END
        WHERE s.document_id = $1 AND s.id = $2
        """,
        document_id,
        source_id,
        what,
    )
