"""`POST /api/runs` as a form: files, document and run in one transaction, as `submit` asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.harness import Api, files

GB = "# 周会\r\n\r\n李娜：预算是 25 万元。\r\n".encode("gb18030")
BODY = ("body", ("draft_one.md", GB, "text/markdown"))
TALK = ("source", ("talk.vtt", b"WEBVTT\n\n00:05.000 --> 00:08.000\n<v Ana>Hi\n\nlost\n"))


async def send(api: Api, *given: Any, key: str | None = None, **fields: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return await api.client.post(
        "/api/runs", data={"kind": "minutes", **fields}, files=given, headers=headers
    )


async def test_files_document_and_run_are_made_at_once(api: Api, folder: Path) -> None:
    fields: dict[str, Any] = {"max_rounds": "3", "tags": ["a", "b"], "limits": '{"max_calls": 9}'}
    answer = await send(api, BODY, TALK, **fields)
    run = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/api/runs/{run['id']}")
    assert (run["title"], run["max_rounds"], run["tags"]) == ("周会", 3, ["a", "b"])
    assert run["limits"] == {"max_calls": 9}
    assert [(one["name"], one["encoding"]) for one in run["reading"]] == [
        ("draft_one.md", "gb18030"),
        ("talk.vtt", "utf-8"),
    ]
    original = await api.client.get(f"/api/documents/{run['document_id']}/revisions/0/original")
    assert original.content == GB


async def test_a_title_that_is_missing_is_that_of_the_file(api: Api, folder: Path) -> None:
    plain = ("body", ("second_day.txt", b"no heading", "text/plain"))
    assert (await send(api, plain, TALK)).json()["title"] == "second day"
    piped = ("body", ("stdin", b"\nfirst words\nmore", "text/plain"))
    assert (await send(api, piped)).json()["title"] == "first words"
    assert (await send(api, TALK, title="Given")).json()["title"] == "Given"
    nothing = await send(api, ("source", ("stdin", b"- \n")), kind="nonsense")
    assert nothing.status_code == 422


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"max_rounds": "21"}, "/max_rounds"),
        ({"max_rounds": "two"}, "/max_rounds"),
        ({"pass_score": "9" * 5000}, "/pass_score"),
        ({"limits": '{"max_words": 1}'}, "/limits/max_words"),
        ({"profile": "nobody"}, "/profile"),
        ({"base_revision": "1"}, "/base_revision"),
    ],
)
async def test_a_run_that_cannot_be_stores_neither_document_nor_file(
    api: Api, folder: Path, fields: dict[str, str], pointer: str
) -> None:
    answer = await send(api, BODY, TALK, title=f"refused {pointer}", **fields)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert files(folder) == []
    query = "SELECT count(*) FROM documents WHERE title = $1"
    assert await api.pool.fetchval(query, f"refused {pointer}") == 0


async def test_a_field_that_is_no_json_is_named(api: Api, folder: Path) -> None:
    for name in ("limits", "attributes"):
        answer = await send(api, BODY, **{name: "{"})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, f"/{name}")
        assert answer.json()["detail"].startswith(f"{name}: it is no JSON")


async def test_a_key_stands_for_files_and_every_field(api: Api, folder: Path) -> None:
    first = await send(api, BODY, key="form", title="One")
    again = await send(api, BODY, key="form", title="One")
    assert (again.json(), again.headers["idempotent-replay"]) == (first.json(), "true")
    for changed in ({"title": "Two"}, {"title": "One", "max_rounds": "2"}):
        other = await send(api, BODY, key="form", **changed)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


async def test_a_key_of_a_document_stands_for_its_fields_too(api: Api, folder: Path) -> None:
    async def upload(title: str) -> Any:
        fields, key = {"kind": "minutes", "title": title}, {"Idempotency-Key": "fields"}
        return await api.client.post("/api/documents", data=fields, files=[BODY], headers=key)

    assert (await upload("One")).status_code == 201
    assert (await upload("Two")).json()["code"] == "idempotency_mismatch"
