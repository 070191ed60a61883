"""What commands say when a person moves a run, and when what was named is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.__main__ import main
from tests.fake_api import DOCUMENT_ID, RUN_ID, FakeApi, Reply, make_run, problem

RUN = f"/api/runs/{RUN_ID}"
EMPTY = Reply(body={"items": [], "next_cursor": None})


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        yield fake


def call(api: FakeApi, *arguments: str) -> int:
    return main([*arguments, "--url", api.url])


def test_resume_says_that_an_edited_text_gets_one_round_more(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", RUN, Reply(body=make_run(status="INTERRUPTED", working_revision=4)))
    api.on("POST", f"{RUN}/resume", Reply(body=make_run(max_rounds=6), status=202))
    (tmp_path / "edit.md").write_text("better", encoding="utf-8")
    assert call(api, "resume", RUN_ID, "--body", str(tmp_path / "edit.md")) == 0
    told = "your text gets one round more: at most 6 instead of 5"
    assert told in capsys.readouterr().out


def test_an_id_that_nothing_has_is_not_suggested_again(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("GET", "/api/runs", EMPTY)
    api.on("GET", "/api/documents", EMPTY)
    assert call(api, "show", "01b00000") == 3
    assert "next: ./redraft runs lists what is there\n" in capsys.readouterr().err
    gone = problem(404, "not_found", "no such run", params={"what": "run"})
    api.on("POST", f"/api/runs/{DOCUMENT_ID}/cancel", gone)
    assert call(api, "cancel", DOCUMENT_ID) == 3
    assert "next: ./redraft runs lists what is there\n" in capsys.readouterr().err


@pytest.mark.parametrize("amount", ["abc", "1,50", "-1", "1.50USD", "٣"])
def test_a_cost_limit_that_is_no_amount_is_refused_in_words(
    api: FakeApi, amount: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(api, "resume", RUN_ID, "--limit", f"cost={amount}") == 2
    told = f"{amount!r} is no amount; write it like 1.50, without a currency"
    assert told in capsys.readouterr().err
    assert api.of("POST", "/resume") == []


@pytest.mark.parametrize("command", ["resume", "confirm"])
def test_an_edited_text_may_be_of_a_named_encoding(
    api: FakeApi, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence about a file that cannot be read names this option."""
    api.on("GET", RUN, Reply(body=make_run(working_revision=1, offered_revision=1)))
    api.on("POST", f"{RUN}/{command}", Reply(body=make_run()))
    file = tmp_path / "edit.md"
    file.write_bytes("張三：我們週五上線".encode("big5"))
    assert call(api, command, RUN_ID, "--body", str(file)) == 2
    assert "--encoding NAME" in capsys.readouterr().err
    assert call(api, command, RUN_ID, "--body", str(file), "--encoding", "big5") == 0
    assert api.of("POST", f"/{command}")[0].body["body"] == "張三：我們週五上線"
