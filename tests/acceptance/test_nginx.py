"""Redraft behind the nginx of the system, with the configuration that is shipped."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
import uvicorn

from api.http.requests import FORM_BYTES
from api.pages.render import static
from api.stream import HEARTBEAT
from deploy.settings import Settings
from tests import read_rows as rows
from tests import sounds
from tests.api.harness import MINUTES, settings_for
from tests.api.streams import Frame, Served, frames, serving_on_a_port
from tests.eventually import eventually
from tests.nginx import NAME, SHIPPED, Nginx, started
from tests.pages.forms import HTML, Browser
from tests.promised import Part, require
from tests.services import PostgresServer, free_port

SMALL = {"client_max_body_size 2250m;": "client_max_body_size 40m;"}
IMPATIENT = {"proxy_read_timeout 120s;": "proxy_read_timeout 1s;"}
"""With all but streams."""


@dataclass(frozen=True, kw_only=True)
class Front:
    served: Served
    nginx: Nginx
    client: httpx2.AsyncClient
    blobs: Path


@contextlib.asynccontextmanager
async def stream(
    client: httpx2.AsyncClient, run_id: str, **headers: str
) -> AsyncIterator[httpx2.Response]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"/api/runs/{run_id}/events"
    async with client.stream("GET", path, headers=sent) as response:
        assert response.status_code == 200, await response.aread()
        yield response


@pytest_asyncio.fixture(scope="module")
async def front(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Front]:
    require(Part.NGINX)
    url, folder = await postgres.clone(), tmp_path_factory.mktemp("nginx")
    blobs = tmp_path_factory.mktemp("blobs")
    settings = settings_for(url, REDRAFT_BLOB_URL=blobs.as_uri(), REDRAFT_API_HOSTS=NAME)
    async with (
        serving_on_a_port(settings, with_kinds=True) as served,
        started(folder, served.port, SMALL) as nginx,
        nginx.client() as client,
    ):
        yield Front(served=served, nginx=nginx, client=client, blobs=blobs)
    await postgres.drop(url)


async def next_frame(reading: AsyncIterator[Frame]) -> Frame:
    """Before the API's next sign of life, which might push through what a proxy holds back."""
    async with asyncio.timeout(HEARTBEAT - 1):
        return await anext(reading)


async def test_eight_streams_bring_events_at_once_and_outlive_what_nginx_waits_for(
    front: Front, tmp_path: Path
) -> None:
    pool = front.served.pool
    run_id = await rows.add_run(pool)
    await rows.add_events(pool, run_id)
    async with contextlib.AsyncExitStack() as tabs:
        nginx = await tabs.enter_async_context(started(tmp_path, front.served.port, IMPATIENT))
        client = await tabs.enter_async_context(nginx.client())
        readings = []
        for _ in range(8):
            tab = await tabs.enter_async_context(stream(client, run_id, accept_encoding="gzip"))
            assert "content-encoding" not in tab.headers
            readings.append(frames(tab))
        assert [(await next_frame(reading)).id for reading in readings] == ["1"] * 8
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("LOCK TABLE profiles IN ACCESS EXCLUSIVE MODE")
            late = await client.get("/api/profiles")  # nginx has waited in vain
        assert (late.status_code, late.json()["code"]) == (503, "unavailable")
        await rows.add_events(pool, run_id)
        assert [(await next_frame(reading)).id for reading in readings] == ["2"] * 8


async def test_a_stream_goes_on_behind_its_last_event_after_nginx_was_started_again(
    front: Front,
) -> None:
    run_id = await rows.add_run(front.served.pool)
    await rows.add_events(front.served.pool, run_id)

    async def nobody_listens() -> bool:
        return not front.served.feed.subscribers

    async with stream(front.client, run_id) as response:
        reading = frames(response)
        assert (await next_frame(reading)).id == "1"
        front.nginx.stop()
        with contextlib.suppress(httpx2.TransportError):
            assert [frame async for frame in reading] == []
    await eventually(nobody_listens, what="the API to notice")
    await rows.add_events(front.served.pool, run_id, 2)
    await front.nginx.start()
    async with stream(front.client, run_id, last_event_id="1") as response:
        reading = frames(response)
        assert [(await next_frame(reading)).id for _ in range(2)] == ["2", "3"]


async def test_a_recording_reaches_the_api_while_it_is_sent_and_is_had_back_in_ranges(
    front: Front,
) -> None:
    recording = sounds.wav([(940, True)])
    half = 15_000_000
    assert len(recording) > 2 * half
    head = _part("kind", b"minutes") + _part("title", b"Weekly")
    head += _part("source", b"Ana: the box is blue.", "t.txt")
    head += _part("audio", recording[:half], "talk.wav").removesuffix(b"\r\n")

    async def arrived() -> bool:
        found = [path for path in front.blobs.rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in found) > half - 1_000_000

    async def body() -> AsyncIterator[bytes]:
        yield head
        await eventually(arrived, what="the first half at the API")
        assert front.nginx.bodies == []
        yield recording[half:] + b"\r\n--cut--\r\n"

    form = {"content-type": "multipart/form-data; boundary=cut"}
    made = await front.client.post("/api/documents", content=body(), headers=form)
    assert made.status_code == 201, made.text
    path = f"/api/documents/{made.json()['id']}/sources"
    source = (await front.client.get(path)).json()["items"][0]
    part = await front.client.get(
        f"{path}/{source['id']}/audio", headers={"range": "bytes=20000000-20000099"}
    )
    assert (part.status_code, part.content) == (206, recording[20_000_000:20_000_100])
    assert part.headers["content-range"] == f"bytes 20000000-20000099/{len(recording)}"


