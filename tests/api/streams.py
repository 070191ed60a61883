"""The application behind a real socket, and a client that reads Server-Sent Events as they come."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI

from api.app import create_app, state_in
from api.feed import Feed
from deploy.database import Pool
from deploy.settings import Settings
from tests.eventually import eventually


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One frame. Comments are no frames."""

    id: str | None
    event: str
    data: dict[str, Any]


class Served:
    """A server of this process; `state.stopping` is what SIGTERM sets."""

    def __init__(self, url: str, app: FastAPI, server: uvicorn.Server) -> None:
        self.url, self.app, self.state = url, app, state_in(app)
        self._server = server

    def stop(self) -> None:
        self.state.stopping.set()
        self._server.should_exit = True

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def feed(self) -> Feed:
        """The process's reader."""
        return self.state.one(Feed, self.pool)

    @property
    def pool(self) -> Pool:
        return self.state.pool

    @contextlib.asynccontextmanager
    async def stream(
        self, path: str, last_id: str | None = None, **headers: str
    ) -> AsyncIterator[httpx2.Response]:
        """An open answer; `frames` reads it. Names of headers are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"accept": "text/event-stream", **named}
        if last_id is not None:
            sent["last-event-id"] = last_id
        async with (
            httpx2.AsyncClient(base_url=self.url, timeout=20) as client,
            client.stream("GET", path, headers=sent) as response,
        ):
            yield response

    async def get(self, path: str, last_id: str | None = None, **headers: str) -> httpx2.Response:
        """An answer read to its end."""
        async with self.stream(path, last_id, **headers) as response:
            await response.aread()
            return response

    async def whole(self, path: str, last_id: str | None = None) -> list[Frame]:
        """All frames of a stream that the server ends."""
        async with self.stream(path, last_id) as response:
            assert response.status_code == 200, await response.aread()
            return [frame async for frame in frames(response)]


async def frames(response: httpx2.Response) -> AsyncIterator[Frame]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            yield Frame(id=fields.get("id"), event=fields["event"], data=json.loads(fields["data"]))
        fields = {}


@contextlib.asynccontextmanager
async def serving_on_a_port(
    settings: Settings, *, with_kinds: bool = False
) -> AsyncIterator[Served]:
    """`with_kinds`: where documents are made by requests, too."""
    app = create_app(settings, kinds=None if with_kinds else {})
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))

    async def started() -> bool:
        return server.started

    await eventually(started, what="the server")
    served = Served(f"http://127.0.0.1:{listening.getsockname()[1]}", app, server)
    try:
        yield served
    finally:
        served.stop()
        await task
