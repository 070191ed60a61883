"""Recordings without a transcript: who may bring them, what their run begins with, corrections."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.files.speech import ensure_speech_profile
from deploy.database import new_id
from tests import sounds
from tests.api.harness import Api
from tests.pages.forms import Browser
from tests.read_rows import insert

TONE = sounds.wav([(0.6, True)])
HERE = "http://127.0.0.1:8437/v1"
FIELDS = {"kind": "minutes", "title": "Weekly", "language": "en"}


@pytest.fixture
async def speech(api: Api, tmp_path: Path) -> AsyncIterator[Api]:
    """A stack that was started with --speech."""
    before = api.state.settings
    api.state.settings = replace(before, blob_url=tmp_path.as_uri(), speech_url=HERE)
    await ensure_speech_profile(api.pool, api.state.settings)
    yield api
    api.state.settings = before


async def upload(api: Api, **fields: str) -> httpx2.Response:
    given = {"audio": ("talk.wav", TONE, "audio/wav")}
    return await api.client.post("/api/documents", data={**FIELDS, **fields}, files=given)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def heard(api: Api, document_id: str, text: str) -> dict[str, Any]:
    """The transcript as a person brings it."""
    [source] = (await api.get(f"/api/documents/{document_id}/sources")).json["items"]
    answer = await api.post(
        f"/api/documents/{document_id}/sources",
        {"name": "t", "media_type": "text/plain", "text": text, "replaces": source["id"]},
    )
    assert answer.status == 201, answer.json
    return answer.json


async def test_a_recording_becomes_a_source_that_its_run_hears_first(speech: Api) -> None:
    document = (await upload(speech)).json()
    [source] = (await speech.get(f"/api/documents/{document['id']}/sources")).json["items"]
    assert (source["name"], source["media_type"]) == ("talk.wav", "audio/wav")
    assert (source["characters"], source["has_audio"]) == (0, True)
    run = (await speech.post(f"/api/documents/{document['id']}/runs")).json
    assert run["next_step"] == {"round": 0, "name": "transcribe"}
    assert (run["stage"], run["progress"]) == ("transcribe", None)


@pytest.mark.parametrize(
    ("language", "told"), [("zh", "English only"), ("de-AT", "English only"), ("", "say the")]
)
async def test_other_languages_are_refused_with_the_ways_to_get_them(
    speech: Api, tmp_path: Path, language: str, told: str
) -> None:
    fields = {"language": language} if language else {}
    given = {"audio": ("talk.wav", TONE, "audio/wav")}
    data = {name: FIELDS[name] for name in ("kind", "title")} | fields
    response = await speech.client.post("/api/documents", data=data, files=given)
    [error] = response.json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, "/language")
    assert told in error["detail"]
    assert "REDRAFT_SPEECH_MODEL" in error["detail"]
    assert "profile `speech`" in error["detail"]
    assert files_in(tmp_path) == []


async def test_a_profile_that_a_person_made_takes_any_language_and_is_left_alone(
    speech: Api,
) -> None:
    profile = {"name": "speech", "model": "whisper-1", "base_url": "https://speech.example/v1"}
    assert (await speech.post("/api/profiles", profile)).status == 201
    assert (await upload(speech, language="zh")).status_code == 201
    await ensure_speech_profile(speech.pool, speech.state.settings)
    versions = (await speech.get("/api/profiles/speech/versions")).json["items"]
    assert versions[0]["model"] == "whisper-1"


async def test_the_profile_of_the_recogniser_here_outlives_its_port(speech: Api) -> None:
    for url in (HERE, "http://127.0.0.1:9999/v1"):
        speech.state.settings = replace(speech.state.settings, speech_url=url)
        await ensure_speech_profile(speech.pool, speech.state.settings)
    [version] = (await speech.get("/api/profiles/speech/versions")).json["items"]
    assert (version["version"], version["base_url"]) == (1, None)
    assert (await upload(speech)).status_code == 201
    other = replace(speech.state.settings, speech_model="/models/large-v3")
    await ensure_speech_profile(speech.pool, other)
    versions = (await speech.get("/api/profiles/speech/versions")).json["items"]
    assert [one["model"] for one in versions] == ["large-v3", "whisper-tiny.en"]


async def test_a_cost_limit_wants_a_price_of_minutes_in_the_same_money(speech: Api) -> None:
    priced = {"name": "priced", "model": "m", "prices": {"currency": "EUR", **_table(input="1")}}
    assert (await speech.post("/api/profiles", priced)).status == 201
    document = (await upload(speech)).json()
    wanted = {"profile": "priced", "limits": {"max_cost": "5"}}
    path = f"/api/documents/{document['id']}/runs"
    for prices in (None, {"currency": "USD", **_table(minute="0.006")}):
        given = {"name": "speech", "model": "whisper-1", "prices": prices}
        assert (await speech.post("/api/profiles", given)).status == 201
        refused = await speech.post(path, wanted)
        assert (refused.status, refused.json["code"]) == (422, "unpriced_profile")
        assert "minute of sound" in refused.json["detail"]
    given = {"name": "speech", "model": "x", "prices": {"currency": "EUR", **_table(minute="1")}}
    assert (await speech.post("/api/profiles", given)).status == 201
    assert (await speech.post(path, wanted)).status == 201


def _table(**prices: str) -> dict[str, Any]:
    """One table; with tokens both ways."""
    return {"tables": [prices | ({"output": "1"} if "input" in prices else {})]}


async def test_a_stack_that_left_speech_out_says_so_though_the_profile_is_there(
    speech: Api,
) -> None:
    speech.state.settings = replace(speech.state.settings, speech_url="")
    response = await upload(speech)
    assert "./redraft up --speech" in response.json()["errors"][0]["detail"]


async def test_a_transcript_by_hand_spares_the_hearing(speech: Api) -> None:
    document = (await upload(speech)).json()
    run = (await speech.post(f"/api/documents/{document['id']}/runs")).json
    await heard(speech, document["id"], "[00:00:00] Ana: We ship on Friday.")
    now = (await speech.get(f"/api/runs/{run['id']}")).json
    assert now["next_step"] == {"round": 0, "name": "draft"}
    sources = (await speech.get(f"/api/documents/{document['id']}/sources")).json["items"]
    assert [source["has_audio"] for source in sources] == [True, True]


async def test_what_a_run_made_from_a_corrected_source_is_stale(speech: Api) -> None:
    document = (await upload(speech)).json()
    run = (await speech.post(f"/api/documents/{document['id']}/runs")).json
    source = await heard(speech, document["id"], "[00:00:00] Ana: We ship on Friday.")
    await drafted(speech, document["id"], run["id"])
    path = f"/api/documents/{document['id']}/revisions"
    assert [one["stale"] for one in (await speech.get(path)).json["items"]] == [False]
    browser = Browser(speech.client)
    page = f"/documents/{document['id']}"
    form = await browser.form(page, f"{page}/sources/{source['id']}")
    sent = await browser.send(form, text="[00:00:00] Ana: We ship on Monday.\r\n")
    assert sent.status_code == 303
    assert [one["stale"] for one in (await speech.get(path)).json["items"]] == [True]
    assert "stale: its source was corrected since" in (await browser.open(page)).text
    offers = (await browser.open(f"/runs/{run['id']}")).text
    assert ("Its source was corrected since" in offers) == ("Confirm revision" in offers)
    mine = {"base_revision": 0, "body": "# Minutes\n\nWe ship on Monday.\n"}
    assert (await speech.post(path, mine)).status in (201, 409)


async def drafted(api: Api, document_id: str, run_id: str) -> None:
    """Revision 0 as the engine's draft step makes it."""
    plan, step = new_id(), new_id()
    await insert(api.pool, "step_plans", id=plan, run_id=run_id, round=0, name="draft")
    row = {"name": "draft", "round": 0, "attempt": 1, "epoch": 1, "seq": 1, "worker": "w"}
    await insert(api.pool, "steps", id=step, run_id=run_id, plan_id=plan, status="RUNNING", **row)
    body = "# Minutes\n\nWe ship on Friday.\n"
    digest = hashlib.sha256(body.encode()).hexdigest()
    made = {"body": body, "sha256": digest, "author": "run", "step_id": step, "round": 0}
    await insert(api.pool, "revisions", document_id=document_id, number=0, run_id=run_id, **made)
    await api.pool.execute("UPDATE documents SET revision_seq = 0 WHERE id = $1", document_id)


