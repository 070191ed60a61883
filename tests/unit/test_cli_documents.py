"""What the command line says about documents, lists and refusals, so that nobody gets stuck."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.__main__ import main
from api.cli.show import short_ids
from tests.architecture.sources import ROOT
from tests.fake_api import DOCUMENT_ID, RUN_ID, FakeApi, Reply, make_event, make_run, problem

RUN = f"/api/runs/{RUN_ID}"
DOCUMENT = {"id": DOCUMENT_ID, "kind": "minutes", "title": "Monday", "newest_revision": 2}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        fake.on("GET", RUN, Reply(body=make_run()))
        fake.on("GET", f"/api/documents/{DOCUMENT_ID}", Reply(body=DOCUMENT))
        fake.on("GET", "/api/runs", page(make_run()))
        yield fake


def page(*items: object) -> Reply:
    return Reply(body={"items": list(items), "next_cursor": None})


def call(api: FakeApi, *arguments: str) -> int:
    return main([*arguments, "--url", api.url])


def test_show_of_a_document_says_what_it_is_and_lists_its_runs(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "show", DOCUMENT_ID) == 0
    printed = capsys.readouterr().out
    for part in ("Monday", "a document, newest revision 2", f"/documents/{DOCUMENT_ID}", RUN_ID):
        assert part in printed
    assert api.of("GET", "/api/runs")[-1].query["document_id"] == DOCUMENT_ID


def test_show_of_an_id_that_nothing_has_is_exit_3(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "show", "0192cccc-0000-7000-8000-000000000009") == 3
    assert "No run and no document" in capsys.readouterr().err


def test_show_gives_the_words_of_people_and_commands_with_the_id(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="AWAITING_CONFIRMATION")))
    for list_ in ("steps", "issues"):
        api.on("GET", f"{RUN}/{list_}", page())
    api.on("GET", f"/api/documents/{DOCUMENT_ID}/revisions", page())
    said = make_event(2, "run_interrupted", comment="wrong transcript")
    api.on("GET", f"{RUN}/events", page(make_event(1, "run_created", comment=None), said))
    assert call(api, "show", RUN_ID) == 0
    printed = capsys.readouterr().out
    assert "AWAITING_CONFIRMATION (Needs you)" in printed
    assert "local said: “wrong transcript”" in printed
    assert "run created" not in printed
    for word in ("confirm", "reject", "export"):
        assert f"./redraft {word} {RUN_ID}" in printed


def test_show_names_limits_with_what_is_used_and_every_revision(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(
        **{"status": "INTERRUPTED", "reason": {"code": "limit_tokens", "params": {"limit": 900}}},
        **{"limits": {"max_tokens": 900, "max_cost": "1.50", "max_seconds": 60}, "currency": "USD"},
        **{"tokens": {"input": 700, "output": 150, "cached": 0, "reasoning": 0}, "cost": "0.4"},
        **{"running": {"seconds": 42, "since": None}, "base_revision": 0},
        **{"working_revision": 2, "best_revision": 1},
    )
    api.on("GET", RUN, Reply(body=run))
    reviews = [
        {"seq": n + 1, "name": "review", "status": "SUCCEEDED", "input_revision": n, "score": score}
        for n, score in enumerate((60, 85))
    ]
    api.on("GET", f"{RUN}/steps", page(*reviews))
    api.on("GET", f"{RUN}/issues", page())
    api.on("GET", f"{RUN}/events", page())
    of_run = {"run": RUN_ID, "step": "refine", "round": 1}
    revisions = [
        {"number": 0, "base": None, "author": "Ana", "made_by": None, "characters": 9},
        {"number": 1, "base": 0, "author": "run", "made_by": of_run, "characters": 8},
        {"number": 2, "base": 1, "author": "local", "made_by": None, "characters": 7},
    ]
    api.on("GET", f"/api/documents/{DOCUMENT_ID}/revisions", page(*revisions))
    assert call(api, "show", RUN_ID) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "limits: tokens 850 of 900, cost 0.4 of 1.50 USD, time 42 of 60 s" in lines
    assert [line.split("\t")[:5] for line in lines if line[:2] in ("0\t", "1\t", "2\t")] == [
        ["0", "Ana", "–", "60", "base"],
        ["1", "refine round 1", "0", "85", "best"],
        ["2", "local", "1", "–", "working"],
    ]
    assert lines[-1] == f"next: ./redraft resume {RUN_ID} --limit tokens=N, more than now"


def test_a_price_is_called_unknown_only_once_there_is_something_to_pay(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("steps", "issues", "events"):
        api.on("GET", f"{RUN}/{name}", page())
    api.on("GET", f"/api/documents/{DOCUMENT_ID}/revisions", page())
    used = {"input": 10, "output": 5, "cached": 0, "reasoning": 0}
    api.on("GET", RUN, Reply(body=make_run(calls=1)), Reply(body=make_run(calls=1, tokens=used)))
    assert call(api, "show", RUN_ID) == 0
    before = capsys.readouterr().out
    assert "price" not in before
    assert "limits: none" in before
    assert call(api, "show", RUN_ID) == 0
    assert "price unknown" in capsys.readouterr().out


def test_a_fork_names_the_page_of_its_document_and_what_comes_next(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("POST", f"{RUN}/fork", Reply(body=DOCUMENT, status=201))
    assert call(api, "fork", RUN_ID, "--revision", "1") == 0
    printed = capsys.readouterr().out
    assert f"{api.url}/documents/{DOCUMENT_ID}" in printed
    assert "--start" in printed
    assert api.of("POST", "/runs") == []


def test_a_fork_can_start_a_run_of_its_document(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "0193cccc-0000-7000-8000-000000000003"
    api.on("POST", f"{RUN}/fork", Reply(body=DOCUMENT, status=201))
    started = Reply(body=make_run(id=other), status=201)
    api.on("POST", f"/api/documents/{DOCUMENT_ID}/runs", started)
    assert call(api, "fork", RUN_ID, "--revision", "1", "--start") == 0
    assert f"{api.url}/runs/{other}" in capsys.readouterr().out


def test_rework_sends_comments_locks_and_instructions(api: FakeApi) -> None:
    api.on("POST", f"{RUN}/rework", Reply(body=make_run(), status=202))
    words = ("--comment", "shorter", "--comment", "say who", "--lock", "It is blue.")
    assert call(api, "rework", RUN_ID, *words, "--extra-rounds", "3") == 0
    assert api.asked[-1].body == {
        "comments": [{"text": "shorter"}, {"text": "say who"}],
        "locks": [{"quote": "It is blue."}],
        "extra_rounds": 3,
    }


@pytest.mark.parametrize(
    ("code", "path"), [("unknown_kind", "/api/kinds"), ("unknown_profile", "/api/profiles")]
)
def test_an_unknown_name_is_answered_with_the_names_there_are(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str, path: str
) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    api.on("POST", "/api/runs", problem(422, code, "There is none."))
    assert call(api, "submit", str(tmp_path / "a.md")) == 3
    assert "There is none." in capsys.readouterr().err
    api.on("GET", path, page({"name": "text"}, {"name": "minutes"}))
    assert call(api, "submit", str(tmp_path / "a.md")) == 3
    assert "choose one of: minutes, text" in capsys.readouterr().err


def test_submit_without_a_source_warns_and_goes_on(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    api.on("POST", "/api/runs", Reply(body=make_run(), status=201))
    assert call(api, "submit", str(tmp_path / "a.md")) == 0
    assert "nothing to check the document against" in capsys.readouterr().err
    assert call(api, "submit", str(tmp_path / "a.md"), "--source", str(tmp_path / "a.md")) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("language", "code"), [("english", 2), ("zh_CN", 2), ("zh-CN", 0)])
def test_a_language_that_is_no_code_is_refused_with_examples(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, code: int
) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    api.on("POST", "/api/runs", Reply(body=make_run(), status=201))
    assert call(api, "submit", str(tmp_path / "a.md"), "--language", language) == code
    assert ("en, zh or zh-CN" in capsys.readouterr().err) == bool(code)


def test_runs_in_a_pipe_begin_with_a_header(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "runs") == 0
    header, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert (header[0], header[1], len(header)) == ("ID", "STATUS", len(row))
    assert (row[0], row[1]) == (RUN_ID, "RUNNING")


def test_runs_on_a_narrow_terminal_are_one_line_each_in_the_words_of_the_pages(
    api: FakeApi,
) -> None:
    title = "Minutes of the third meeting about the harbour and its bridges"
    waiting = make_run(title=title, status="AWAITING_CONFIRMATION")
    other = {**waiting, "id": "0192aaaa-0001-7000-8000-000000000003"}
    api.on("GET", "/api/runs", page(waiting, other))
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "api.cli", "runs", "--url", api.url],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
        stdout=theirs,
        check=False,
    )
    os.close(theirs)
    lines = os.read(ours, 65536).decode().splitlines()
    os.close(ours)
    assert done.returncode == 0
    assert len(lines) == 3
    assert all("Needs you" in line and "Minutes of" in line and "…" in line for line in lines[1:])


def test_shown_ids_tell_runs_apart_that_were_made_in_one_minute() -> None:
    ids = ["0192aaaa-0000-7000-8000-1", "0192aaaa-0001-7000-8000-2", "0192aaaa-0001-7000-9000-3"]
    shown = short_ids(ids)
    assert len(set(shown.values())) == 3
    assert shown[ids[0]] == "0192aaaa-0000"
    assert all(one.startswith(short) for one, short in shown.items())


def test_locks_are_listed_and_one_is_removed_by_the_end_of_its_id(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"/api/documents/{DOCUMENT_ID}/locks"
    at = "2026-03-01T10:00:00Z"
    rows = [
        {"id": f"0192-{end}", "quote": f"passage {end}", "actor": "ana", "created_at": at}
        for end in ("aaaa", "bbbb")
    ]
    api.on("GET", path, page(*rows))
    api.on("DELETE", f"{path}/0192-bbbb", Reply(status=204))
    assert call(api, "locks", RUN_ID) == 0
    head, first, _ = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["ID", "BY", "AGE", "PASSAGE"]
    assert first.split("\t")[::3] == ["0192-aaaa", "passage aaaa"]
    assert call(api, "locks", RUN_ID, "--remove", "BBBB") == 0
    assert "passage bbbb" in capsys.readouterr().out
    assert call(api, "locks", RUN_ID, "--remove", "cccc") == 2
    assert call(api, "locks", RUN_ID, "--remove", "b") == 2
    assert len([asked for asked in api.asked if asked.method == "DELETE"]) == 1


def test_show_says_which_open_issue_a_lock_keeps_open(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = {"code": "no_progress", "params": {}}
    api.on("GET", RUN, Reply(body=make_run(status="AWAITING_CONFIRMATION", reason=ended)))
    issues = [
        {"number": n, "severity": "minor", "status": "open", "problem": "p", "quote": quote}
        for n, quote in enumerate(("on Monday", "on Friday"), 1)
    ]
    api.on("GET", f"{RUN}/issues", page(*issues))
    for path in (f"{RUN}/steps", f"{RUN}/events", f"/api/documents/{DOCUMENT_ID}/revisions"):
        api.on("GET", path, page())
    api.on("GET", f"/api/documents/{DOCUMENT_ID}/locks", page({"quote": "We meet on Friday."}))
    assert call(api, "show", RUN_ID) == 0
    printed = capsys.readouterr().out
    assert "I2 is about a locked passage" in printed
    assert "I1 is about" not in printed
