"""Bad input is refused with code and pointer, and nothing of it is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.harness import MINUTES, Api


def source(**change: str) -> dict[str, Any]:
    return {"sources": [{**MINUTES["sources"][0], **change}]}


BAD = "invalid_request"
MISFITS: list[tuple[str, dict[str, Any], str, str]] = [
    ("unknown field", {"colour": 1}, BAD, "/colour"),
    ("unknown kind", {"kind": "poem"}, "unknown_kind", "/kind"),
    ("unknown profile", {"profile": "nope"}, "unknown_profile", "/profile"),
    ("negative limit", {"limits": {"max_calls": -1}}, BAD, "/limits/max_calls"),
    ("limit", {"limits": {"max_cost": "1.5"}}, "unpriced_profile", "/limits/max_cost"),
    ("limit as a number", {"limits": {"max_cost": 1.5}}, BAD, "/limits/max_cost"),
    ("no money", {"limits": {"max_cost": "-1"}}, BAD, "/limits/max_cost"),
    ("limit of nothing", {"limits": {"max_seconds": 0}}, BAD, "/limits/max_seconds"),
    ("unknown limit", {"limits": {"max_words": 1}}, BAD, "/limits/max_words"),
    ("webhook", {"webhook_url": "http://127.0.0.1:1/x"}, BAD, "/webhook_url"),
    ("empty body", {"body": " \n"}, BAD, "/body"),
    ("no body", {"kind": "text", "body": None}, BAD, "/body"),
    ("nothing to draft from", {"body": None, "sources": []}, BAD, "/sources"),
    ("no word in it", {"body": None, **source(text="… --\n")}, BAD, "/sources/0/text"),
    (
        "unknown template",
        {"body": None, "attributes": {"template": "haiku"}},
        BAD,
        "/attributes/template",
    ),
    (
        "a template without a heading",
        {"body": None, "attributes": {"template": "# T\n\n## {#a}\n"}},
        BAD,
        "/attributes/template",
    ),
    ("empty title", {"title": ""}, BAD, "/title"),
    ("wrong type", {"title": 7}, BAD, "/title"),
    ("no rounds", {"max_rounds": 0}, BAD, "/max_rounds"),
    ("rounds as text", {"max_rounds": "5"}, BAD, "/max_rounds"),
    ("score", {"pass_score": 101}, BAD, "/pass_score"),
    ("unknown attribute", {"attributes": {"x": 1}}, BAD, "/attributes/x"),
    ("zone", {"attributes": {"timezone": "Mars/Olympus"}}, BAD, "/attributes/timezone"),
    ("long zone", {"attributes": {"timezone": "A" * 65}}, BAD, "/attributes/timezone"),
    ("source", source(text=""), BAD, "/sources/0/text"),
    (
        "media type",
        source(media_type="x"),
        BAD,
        "/sources/0/media_type",
    ),
    ("control", source(media_type="a/b;\x01"), BAD, "/sources/0/media_type"),
    ("language", {"language": "not a language"}, BAD, "/language"),
    ("time without zone", {"confirm_by": "2026-01-01T00:00:00"}, BAD, "/confirm_by"),
    ("last second", {"confirm_by": "9999-12-31T23:59:59Z"}, BAD, "/confirm_by"),
    ("after the last", {"confirm_by": "9999-12-31T23:59:59-14:00"}, BAD, "/confirm_by"),
    ("before the first", {"confirm_by": "0001-01-01T00:00:00+14:00"}, BAD, "/confirm_by"),
    (
        "NUL",
        source(text="Budget\0 approved"),
        BAD,
        "/sources/0/text",
    ),
    ("half a pair", {"title": "\ud800"}, BAD, "/title"),
    (
        "half a pair in a name",
        source(name="\udcaf"),
        BAD,
        "/sources/0/name",
    ),
]
RAW: list[tuple[str, bytes, int, str]] = [
    ("no JSON", b"{", 400, ""),
    ("NaN", b'{"pass_score": NaN}', 400, ""),
    ("invalid UTF-8", b'{"title": "\xff"}', 400, ""),
    ("a list", b"[]", 422, ""),
    ("doubled key", b'{"title": "a", "title": "b"}', 422, "/title"),
    ("deep nesting", b'{"attributes": ' + b'{"a":' * 40 + b"1" + b"}" * 41, 422, ""),
    ("very deep nesting", b"[" * 200_000, 422, ""),
    ("no end of keys", json.dumps({f"k{n}": n for n in range(100_000)}).encode(), 422, ""),
    ("infinite number", b'{"pass_score": 1e999}', 422, "/pass_score"),
    ("long number", b'{"pass_score": ' + b"9" * 5000 + b"}", 400, ""),
]


async def nothing_stored(api: Api) -> bool:
    runs, documents = await api.get("/api/runs"), await api.get("/api/documents")
    return not runs.json["items"] and not documents.json["items"]


@pytest.mark.parametrize(
    ("change", "code", "pointer"), [row[1:] for row in MISFITS], ids=[row[0] for row in MISFITS]
)
async def test_a_field_that_does_not_fit_is_named(
    api: Api, change: dict[str, Any], code: str, pointer: str
) -> None:
    raw = json.dumps({**MINUTES, **change}).encode()
    answer = await api.call("POST", "/api/runs", raw=raw)
    assert (answer.status, answer.code) == (422, code)
    assert pointer in answer.pointers()
    assert answer.json["request_id"] == answer.headers["x-request-id"]
    assert answer.headers["content-type"] == "application/problem+json"
    assert await nothing_stored(api)


@pytest.mark.parametrize(
    ("raw", "status", "pointer"), [row[1:] for row in RAW], ids=[row[0] for row in RAW]
)
async def test_a_body_that_is_no_clean_json_is_refused(
    api: Api, raw: bytes, status: int, pointer: str
) -> None:
    answer = await api.call("POST", "/api/runs", raw=raw)
    assert (answer.status, answer.code) == (status, "invalid_request")
    assert answer.pointers() == [pointer]
    assert await nothing_stored(api)


async def test_of_a_thousand_fields_that_nobody_asked_for_the_first_are_named(api: Api) -> None:
    raw = json.dumps({**MINUTES, **{f"k{n}": n for n in range(1_000)}}).encode()
    answer = await api.call("POST", "/api/runs", raw=raw)
    assert (answer.status, len(answer.pointers())) == (422, 100)


async def test_the_place_of_a_nul_is_told(api: Api) -> None:
    answer = await api.post("/api/documents", {**MINUTES, "body": "ab\0c"})
    assert answer.json["params"] == {"position": 2}


async def test_another_media_type_is_415(api: Api) -> None:
    answer = await api.call("POST", "/api/runs", raw=b"kind=minutes", content_type="text/plain")
    assert (answer.status, answer.code) == (415, "unsupported_media")


@pytest.mark.parametrize("declared", [True, False])
async def test_more_than_five_megabytes_of_text_are_413(api: Api, declared: bool) -> None:
    raw = json.dumps({**MINUTES, "body": "x" * 5_000_001}).encode()

    async def pieces() -> Any:
        for at in range(0, len(raw), 100_000):
            yield raw[at : at + 100_000]

    response = await api.client.post(
        "/api/runs",
        content=raw if declared else pieces(),
        headers={"content-type": "application/json"},
    )
    found = response.json()
    assert (response.status_code, found["code"]) == (413, "too_large")
    assert found["params"] == {"limit": 5_000_000, "unit": "bytes"}
    assert await nothing_stored(api)


async def test_a_text_longer_than_its_kind_takes_is_413(api: Api) -> None:
    answer = await api.post("/api/documents", {**MINUTES, "body": "x" * 1_000_001})
    assert (answer.status, answer.pointers()) == (413, ["/body"])


@pytest.mark.parametrize(
    "path", ["/api/runs", "/api/documents", "/api/profiles", "/api/calls", "/api/kinds"]
)
async def test_a_cursor_from_elsewhere_is_400(api: Api, path: str) -> None:
    for cursor in ("zzz", "a" * 501):
        answer = await api.get(f"{path}?cursor={cursor}")
        assert (answer.status, answer.code) == (400, "invalid_cursor"), cursor


async def test_kinds_come_in_pages_like_every_list(api: Api) -> None:
    whole = [kind["name"] for kind in (await api.get("/api/kinds")).json["items"]]
    first = (await api.get("/api/kinds?limit=1&count=true")).json
    assert first["total"] == len(whole)
    rest = (await api.get(f"/api/kinds?cursor={first['next_cursor']}")).json
    assert [kind["name"] for kind in first["items"] + rest["items"]] == whole
    assert rest["next_cursor"] is None
    assert (await api.get("/api/kinds?limit=0")).status == 422


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "count=perhaps"])
async def test_a_page_that_cannot_be_had_is_422(api: Api, query: str) -> None:
    answer = await api.get(f"/api/runs?{query}")
    name = query.partition("=")[0]
    assert (answer.status, answer.pointers()) == (422, [f"/{name}"])


async def test_a_base_that_does_not_exist_is_unknown(api: Api) -> None:
    document = (await api.post("/api/documents", MINUTES)).json
    for path, body in (
        (f"/api/documents/{document['id']}/runs", {"base_revision": 7}),
        (f"/api/documents/{document['id']}/revisions", {"base_revision": 7, "body": "x"}),
    ):
        answer = await api.post(path, body)
        assert (answer.status, answer.code) == (422, "unknown_revision")
    answer = await api.post(f"/api/documents/{document['id']}/runs", {"base_revision": 2**31})
    assert (answer.status, answer.code) == (422, "invalid_request")


async def test_values_that_were_sent_are_not_repeated_in_the_refusal(api: Api) -> None:
    answer = await api.post("/api/runs", {**MINUTES, "title": ["CANARY-7F3A"]})
    assert answer.status == 422
    assert "CANARY" not in json.dumps(answer.json)
