"""Three hours of sound, and a worker that dies behind the seventh part."""

from __future__ import annotations

import array
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import pytest

from deploy.blobs import BlobStore
from tests import sounds
from tests.conftest import StartStack
from tests.eventually import eventually
from tests.fake_llm import FakeLLM, good_reviewer
from tests.fake_llm.recogniser import Asked, FakeRecogniser, Says
from tests.faults.kit import PATIENT
from tests.stack import Stack

TRUE = [*range(0, 10_800, 900), 10_797]
"""Seconds at which somebody speaks, for two seconds each."""
KILLED_AFTER = 8


def spoken_now_and_then(path: Path) -> None:
    """Three hours of which only what is said is in the file, each frame with its time."""
    tone = sounds.samples([(0.1, True)]).tobytes()
    with av.open(str(path), "w", format="matroska") as file:
        stream = file.add_stream("pcm_s16le", rate=sounds.RATE)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        for at in (begin + tenth / 10 for begin in TRUE for tenth in range(20)):
            frame = av.AudioFrame(format="s16", layout="mono", samples=len(tone) // 2)
            frame.planes[0].update(tone.ljust(frame.planes[0].buffer_size, b"\0"))
            frame.sample_rate, frame.time_base = sounds.RATE, Fraction(1, sounds.RATE)
            frame.pts = round(at * sounds.RATE)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def hears_beginnings(asked: Asked) -> Says:
    """A line where sound begins, found in steps of a tenth of a second."""
    heard = [False] + [
        max(array.array("h", asked.samples[at : at + 320]), default=0) > 3_000
        for at in range(0, len(asked.samples) - 320, 3_200)
    ]
    begins = [at / 10 for at, (before, now) in enumerate(pairwise(heard)) if now and not before]
    segments = [{"start": at, "end": at + 2, "text": f"I begin at {at}."} for at in begins]
    return Says(body={"segments": segments})


@pytest.mark.timeout(900)
async def test_a_kill_costs_no_part_that_was_heard_and_times_stay_true_to_the_end(
    start_stack: StartStack, llm: FakeLLM, tmp_path: Path
) -> None:
    llm.script(good_reviewer(errors=[]))
    async with FakeRecogniser(hears_beginnings) as recogniser:
        stack = await start_stack({**PATIENT, "REDRAFT_BLOB_URL": tmp_path.as_uri()}, workers=0)
        document = await recorded(stack, recogniser, tmp_path)
        first = stack.worker(REDRAFT_FAULT=f"request.after:{KILLED_AFTER}")
        status, run = await stack.call("POST", f"/api/documents/{document}/runs", {})
        assert status == 201, run

        async def died() -> bool:
            return first.poll() is not None

        await eventually(died, seconds=300, what="a death behind the part")
        stack.worker()
        await stack.until(run["id"], "AWAITING_CONFIRMATION", seconds=300)
    calls = [c for c in await stack.rows(run["id"], "calls") if c["step"] == "transcribe"]
    heard = [call["part"] for call in calls if call["status"] == "SUCCEEDED"]
    lost = [call for call in calls if call["status"] == "LOST"]
    assert len(heard) == len(set(heard)) == len(TRUE)
    assert 1 <= len(lost) <= 2, "only what was under way"
    assert len(calls) == len(heard) + len(lost)
    asked = len(recogniser.asked)  # a row may have been written whose request never left
    assert len(heard) + 1 <= asked <= len(calls)
    steps = await stack.rows(run["id"], "steps")
    assert steps[0]["parts"]["total"] >= 36, "none is longer than five minutes"
    assert await times(stack, document) == pytest.approx(TRUE, abs=1)


async def times(stack: Stack, document: str) -> list[int]:
    """Seconds of the lines of the transcript."""
    sources = (await stack.call("GET", f"/api/documents/{document}/sources"))[1]["items"]
    path = f"/api/documents/{document}/sources/{sources[-1]['id']}"
    text = (await stack.call("GET", path))[1]["text"]
    fields = [line[1:9].split(":") for line in text.splitlines()]
    return [int(h) * 3600 + int(m) * 60 + int(s) for h, m, s in fields]


async def recorded(stack: Stack, recogniser: FakeRecogniser, folder: Path) -> str:
    """A document whose recording is the long one: only its file is put in place by hand."""
    profile = {"name": "speech", "model": "fake", "base_url": recogniser.base_url}
    assert (await stack.call("POST", "/api/profiles", profile))[0] == 201
    files = {"audio": ("talk.wav", sounds.wav([(0.5, True)]), "audio/wav")}
    data = {"kind": "text", "title": "Three hours", "body": "We talked.", "language": "en"}
    answer = await stack.http.post("/api/documents", data=data, files=files)
    assert answer.status_code == 201, answer.text
    [row] = await stack.sql("SELECT uri FROM blobs")
    spoken_now_and_then(BlobStore(folder.as_uri()).path(row["uri"]))
    found: str = answer.json()["id"]
    return found
