"""The recogniser of this machine: answers, refusals, and a child that ends with its client."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import psutil
import pytest

from deploy.recogniser.server import RecogniserServer
from tests.eventually import eventually

CLIP = Path(__file__).parent.parent / "data" / "speech" / "meeting.ogg"
installed = importlib.util.find_spec("faster_whisper") is not None


@pytest.fixture
async def server() -> AsyncIterator[RecogniserServer]:
    made = RecogniserServer("-", "whisper-tiny.en", child="tests.fake_llm.hearing")
    await made.start("127.0.0.1", 0)
    yield made
    await made.stop()


async def ask(server: RecogniserServer, wav: bytes, **fields: str) -> httpx2.Response:
    url = f"http://127.0.0.1:{server.port}/v1/audio/transcriptions"
    files = {"file": ("part.wav", wav, "audio/wav")}
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        return await client.post(url, data={"model": "x", **fields}, files=files)


async def test_it_answers_as_such_servers_do(server: RecogniserServer) -> None:
    said = (await ask(server, b"\r\n--sound\r\n", response_format="verbose_json")).json()
    assert said["segments"][0]["text"] == " 11 bytes."
    assert (await ask(server, b"sound", response_format="json")).json() == {"text": "5 bytes."}
    async with httpx2.AsyncClient(trust_env=False) as client:
        models = await client.get(f"http://127.0.0.1:{server.port}/v1/models")
    assert [entry["id"] for entry in models.json()["data"]] == ["whisper-tiny.en"]


@pytest.mark.parametrize("language", ["zh", "de"])
async def test_other_languages_are_refused_not_made_to_nonsense(
    server: RecogniserServer, language: str
) -> None:
    refused = await ask(server, b"sound", language=language)
    assert refused.status_code == 400
    assert "English" in refused.json()["error"]["message"]
    assert (await ask(server, b"sound", language="en")).status_code == 200


async def test_sound_that_cannot_be_read_ends_nothing_else(server: RecogniserServer) -> None:
    assert (await ask(server, b"noise")).status_code == 500
    assert (await ask(server, b"sound")).status_code == 200


async def test_a_client_that_leaves_frees_the_processor(server: RecogniserServer) -> None:
    asking = asyncio.create_task(ask(server, b"stand still"))
    waiting = asyncio.create_task(ask(server, b"sound"))
    busy = await _busy_child()
    asking.cancel()

    async def gone() -> bool:
        return not busy.is_running() or busy.status() == psutil.STATUS_ZOMBIE

    await eventually(gone, seconds=2, what="an end of the computing")
    assert (await waiting).status_code == 200


async def _busy_child() -> psutil.Process:
    """The child that computes."""
    found: list[psutil.Process] = []

    async def busy() -> bool:
        for child in psutil.Process().children():
            if "tests.fake_llm.hearing" in child.cmdline() and child.cpu_times().user > 0.3:
                found.append(child)
        return bool(found)

    await eventually(busy, what="a child that computes")
    return found[0]


@pytest.mark.skipif(not installed, reason="the extra `speech` is not installed")
async def test_the_real_recogniser_hears_a_clip() -> None:
    """Thirteen seconds, spoken by a machine."""
    made = RecogniserServer("-", "whisper-tiny.en")
    await made.start("127.0.0.1", 0)
    try:
        said = (await ask(made, CLIP.read_bytes(), language="en")).json()
        assert "invoice to the customer before Monday" in said["text"]
        times = [(entry["start"], entry["end"]) for entry in said["segments"]]
        assert times == sorted(times)
        assert abs(times[-1][1] - 12.9) < 1
        assert (await ask(made, CLIP.read_bytes(), language="zh")).status_code == 400
    finally:
        await made.stop()