def _part(name: str, data: bytes, file: str = "") -> bytes:
    words = f'--cut\r\nContent-Disposition: form-data; name="{name}"'
    words += f'; filename="{file}"' if file else ""
    return words.encode() + b"\r\n\r\n" + data + b"\r\n"


async def test_what_is_too_large_is_refused_by_the_api_and_beyond_that_in_its_words(
    front: Front,
) -> None:
    files = [("source", ("long.txt", b"a" * 6_000_000)), ("kind", (None, b"minutes"))]
    ours = await front.client.post("/api/documents", files=files)
    assert (ours.status_code, ours.json()["errors"][0]["pointer"]) == (413, "/source")
    status, kind, words = await _declare(front, "/api/documents")
    assert (status, kind) == (413, "application/problem+json")
    assert '"code":"too_large"' in words
    status, kind, words = await _declare(front, "/runs/new")
    assert (status, kind) == (413, "text/html; charset=utf-8")
    assert "This is too large." in words


async def _declare(front: Front, path: str) -> tuple[int, str, str]:
    """The answer to a request that only says how large it will be."""
    port = front.nginx.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=front.nginx.trust())
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 60000000\r\n"
    writer.write(f"{head}Content-Type: multipart/form-data; boundary=cut\r\n\r\n".encode())
    async with asyncio.timeout(10):
        answer = (await reader.readuntil(b"\r\n\r\n")).decode()
        [length] = re.findall(r"(?im)^content-length: (\d+)", answer)
        [kind] = re.findall(r"(?im)^content-type: ([^\r]+)", answer)
        words = (await reader.readexactly(int(length))).decode()
    writer.close()
    return int(answer.split()[1]), kind, words


async def test_writes_of_this_origin_are_taken_and_of_another_refused(front: Front) -> None:
    async def post(origin: str, host: str) -> httpx2.Response:
        headers = {"origin": origin, "host": host}
        return await front.client.post("/api/documents", json=MINUTES, headers=headers)

    assert (await post(f"https://{NAME}:8443", f"{NAME}:8443")).status_code == 201
    for origin in ("https://evil.example", f"https://{NAME}", "null"):
        refused = await post(origin, f"{NAME}:8443")
        assert (refused.status_code, refused.json()["code"]) == (403, "bad_origin"), origin
    assert (await post("https://evil.example", "evil.example")).status_code == 400


async def test_pages_come_compressed_and_their_forms_work(front: Front) -> None:
    browser = Browser(front.client)
    page = await browser.open("/runs/new")
    assert page.headers["content-encoding"] == "gzip"
    form = await browser.form("/runs/new", "/runs/new")
    sent = await browser.send(form, title="Weekly", body="# Minutes\n", source="Ana: text")
    assert sent.status_code == 303, sent.text
    assert (await browser.open(sent.headers["location"])).status_code == 200
    chosen = await browser.send(await browser.form("/", "/preferences"), language="zh_Hans")
    cookie = chosen.headers["set-cookie"]
    assert "zh_Hans" in cookie
    assert "Secure" in cookie  # nginx says that the browser came by TLS


async def test_what_another_site_asks_for_tells_nothing_by_its_length_here_either(
    front: Front,
) -> None:
    """The API leaves it as it is; nginx must not make up for that."""
    for path in ("/runs/new", static("base.css")):
        for asked_by, packed in (("same-origin", "gzip"), ("cross-site", None)):
            headers = {"sec-fetch-site": asked_by, "accept-encoding": "gzip", "accept": "text/html"}
            answer = await front.client.get(path, headers=headers)
            assert answer.status_code == 200, path
            assert answer.headers.get("content-encoding") == packed, (path, asked_by)


async def test_browsers_get_http_2_and_are_led_away_from_plain_http(front: Front) -> None:
    trust = front.nginx.trust()
    trust.set_alpn_protocols(["h2", "http/1.1"])
    _, writer = await asyncio.open_connection("127.0.0.1", front.nginx.port, ssl=trust)
    assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
    writer.close()
    plain = await front.client.get(f"http://127.0.0.1:{front.nginx.plain_port}/runs?status=FAILED")
    assert plain.status_code == 308
    assert plain.headers["location"] == f"https://{NAME}/runs?status=FAILED"


async def test_while_the_api_is_away_nginx_says_so_in_its_words(tmp_path: Path) -> None:
    require(Part.NGINX)
    async with started(tmp_path, free_port(), {}) as nginx, nginx.client() as client:
        answer = await client.post("/api/runs", json=MINUTES)
        page = await client.get("/runs", headers=HTML)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (503, "unavailable")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"]
    assert re.fullmatch(r"[0-9a-f]{32}", problem["request_id"])
    assert page.status_code == 503
    assert "Redraft 暂时没有响应" in page.text


def test_what_is_shipped_fits_the_api() -> None:
    text = SHIPPED.read_text(encoding="utf-8")

    def number(pattern: str) -> int:
        [found] = re.findall(pattern, text)
        return int(found)

    largest = FORM_BYTES + Settings(database_url="").audio_megabytes * 1_000_000
    assert number(r"client_max_body_size (\d+)m;") * 2**20 > largest
    assert number(r"\n    keepalive_timeout (\d+)s;") < uvicorn.Config("").timeout_keep_alive
    assert number(r"proxy_read_timeout (\d+)m;") * 60 > 10 * HEARTBEAT
