"""What goes out compressed, and what never does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.http.compressing import Compressing

TEXT = "Weekly minutes 周会. " * 200


async def _told() -> AsyncIterator[str]:
    yield "data: "
    yield TEXT


ANSWERS: Mapping[str, Response] = {
    "page": HTMLResponse(TEXT, headers={"ETag": '"1"'}),
    "weak": HTMLResponse(TEXT, headers={"ETag": 'W/"1"'}),
    "style": Response(TEXT, media_type="text/css"),
    "short": HTMLResponse("Weekly"),
    "nothing": Response(status_code=304, headers={"ETag": '"1"'}),
    "part": HTMLResponse(TEXT, 206, headers={"Content-Range": "bytes 0-3999/9000"}),
    "json": JSONResponse({"text": TEXT}, headers={"ETag": '"1"'}),
    "sound": Response(TEXT, media_type="audio/wav"),
    "packed": HTMLResponse(TEXT, headers={"Content-Encoding": "identity"}),
}


async def _answer(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "stream":
        return StreamingResponse(_told(), media_type="text/event-stream")
    return StreamingResponse(_told(), media_type="text/html") if name == "long" else ANSWERS[name]


async def _ask(name: str, **headers: str) -> httpx2.Response:
    app = Compressing(Starlette(routes=[Route("/{name}", _answer)]))
    asked = {"accept-encoding": "br, gzip", **headers}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://test"
    ) as client:
        return await client.get(f"/{name}", headers=asked)


@pytest.mark.parametrize("name", ["page", "weak", "style"])
async def test_pages_and_styles_are_small_on_the_way_and_the_same_at_the_end(name: str) -> None:
    answer = await _ask(name)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) < len(TEXT) / 10
    assert answer.text == TEXT
    if name != "style":
        assert answer.headers["etag"] == 'W/"1"', "other bytes than those of the strong one"


@pytest.mark.parametrize(
    "name", ["short", "nothing", "part", "json", "sound", "packed", "stream", "long"]
)
async def test_streams_parts_and_versioned_json_pass_as_they_are(name: str) -> None:
    answer = await _ask(name)
    assert answer.headers.get("content-encoding", "identity") == "identity"
    assert answer.headers.get("etag", '"1"') == '"1"'


@pytest.mark.parametrize("taken", ["", "br", "gzip;q=0", "gzip ; q=0.0, br", "xgzip"])
async def test_who_takes_no_gzip_gets_none(taken: str) -> None:
    answer = await _ask("page", **{"accept-encoding": taken})
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["etag"] == '"1"'


@pytest.mark.parametrize("taken", ["gzip", "gzip;q=0.5", "br,gzip", "deflate, GZIP;q=1.0"])
async def test_who_takes_gzip_gets_it(taken: str) -> None:
    assert (await _ask("page", **{"accept-encoding": taken})).headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("asked_by", "is_small"),
    [("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False)],
)
async def test_what_another_site_asks_for_tells_nothing_by_its_length(
    asked_by: str, is_small: bool
) -> None:
    answer = await _ask("page", **{"sec-fetch-site": asked_by})
    assert ("content-encoding" in answer.headers) == is_small
    assert answer.text == TEXT
