"""A recording is sent to one process while another deletes its document, at each point of the way:
the answer is clear, and no file and no row of it stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from activities.blobs import remove_owed, remove_unsettled
from tests import nursery, sounds
from tests.api.harness import MINUTES, NOWHERE, Api
from tests.api.test_deletion import left
from tests.eventually import eventually
from tests.services import end, free_port

TONE = sounds.wav([(0.6, True)])
HEAD = (
    b'--edge\r\nContent-Disposition: form-data; name="source"; filename="t.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\n[00:00:00] Ana: We ship.\r\n"
    b'--edge\r\nContent-Disposition: form-data; name="audio"; filename="talk.wav"\r\n'
    b"Content-Type: audio/wav\r\n\r\n"
)
PIECES = (HEAD, TONE[:9_000], TONE[9_000:], b"\r\n--edge--\r\n")


class Other:
    """A second process that serves the same database and folder."""

    def __init__(self, api: Api, folder: Path, log: Path) -> None:
        self.api, self.folder = api, folder
        port = free_port()
        self.process = nursery.begin(
            "api",
            log=log,
            environment={
                **{k: v for k, v in os.environ.items() if not k.startswith("REDRAFT_")},
                "REDRAFT_DATABASE_URL": api.state.settings.database_url,
                "REDRAFT_API_PORT": str(port),
                "REDRAFT_BLOB_URL": folder.as_uri(),
                "TEMPORAL_ADDRESS": NOWHERE,
            },
        )
        base = f"http://127.0.0.1:{port}"
        self.client = httpx2.AsyncClient(base_url=base, timeout=20, trust_env=False)

    async def ready(self) -> None:
        async def answers() -> bool:
            with contextlib.suppress(httpx2.TransportError):
                return (await self.client.get("/healthz")).status_code == 200
            return False

        await eventually(answers, seconds=60, what="the other process")

    def sends(self, document: str, hold: int = len(PIECES)) -> Upload:
        """Sends so many pieces of the form; the rest when it is told."""
        return Upload(self, document, hold)

    def whole(self) -> list[Path]:
        return [path for path in self.folder.glob("??/*") if path.is_file()]


class Upload:
    def __init__(self, other: Other, document: str, hold: int) -> None:
        self.rest = asyncio.Event()
        self.answer = asyncio.create_task(
            other.client.post(
                f"/api/documents/{document}/sources",
                content=self._pieces(hold),
                headers={"content-type": "multipart/form-data; boundary=edge"},
            )
        )

    async def _pieces(self, hold: int) -> AsyncIterator[bytes]:
        for at, piece in enumerate(PIECES):
            if at == hold:
                await self.rest.wait()
            yield piece


@pytest.fixture
async def other(api: Api, tmp_path: Path) -> AsyncIterator[Other]:
    folder, before = tmp_path / "files", api.state.settings
    folder.mkdir()
    api.state.settings = replace(before, blob_url=folder.as_uri())
    made = Other(api, folder, tmp_path / "api.log")
    try:
        await made.ready()
        yield made
    finally:
        await made.client.aclose()
        end(made.process, signal.SIGKILL)
        api.state.settings = before


async def document_of(api: Api) -> str:
    answer = await api.post("/api/documents", MINUTES)
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def delete(api: Api, document: str) -> int:
    return (await api.call("DELETE", f"/api/documents/{document}")).status


async def waits(api: Api, count: int) -> None:
    """So many wait for a lock in the database."""

    async def found() -> bool:
        number: int = await api.pool.fetchval(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        )
        return number >= count

    await eventually(found, seconds=60, what=f"{count} that wait for a lock")


async def nothing_is_left(api: Api, other: Other) -> None:
    async with api.pool.acquire() as connection:
        await remove_owed(connection, other.folder.as_uri())
        assert await connection.fetchval("SELECT count(*) FROM blob_deletions") == 0
    assert [path for path in other.folder.rglob("*") if path.is_file()] == []
    assert await left(api) == {}


def not_found(answer: httpx2.Response) -> bool:
    return (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_a_document_that_is_deleted_before_or_while_its_recording_is_sent_is_not_found(
    api: Api, other: Other
) -> None:
    gone = await document_of(api)
    assert await delete(api, gone) == 204
    assert not_found(await other.sends(gone).answer)
    for hold in (1, 2, 3):
        document = await document_of(api)
        upload = other.sends(document, hold=hold)

        async def under_way() -> bool:
            return any(other.folder.glob("incoming/*"))

        await eventually(under_way, what="a file that is being written")
        assert await delete(api, document) == 204
        upload.rest.set()
        assert not_found(await upload.answer), hold
        await nothing_is_left(api, other)


async def test_between_the_file_and_its_row_whoever_comes_first_takes_effect(
    api: Api, other: Other
) -> None:
    for uploads_first in (True, False):
        document = await document_of(api)
        async with api.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT id FROM documents FOR UPDATE")
            if not uploads_first:
                deletion = asyncio.create_task(delete(api, document))
                await waits(api, 1)
            upload = other.sends(document)
            await waits(api, 2 - uploads_first)
            assert len(other.whole()) == 2, "the recording and the text's own file"
            if uploads_first:
                deletion = asyncio.create_task(delete(api, document))
                await waits(api, 2)
        assert await deletion == 204
        answer = await upload.answer
        assert answer.status_code == 201 if uploads_first else not_found(answer)
        await nothing_is_left(api, other)


async def test_a_process_that_dies_between_the_file_and_its_row_leaves_what_a_sweep_removes(
    api: Api, other: Other
) -> None:
    document = await document_of(api)
    async with api.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT id FROM documents FOR UPDATE")
        upload = other.sends(document)
        await waits(api, 1)
        end(other.process, signal.SIGKILL)
    with pytest.raises(httpx2.TransportError):
        await upload.answer

    async def alone() -> bool:
        number: int = await api.pool.fetchval("SELECT count(*) FROM sources")
        return number == 1

    await eventually(alone, what="the document as it was")
    assert await delete(api, document) == 204
    assert len(other.whole()) == 2
    for path in other.folder.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    async with api.pool.acquire() as connection:
        assert await remove_unsettled(connection, other.folder.as_uri()) == 2
    await nothing_is_left(api, other)
