"""A fork keeps what its text came from: originals and recordings, whichever document goes first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from activities.blobs import remove_owed
from tests import sounds
from tests.api.harness import Api, files

TONE = sounds.wav([(0.3, True)])
DRAFT = b"<h1>Minutes</h1><p>The price is 25.</p>"
TALK = "李娜：预算是 25 万元。\r\n".encode("gb18030")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A document whose three files were uploaded, and the fork of a text of its own."""

    run: str
    first: str
    fork: str


@pytest.fixture
async def pair(api: Api, folder: Path) -> Pair:
    files = [("body", ("draft.html", DRAFT)), ("source", ("会议.txt", TALK))]
    answer = await api.client.post(
        "/api/runs", data={"kind": "minutes"}, files=[*files, ("audio", ("talk.wav", TONE))]
    )
    run = answer.json()
    path = f"/api/documents/{run['document_id']}"
    edited = await api.post(f"{path}/revisions", {"base_revision": 0, "body": "# Mine\n"})
    assert edited.status == 201, edited.json
    answer = await api.client.post(f"/api/runs/{run['id']}/fork", json={"revision": 1})
    return Pair(run=run["id"], first=run["document_id"], fork=answer.json()["id"])


async def held(api: Api, document_id: str) -> list[bytes]:
    """Draft, transcript and recording of a document, as they are had back."""
    path = f"/api/documents/{document_id}"
    [source] = (await api.get(f"{path}/sources")).json["items"]
    assert (source["has_audio"], source["has_original"]) == (True, True)
    of_source = f"{path}/sources/{source['id']}"
    paths = (f"{path}/revisions/0/original", f"{of_source}/original", f"{of_source}/audio")
    answers = [await api.client.get(one) for one in paths]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    return [answer.content for answer in answers]


async def delete(api: Api, folder: Path, document_id: str) -> int:
    """How many files are left once the outbox is empty."""
    assert (await api.call("DELETE", f"/api/documents/{document_id}")).status == 204
    async with api.pool.acquire() as connection:
        await remove_owed(connection, folder.as_uri())
    assert await api.pool.fetchval("SELECT count(*) FROM blob_deletions") == 0
    return len(files(folder))


@pytest.mark.parametrize("order", [("first", "fork"), ("fork", "first")])
async def test_files_go_with_the_last_document_that_has_them(
    api: Api, folder: Path, pair: Pair, order: tuple[str, str]
) -> None:
    sooner, later = (getattr(pair, name) for name in order)
    assert await held(api, later) == [DRAFT, TALK, TONE]
    assert await delete(api, folder, sooner) == 3
    assert await held(api, later) == [DRAFT, TALK, TONE]
    assert await delete(api, folder, later) == 0


async def test_a_fork_of_a_fork_outlives_both(api: Api, folder: Path, pair: Pair) -> None:
    run = (await api.post(f"/api/documents/{pair.fork}/runs")).json
    third = (await api.post(f"/api/runs/{run['id']}/fork", {"revision": 0})).json["id"]
    assert await delete(api, folder, pair.first) == 3
    assert await delete(api, folder, pair.fork) == 3
    assert await held(api, third) == [DRAFT, TALK, TONE]
    assert await delete(api, folder, third) == 0


async def test_forks_and_the_deletion_at_once_leave_what_is_named_and_nothing_else(
    api: Api, folder: Path, pair: Pair
) -> None:
    path = f"/api/runs/{pair.run}/fork"
    forks = [api.post(path, {"revision": 0}) for _ in range(4)]
    *answers, gone = await asyncio.gather(
        *forks, api.call("DELETE", f"/api/documents/{pair.first}")
    )
    assert gone.status == 204
    assert {answer.status for answer in answers} <= {201, 404}
    made = [answer.json["id"] for answer in answers if answer.status == 201]
    assert await delete(api, folder, pair.fork) == (3 if made else 0)
    for document_id in made:
        assert await held(api, document_id) == [DRAFT, TALK, TONE]
