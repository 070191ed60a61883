"""`submit --audio`: the document with its recording, and its run at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.__main__ import main
from tests.fake_api import RUN_ID, FakeApi, Reply, make_run, problem

SOUND = bytes(range(256)) * 300


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", "/api/kinds", Reply(body={"items": [], "next_cursor": None}))
        fake.on("POST", "/api/runs", Reply(body=make_run(), status=201))
        yield fake


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "weekly call.m4a"
    path.write_bytes(SOUND)
    return path


def test_a_recording_is_sent_with_its_document_and_run(
    api: FakeApi, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["submit", "--audio", str(recording), "--language", "en", "--template", "general"]
    assert main([*words, "--max-rounds", "3", "--tag", "a", "--url", api.url]) == 0
    [asked] = api.of("POST", "/api/runs")
    assert asked.fields() == {
        "kind": b"minutes",
        "language": b"en",
        "attributes": b'{"template": "general"}',
        "tags": b"a",
        "max_rounds": b"3",
        "audio": SOUND,
    }
    assert ("audio", "weekly call.m4a") in [part[:2] for part in asked.form()]
    said = capsys.readouterr()
    assert RUN_ID in said.out
    assert "no --source" not in said.err


def test_a_lost_answer_sends_the_same_form_again(api: FakeApi, recording: Path) -> None:
    busy = problem(409, "idempotency_in_progress", "The first one is at work.")
    api.on("POST", "/api/runs", Reply(drop=True), busy, Reply(body=make_run(), status=201))
    notes = recording.with_name("notes.txt")
    notes.write_text("Ana: hello", encoding="utf-8")
    words = ["submit", "--audio", str(recording), "--source", str(notes), "--url", api.url]
    assert main(words) == 0
    first, second, third = api.of("POST", "/api/runs")
    assert first.body == second.body == third.body
    assert first.headers["idempotency-key"] == third.headers["idempotency-key"]
    assert third.fields()["source"] == b"Ana: hello"


def test_a_transcript_is_sent_as_the_file_that_it_is(api: FakeApi, recording: Path) -> None:
    notes = recording.with_name("notes.vtt")
    notes.write_bytes("WEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\n李娜: 你好\r\n".encode("gb18030"))
    words = ["submit", "--audio", str(recording), "--source", str(notes), "--url", api.url]
    assert main(words) == 0
    [asked] = api.of("POST", "/api/runs")
    assert asked.fields()["source"] == notes.read_bytes()


def test_a_recording_that_is_not_there_or_not_taken_starts_nothing(
    api: FakeApi, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["submit", "--audio", str(recording) + ".not", "--url", api.url]) == 2
    assert "No such file" in capsys.readouterr().err
    refused = problem(422, "audio_not_heard", "start it with ./redraft up --speech")
    assert not api.of("POST", "/api/runs")
    api.on("POST", "/api/runs", refused)
    assert main(["submit", "--audio", str(recording), "--url", api.url]) == 3
    assert "--speech" in capsys.readouterr().err
    several = ["submit", "a.md", "b.md", "--audio", str(recording), "--url", api.url]
    assert main(several) == 2