async def test_a_run_begins_with_a_recording_on_the_page_and_plays_from_its_lines(
    speech: Api,
) -> None:
    browser = Browser(speech.client)
    form = await browser.form("/runs/new", "/runs/new")
    fields = {**form.fields, "title": "Weekly", "language": "en"}
    files = {"audio": ("talk.wav", TONE, "audio/wav")}
    sent = await speech.client.post("/runs/new", data=fields, files=files)
    assert sent.status_code == 303, sent.text
    run_id = sent.headers["location"].rpartition("/")[2]
    shown = (await browser.open(f"/runs/{run_id}")).text
    assert "<audio controls" in shown
    assert "a run transcribes it first" in shown
    run = (await speech.get(f"/api/runs/{run_id}")).json
    text = "[00:00:00] Ana: We ship.\n[01:02:03] [invented] Thank you for watching."
    source = await heard(speech, run["document_id"], text)
    shown = (await browser.open(f"/runs/{run_id}")).text
    sound = f"/api/documents/{run['document_id']}/sources/{source['id']}/audio"
    assert f'<a href="{sound}#t=3723" data-play="3723"' in shown
    assert "made up by the recogniser" in shown


async def test_a_chosen_file_that_is_no_recording_is_told_beside_its_field(speech: Api) -> None:
    form = await Browser(speech.client).form("/runs/new", "/runs/new")
    fields = {**form.fields, "title": "Weekly", "language": "en"}
    files = {"audio": ("talk.wav", b"these are words", "audio/wav")}
    sent = await speech.client.post("/runs/new", data=fields, files=files)
    assert sent.status_code == 415
    assert 'id="f-audio-error"' in sent.text
