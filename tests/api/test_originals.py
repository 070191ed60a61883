"""Uploaded files: kept byte for byte beside their texts, had back, gone with their document."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from activities.blobs import remove_owed, remove_unsettled
from tests.api.harness import Api, files

FIELDS = {"kind": "minutes", "title": "Weekly"}
GB = "李娜：预算是 25 万元。\r\n".encode("gb18030")
VTT = b"\xef\xbb\xbfWEBVTT\r\n\r\n00:05.000 --> 00:08.000\r\n<v Ana>Hi\r\n"
BODY = ("body", ("draft.html", b"<h1>Minutes</h1><p>The price is 25.</p>", "text/html"))


async def upload(api: Api, *given: Any, **headers: str) -> Any:
    sent = [BODY, *given]
    return await api.client.post("/api/documents", data=FIELDS, files=sent, headers=headers)


async def sources_of(api: Api, document_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get(f"/api/documents/{document_id}/sources")).json[
        "items"
    ]
    return found


async def test_what_was_uploaded_is_had_back_byte_for_byte(api: Api, folder: Path) -> None:
    document = (
        await upload(api, ("source", ("会议 一.txt", GB)), ("source", ("zoom.vtt", VTT)))
    ).json()
    path = f"/api/documents/{document['id']}"
    first, second = await sources_of(api, document["id"])
    assert first["has_original"]
    assert second["has_original"]
    for source, data in ((first, GB), (second, VTT)):
        answer = await api.client.get(f"{path}/sources/{source['id']}/original")
        assert (answer.status_code, answer.content) == (200, data)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-disposition"].startswith("attachment;")
    name = (await api.client.get(f"{path}/sources/{first['id']}/original")).headers
    assert "filename*=UTF-8''%E4%BC%9A%E8%AE%AE%20%E4%B8%80.txt" in name["content-disposition"]
    body = await api.client.get(f"{path}/revisions/0/original")
    assert (body.content, body.headers["content-type"]) == (BODY[1][1], "application/octet-stream")
    assert (await api.get(f"{path}/revisions/0")).json["has_original"]
    assert len(files(folder)) == 3


async def test_a_text_that_came_as_json_has_no_original(api: Api, folder: Path) -> None:
    run = await api.run()
    [source] = await sources_of(api, run["document_id"])
    answer = await api.get(f"/api/documents/{run['document_id']}/sources/{source['id']}/original")
    assert (source["has_original"], answer.status, answer.code) == (False, 404, "not_found")


async def test_originals_go_with_their_document(api: Api, folder: Path) -> None:
    document = (await upload(api, ("source", ("zoom.vtt", VTT)))).json()
    await api.call("DELETE", f"/api/documents/{document['id']}")
    async with api.pool.acquire() as connection:
        await remove_owed(connection, folder.as_uri())
    assert files(folder) == []


@pytest.mark.parametrize("bad", [b"\xff\xfe\x00", b"", b"a\0b"])
async def test_what_is_refused_leaves_no_file(api: Api, folder: Path, bad: bytes) -> None:
    answer = await upload(api, ("source", ("zoom.vtt", VTT)), ("source", ("bad.txt", bad)))
    assert answer.status_code in (400, 422)
    assert files(folder) == []


async def test_a_command_that_is_refused_or_replayed_leaves_no_file(api: Api, folder: Path) -> None:
    fields = {**FIELDS, "attributes": '{"colour": "blue"}'}
    refused = await api.client.post("/api/documents", data=fields, files=[BODY])
    assert refused.status_code == 422
    assert files(folder) == []
    key = {"Idempotency-Key": "once"}
    first = await upload(api, ("source", ("zoom.vtt", VTT)), **key)
    again = await upload(api, ("source", ("zoom.vtt", VTT)), **key)
    assert again.json() == first.json()
    assert again.headers["idempotent-replay"] == "true"
    assert len(files(folder)) == 2
    other = await upload(api, ("source", ("zoom.vtt", VTT + b"\n")), **key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


async def test_a_sweep_keeps_what_a_row_names(api: Api, folder: Path) -> None:
    await upload(api, ("source", ("zoom.vtt", VTT)))
    (folder / "unsettled").mkdir(exist_ok=True)
    for path in files(folder):
        mark = folder / "unsettled" / path.name
        mark.touch()
        os.utime(mark, (0, 0))
    async with api.pool.acquire() as connection:
        assert await remove_unsettled(connection, folder.as_uri()) == 0
    assert len(files(folder)) == 2


async def test_a_corrected_source_has_the_file_of_its_own_version(api: Api, folder: Path) -> None:
    document = (await upload(api, ("source", ("zoom.vtt", VTT)))).json()
    path = f"/api/documents/{document['id']}/sources"
    [old] = await sources_of(api, document["id"])
    answer = await api.client.post(
        path, data={"replaces": old["id"]}, files=[("source", ("two.vtt", VTT + b"\n"))]
    )
    assert answer.json()["has_original"]
    new = await api.client.get(f"{path}/{answer.json()['id']}/original")
    assert new.content == VTT + b"\n"
    assert (await api.client.get(f"{path}/{old['id']}/original")).content == VTT
    by_text = {"name": "t", "media_type": "text/plain", "text": "Ana: Hi"}
    third = await api.post(path, {**by_text, "replaces": answer.json()["id"]})
    assert not third.json["has_original"]


async def test_without_a_folder_the_text_alone_is_stored(api: Api) -> None:
    document = (await upload(api, ("source", ("zoom.vtt", VTT)))).json()
    [source] = await sources_of(api, document["id"])
    assert (source["has_original"], source["characters"] > 0) == (False, True)


async def test_a_word_file_is_kept_as_it_is(api: Api, folder: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(
            "word/document.xml",
            '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
            "<w:body><w:p><w:r><w:t>Ana: Hi</w:t></w:r></w:p></w:body></w:document>",
        )
    document = (await upload(api, ("source", ("腾讯会议.docx", data.getvalue())))).json()
    [source] = await sources_of(api, document["id"])
    answer = await api.client.get(
        f"/api/documents/{document['id']}/sources/{source['id']}/original"
    )
    assert answer.content == data.getvalue()
    assert "wordprocessingml" in answer.headers["content-type"]
