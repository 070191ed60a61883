"""Following a run: resuming the stream, ending, live text; against a small real HTTP server."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from api.cli.__main__ import main
from api.cli.watch import LiveText
from tests.architecture.sources import ROOT
from tests.fake_api import RUN_ID, FakeApi, Reply, frame, make_event, make_run

RUN = f"/api/runs/{RUN_ID}"
STEP = {"name": "review", "round": 1, "attempt": 1}
EMPTY = Reply(body={"items": [], "next_cursor": None})


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", f"{RUN}/steps", EMPTY)
        fake.on("GET", f"{RUN}/issues", EMPTY)
        yield fake


def watched(api: FakeApi, *more: str) -> int:
    return main(["watch", RUN_ID, "--url", api.url, *more])


def test_a_cut_stream_is_resumed_after_the_last_event_and_repeats_none(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = make_run(status="AWAITING_CONFIRMATION", event_seq=3, offered_revision=1)
    api.on("GET", RUN, Reply(body=make_run()), Reply(body=waiting))
    api.streams = [
        [frame(make_event(1, "run_created")), frame(make_event(2, "step_started", **STEP))],
        [frame(make_event(3, "run_awaiting_confirmation", reason="passed"))],
    ]
    assert watched(api) == 0
    assert [asked.headers["last-event-id"] for asked in api.of("GET", "/events")][:2] == ["0", "2"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[:3]] == ["1", "2", "3"]
    assert "Round 1: review started, attempt 1" in lines[1]
    assert lines[2].endswith("Ready for a decision · the review passed")
    assert lines[-1].startswith("next: ./redraft confirm")


def test_the_words_of_a_person_stand_in_the_line_of_the_event(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="INTERRUPTED", event_seq=1)))
    event = make_event(1, "run_interrupted", comment="wrong\x1b transcript", comment_id="c")
    api.streams = [[frame(event)]]
    assert watched(api) == 0
    line = capsys.readouterr().out.splitlines()[0]
    assert "Interrupted — local said" in line
    assert "local said: “wrong\ufffd transcript”" in line


def test_a_failed_run_is_exit_4(api: FakeApi) -> None:
    failed = make_run(
        status="FAILED", event_seq=1, reason={"code": "provider_refused", "params": {}}
    )
    api.on("GET", RUN, Reply(body=failed))
    api.streams = [[frame(make_event(1, "run_failed"))]]
    assert watched(api) == 4


def test_a_run_that_a_limit_stopped_ends_watching_and_says_that_it_waits(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no failure, so 0; who only looks at the code finds the status with --json."""
    params = {"limit": 900, "used": 850, "needed": 1400}
    stopped = make_run(
        status="INTERRUPTED", event_seq=1, reason={"code": "limit_tokens", "params": params}
    )
    api.on("GET", RUN, Reply(body=stopped))
    api.on("GET", f"{RUN}/estimate", Reply(body={"limits": {"max_tokens": 52000}}))
    api.streams = [[frame(make_event(1, "run_interrupted"))]]
    assert watched(api) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "probably enough for all rounds that may follow: --limit tokens=52000" in lines
    assert "It is not done and waits for you: nothing goes on by itself." in lines
    assert lines[-1].startswith(f"next: ./redraft resume {RUN_ID} --limit tokens=")


@pytest.mark.parametrize("command", ["submit", "watch", "resume", "rework"])
def test_help_says_with_which_code_watching_ends(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help", "--lang", "en"])
    told = " ".join(capsys.readouterr().out.split())
    assert "ends with 0 when the run waits for a person, also when a limit" in told


def test_a_final_run_with_nothing_left_ends_at_once(api: FakeApi) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="CONFIRMED", event_seq=9)))
    api.on("GET", f"{RUN}/events", Reply(status=204))
    assert watched(api) == 0


def test_json_prints_events_and_then_the_run(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = make_run(status="INTERRUPTED", event_seq=2)
    api.on("GET", RUN, Reply(body=stopped))
    event = make_event(2, "run_interrupted")
    api.streams = [
        [
            "retry: 2000\n\n: alive\n\n",
            'event: partial\ndata: {"call_id": "c", "offset": 0, "text": "x"}\n\n',
            frame(event),
        ]
    ]
    assert watched(api, "--json") == 0
    first, last = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == event
    assert last["run"]["status"] == "INTERRUPTED"


def test_a_reset_frame_goes_on_from_the_restored_number(api: FakeApi) -> None:
    stopped = make_run(status="INTERRUPTED", event_seq=4)
    api.on("GET", RUN, Reply(body=make_run(event_seq=40)), Reply(body=stopped))
    api.streams = [
        [frame(make_event(40, "progress")), 'event: reset\ndata: {"event_seq": 3}\n\n'],
        [frame(make_event(4, "run_interrupted"))],
    ]
    assert watched(api) == 0
    assert api.of("GET", "/events")[1].headers["last-event-id"] == "3"


def test_an_unknown_run_is_exit_3(api: FakeApi) -> None:
    assert watched(api) == 3


def test_live_text_appends_at_the_offset_and_drops_what_it_has() -> None:
    live = LiveText()
    live.add({"call_id": "a", "offset": 0, "text": "hello"})
    live.add({"call_id": "a", "offset": 3, "text": "lo wor"})
    live.add({"call_id": "a", "offset": 0, "text": "hel"})
    assert live.tail(5, 80) == "hello wor"
    live.add({"call_id": "a", "offset": 50, "text": "far"})
    assert live.tail(5, 80) == "far"
    live.ended("a")
    assert live.tail(5, 80) == ""


def test_on_a_terminal_the_rows_and_the_live_text_are_drawn(api: FakeApi) -> None:
    step = {"seq": 1, "name": "review", "round": 1, "attempt": 1, "status": "RUNNING"}
    issue = {"number": 4, "severity": "major", "status": "open", "problem": "12 is not 21"}
    api.on("GET", f"{RUN}/steps", Reply(body={"items": [step], "next_cursor": None}))
    api.on("GET", f"{RUN}/issues", Reply(body={"items": [issue], "next_cursor": None}))
    stopped = make_run(status="INTERRUPTED", event_seq=2)
    api.on("GET", RUN, Reply(body=make_run()), Reply(body=make_run()), Reply(body=stopped))
    partial = {"call_id": "c", "offset": 0, "text": "\x1b[2Jthe words it writes"}
    api.streams = [
        [frame(make_event(1, "run_created")), f"event: partial\ndata: {json.dumps(partial)}\n\n"],
        [frame(make_event(2, "run_interrupted"))],
    ]
    ours, theirs = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "api.cli", "watch", RUN_ID, "--url", api.url],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
        stdout=theirs,
    )
    os.close(theirs)
    drawn = b""
    # The end of a pseudo-terminal is an error of input, not an empty read.
    with contextlib.suppress(OSError):
        while chunk := os.read(ours, 65536):
            drawn += chunk
    os.close(ours)
    assert watching.wait(20) == 0
    seen = drawn.decode(errors="replace")
    for part in ("Minutes of Monday", "review", "I4", "12 is not 21", "INTERRUPTED"):
        assert part in seen
    assert "\x1b[2Jthe words" not in seen
