"""Client commands against a small real HTTP server: requests, exit codes, what is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from api.cli.__main__ import main
from api.cli.client import find_address
from api.cli.show import run_lines
from tests.fake_api import DOCUMENT_ID, RUN_ID, FakeApi, Reply, make_run, problem

RUN = f"/api/runs/{RUN_ID}"
EMPTY = Reply(body={"items": [], "next_cursor": None})


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", RUN, Reply(body=make_run()))
        fake.on("GET", f"{RUN}/events", EMPTY)
        fake.on("GET", "/api/runs", Reply(body={"items": [make_run()], "next_cursor": None}))
        yield fake


def call(api: FakeApi, *arguments: str) -> int:
    return main([*arguments, "--url", api.url])


def test_submit_sends_files_as_they_are_with_one_run_for_each(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("POST", "/api/preview", Reply(body={}))
    api.on("POST", "/api/runs", Reply(body=make_run(), status=201))
    (tmp_path / "one.md").write_text("# Kick-off\n\ntext\n", encoding="utf-8")
    (tmp_path / "second_day.txt").write_bytes("内容".encode("utf-16"))
    (tmp_path / "words.vtt").write_bytes(b"\xef\xbb\xbfA: hello\r\n")
    files = [str(tmp_path / name) for name in ("one.md", "second_day.txt", "words.vtt")]
    words = ["--max-rounds", "2", "--attribute", "meeting_date=2026-03-01"]
    words += ["--encoding", "utf-16", "--tag", "a", "--tag", "b", "--limit", "calls=9"]
    assert call(api, "submit", *files[:2], "--source", files[2], *words) == 0
    first, second = api.of("POST", "/api/runs")
    charset = '; charset="utf-16"'
    assert first.form() == [
        ("kind", None, "", b"minutes"),
        ("max_rounds", None, "", b"2"),
        ("tags", None, "", b"a"),
        ("tags", None, "", b"b"),
        ("attributes", None, "", b'{"meeting_date": "2026-03-01"}'),
        ("limits", None, "", b'{"max_calls": 9}'),
        ("body", "one.md", f"text/markdown{charset}", b"# Kick-off\n\ntext\n"),
        ("source", "words.vtt", f"text/vtt{charset}", b"\xef\xbb\xbfA: hello\r\n"),
    ]
    assert second.fields()["body"] == "内容".encode("utf-16")
    assert f"{api.url}/runs/{RUN_ID}" in capsys.readouterr().out


def test_a_run_tells_how_far_its_recording_is_heard() -> None:
    heard = {"step": "transcribe", "done_seconds": 300, "total_seconds": 10800, "rest_seconds": 95}
    assert "recording: 5 min of 3 h heard, about 95 s left" in run_lines(make_run(progress=heard))


def test_the_round_at_work_is_told_as_on_the_pages() -> None:
    step = {"name": "review", "round": 1}
    stopped = make_run(status="INTERRUPTED", next_step=step, calls=1)
    assert "round 1 of 5, " in run_lines(stopped)[1]
    assert "1 call, 0 tokens in, 0 out" in run_lines(stopped)
    assert "round 2 of 5, " in run_lines(make_run(current_round=2, next_step=None))[1]


def test_submit_reads_standard_input(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.on("POST", "/api/runs", Reply(body=make_run(), status=201))
    given = "Tagesordnung: Übersicht".encode("latin-1")
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given)))
    assert call(api, "submit", "-") == 0
    assert api.of("POST", "/api/runs")[0].form()[-1] == ("body", "stdin", "text/plain", given)


def test_of_several_files_none_is_started_before_all_can_be_read(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.txt", "b.txt", "c.vtt"):
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    told = problem(400, "invalid_request", "is not UTF-8; --encoding NAME")
    api.on("POST", "/api/preview", Reply(body={}), told)
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    assert call(api, "submit", *files, "--source", str(tmp_path / "c.vtt")) == 3
    assert "b.txt: is not UTF-8; --encoding NAME" in capsys.readouterr().err
    assert api.of("POST", "/api/runs") == []
    assert [asked.query for asked in api.of("POST", "/api/preview")] == [{"as": "draft"}] * 2


def test_a_file_that_is_not_there_is_refused_and_nothing_sent(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "submit", str(tmp_path / "file.txt")) == 2
    assert "file.txt cannot be read: No such file" in capsys.readouterr().err
    assert api.asked == []


def test_a_post_whose_answer_was_lost_is_repeated_with_the_same_key(api: FakeApi) -> None:
    api.on("POST", f"{RUN}/cancel", Reply(drop=True), Reply(body=make_run(status="CANCELLED")))
    assert call(api, "cancel", RUN_ID) == 0
    first, second = api.of("POST", "/cancel")
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"] != ""


def test_two_posts_have_two_keys(api: FakeApi) -> None:
    api.on("POST", f"{RUN}/cancel", Reply(body=make_run(status="CANCELLED")))
    call(api, "cancel", RUN_ID)
    call(api, "cancel", RUN_ID)
    first, second = api.of("POST", "/cancel")
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]


def test_a_refusal_names_code_sentence_fields_and_next_act(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = [{"pointer": "/base_revision", "code": "invalid", "detail": "is not known"}]
    api.on(
        "POST",
        f"{RUN}/resume",
        problem(409, "guardrail_override_required", "Guardrail spinning.", errors=errors),
    )
    assert call(api, "resume", RUN_ID) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    for part in (
        "guardrail_override_required: Guardrail spinning.",
        "/base_revision",
        "--override",
    ):
        assert part in printed.err


def test_nobody_answering_is_exit_5_and_says_what_to_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with FakeApi() as gone:
        url = gone.url
    assert main(["runs", "--url", url]) == 5
    assert "./redraft up" in capsys.readouterr().err


def test_an_answer_that_is_not_redrafts_is_exit_5(api: FakeApi) -> None:
    api.on("GET", "/api/runs", Reply(body=b"<h1>Bad gateway</h1>", status=502))
    assert call(api, "runs") == 5


@pytest.mark.parametrize(
    "arguments", [["submit", "--max-rounds", "x"], ["runs", "--status", "DONE"], ["nonsense"]]
)
def test_wrong_usage_is_exit_2(api: FakeApi, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        call(api, *arguments)
    assert left.value.code == 2
    assert api.asked == []


def test_a_unique_beginning_of_an_id_is_enough_on_any_page(api: FakeApi) -> None:
    other = make_run(id="0193cccc-0000-7000-8000-000000000003")
    api.on(
        "GET",
        "/api/runs",
        Reply(body={"items": [other], "next_cursor": "c1"}),
        Reply(body={"items": [make_run()], "next_cursor": None}),
    )
    api.on("POST", f"{RUN}/reject", Reply(body=make_run(status="REJECTED")))
    assert call(api, "reject", "0192aa", "--comment", "no") == 0
    assert api.of("GET", "/api/runs")[1].query["cursor"] == "c1"
    assert api.of("POST", "/reject")[0].body == {"comment": "no"}


def test_a_beginning_of_two_ids_is_refused_and_moves_nothing(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_run(id="0192aaab-0000-7000-8000-000000000003")
    api.on("GET", "/api/runs", Reply(body={"items": [other, make_run()], "next_cursor": None}))
    assert call(api, "cancel", "0192aaa") == 2
    assert RUN_ID in capsys.readouterr().err
    assert api.of("POST", "/cancel") == []


def test_an_unknown_beginning_is_exit_3(api: FakeApi) -> None:
    assert call(api, "cancel", "ffff") == 3


def test_confirm_takes_the_offered_revision_and_says_so(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = make_run(status="AWAITING_CONFIRMATION", offered_revision=3)
    api.on("GET", RUN, Reply(body=waiting))
    api.on("POST", f"{RUN}/confirm", Reply(body=waiting))
    assert call(api, "confirm", RUN_ID) == 0
    assert api.of("POST", "/confirm")[0].body == {"revision": 3}
    assert "revision 3 (the offered one)" in capsys.readouterr().out


def test_resume_with_an_edited_text_names_its_base(api: FakeApi, tmp_path: Path) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="INTERRUPTED", working_revision=4)))
    api.on("POST", f"{RUN}/resume", Reply(body=make_run(), status=202))
    (tmp_path / "edit.md").write_text("better", encoding="utf-8")
    assert call(api, "resume", RUN_ID, "--body", str(tmp_path / "edit.md"), "--override") == 0
    assert api.of("POST", "/resume")[0].body == {
        "body": "better",
        "base_revision": 4,
        "override_guardrail": True,
    }


def test_interrupt_all_passes_over_a_run_that_was_faster(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_run(id="0193cccc-0000-7000-8000-000000000003")
    api.on("GET", "/api/runs", Reply(body={"items": [make_run(), other], "next_cursor": None}))
    api.on("POST", f"{RUN}/interrupt", problem(409, "status_changed", "It waits."))
    stopped = make_run(id=other["id"], status="INTERRUPTED")
    api.on("POST", f"/api/runs/{other['id']}/interrupt", Reply(body=stopped, status=202))
    assert call(api, "interrupt", "--all", "--reason", "lunch") == 0
    assert api.of("GET", "/api/runs")[0].query["status"] == "RUNNING"
    assert "1 interrupted" in capsys.readouterr().out


def test_interrupt_without_a_run_is_refused(api: FakeApi) -> None:
    assert call(api, "interrupt") == 2
    assert api.asked == []


def test_export_of_a_run_writes_the_offered_revision_byte_for_byte(
    api: FakeApi, tmp_path: Path
) -> None:
    api.on("GET", RUN, Reply(body=make_run(offered_revision=2, best_revision=1)))
    path = f"/api/documents/{DOCUMENT_ID}/export"
    api.on("GET", path, Reply(body="# Ünï\r\n".encode(), content_type="text/markdown"))
    target = tmp_path / "out.md"
    assert call(api, "export", RUN_ID, "-o", str(target)) == 0
    assert target.read_bytes() == "# Ünï\r\n".encode()
    assert api.of("GET", "/export")[0].query == {"format": "md", "revision": "2"}


def test_export_of_a_document_takes_its_newest_text(
    api: FakeApi, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = f"/api/documents/{DOCUMENT_ID}/export"
    api.on("GET", path, Reply(body=b'{"a": 1}'))
    assert call(api, "export", DOCUMENT_ID, "--format", "json") == 0
    assert capsysbinary.readouterr().out == b'{"a": 1}'
    assert api.of("GET", "/export")[0].query == {"format": "json"}


def test_delete_needs_a_yes_and_deletes_the_document_of_a_run(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"")))
    path = f"/api/documents/{DOCUMENT_ID}"
    api.on("DELETE", path, Reply(status=204))
    assert call(api, "delete", RUN_ID) == 2
    assert "Minutes of Monday" in capsys.readouterr().err
    assert api.of("DELETE", path) == []
    assert call(api, "delete", RUN_ID, "--yes") == 0
    assert len(api.of("DELETE", path)) == 1
    printed = capsys.readouterr().out
    for part in ("Minutes of Monday", DOCUMENT_ID, RUN_ID):
        assert part in printed


def test_a_title_cannot_act_on_the_terminal(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = make_run(title="a\x1b]0;owned\x07b\u202ec[red]d")
    api.on("GET", "/api/runs", Reply(body={"items": [hostile], "next_cursor": None}))
    assert call(api, "runs") == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert "\u202e" not in printed
    assert "[red]d" in printed


def test_json_is_the_answer_of_the_api(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(api, "show", RUN_ID, "--json") == 0
    assert json.loads(capsys.readouterr().out) == make_run()


def test_show_names_steps_open_issues_and_the_next_act(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = {"code": "spinning", "params": {"part": "main"}}
    api.on("GET", RUN, Reply(body=make_run(status="FAILED", reason=reason)))
    step = {
        "seq": 1,
        "name": "review",
        "round": 1,
        "attempt": 2,
        "status": "FAILED",
        "reason": {"code": "interrupted", "params": {}},
        "parts": {"done": 1, "total": 2},
        "started_at": "2026-03-01T10:00:00Z",
        "ended_at": "2026-03-01T10:00:09Z",
    }
    issues = [
        {"number": 1, "severity": "minor", "status": "fixed", "problem": "was repaired"},
        {"number": 2, "severity": "major", "status": "open", "problem": "12 is not 21"},
    ]
    api.on("GET", f"/api/documents/{DOCUMENT_ID}/revisions", EMPTY)
    api.on("GET", f"{RUN}/steps", Reply(body={"items": [step], "next_cursor": None}))
    api.on("GET", f"{RUN}/issues", Reply(body={"items": issues, "next_cursor": None}))
    kept = [{"step": "review", "round": of, "key": str(n)} for n, of in enumerate((0, 1, 1))]
    api.on("GET", f"{RUN}/items", Reply(body={"items": kept, "next_cursor": None}))
    assert call(api, "show", RUN_ID) == 0
    printed = capsys.readouterr().out
    for part in ("FAILED: guardrail", "review #2", "1/2", "Stopped", "I2", "12 is not 21"):
        assert part in printed
    assert "open issues: 0 blocker, 1 major, 0 minor" in printed
    assert "kept of review so far: 2 (1, 2)" in printed
    assert "was repaired" not in printed
    assert "said" not in printed
    assert f"redraft resume {RUN_ID} --override" in printed


def test_the_key_is_sent_and_the_stack_of_the_data_directory_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "redraft"
    folder.mkdir()
    (folder / "env").write_text(
        "REDRAFT_URL=http://127.0.0.1:9431\nREDRAFT_API_KEY=abc\n", encoding="utf-8"
    )
    home = {"XDG_DATA_HOME": str(tmp_path)}
    assert find_address(None, home).url == "http://127.0.0.1:9431"
    assert find_address(None, home).key == "abc"
    assert find_address(None, {**home, "REDRAFT_URL": "http://other:1/"}).url == "http://other:1"
    assert find_address("http://named:2", home).key == ""
    assert find_address(None, {"XDG_DATA_HOME": str(tmp_path / "none")}).url.endswith(":8430")


def test_the_key_travels_as_a_bearer(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDRAFT_API_KEY", "k-1")
    call(api, "runs")
    assert api.asked[0].headers["authorization"] == "Bearer k-1"


def test_limits_are_named_and_none_removes_one(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="INTERRUPTED")))
    api.on("POST", f"{RUN}/resume", Reply(body=make_run(), status=202))
    given = ("--limit", "tokens=9000", "--limit", "cost=1.50", "--limit", "calls=none")
    assert call(api, "resume", RUN_ID, *given) == 0
    assert api.of("POST", "/resume")[0].body == {
        "limits": {"max_tokens": 9000, "max_cost": "1.50", "max_calls": None}
    }
    for wrong in ("words=3", "calls", "calls=few"):
        assert call(api, "resume", RUN_ID, "--limit", wrong) == 2
    assert "--limit 'calls=few'" in capsys.readouterr().err


def test_export_takes_the_format_from_the_ending_of_the_file(api: FakeApi, tmp_path: Path) -> None:
    path = f"/api/documents/{DOCUMENT_ID}/export"
    api.on("GET", path, Reply(body=b"PK", content_type="application/octet-stream"))
    for name in ("x.docx", "x.htm", "x.txt"):
        assert call(api, "export", DOCUMENT_ID, "-o", str(tmp_path / name)) == 0
    asked = [request.query["format"] for request in api.of("GET", "/export")]
    assert asked == ["docx", "html", "md"]


def test_submit_tells_what_the_service_did_not_understand(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"at": at, "text": "00:99 --> x\x1b[2J"} for at in range(6, 12)]
    left_out = [{"at": 1, "what": "1 × <script>", "text": ""}]
    talk = {"name": "talk.vtt", "not_understood": lines, "left_out": [], "repairs": {"times": 2}}
    page = {"name": "m.html", "not_understood": [], "left_out": left_out, "repairs": {}}
    api.on("POST", "/api/runs", Reply(status=201, body={**make_run(), "reading": [talk, page]}))
    (tmp_path / "m.html").write_text("<h1>x</h1>", encoding="utf-8")
    assert call(api, "submit", str(tmp_path / "m.html"), "--source", str(tmp_path / "m.html")) == 0
    told = capsys.readouterr().err
    assert "talk.vtt: line 6 was not understood: 00:99 --> x" in told
    assert "talk.vtt: … and 2 more of these" in told
    assert "m.html: left out, 1 × <script>" in told
    assert "\x1b" not in told
