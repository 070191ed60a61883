"""`submit --audio`: the document with its recording, then its run."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.policy import HTTP
from pathlib import Path

import pytest

from api.cli.__main__ import main
from tests.fake_api import RUN_ID, Asked, FakeApi, Reply, make_run, problem

DOCUMENT = "d" * 8
SOUND = bytes(range(256)) * 300


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", "/api/kinds", Reply(body={"items": [], "next_cursor": None}))
        fake.on("POST", "/api/documents", Reply(body={"id": DOCUMENT}, status=201))
        fake.on("POST", f"/api/documents/{DOCUMENT}/runs", Reply(body=make_run(), status=201))
        yield fake


def parts(asked: Asked) -> dict[str, bytes]:
    head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
    form = message_from_bytes(head + asked.body, policy=HTTP)
    found: dict[str, bytes] = {}
    for part in form.iter_parts():
        name = str(part["content-disposition"].params["name"])
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[name] = content
    return found


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "weekly call.m4a"
    path.write_bytes(SOUND)
    return path


def test_a_recording_is_sent_with_its_document_before_the_run(
    api: FakeApi, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["submit", "--audio", str(recording), "--language", "en", "--template", "general"]
    assert main([*words, "--max-rounds", "3", "--tag", "a", "--url", api.url]) == 0
    [document] = api.of("POST", "/api/documents")
    assert parts(document) == {
        "kind": b"minutes",
        "title": b"weekly call",
        "language": b"en",
        "attributes": b'{"template": "general"}',
        "tags": b"a",
        "audio": SOUND,
    }
    [run] = api.of("POST", f"/api/documents/{DOCUMENT}/runs")
    assert run.body == {"max_rounds": 3, "tags": ["a"]}
    said = capsys.readouterr()
    assert RUN_ID in said.out
    assert "no --source" not in said.err


def test_a_lost_answer_sends_the_same_form_again(api: FakeApi, recording: Path) -> None:
    api.on("POST", "/api/documents", Reply(drop=True), Reply(body={"id": DOCUMENT}, status=201))
    notes = recording.with_name("notes.txt")
    notes.write_text("Ana: hello", encoding="utf-8")
    words = ["submit", "--audio", str(recording), "--source", str(notes), "--url", api.url]
    assert main(words) == 0
    first, second = api.of("POST", "/api/documents")
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert parts(second)["source"] == b"Ana: hello"


def test_a_transcript_is_sent_as_the_file_that_it_is(api: FakeApi, recording: Path) -> None:
    notes = recording.with_name("notes.vtt")
    notes.write_bytes("WEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\n李娜: 你好\r\n".encode("gb18030"))
    words = ["submit", "--audio", str(recording), "--source", str(notes), "--url", api.url]
    assert main(words) == 0
    [document] = api.of("POST", "/api/documents")
    assert parts(document)["source"] == notes.read_bytes()


def test_a_recording_that_is_not_there_or_not_taken_starts_nothing(
    api: FakeApi, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["submit", "--audio", str(recording) + ".not", "--url", api.url]) == 2
    assert "No such file" in capsys.readouterr().err
    refused = problem(422, "audio_not_heard", "start it with ./redraft up --speech")
    api.on("POST", "/api/documents", refused)
    assert main(["submit", "--audio", str(recording), "--url", api.url]) == 3
    assert "--speech" in capsys.readouterr().err
    several = ["submit", "a.md", "b.md", "--audio", str(recording), "--url", api.url]
    assert main(several) == 2
    assert not api.of("POST", f"/api/documents/{DOCUMENT}/runs")
