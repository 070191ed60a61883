"""What holds for every route: hosts, origins, keys, headers, codes, scopes."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path

import asyncpg
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from api.app import create_app
from api.http import openapi
from api.http.auth import refuse_open_door
from api.http.edge import Edge
from api.http.errors import of_failure
from api.http.unbuilt import NOT_BUILT
from deploy.settings import load
from tests.api.harness import MINUTES, Api, serving, settings_for
from workflows.vocabulary import ErrorCode

ROOT = Path(__file__).resolve().parents[2]
UNREACHABLE = "postgresql://nobody@127.0.0.1:1/none"


async def test_an_unknown_host_is_400(api: Api) -> None:
    for host in ("evil.example", "evil.example:8430", "127.0.0.1.evil.example", ""):
        answer = await api.get("/api/runs", host=host)
        assert (answer.status, answer.code) == (400, "invalid_request"), host
    for host in ("localhost:8430", "127.0.0.1", "[::1]:8430"):
        assert (await api.get("/api/runs", host=host)).status == 200, host


async def test_a_host_of_the_settings_is_served() -> None:
    settings = settings_for(UNREACHABLE, REDRAFT_API_HOSTS="redraft.example, other.example")
    async with serving(settings) as served:
        assert (await served.get("/healthz", host="redraft.example:443")).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:9", "null", "http://[::1"]
)
async def test_a_write_from_a_page_of_another_origin_is_403(api: Api, origin: str) -> None:
    answer = await api.post("/api/runs", MINUTES, origin=origin)
    assert (answer.status, answer.code) == (403, "bad_origin")
    assert (await api.get("/api/runs", origin=origin)).json["items"] == []


async def test_a_write_from_our_own_pages_is_taken(api: Api) -> None:
    answer = await api.post("/api/runs", MINUTES, origin="http://127.0.0.1")
    assert answer.status == 201


async def test_every_answer_has_its_headers(api: Api) -> None:
    for answer in (await api.get("/api/runs"), await api.get("/api/nothing")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


async def test_head_is_answered_as_get_without_its_body(api: Api) -> None:
    run = await api.run()
    for path in ("/healthz", "/api/runs", f"/api/runs/{run['id']}", "/runs", "/openapi.json"):
        wanted, got = await api.client.get(path), await api.client.head(path)
        assert (got.status_code, got.content) == (wanted.status_code, b""), path
        assert got.headers["content-type"] == wanted.headers["content-type"]
        assert got.headers["x-content-type-options"] == "nosniff"
    stream = await api.client.head(f"/api/runs/{run['id']}/events")
    assert (stream.status_code, stream.content) == (200, b""), "and it ends"
    assert (await api.client.head("/api/nothing")).status_code == 404
    assert (await api.client.head(f"/api/runs/{run['id']}/interrupt")).status_code == 405


@pytest.mark.parametrize(("stops", "status"), [(False, 200), (True, 408)])
async def test_an_upload_that_stands_still_is_given_up(api: Api, stops: bool, status: int) -> None:
    """One that goes on, however slowly, is read to its end."""
    left = 3

    async def body() -> Message:
        nonlocal left
        left -= 1
        if left == 0 and stops:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"x", "more_body": left > 0}

    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("read")(scope, receive, send)

    answers: list[Message] = []

    async def keep(message: Message) -> None:
        answers.append(message)

    edge = Edge(reads, state=api.state, silence=0.3)
    headers = [(b"host", b"127.0.0.1")]
    await edge({"type": "http", "method": "POST", "path": "/x", "headers": headers}, body, keep)
    assert answers[0]["status"] == status


async def test_a_request_id_is_echoed_or_made(api: Api) -> None:
    assert (await api.get("/api/runs", x_request_id="mine-1")).headers["x-request-id"] == "mine-1"
    for bad in ("a b", "x" * 200, "<script>"):
        made = (await api.get("/api/runs", x_request_id=bad)).headers["x-request-id"]
        assert made != bad
        assert made


def test_a_server_that_died_in_the_middle_is_unavailable_not_a_fault_of_ours() -> None:
    for error in (
        asyncpg.InternalClientError("state"),
        asyncpg.InterfaceError("closed"),
        OSError(),
    ):
        assert of_failure(error).status_code == 503, error


async def test_what_is_no_route_is_a_problem_too(api: Api) -> None:
    answer = await api.get("/api/nothing")
    assert (answer.status, answer.code) == (404, "not_found")
    answer = await api.call("PUT", "/api/runs", {})
    assert (answer.status, answer.code) == (405, "invalid_request")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/api/documents/%00/locks/%00", "/documents/a/locks/%00/remove"])
async def test_a_path_with_nul_names_nothing_also_where_its_answer_would_be_kept(
    api: Api, path: str
) -> None:
    answer = await api.client.post(path, headers={"Idempotency-Key": "a"}, data={"a": "1"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/runs/sample", "/preferences", "/api/preview"])
async def test_a_form_of_another_charset_is_refused(api: Api, path: str) -> None:
    kind = "multipart/form-data; boundary=B; charset=punycode"
    answer = await api.client.post(path, content=b"--B--\r\n", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media")


async def test_what_is_not_built_says_so_and_is_not_published(api: Api) -> None:
    published = (await api.get("/openapi.json")).json["paths"]
    for method, path, _ in NOT_BUILT:
        answer = await api.call(method, path.replace("{", "").replace("}", ""), {})
        assert (answer.status, answer.code) == (501, "not_built"), path
        assert method.lower() not in published.get(path, {})


async def test_codes_are_published_in_both_places(api: Api) -> None:
    codes = [str(code) for code in ErrorCode]
    assert (await api.get("/api/codes")).json["items"] == codes
    document = (await api.get("/openapi.json")).json
    assert document["components"]["schemas"]["ErrorCode"]["enum"] == codes
    page = await api.client.get("/docs")
    assert page.status_code == 200
    assert "<script" not in page.text


def test_the_published_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == openapi.PRODUCT_VERSION


def test_every_route_declares_scope_and_content() -> None:
    app = create_app(load({}, need_database=False))
    assert openapi.unscoped(app) == []
    assert openapi.count_routes(app) > 50

    @app.get("/forgotten")
    async def forgotten() -> None:
        return None

    assert openapi.unscoped(app) == ["GET /forgotten"]


async def test_with_a_key_everything_but_health_needs_it() -> None:
    async with serving(settings_for(UNREACHABLE, REDRAFT_API_KEY="secret")) as served:
        assert (await served.get("/healthz")).status == 200
        for path in ("/api/runs", "/metrics", "/openapi.json", "/docs", "/static/nothing", "/"):
            answer = await served.get(path)
            assert (answer.status, answer.code) == (401, "unauthenticated"), path
        answer = await served.get("/api/codes", authorization="Bearer wrong")
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert (await served.get("/api/codes", authorization="Bearer secret")).status == 200


def test_an_address_that_others_reach_needs_a_key() -> None:
    open_door = settings_for(UNREACHABLE, REDRAFT_API_HOST="0.0.0.0")
    assert "REDRAFT_API_KEY" in str(refuse_open_door(open_door))
    locked = settings_for(UNREACHABLE, REDRAFT_API_HOST="0.0.0.0", REDRAFT_API_KEY="k")
    assert refuse_open_door(locked) is None
    assert refuse_open_door(settings_for(UNREACHABLE)) is None
