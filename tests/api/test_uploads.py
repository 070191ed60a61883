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
        ("source", ("two.vtt", b"WEBVTT", "text/vtt")),
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
        ([("body", ("b", b"\xff\xfe"))], 400, "invalid_request", "/body"),
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
