"""A recording that comes to a document which exists: alone, with its transcript, or wrongly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.files.speech import ensure_speech_profile
from tests import sounds
from tests.api.harness import Api

TONE = sounds.wav([(0.6, True)])
TEXT = "[00:00:00] Ana: We ship on Friday."


@pytest.fixture
async def speech(api: Api, tmp_path: Path) -> AsyncIterator[Api]:
    """A stack that was started with --speech."""
    before = api.state.settings
    here = "http://127.0.0.1:8437/v1"
    api.state.settings = replace(before, blob_url=tmp_path.as_uri(), speech_url=here)
    await ensure_speech_profile(api.pool, api.state.settings)
    yield api
    api.state.settings = before


async def meeting(api: Api, language: str = "en") -> str:
    source = {"name": "t.txt", "media_type": "text/plain", "text": TEXT}
    given = {"kind": "minutes", "title": "Weekly", "language": language, "sources": [source]}
    answer = await api.post("/api/documents", given)
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def add(api: Api, document: str, *, audio: bytes = TONE, **more: Any) -> httpx2.Response:
    files = {"audio": ("talk.wav", audio, "audio/wav"), **more.pop("files", {})}
    return await api.client.post(
        f"/api/documents/{document}/sources", data=more.pop("data", {}), files=files, **more
    )


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_recording_alone_is_a_further_source_that_the_next_run_hears_first(
    speech: Api, tmp_path: Path
) -> None:
    document = await meeting(speech)
    key = {"Idempotency-Key": "one-recording"}
    answer = await add(speech, document, headers=key)
    assert answer.status_code == 201, answer.text
    source = answer.json()
    assert (source["position"], source["characters"], source["has_audio"]) == (1, 0, True)
    again = await add(speech, document, headers=key)
    assert (again.json(), again.headers["Idempotent-Replay"]) == (source, "true")
    assert len(files_in(tmp_path)) == 1
    run = (await speech.post(f"/api/documents/{document}/runs")).json
    assert run["next_step"] == {"round": 0, "name": "transcribe"}
    sound = await speech.client.get(f"/api/documents/{document}/sources/{source['id']}/audio")
    assert sound.content == TONE


async def test_an_active_run_is_told_and_hears_nothing_by_itself(speech: Api) -> None:
    document = await meeting(speech)
    run = (await speech.post(f"/api/documents/{document}/runs")).json
    assert (await add(speech, document)).status_code == 201
    now = (await speech.get(f"/api/runs/{run['id']}")).json
    assert now["next_step"] == {"round": 0, "name": "draft"}
    assert (await speech.events(run["id"]))[-1]["type"] == "source_added"


async def test_a_recording_with_its_transcript_lies_beside_it_and_is_not_heard(
    speech: Api,
) -> None:
    document = await meeting(speech, language="zh")
    [old] = (await speech.get(f"/api/documents/{document}/sources")).json["items"]
    answer = await add(
        speech,
        document,
        data={"replaces": old["id"]},
        files={"source": ("t.txt", b"[00:00:00] Bo: We do.", "text/plain")},
    )
    source = answer.json()
    assert (answer.status_code, source["version"], source["has_audio"]) == (201, 2, True)
    run = (await speech.post(f"/api/documents/{document}/runs")).json
    assert run["next_step"] == {"round": 0, "name": "draft"}


async def test_what_cannot_be_heard_is_refused_and_nothing_is_stored(
    speech: Api, tmp_path: Path
) -> None:
    english, chinese = await meeting(speech), await meeting(speech, language="zh")
    noise = b"no sound at all" * 99
    refused = [
        (await add(speech, chinese), 422, "/language"),
        (await add(speech, english, audio=noise), 415, "/audio"),
        (await add(speech, english, data={"replaces": "x"}), 422, "/replaces"),
    ]
    for answer, status, pointer in refused:
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    missing = await add(speech, "01890000-0000-7000-8000-000000000000")
    assert missing.status_code == 404
    assert files_in(tmp_path) == []
    for document in (english, chinese):
        sources = (await speech.get(f"/api/documents/{document}/sources")).json["items"]
        assert len(sources) == 1


async def test_the_page_of_a_document_takes_a_recording_and_says_what_is_wrong_with_one(
    speech: Api, tmp_path: Path
) -> None:
    document = await meeting(speech)
    path, key = f"/documents/{document}/recordings", {"idempotency_key": "once"}
    page = await speech.client.get(f"/documents/{document}")
    assert f'action="{path}"' in page.text
    for _ in range(2):
        files = {"audio": ("talk.wav", TONE, "audio/wav")}
        answer = await speech.client.post(path, data=key, files=files)
        assert answer.headers["location"] == f"/documents/{document}#sources"
    assert len(files_in(tmp_path)) == 1
    wrong = {"audio": ("talk.wav", b"words" * 99, "audio/wav")}
    refused = await speech.client.post(path, data={}, files=wrong)
    assert (refused.status_code, 'id="f-audio-error"' in refused.text) == (415, True)
    assert "Nobody has heard this recording yet" in refused.text
