"""Files and requests that mean harm: refused with a reason or repaired, and nothing stored half."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from tests import sounds
from tests.api.harness import Api, files
from tests.pages.forms import HTML
from tests.unit.trips import reference_text

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202efdp.exe",
    "\u2067Ana\u2066",
    "a" * 250,
    "{{ 7 * 7 }} %(x)s {0}",
    "../../etc/passwd",
)


def docx(document: str | bytes, **parts: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", document)
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/"), data)
    return made.getvalue()


def words(text: str, before: str = "") -> str:
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    return f'{before}<w:document xmlns:w="{W}">{body}</w:document>'


def nested(depth: int) -> bytes:
    data = b"x" * 100_000
    for level in range(depth):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{level}.zip", data)
        data = made.getvalue()
    return data


ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
REFUSED = {
    "zip bomb": (docx(b"<a>" + b"0" * 90_000_000), 413, "zip_bomb"),
    "entities": (docx(words("&e;", ENTITY)), 422, "xml_entities"),
    "utf-16 entities": (docx(words("&e;", ENTITY).encode("utf-16")), 422, "xml_entities"),
    "no word document": (docx("<w:document"), 422, "docx_broken"),
    "cut off": (docx(words("Ana: Hi"))[:-40], 422, "docx_broken"),
    "a zip": (nested(3), 415, "unsupported"),
}


async def nothing_is_stored(api: Api, folder: Path | None = None) -> None:
    for table in ("documents", "sources", "revisions", "blobs", "runs"):
        assert await api.pool.fetchval(f"SELECT count(*) FROM {table}") == 0  # noqa: S608
    if folder is not None:
        assert files(folder) == []


@pytest.mark.parametrize("name", REFUSED)
async def test_a_word_file_that_means_harm_is_refused_everywhere(
    api: Api, folder: Path, name: str
) -> None:
    data, status, reason = REFUSED[name]
    file = ("minutes.docx", data)
    fields = {"kind": "minutes", "title": "Weekly"}
    for field, path in (("source", "/api/documents"), ("body", "/api/documents")):
        answer = await api.client.post(path, data=fields, files=[(field, file)])
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, reason)
    answer = await api.client.post("/api/preview", files=[("file", file)])
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, reason)
    page = await api.client.post(
        "/runs/new",
        data={**fields, "idempotency_key": "k"},
        files=[("source-file", file)],
        headers=HTML,
    )
    assert page.status_code == 422
    assert 'id="f-source-file-error"' in page.text
    await nothing_is_stored(api, folder)


async def test_archives_inside_a_word_file_stay_closed(api: Api, folder: Path) -> None:
    data = docx(words("Ana: We ship."), word__embeddings__a=nested(6))
    answer = await api.client.post("/api/preview", files=[("file", ("a.docx", data))])
    assert answer.status_code == 200
    assert answer.json()["first_lines"] == ["Ana: We ship."]


PAGE = """<html><head><meta http-equiv="refresh" content="0;url=//evil.example">
<style>@import url(//evil.example/a.css)</style><base href="//evil.example/"></head>
<body onload=x()>
<script src="//evil.example/a.js"></script><iframe srcdoc="<script>alert(1)</script>"></iframe>
<h1>Minutes</h1><p style="background:url(//evil.example/p.png)">The price is
<a href="javascript:alert(1)">25</a>.<img src="//evil.example/b.png"></p>
<svg><script>alert(1)</script></svg><object data="//evil.example/o"></object>
<form action="//evil.example"><input name=x autofocus onfocus=alert(1)></form></body></html>"""
FORBIDDEN = re.compile(
    r"<(?:iframe|object|base|form action=./|meta http-equiv=.refresh)|javascript:|evil\.example"
    r"|onload=|onfocus=|@import|srcdoc",
    re.IGNORECASE,
)


async def test_a_page_as_draft_keeps_its_words_and_nothing_that_runs_or_loads(api: Api) -> None:
    fields = {"kind": "minutes", "title": "Weekly"}
    answer = await api.client.post(
        "/api/documents", data=fields, files=[("body", ("d.html", PAGE.encode(), "text/html"))]
    )
    assert answer.status_code == 201, answer.text
    path = f"/api/documents/{answer.json()['id']}"
    body = (await api.get(f"{path}/revisions/0")).json["body"]
    assert "The price is" in body
    assert not FORBIDDEN.search(body)
    told = {piece["what"] for piece in answer.json()["reading"][0]["left_out"]}
    assert {"script", "iframe", "style", "object"} <= told
    page = await api.client.get(f"/documents/{answer.json()['id']}?revision=0", headers=HTML)
    assert page.status_code == 200
    assert not FORBIDDEN.search(page.text)


@pytest.mark.parametrize("name", EVIL, ids=range(len(EVIL)))
async def test_names_of_files_and_speakers_are_text_on_every_page(
    api: Api, folder: Path, name: str
) -> None:
    said = f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {name[:60]}>Ana: We ship.\n"
    file = (f"{name}.vtt", said.encode())
    fields = {"kind": "minutes", "title": name[:300]}
    look = await api.client.post(
        "/runs/new",
        data={**fields, "do": "preview"},
        files=[("source-file", file)],
        headers=HTML,
    )
    answer = await api.client.post("/api/documents", data=fields, files=[("source", file)])
    assert answer.status_code == 201, answer.text
    document = answer.json()["id"]
    run = await api.post(f"/api/documents/{document}/runs")
    shown = [look.text]
    for path in (f"/documents/{document}", f"/runs/{run.json['id']}", "/runs", "/", "/queue"):
        page = await api.client.get(path, headers=HTML)
        assert page.status_code == 200, path
        shown.append(page.text)
    for text in shown:
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "49 " not in re.findall(r"<h1>([^<]*)", text)
        assert len(text) < 400_000


async def test_a_name_of_ten_thousand_letters_is_refused(api: Api) -> None:
    file = ("source", ("a" * 10_000 + ".vtt", b"Ana: Hi"))
    fields = {"kind": "minutes", "title": "x"}
    answer = await api.client.post("/api/documents", data=fields, files=[file])
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    source = {"name": "a" * 10_000, "media_type": "text/plain", "text": "Ana: Hi"}
    named = await api.post("/api/documents", {**fields, "body": "# M", "sources": [source]})
    assert (named.status, named.pointers()) == (422, ["/sources/0/name"])
    await nothing_is_stored(api)


async def test_ranges_of_a_recording_cannot_be_abused(api: Api, folder: Path) -> None:
    sound = sounds.wav([(0.6, True)])
    fields = {"kind": "minutes", "title": "Weekly", "body": "# M", "source": "Ana: Hi"}
    answer = await api.client.post(
        "/api/documents", data=fields, files=[("audio", ("a.wav", sound, "audio/wav"))]
    )
    document = answer.json()["id"]
    [source] = (await api.get(f"/api/documents/{document}/sources")).json["items"]
    path = f"/api/documents/{document}/sources/{source['id']}/audio"
    for asked in (
        "bytes=" + ",".join("0-" for _ in range(500)),
        "bytes=" + ",".join(f"{at}-{at + 5}" for at in range(0, 5000, 2)),
        "bytes=" + ",".join(f"{at * 2}-{at * 2}" for at in range(800)),
        "bytes=5-2",
        "bytes=-0",
        "bytes=99999999-",
        "bytes=0-" + "9" * 4000,
        "bytes=-" + "9" * 4000,
        "bytes=abc",
        "bytes=",
        "bytes=0-0,-1",
        "items=0-1",
        "bytes=--1",
    ):
        found = await api.client.get(path, headers={"range": asked})
        assert found.status_code in (200, 206, 400, 416), asked[:40]
        assert len(found.content) <= 2 * len(sound) + 2000, asked[:40]


TRIP = {"kind": "itinerary", "title": "Trip"}


@pytest.mark.parametrize(
    ("attributes", "status", "pointer"),
    [
        ('{"days": 0}', 422, "/attributes/days"),
        ('{"days": 60}', 422, "/attributes/days"),
        ('{"days": 2.5}', 422, "/attributes/days"),
        ('{"days": "five"}', 422, "/attributes/days"),
        ('{"days": true}', 422, "/attributes/days"),
        ('{"days": 5e0}', 422, "/attributes/days"),
        ('{"budget": 0}', 422, "/attributes/budget"),
        ('{"budget": -5}', 422, "/attributes/budget"),
        ('{"budget": NaN}', 400, ""),
        ('{"budget": 1e400}', 422, "/attributes/budget"),
        ('{"budget": "NaN"}', 422, "/attributes/budget"),
        ('{"budget": "1e400"}', 422, "/attributes/budget"),
        ('{"budget": "0.00"}', 422, "/attributes/budget"),
        ('{"start_date": "2020-01-01"}', 422, "/attributes/start_date"),
        ('{"start_date": "2027-02-30"}', 422, "/attributes/start_date"),
        ('{"start_date": "9999-12-31", "days": 30}', 422, "/attributes/start_date"),
        ('{"start_date": "2027-05-02", "end_date": "2027-05-01"}', 422, "/attributes/end_date"),
        ('{"to": "Atlantis"}', 422, "/attributes/to"),
        ('{"people": 0}', 422, "/attributes/people"),
        ('{"cuisine": "Thai"}', 422, "/attributes/cuisine"),
        ('{"cuisine": [1]}', 422, "/attributes/cuisine/0"),
    ],
)
async def test_a_trip_that_cannot_be_is_refused_with_its_field(
    api: Api, attributes: str, status: int, pointer: str
) -> None:
    sources = [
        {"name": "request", "media_type": "text/plain", "text": "A trip to Rockford."},
        {"name": "r.json", "media_type": "application/json", "text": reference_text("00")},
    ]
    raw = json.dumps({**TRIP, "sources": sources})[:-1] + f', "attributes": {attributes}}}'
    for path in ("/api/runs", "/api/estimate"):
        answer = await api.call("POST", path, raw=raw.encode())
        assert (answer.status, answer.pointers()) == (status, [pointer]), answer.json
    await nothing_is_stored(api)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{}",
        "[]",
        "[1, 2, 3]",
        '"text"',
        "null",
        "[" * 5000,
        "[" * 200 + "]" * 200,
        '{"places": 5}',
        '{"a": {"b": [[[{"c": null}]]]}}',
        '[{"Name": null, "City": 5, "Average Cost": "NaN"}]',
        '[{"NAME": "Inn", "city": "Rome", "price": 1e400, "minimum nights": "x"}]',
        '[{"Name": "\\u202eInn", "City": "Rome", "Average Cost": -5}]',
        '{"Flights from Rome to Milan on 2027-01-01": "none", "x": "y"}',
        '[{"Description": "Restaurants in Rome", "Content": "Name  Cost\\nInn"}]',
        '[{"Description": 5, "Content": [{"Name": {"a": 1}}]}]',
        "Description,Content\nRestaurants,Inn",
        "x" * 200_000,
    ],
    ids=range(18),
)
async def test_reference_data_of_any_shape_is_refused_or_planned_with(api: Api, data: str) -> None:
    sources = [
        {"name": "request", "media_type": "text/plain", "text": "3 days in Rome for 2 people."},
        {"name": "reference.json", "media_type": "application/json", "text": data},
    ]
    answer = await api.post("/api/estimate", {**TRIP, "sources": sources})
    assert answer.status in (200, 422), answer.json
    if answer.status == 422:
        assert answer.pointers()[0].startswith("/sources/1")
        assert answer.json["detail"]


def raw(*parts: tuple[str, bytes], charset: str = "") -> tuple[bytes, str]:
    """A form by hand and its content type: headers of each part and its content."""
    body = b"".join(
        b"--B\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % (head.encode("latin-1"), data)
        for head, data in parts
    )
    return body + b"--B--\r\n", f"multipart/form-data; boundary=B{charset}"


KIND, TITLE = ('name="kind"', b"minutes"), ('name="title"', b"A")
SOUND = b"RIFF" + b"\0" * 60
TEXT = 'name="source"; filename="a.txt"\r\nContent-Type: text/plain; charset='
ODD = {
    "names in no charset": raw(KIND, TITLE, charset="; charset=undefined"),
    "names in punycode": raw(KIND, TITLE, charset="; charset=punycode"),
    "NUL in a name": raw(KIND, TITLE, ('name="audio"; filename="a\0.wav"', SOUND)),
    "half a sign in a name": raw(
        KIND, ('name="audio"; filename="+2AA-.wav"', SOUND), charset="; charset=utf-7"
    ),
    "a text that takes minutes": raw(KIND, TITLE, (TEXT + "punycode", b"Ana-" + b"ab0" * 200_000)),
    "NUL in a charset": raw(KIND, TITLE, (TEXT + "a\0", b"x")),
}


@pytest.mark.parametrize("path", ["/api/runs", "/api/documents"])
@pytest.mark.parametrize("sent", ODD.values(), ids=ODD)
async def test_a_form_in_an_odd_charset_is_refused_with_a_reason(
    api: Api, folder: Path, path: str, sent: tuple[bytes, str]
) -> None:
    answer = await api.client.post(path, content=sent[0], headers={"content-type": sent[1]})
    assert answer.status_code in (400, 415, 422), answer.text
    assert answer.json()["detail"]
    assert files(folder) == []
