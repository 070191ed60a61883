"""A document as a form: texts as fields or files, streamed and counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.harness import Api

BODY = ("minutes.md", b"# Minutes\n")
FIELDS = {"kind": "minutes", "title": "Weekly"}


async def send(
    api: Api, files: list[tuple[str, Any]], fields: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    sent = FIELDS if fields is None else fields
    response = await api.client.post("/api/documents", data=sent, files=files)
    return response.status_code, response.json()


async def test_files_become_body_and_sources(api: Api) -> None:
    fields = {**FIELDS, "tags": ["a", "b"], "attributes": '{"timezone": "Europe/Berlin"}'}
    files = [
        ("body", BODY),
        ("source", ("C:\\meetings\\one.txt", "会议：蓝色".encode())),
        ("source", ("two.vtt", b"WEBVTT\n\n00:05.000 --> 00:08.000\n<v Ana>Hi\n", "text/vtt")),
    ]
    status, document = await send(api, files, fields)
    assert status == 201, document
    assert document["tags"] == ["a", "b"]
    assert document["attributes"] == {"timezone": "Europe/Berlin"}
    path = f"/api/documents/{document['id']}"
    assert (await api.get(f"{path}/revisions/0")).json["body"] == "# Minutes\n"
    sources = (await api.get(f"{path}/sources")).json["items"]
    assert [(s["name"], s["media_type"]) for s in sources] == [
        ("one.txt", "text/plain"),
        ("two.vtt", "text/vtt"),
    ]
    text = await api.get(f"{path}/sources/{sources[0]['id']}")
    assert text.json["text"] == "会议：蓝色"


@pytest.mark.parametrize(
    ("files", "status", "code", "pointer"),
    [
        ([("body", ("b", b"\xff\xfea"))], 400, "invalid_request", "/body"),
        ([("body", ("b", b"a\0b"))], 422, "invalid_request", "/body"),
        ([("body", ("b", b""))], 422, "invalid_request", "/body"),
        ([("audio", ("a.wav", b"RIFF"))], 422, "invalid_request", "/audio"),
        ([("colour", ("c", b"blue"))], 422, "invalid_request", "/colour"),
        ([("body", ("b", b"x" * 5_000_001))], 413, "too_large", "/body"),
    ],
)
async def test_a_form_that_does_not_fit_is_refused(
    api: Api, files: list[tuple[str, Any]], status: int, code: str, pointer: str
) -> None:
    found, answer = await send(api, files)
    assert (found, answer["code"]) == (status, code)
    assert [error["pointer"] for error in answer["errors"]] == [pointer]
    assert (await api.get("/api/documents")).json["items"] == []


async def test_a_broken_form_is_400(api: Api) -> None:
    response = await api.client.post(
        "/api/documents",
        content=b"--x\r\nnonsense",
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    assert response.status_code in {400, 422}
    assert response.json()["code"] == "invalid_request"


async def test_a_form_that_ends_before_its_last_boundary_is_400(api: Api) -> None:
    parts = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {**FIELDS, "body": "# Minutes", "source": "cut he"}.items()
    )
    for end, status in (("", 400), ("--x", 400), ("--x--\r\n", 201)):
        response = await api.client.post(
            "/api/documents",
            content=(parts + end).encode(),
            headers={"content-type": "multipart/form-data; boundary=x"},
        )
        assert response.status_code == status, end


async def test_a_field_that_stands_twice_is_refused(api: Api) -> None:
    status, answer = await send(api, [("body", BODY), ("body", BODY)])
    assert (status, answer["errors"][0]["pointer"]) == (422, "/body")


async def test_the_same_form_twice_under_one_key_is_one_document(api: Api) -> None:
    made = []
    for _ in range(2):
        response = await api.client.post(
            "/api/documents",
            data=FIELDS,
            files=[("body", BODY)],
            headers={"idempotency-key": "k"},
        )
        made.append(response.json()["id"])
    assert made[0] == made[1]


TALK = "文字记录:\n张三 00:05\n我们周五上线。\n".encode("gb18030")
SECOND = b"WEBVTT\n\n00:99 --> x\nAna: lost\n\n00:01.000 --> 00:02.000\n"
RUSSIAN = "Мы выпускаем новую версию".encode("cp1251")


async def test_several_transcripts_of_one_meeting_are_read_and_told_of(api: Api) -> None:
    files = [
        ("body", ("minutes.html", "<h1>周会</h1><script>x()</script>".encode(), "text/html")),
        ("source", ("first.txt", TALK)),
        ("source", ("second.vtt", SECOND)),
    ]
    status, made = await send(api, files)
    assert status == 201, made
    assert [(r["name"], r["format"], r["encoding"]) for r in made["reading"]] == [
        ("minutes.html", "html", "utf-8"),
        ("first.txt", "text", "gb18030"),
        ("second.vtt", "vtt", "utf-8"),
    ]
    assert made["reading"][0]["left_out"] == [{"at": 1, "what": "script", "text": "1 × <script>"}]
    assert [line["text"] for line in made["reading"][2]["not_understood"]] == ["00:99 --> x"]
    assert all(r["given"] == r["kept"] + len(r["left_out"]) for r in made["reading"])
    path = f"/api/documents/{made['id']}"
    assert (await api.get(f"{path}/revisions/0")).json["body"] == "# 周会\n"
    sources = (await api.get(f"{path}/sources")).json["items"]
    texts = [(await api.get(f"{path}/sources/{s['id']}")).json["text"] for s in sources]
    assert texts == [
        "文字记录:\n[00:00:05] 张三: 我们周五上线。\n",
        "00:99 --> x\nAna: lost\n[00:00:01]\n",
    ]


@pytest.mark.parametrize(
    ("name", "data", "refused"),
    [
        ("a.txt", RUSSIAN, (400, "invalid_request", "encoding_unknown")),
        ("a.docx", b"%PDF-1.7", (415, "unsupported_media", "unsupported")),
        ("a.json", b'{"segments": [', (422, "invalid_request", "json_broken")),
        ("a.vtt", b"WEBVTT\n\n", (422, "invalid_request", "nothing_said")),
    ],
)  # fmt: skip
async def test_a_file_that_cannot_be_read_leaves_nothing_behind(
    api: Api, name: str, data: bytes, refused: tuple[int, str, str]
) -> None:
    files = [("body", BODY), ("source", ("ok.txt", b"Ana: hi")), ("source", (name, data))]
    found, answer = await send(api, files)
    assert (found, answer["code"], answer["params"]["reason"]) == refused
    assert answer["errors"][0]["pointer"] == "/source/1"
    assert (await api.get("/api/documents")).json["items"] == []


async def test_an_encoding_that_was_named_is_taken(api: Api) -> None:
    big5 = "張三：我們週五上線".encode("big5")
    status, made = await send(api, [("body", ("a.txt", big5, "text/plain; charset=big5"))])
    assert status == 201, made
    text = await api.get(f"/api/documents/{made['id']}/revisions/0")
    assert text.json["body"] == "張三：我們週五上線"


async def test_a_corrected_source_replaces_the_old_and_the_run_is_told(api: Api) -> None:
    run = await api.run()
    path = f"/api/documents/{run['document_id']}/sources"
    (old,) = (await api.get(path)).json["items"]
    response = await api.client.post(
        path, data={"replaces": old["id"]}, files=[("source", ("talk.txt", TALK))]
    )
    new = response.json()
    assert response.status_code == 201, new
    assert response.headers["location"] == f"{path}/{new['id']}"
    assert (new["version"], new["replaces"], new["position"]) == (2, old["id"], old["position"])
    assert new["reading"]["vendor"] == "feishu"
    assert (await api.get(f"{path}/{old['id']}")).json["replaced_by"] == new["id"]
    events = (await api.get(f"/api/runs/{run['id']}/events", accept="application/json")).json
    assert events["items"][-1]["type"] == "source_added"
    wanted = {"name": "b", "media_type": "text/plain", "text": "Ben: no"}
    again = await api.post(path, {**wanted, "replaces": old["id"]})
    assert (again.status, again.code) == (409, "stale_base")
    unknown = await api.post(path, {**wanted, "replaces": "x"})
    assert (unknown.status, unknown.json["errors"][0]["pointer"]) == (422, "/replaces")
    further = await api.post(path, wanted, idempotency_key="k")
    assert (further.status, further.json["position"], further.json["reading"]) == (201, 1, None)
    assert (await api.post(path, wanted, idempotency_key="k")).json["id"] == further.json["id"]
    assert len((await api.get(path)).json["items"]) == 3


async def test_a_preview_tells_how_a_file_would_be_read_and_stores_nothing(api: Api) -> None:
    response = await api.client.post("/api/preview", files=[("file", ("talk.txt", TALK))])
    seen = response.json()
    assert response.status_code == 200, seen
    assert (seen["encoding"], seen["vendor"], seen["speakers"]) == ("gb18030", "feishu", ["张三"])
    assert seen["first_lines"] == ["文字记录:", "[00:00:05] 张三: 我们周五上线。"]
    assert [(line["speaker"], line["start"]) for line in seen["lines"]] == [
        ("unknown", None),
        ("张三", 5.0),
    ]
    raw = await api.client.post(
        "/api/preview?as=draft&name=m.html",
        content=b"<p>We <b>ship</b></p>",
        headers={"content-type": "text/html"},
    )
    assert (raw.json()["role"], raw.json()["first_lines"]) == ("draft", ["We **ship**"])
    refused = await api.client.post("/api/preview", content=b"")
    assert (refused.status_code, refused.json()["params"]["reason"]) == (422, "empty")
    assert (await api.get("/api/documents")).json["items"] == []
