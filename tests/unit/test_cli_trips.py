"""`submit` without a file: a trip from a sentence, from fields, with reference data."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from api.cli.__main__ import main
from tests.fake_api import RUN_ID, FakeApi, Reply, make_run, problem
from tests.unit.trips import ITINERARY, reference_text

SENTENCE = "5 days from Memphis to two cities in Pennsylvania from 2027-03-22, for 2 people, $1,400"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as fake:
        types = {name: str(type_) for name, type_ in ITINERARY.attribute_types.items()}  # type: ignore[attr-defined]
        kinds = [{"name": "itinerary", "attribute_types": types}]
        fake.on("GET", "/api/kinds", Reply(body={"items": kinds, "next_cursor": None}))
        fake.on("POST", "/api/runs", Reply(body=make_run(kind="itinerary"), status=201))
        yield fake


def sent(api: FakeApi, *arguments: str) -> dict[str, Any]:
    assert main(["submit", "--kind", "itinerary", *arguments, "--url", api.url]) == 0
    body: dict[str, Any] = api.of("POST", "/api/runs")[-1].body
    return body


def form(api: FakeApi, *arguments: str) -> list[tuple[str, str | None, str, bytes]]:
    assert main(["submit", "--kind", "itinerary", *arguments, "--url", api.url]) == 0
    return api.of("POST", "/api/runs")[-1].form()


def test_a_sentence_is_all_that_a_trip_needs(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sent(api, "--request", SENTENCE) == {
        "kind": "itinerary",
        "title": "Memphis → Pennsylvania, 5 days, from 2027-03-22",
        "sources": [{"name": "request", "media_type": "text/plain", "text": SENTENCE}],
    }
    assert "no --source" not in capsys.readouterr().err


def test_a_chinese_sentence_may_come_from_standard_input(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("我一个人去杭州玩三天，预算3000元\n"))
    body = sent(api, "--request", "-", "--language", "zh")
    assert (body["title"], body["language"]) == ("杭州，3 天", "zh")


def test_fields_are_typed_as_the_kind_types_them_and_reference_data_goes_along(
    api: FakeApi, tmp_path: Path
) -> None:
    data = tmp_path / "reference.json"
    data.write_text(reference_text("00"), encoding="utf-8")
    fields = ["from=10", "to=北京", "days=5", "start_date=2027-03-22", "budget=1400"]
    fields += ["cuisine=Thai, Greek", "cuisine=川菜", 'people="two"']
    given = [word for one in fields for word in ("--field", one)]
    [*_, (_, name, media_type, text)] = form(api, *given, "--reference", str(data))
    attributes = json.loads(api.of("POST", "/api/runs")[-1].fields()["attributes"])
    assert attributes == {
        "from": "10",
        "to": "北京",
        "days": 5,
        "start_date": "2027-03-22",
        "budget": 1400,
        "cuisine": ["Thai", "Greek", "川菜"],
        "people": "two",
    }
    assert (name, media_type) == ("reference.json", "application/json")
    assert text == data.read_bytes()


def test_a_sentence_goes_before_the_data_that_it_is_planned_over(
    api: FakeApi, tmp_path: Path
) -> None:
    (tmp_path / "reference.json").write_text("{}", encoding="utf-8")
    parts = form(api, "--request", SENTENCE, "--source", str(tmp_path / "reference.json"))
    sources = [(name, content) for field, name, _, content in parts if field == "source"]
    assert sources == [("request", SENTENCE.encode()), ("reference.json", b"{}")]
    assert api.of("POST", "/api/runs")[-1].fields()["title"].startswith("Memphis →".encode())


def test_fields_alone_make_a_title(api: FakeApi) -> None:
    assert sent(api, "--field", "to=Rome", "--field", "days=3")["title"] == (
        "itinerary: to Rome, days 3"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--request TEXT"),
        (["--request", " "], "--request is empty"),
        (["--field", "days"], "NAME=VALUE"),
        (["--field", "days=1", "--field", "days=2"], "given twice"),
        (["--request", "-", "--source", "-"], "only once"),
    ],
)
def test_what_says_nothing_clear_is_refused_before_anything_is_sent(
    api: FakeApi, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["submit", "--kind", "itinerary", *arguments, "--url", api.url]) == 2
    assert said in capsys.readouterr().err
    assert api.of("POST", "/api/runs") == []


def test_a_refusal_names_the_field_and_what_it_must_be(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = "This must be a whole number of days from 1 to 30."
    errors = [{"pointer": "/attributes/days", "code": "invalid_request", "detail": detail}]
    api.on("POST", "/api/runs", problem(422, "invalid_request", "It does not fit.", errors=errors))
    code = main(["submit", "--kind", "itinerary", "--field", "days=60", "--url", api.url])
    assert code == 3
    assert f"/attributes/days: {detail}" in capsys.readouterr().err


def test_minutes_without_a_file_are_drafted_by_the_template_that_is_named(
    api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transcript, own = tmp_path / "monday.txt", tmp_path / "ours.md"
    transcript.write_text("Ana: we ship on Friday.\n", encoding="utf-8")
    own.write_text("## Votes\n", encoding="utf-8")
    for given, told in (("decision-log", "decision-log"), (str(own), "## Votes\n")):
        words = ["--kind", "minutes", "--source", str(transcript), "--template", given]
        form(api, *words)
        fields = api.of("POST", "/api/runs")[-1].fields()
        assert json.loads(fields["attributes"]) == {"template": told}
        assert set(fields) == {"kind", "attributes", "source"}
    words = ["submit", "--source", str(transcript), "--template", str(tmp_path / "no.md")]
    assert main([*words, "--url", api.url]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_calls_name_the_days_they_brought_and_what_was_dropped(
    api: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    dropped = {"dropped": {"invalid": 2, "changed_earlier": 3}}
    ledger = {"kept_keys": ["4", "5"], **dropped, "dropped_keys": {"changed_earlier": ["1", "2"]}}
    call = {"id": RUN_ID, "step": "draft", "status": "SUCCEEDED", "items_kept": 2, **ledger}
    rows = [call, {**call, "step": "review", "dropped": {}}]
    api.on("GET", "/api/runs", Reply(body={"items": [make_run()], "next_cursor": None}))
    api.on("GET", f"/api/runs/{RUN_ID}", Reply(body=make_run()))
    api.on("GET", f"/api/runs/{RUN_ID}/calls", Reply(body={"items": rows, "next_cursor": None}))
    assert main(["calls", RUN_ID, "--url", api.url]) == 0
    first, second = capsys.readouterr().out.splitlines()[1:3]
    assert first.split("\t")[-2:] == ["4,5", "changed_earlier 1,2; invalid (2)"]
    assert second.split("\t")[-2:] == ["", ""]
