"""Recordings: taken with their transcript, heard in ranges, gone with their document."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from activities.blobs import remove_owed, remove_unsettled
from deploy.blobs import BlobStore
from tests import sounds
from tests.api.harness import Api, files

FIELDS = {"kind": "minutes", "title": "Weekly"}
WORDS = [("body", (None, b"# Minutes\n")), ("source", (None, b"Ana: the box is blue."))]
TONE = sounds.wav([(0.6, True)])


@pytest.fixture
async def folder(api: Api, tmp_path: Path) -> AsyncIterator[Path]:
    """The shared application stores into a folder of this test."""
    before = api.state.settings
    api.state.settings = replace(before, blob_url=tmp_path.as_uri(), audio_megabytes=1)
    yield tmp_path
    api.state.settings = before


async def upload(api: Api, data: bytes, *, words: Any = WORDS, **headers: str) -> httpx2.Response:
    given = [*words, ("audio", ("C:\\talks\\talk.mp3", data, "audio/mpeg"))]
    return await api.client.post("/api/documents", data=FIELDS, files=given, headers=headers)


async def source_of(api: Api, document_id: str) -> dict[str, Any]:
    page = await api.get(f"/api/documents/{document_id}/sources")
    found: dict[str, Any] = page.json["items"][0]
    return found


async def test_a_recording_is_stored_and_heard_in_ranges(api: Api, folder: Path) -> None:
    document = (await upload(api, TONE)).json()
    source = await source_of(api, document["id"])
    assert (source["has_audio"], source["media_type"]) == (True, "text/plain")
    assert len(files(folder)) == 1
    path = f"/api/documents/{document['id']}/sources/{source['id']}/audio"
    whole = await api.client.get(path)
    assert (whole.status_code, whole.content) == (200, TONE)
    assert whole.headers["content-type"] == "audio/wav"
    assert 'filename="talk.mp3"' in whole.headers["content-disposition"]
    part = await api.client.get(path, headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, TONE[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(TONE)}"
    beyond = await api.client.get(path, headers={"range": f"bytes={len(TONE)}-"})
    assert beyond.status_code == 416
    assert beyond.headers["content-range"] == f"bytes */{len(TONE)}"
    for asked, status in ((f"bytes={len(TONE)}-", 416), ("bytes=", 400), ("lines=1-2", 400)):
        refused = await api.client.get(path, headers={"range": asked})
        assert (refused.status_code, refused.json()["status"]) == (status, status)
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["code"] == "invalid_request"


async def test_a_source_without_recording_has_none_to_hear(api: Api, folder: Path) -> None:
    response = await api.client.post("/api/documents", data=FIELDS, files=WORDS)
    document = response.json()
    source = await source_of(api, document["id"])
    assert not source["has_audio"]
    answer = await api.get(f"/api/documents/{document['id']}/sources/{source['id']}/audio")
    assert (answer.status, answer.code) == (404, "not_found")


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (b"", (422, "invalid_request", "empty")),
        (b"these are words\n" * 90, (415, "unsupported_media", "not_audio")),
        (sounds.wav([(0.01, True)]), (422, "invalid_request", "too_short")),
        (bytes(1_000_001), (413, "too_large", "too_large")),
    ],
)
async def test_what_is_no_recording_is_refused_and_nothing_is_left(
    api: Api, folder: Path, data: bytes, refusal: tuple[int, str, str]
) -> None:
    response = await upload(api, data)
    answer = response.json()
    errors = answer["errors"]
    assert [error["pointer"] for error in errors] == ["/audio"]
    assert (response.status_code, answer["code"], errors[0]["code"]) == refusal
    assert files(folder) == []
    assert (await api.get("/api/documents")).json["items"] == []


async def test_a_recording_that_nobody_here_hears_is_refused_with_the_command(
    api: Api, folder: Path
) -> None:
    response = await upload(api, TONE, words=WORDS[:1])
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert error["pointer"] == "/audio"
    assert "./redraft up --speech" in error["detail"]
    assert files(folder) == []


async def test_a_form_that_is_refused_after_its_recording_leaves_no_file(
    api: Api, folder: Path
) -> None:
    given = [("audio", ("a.wav", TONE)), *WORDS]
    response = await api.client.post("/api/documents", data={**FIELDS, "kind": "poem"}, files=given)
    assert response.json()["code"] == "unknown_kind"
    assert files(folder) == []


async def test_one_key_takes_one_recording_and_no_other(api: Api, folder: Path) -> None:
    first = await upload(api, TONE, **{"idempotency-key": "k"})
    again = await upload(api, TONE, **{"idempotency-key": "k"})
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["idempotent-replay"] == "true"
    other = await upload(api, sounds.wav([(0.7, True)]), **{"idempotency-key": "k"})
    assert other.json()["code"] == "idempotency_mismatch"
    assert len(files(folder)) == 1


async def test_the_file_goes_with_its_document_however_often_it_is_removed(
    api: Api, folder: Path
) -> None:
    document = (await upload(api, TONE)).json()
    assert (await api.call("DELETE", f"/api/documents/{document['id']}")).status == 204
    async with api.pool.acquire() as connection:
        owed = await connection.fetch("SELECT id, uri FROM blob_deletions")
        assert await remove_owed(connection, "") == 0  # a worker that sees no folder
        assert await remove_owed(connection, folder.as_uri()) == 1
        assert files(folder) == []
        assert await remove_owed(connection, folder.as_uri()) == 0
    BlobStore(folder.as_uri()).remove(owed[0]["uri"])  # a remover that thaws late


async def test_a_file_whose_process_died_before_its_row_is_swept(api: Api, folder: Path) -> None:
    store = BlobStore(folder.as_uri())
    for uri in [(await _named(api, await upload(api, TONE)))]:
        (folder / "unsettled" / uri.removeprefix("blob:")).touch()  # died before it said so
    incoming = store.receive()
    incoming.write(TONE)
    incoming.keep()
    store.receive().write(b"half")
    async with api.pool.acquire() as connection:
        assert await remove_unsettled(connection, folder.as_uri()) == 0  # all are young
        _age(folder)
        assert await remove_unsettled(connection, folder.as_uri()) == 1
    assert [path.name for path in files(folder)] == [uri.removeprefix("blob:")]


async def _named(api: Api, response: httpx2.Response) -> str:
    uri: str = await api.pool.fetchval(
        "SELECT uri FROM blobs WHERE document_id = $1", response.json()["id"]
    )
    return uri


def _age(folder: Path) -> None:
    for path in files(folder):
        os.utime(path, (1_000_000_000, 1_000_000_000))
