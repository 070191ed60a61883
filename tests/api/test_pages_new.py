"""The page of a new run: files are read and shown before anything starts."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.harness import Api
from tests.pages.forms import HTML, Browser, Form

GB = "[00:00:05] 李娜：预算是 25 万元。\n[00:00:09] 王强：周五发布。\n".encode("gb18030")
VTT = b"WEBVTT\n\nNOTE by hand\n\n00:05.000 --> 00:08.000\n<v Ana>We ship.\n"


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api.client)


async def post(
    api: Api, form: Form, *files: tuple[str, tuple[str, bytes]], **typed: Any
) -> httpx2.Response:
    return await api.client.post(
        "/runs/new",
        data={**form.fields, **typed},
        files=[("audio", ("", b"")), *files],  # as of a browser, that sends one for none
        headers={**HTML, "origin": str(api.client.base_url).rstrip("/")},
        follow_redirects=False,
    )


def carried(page: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(r'name="carried" value="([^"]*)"', page)]


async def stored(api: Api) -> int:
    count: int = await api.pool.fetchval("SELECT count(*) FROM documents")
    return count


async def test_a_preview_without_script_keeps_all_and_starts_with_it(
    api: Api, browser: Browser, folder: Path
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    files = [("source-file", ("会议.txt", GB)), ("source-file", ("zoom.vtt", VTT))]
    seen = await post(api, form, *files, do="preview", max_rounds="3")
    assert seen.status_code == 200
    for told in ("gb18030", "李娜", "1 piece left out", "WebVTT", "Tokens in", 'value="3"'):
        assert told in seen.text
    assert await stored(api) == 0
    assert await api.pool.fetchval("SELECT count(*) FROM blobs") == 0
    started = await post(api, form, max_rounds="3", carried=carried(seen.text))
    assert started.status_code == 303, started.text[:3000]
    row = await api.pool.fetchrow("SELECT title FROM documents")
    assert row is not None
    assert row["title"] == "会议"
    sources = await api.pool.fetch(
        "SELECT s.name, s.text, b.bytes FROM sources s JOIN blobs b ON b.id = s.original_id "
        "ORDER BY s.position"
    )
    assert [(row["name"], row["bytes"]) for row in sources] == [
        ("会议.txt", len(GB)),
        ("zoom.vtt", len(VTT)),
    ]
    assert "李娜: 预算是 25 万元。" in sources[0]["text"]


@pytest.mark.parametrize(
    ("kind", "place", "told"),
    [
        ("minutes", "source-file", "Choose a transcript, a recording or a draft"),
        ("text", "body-file", "Choose the text to be made right"),
        ("itinerary", "source", "Say what you want"),
    ],
)
async def test_an_empty_form_asks_for_what_is_missing_and_not_for_a_title(
    api: Api, browser: Browser, kind: str, place: str, told: str
) -> None:
    form = await browser.form(f"/runs/new?kind={kind}", "/runs/new")
    answer = await post(api, form)
    assert answer.status_code == 422
    wrong = re.findall(r'class="error" id="f-([\w-]+)-error">([^<]*)', answer.text)
    assert [name for name, _ in wrong] == [place]
    assert wrong[0][1].startswith(told)
    assert await stored(api) == 0


async def test_a_file_that_cannot_be_read_is_told_beside_its_field_and_starts_nothing(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    bad, good = ("source-file", ("bad.txt", b"a\0b")), ("source-file", ("zoom.vtt", VTT))
    answer = await post(api, form, bad, good, title="Weekly")
    assert answer.status_code == 422
    assert re.search(r'id="f-source-file-error">[^<]*NUL', answer.text)
    assert 'value="Weekly"' in answer.text
    assert len(carried(answer.text)) == 1
    assert await stored(api) == 0


async def test_a_file_may_be_left_out_again(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    seen = await post(api, form, ("source-file", ("zoom.vtt", VTT)), do="preview")
    digest = re.findall(r'name="drop" value="(\w+)"', seen.text)
    again = await post(api, form, do="preview", carried=carried(seen.text), drop=digest)
    assert carried(again.text) == []


async def test_a_script_is_shown_the_part_that_changes(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    files = [("source-file", ("zoom.vtt", VTT)), ("body-file", ("d.md", b"# M\n\n- We ship.\n"))]
    part = (await post(api, form, *files, do="look")).text
    assert part.startswith('<div id="brought">')
    assert "<html" not in part
    assert carried(part) == []
    assert "You confirm" in part
    nothing = (await post(api, form, do="look")).text
    assert "what the run will take is shown here" in nothing


async def test_what_is_in_the_way_of_a_start_is_told_before(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    part = (await post(api, form, source="Ana: We ship.", do="look", max_rounds="99")).text
    assert '<a href="#f-title">Give it a title.</a>' in part
    assert '<a href="#f-max_rounds">This number is too large.</a>' in part
    drafts = [("body-file", ("a.md", b"# A\n")), ("body-file", ("b.md", b"# B\n"))]
    part = (await post(api, form, *drafts, do="look")).text
    assert "keep one" in part


async def test_a_recording_is_estimated_by_its_length(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    typed = {"title": "M", "language": "en", "do": "look", "audio-name": "talk.m4a"}
    part = (await post(api, form, **typed)).text
    assert "depends on the length" in part
    part = (await post(api, form, **typed, **{"audio-seconds": "3600"})).text
    assert "nothing here recognises speech" in part
    assert "transcribe" in part


async def test_a_trip_takes_its_reference_data_from_a_file(api: Api, browser: Browser) -> None:
    form = await browser.form("/runs/new?kind=itinerary", "/runs/new")
    data = ("reference-file", ("ref.json", b"{}"))
    answer = await post(api, form, data, source="5 days from Rome to Milan.")
    assert answer.status_code == 422
    assert 'id="f-reference-file-error"' in answer.text
    assert await stored(api) == 0


@pytest.mark.parametrize("field", ["carried", "audio-seconds", "drop"])
async def test_nonsense_in_hidden_fields_is_refused_or_harmless(
    api: Api, browser: Browser, field: str
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    for value in (
        "nan",
        '{"role": "admin"}',
        '{"role":"source","name":"x","media_type":"t"}',
        "[]",
    ):
        answer = await post(api, form, **{"do": "preview", "audio-name": "x", field: value})
        assert answer.status_code in (200, 422)
    assert await stored(api) == 0


async def test_a_document_takes_a_further_source_as_a_file_and_keeps_it(
    api: Api, browser: Browser, folder: Path
) -> None:
    run = await api.run()
    path = f"/documents/{run['document_id']}"
    form = await browser.form(path, f"{path}/sources")
    file = ("source-file", ("会议.txt", GB))
    answer = await api.client.post(form.action, data=form.fields, files=[file], headers=HTML)
    assert answer.status_code == 303, answer.text[:2000]
    rows = await api.pool.fetch("SELECT name, text, original_id FROM sources ORDER BY position")
    assert (rows[1]["name"], rows[1]["original_id"] is not None) == ("会议.txt", True)
    assert "李娜: 预算是 25 万元。" in rows[1]["text"]
    form = await browser.form(path, f"{path}/sources")
    bad = ("source-file", ("x.txt", b"a\0b"))
    refused = await api.client.post(form.action, data=form.fields, files=[bad], headers=HTML)
    assert refused.status_code == 422
    assert "cannot be stored" in refused.text


async def test_without_a_title_the_first_heading_names_it_as_in_the_form_of_the_api(
    api: Api, browser: Browser
) -> None:
    form = await browser.form("/runs/new", "/runs/new")
    files = [("body-file", ("zh.md", "# 会议纪要：新系统上线\n\n- 周五发布。\n".encode()))]
    files.append(("source-file", ("zoom.vtt", VTT)))
    started = await post(api, form, *files)
    assert started.status_code == 303, started.text[:3000]
    assert await api.pool.fetchval("SELECT title FROM documents") == "会议纪要：新系统上线"
